"""What frameworks do by themselves is not reported, and what they leave to the program is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..rules.checks import findings_in
from .framework_scripts import FAST, SCRIPTS, Script

ABOUT = ("ACC1", "ACC2", "ACC3", "ACC6")
"""Data loading, moves, places and frameworks: what a framework may do by itself."""


def codes(source: str, folder: Path) -> set[str]:
    return {one.code for one in findings_in(source, folder)[1] if one.code.startswith(ABOUT)}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_silent_where_framework_and_program_do_all(script: Script, tmp_path: Path) -> None:
    assert codes(script.source, tmp_path) == set()


@pytest.mark.parametrize(
    ("name", "there", "here"),
    [
        ("a data module of Lightning", 'accelerator="gpu"', 'accelerator="cpu"'),
        ("a loader for the Trainer of Lightning", 'accelerator="gpu"', 'accelerator="cpu"'),
        ("Composer", 'device="gpu"', 'device="cpu"'),
    ],
)
def test_silent_where_the_framework_stays_on_the_host(name: str, there: str, here: str, tmp_path: Path) -> None:
    source = SCRIPTS[name].source.replace(FAST, "")
    assert codes(source, tmp_path)
    assert there in source
    assert codes(source.replace(there, here), tmp_path) == set()


@pytest.mark.parametrize(
    "script",
    [one for one in SCRIPTS.values() if one.without],
    ids=[name for name, one in SCRIPTS.items() if one.without],
)
def test_reported_where_the_program_leaves_something_out(script: Script, tmp_path: Path) -> None:
    assert script.without in script.source
    assert codes(script.source.replace(script.without, ""), tmp_path) == set(script.found)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_the_defaults_of_a_command_line_count(device: str, tmp_path: Path) -> None:
    start, _ = SCRIPTS["a data module of Lightning"].source.replace(FAST, "").split("L.Trainer(")
    line = f'cli.LightningCLI(Net, Data, trainer_defaults={{"accelerator": "{device}"}})\n'
    found = codes(f"from lightning.pytorch import cli\n{start}{line}", tmp_path)
    assert found == ({"ACC101", "ACC102"} if device == "gpu" else set())
