"""``accel-advisor new-rule``: the file of a new rule and its tests, in a checkout of this project."""

from __future__ import annotations

import re
import string
from pathlib import Path

import click

from accel_advisor.editing.fixer import write_atomically

RULE = string.Template('''\
"""$code."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class $class_name(Rule):
    """Say in one sentence what is wrong.

    What it does
        Say what is found, and when the rule stays silent.

    Why it costs time
        Say what waits for what.

    Example
        import torch

    Use instead
        import torch

    When to ignore it
        Say when the finding is right and nothing needs to change.

    References
        - https://docs.pytorch.org/docs/stable/index.html
    """

    code = "$code"
    name = "$name"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once."""
        for loader in facts.loaders:
            if loader.given("num_workers").absent:
                yield self.finding(facts, loader.node, f"`{loader.label}` ..., so ...", "do ...")
''')
TEST = string.Template('''\
"""$code $name, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS

SILENT = {
    "no loader": "x = torch.zeros(8)\\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("$code", IMPORTS + source, tmp_path)


OWN_CLASS = "class DataLoader(list):\\n    pass\\n"
PAIRS = {
    "own class of that name": Pair(IMPORTS + OWN_CLASS + "loader = DataLoader([1, 2])\\n", OWN_CLASS),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("$code", PAIRS[case], tmp_path)


def test_reported(tmp_path: Path) -> None:
    check_one("$code", IMPORTS + "loader = DataLoader(TensorDataset(torch.zeros(8)))  # -> info none\\n", tmp_path)
''')


@click.command(short_help="Start a new rule: its file and its tests.", hidden=True)
@click.argument("code")
@click.argument("name")
@click.option("--theme", required=True, metavar="FOLDER", help="The folder below rules/ that it belongs to.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="The checkout of accel-advisor.  [default: the working directory]",
)
def new_rule(code: str, name: str, theme: str, root: Path) -> int:
    """Start the rule CODE (such as ACC142), called NAME (kebab-case: it names the bad pattern, not the remedy)."""
    from accel_advisor.rule import registry

    if not re.fullmatch(r"ACC[1-9]\d\d", code):
        raise click.UsageError(f"'{code}' is not a code such as ACC142")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", name):
        raise click.UsageError(f"'{name}' is not a name such as loader-rebuilt-per-epoch")
    for rule in registry().values():
        if code == rule.code or name == rule.name:
            raise click.UsageError(f"there is a rule {rule.code} ({rule.name}) already")
    folder = root / "rules" / theme
    if not (root / "advisor" / "rule.py").is_file():
        raise click.UsageError(f"{root.resolve()} is no checkout of accel-advisor: say --root FOLDER")
    if not (folder / "__init__.py").is_file():
        themes = ", ".join(sorted(one.parent.name for one in (root / "rules").glob("*/__init__.py")))
        raise click.UsageError(f"there is no folder rules/{theme}; the folders are {themes}")
    module = name.replace("-", "_")
    values = {
        "code": code,
        "name": name,
        "theme": theme,
        "module": module,
        "class_name": "".join(part.capitalize() for part in name.split("-")),
    }
    files = {
        folder / f"{module}.py": RULE.substitute(values),
        root / "tests" / "rules" / theme / f"test_{module}.py": TEST.substitute(values),
    }
    for path in files:
        if path.exists():
            raise click.UsageError(f"{path} is there already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
        click.echo(f"wrote {path}")
    click.echo(
        "Next: write its page and its silent cases (docs/rule-api.md says what a rule may ask), then `make test`."
    )
    return 0
