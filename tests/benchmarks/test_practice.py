"""How practice is scored."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from accel_advisor.rule import registry
from accel_advisor.selection import TOOL_CODES
from benchmarks.first_contact.records import Remark, read_rows, write_rows
from benchmarks.practice import __main__ as command

LOST = "import torch\n\nx = torch.zeros(8)\nx.to('cuda')\nprint(x)\n\n\n\ny = torch.zeros(8).cuda()\n"


def test_a_set_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "owner+name"
    root.mkdir()
    (root / "train.py").write_text(LOST)
    remarks = [
        Remark("A", "owner/name", "train.py", "4", "the move is lost", "ACC207"),
        Remark("A", "owner/name", "train.py", "3", "built on the host", "ACC205"),
        Remark("A", "owner/name", "train.py", "9", "built on the host, once", "ACC205"),
        Remark("A", "owner/name", "train.py", "1", "no seed is set", ""),
        Remark("B", "owner/other", "train.py", "4", "of another set", "ACC207"),
    ]
    monkeypatch.setattr(command, "REMARKS", tmp_path / "remarks.csv")
    write_rows(Remark, remarks, command.REMARKS)
    done = command.practise("A", tmp_path)
    assert [one.met for one in done.remarks] == ["ACC207", "", "", ""]
    assert (len(done.sayable), done.findings) == (3, {"ACC207": 1})
    assert (done.asked, done.shown) == (2, 3), "what is of little consequence, and a rule that is off by default"
    said = next(iter(command.shown("A", done, missed=False)))
    assert "1 of 3 remarks" in said
    assert "; 2 (0.67) with --minor" in said
    with pytest.raises(SystemExit, match="owner\\+other is missing"):
        command.practise("B", tmp_path)


def test_judged_findings_that_are_still_shown_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "owner+name"
    root.mkdir()
    (root / "train.py").write_text(LOST)
    head = "set,repository,path,line,code,verdict\n"
    rows = [
        "A,owner/name,train.py,4,ACC207,right",
        "A,owner/name,train.py,3,ACC207,wrong",
        "B,owner/other,x.py,1,ACC207,weak",
    ]
    monkeypatch.setattr(command, "VERDICTS", tmp_path / "verdicts.csv")
    command.VERDICTS.write_text(head + "\n".join(rows) + "\n")
    assert command.still_shown("A", tmp_path) == {"right": (1, 1), "wrong": (0, 1)}


def test_the_remarks_are_whole() -> None:
    remarks = read_rows(Remark, command.REMARKS)
    assert {one.round for one in remarks} == set(command.SETS)
    for one in remarks:
        assert int(one.line) > 0
        assert set(one.rules.split()) <= {*registry(), *TOOL_CODES}


def test_the_page_shows_what_was_recorded() -> None:
    page = (command.HERE / "README.md").read_text()
    for one in json.loads((command.HERE / "blind.json").read_text()):
        share = f"{one['said']} of {one['sayable']} ({one['said'] / one['sayable']:.2f})"
        assert any(one["commit"] in line and share in line for line in page.splitlines())
    with (command.HERE / "verdicts.csv").open(newline="") as file:
        counts = Counter((row["set"], row["verdict"]) for row in csv.DictReader(file))
    for name in {name for name, _ in counts}:
        right, weak, wrong = (counts[name, one] for one in ("right", "weak", "wrong"))
        assert f"{right} right and useful, {weak} weak, {wrong} wrong" in page
    for name, one in json.loads(command.RESULTS.read_text())["sets"].items():
        assert f"{name}: {one['said']}" in page
