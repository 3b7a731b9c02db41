"""How a round of first contact is kept and scored."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from accel_advisor.rule import registry
from benchmarks.first_contact import __main__ as command
from benchmarks.first_contact import records
from benchmarks.first_contact.records import Place, Remark, Round, Verdict

LOST = "import torch\n\nx = torch.zeros(8)\nx.to('cuda')\nprint(x)\n"
REMARKS = [
    Remark("1", "owner/name", "train.py", "4", "the move is lost", "ACC207 ACC205"),
    Remark("1", "owner/name", "train.py", "3", "built on the host", "ACC205"),
    Remark("1", "owner/name", "train.py", "1", "no seed is set", ""),
    Remark("2", "owner/other", "train.py", "4", "of another round", "ACC207"),
]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A round with one repository, its remarks, and the folder of its clone."""
    root = tmp_path / "clones" / "owner+name"
    root.mkdir(parents=True)
    (root / "train.py").write_text(LOST)
    for module in (command, records):
        for name in ("ROUNDS", "REMARKS", "FINDINGS"):
            point(module, name, tmp_path, monkeypatch)
    monkeypatch.setattr(command, "write_rounds", lambda rounds: records.write_rounds(rounds, records.ROUNDS))
    records.write_rounds([Round("1", ["owner/name"], files={"owner/name": ["train.py"]})], records.ROUNDS)
    records.write_rows(Remark, REMARKS, records.REMARKS)
    return tmp_path


def point(module: ModuleType, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix = ".json" if name == "ROUNDS" else ".csv"
    monkeypatch.setattr(module, name, folder / f"{name.lower()}{suffix}", raising=False)


def run(folder: Path) -> Round:
    rounds = records.read_rounds(records.ROUNDS)
    command.run(rounds["1"], rounds, folder / "clones", folder / "worklist.md", 100)
    return records.read_rounds(records.ROUNDS)["1"]


def test_a_round_notes_which_remarks_were_made(kept: Path) -> None:
    done = run(kept)
    assert done.run["findings"] == done.run["drawn"] == 1
    met = [one.met for one in records.read_rows(Remark, records.REMARKS)]
    assert met == ["ACC207", "", "", ""]
    (finding,) = records.read_rows(Verdict, records.FINDINGS)
    assert (finding.path, finding.line, finding.code, finding.verdict) == ("train.py", "4", "ACC207", "")
    assert "\n4> x.to('cuda')\n" in (kept / "worklist.md").read_text()


def test_a_round_is_run_once(kept: Path) -> None:
    run(kept)
    with pytest.raises(SystemExit, match="never scored again as if it were new"):
        run(kept)


def test_the_linter_does_not_run_before_the_reader(kept: Path) -> None:
    records.write_rows(Remark, REMARKS[3:], records.REMARKS)
    with pytest.raises(SystemExit, match=r"round 1 has no remarks; they are written before the linter runs"):
        run(kept)
    assert not records.read_rounds(records.ROUNDS)["1"].run


def test_a_finding_without_a_verdict_has_no_figure(kept: Path) -> None:
    done = run(kept)
    with pytest.raises(SystemExit, match=r"train\.py:4 ACC207 has no verdict; write right, weak or wrong"):
        command.figure(done)
    (finding,) = records.read_rows(Verdict, records.FINDINGS)
    records.write_rows(Verdict, [finding._replace(verdict="weak")], records.FINDINGS)
    printed = command.figure(done)
    assert "1 files were read, 3 remarks were made" in printed
    assert "| **all** | 1 | 0 (0 %) | 1 (100 %) | 0 (0 %) |" in printed
    assert "| **all** | 2 | 1 | 50 % |" in printed
    assert "| no rule | 1 | 0 | – |" in printed


@pytest.mark.parametrize(("line", "met"), [(1, ""), (2, "ACC207"), (6, "ACC207"), (7, "")])
def test_a_remark_is_made_two_lines_away(line: int, met: str) -> None:
    assert records.met_by(REMARKS[0], [Place("train.py", line, "ACC207"), Place("train.py", 4, "ACC101")]) == met


def test_the_rounds_of_this_repository_are_whole() -> None:
    codes = set(registry())
    rounds = records.read_rounds()
    everywhere = [name for one in rounds.values() for name in one.repositories]
    assert len(everywhere) == len(set(everywhere)) == 20
    for one in records.read_rows(Remark, records.REMARKS):
        assert one.path in rounds[one.round].files[one.repository]
        assert set(one.rules.split()) <= codes
    page = (records.HERE / "README.md").read_text(encoding="utf-8")
    for one in rounds.values():
        if one.run:
            assert command.figure(one) in page
