"""Programs that one condition keeps silent: with it a rule says nothing of them, and without it the rule speaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Finding
from accel_advisor.rule import registry
from accel_advisor.source.document import Document


@dataclass(frozen=True)
class Pair:
    """A program that is silent because of something in it.

    Attributes:
        condition: what keeps the rule silent; it stands in the program, or in another of the files.
        instead: what stands in its place where the rule speaks.
        others: other files of the project, by name.
    """

    source: str
    condition: str
    instead: str = ""
    others: dict[str, str] = field(default_factory=dict)


def check_pair(code: str, pair: Pair, folder: Path) -> None:
    """Asserts that a rule is silent about the program, and speaks where the condition is taken away."""
    files = {"train.py": pair.source, **pair.others}
    without = {name: text.replace(pair.condition, pair.instead) for name, text in files.items()}
    assert without != files
    assert [one.message for one in _findings(code, files, folder / "with")] == []
    assert _findings(code, without, folder / "without"), f"{code} never speaks of this program:\n{without['train.py']}"


def _findings(code: str, files: dict[str, str], folder: Path) -> list[Finding]:
    """What a rule says of ``train.py``, whether it is on by default or not, in a run over all files."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    documents = [Document.read(path) for path in sorted(folder.glob("*.py"))]
    analysis = analyze(documents, folder)
    assert not analysis.failures
    return list(registry()[code].check(analysis.facts[str(folder / "train.py")]))
