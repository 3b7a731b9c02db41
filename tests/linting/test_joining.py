"""Advice about what happens once is one finding a file, and everything else stands by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.finding import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Frequency,
    Location,
    Pause,
    Related,
    Severity,
    Span,
    StepWait,
)
from accel_advisor.linting.joining import by_call, by_step, joined

from ..conftest import Run


def at(row: int) -> Span:
    return Span(Location(row * 10, row, 1), Location(row * 10 + 1, row, 2))


def _does(row: int) -> Fix:
    return Fix(f"Do {row}", (Edit("train.py", at(row), "done"),), Applicability.SAFE)


def advice(row: int, **changes: object) -> Finding:
    fix = Fix("Do it", (Edit("train.py", at(row), "done"),), Applicability.SAFE)
    one = Finding("ACC205", "rule", f"{row} waits; do it", Severity.INFO, "train.py", at(row), fix)
    return replace(one, **{"advice": "do it", "frequency": Frequency.ONCE, **changes})  # type: ignore[arg-type]


class TestJoined:
    def test_the_first_place_has_the_others(self) -> None:
        other = advice(2, code="ACC402")
        first, second = joined([advice(1), other, advice(3), advice(4)])
        assert second == other
        assert first.span == at(1)
        assert [(one.span, one.message) for one in first.related] == [(at(3), "Do it"), (at(4), "Do it")]
        assert first.fix is not None
        assert [one.span for one in first.fix.edits] == [at(1), at(3), at(4)]

    def test_what_a_rule_puts_together_is_one(self) -> None:
        step = [advice(row, frequency=Frequency.STEP, group=group) for row, group in enumerate("aab", 1)]
        assert [one.span for one in joined(step)] == [at(1), at(3)]

    def test_edits_of_several_are_made_once(self) -> None:
        shared = Edit("train.py", at(9), "import torch")
        both = [advice(row, fix=Fix(f"Do {row}", (shared,), Applicability.SAFE)) for row in (1, 2)]
        (one,) = joined(both)
        assert one.fix == Fix("Do 1, and likewise in the other places", (shared,), Applicability.SAFE)

    @pytest.mark.parametrize(
        "changes",
        [
            {"frequency": Frequency.STEP},
            {"frequency": Frequency.EPOCH},
            {"severity": Severity.WARNING},
            {"filename": "other.py"},
            {"fix": None},
            {"group": "a loop"},
        ],
        ids=str,
    )
    def test_other_things_stand_by_themselves(self, changes: dict[str, object]) -> None:
        assert len(joined([advice(1), advice(2)])) == 1
        assert len(joined([advice(1), advice(2, **changes)])) == 2


class TestWorthLess:
    def test_is_a_place_of_the_first_of_its_file(self) -> None:
        (one,) = joined(
            [advice(1, aside=True), advice(2, severity=Severity.WARNING), advice(3, minor=True, aside=True)]
        )
        assert one.span == at(2)
        messages = [(place.span, place.message) for place in one.related]
        assert messages == [(at(1), "of less consequence: Do it"), (at(3), "of less consequence: Do it")]
        assert one.fix is not None
        assert [edit.span for edit in one.fix.edits] == [at(2), at(1), at(3)]

    def test_a_fix_that_is_less_safe_stays_out(self) -> None:
        unsafe = Fix("Do it", (Edit("train.py", at(2), "done"),), Applicability.UNSAFE)
        (one,) = joined([advice(1, frequency=Frequency.STEP), advice(2, aside=True, fix=unsafe)])
        assert one.fix is not None
        assert [edit.span for edit in one.fix.edits] == [at(1)]

    def test_the_title_says_once_that_there_are_others(self) -> None:
        less = [advice(row, aside=True, fix=_does(row)) for row in (2, 3, 4)]
        (one,) = joined([advice(1, frequency=Frequency.STEP, fix=_does(1)), *less])
        assert one.fix is not None
        assert one.fix.title == "Do 1, and likewise in the other places"

    @pytest.mark.parametrize(
        ("others", "nearest"),
        [
            (["train.py", "tools/test.py"], 1),
            (["run/train.py", "tools/train.py"], 1),
            (["run/train.py", "train.py"], 1),
            (["run/train.py", "tools/deep/train.py"], 1),
            (["run/train.py", "other/train.py"], None),
        ],
        ids=str,
    )
    def test_is_a_place_of_the_nearest(self, others: list[str], nearest: int | None) -> None:
        weighty = [advice(row, filename=name, frequency=Frequency.STEP) for row, name in enumerate(others)]
        found = joined([*weighty, advice(9, filename="tools/test.py", aside=True)])
        assert [at for at, one in enumerate(found) if one.related] == ([] if nearest is None else [nearest])
        assert len(found) == len(others) + (nearest is None)

    def test_is_joined_with_its_like_where_there_is_no_other(self) -> None:
        (one,) = joined([advice(1, aside=True), advice(2, aside=True)])
        assert [place.message for place in one.related] == ["Do it"]

    def test_is_joined_with_its_like_of_other_files(self) -> None:
        files = [advice(1, filename=name, aside=True) for name in ("test_a.py", "test_b.py", "demo/c.py")]
        (one,) = joined(files)
        assert [place.filename for place in one.related] == ["test_b.py", "demo/c.py"]
        assert len(joined([replace(one, aside=False) for one in files])) == 3


def wait(row: int, pause: Pause, code: str, loop: str = "train.py:7", **changes: object) -> Finding:
    return advice(row, code=code, frequency=Frequency.STEP, wait=StepWait(loop, pause), **changes)


class TestWaitsOfAStep:
    def test_the_one_that_says_most_has_the_others(self) -> None:
        copy = wait(1, Pause.COPIES, "ACC201", severity=Severity.WARNING)
        filled = wait(2, Pause.FILLS, "ACC205")
        read = wait(3, Pause.READS, "ACC208", fix=None)
        (one,) = by_step([copy, filled, read])
        assert (one.code, one.span, one.severity) == ("ACC208", at(3), Severity.WARNING)
        assert [(place.code, place.span) for place in one.related] == [("ACC201", at(1)), ("ACC205", at(2))]
        assert one.related[0].message == "ACC201: Do it"
        assert one.message.endswith("(each pass waits in 2 more places: the host runs ahead once none is left)")
        assert one.fix is not None
        assert [edit.span for edit in one.fix.edits] == [at(1), at(2)]

    def test_a_wait_of_its_own_rule_is_named_without_it(self) -> None:
        also = Related("train.py", at(9), "it is filled here")
        (one,) = by_step([wait(1, Pause.FILLS, "ACC205"), wait(2, Pause.FILLS, "ACC205", related=(also,))])
        assert [(place.code, place.message) for place in one.related] == [("", "Do it"), ("", "it is filled here")]

    @pytest.mark.parametrize(
        "other",
        [
            wait(2, Pause.COPIES, "ACC201", "train.py:99"),
            wait(2, Pause.COPIES, "ACC201", filename="model.py"),
            advice(2, code="ACC201", frequency=Frequency.STEP),
        ],
        ids=["another loop", "another file", "no wait"],
    )
    def test_others_stand_by_themselves(self, other: Finding) -> None:
        read = wait(1, Pause.READS, "ACC208")
        assert by_step([read, other]) == [read, other]

    def test_a_fix_that_is_less_safe_stays_out(self) -> None:
        unsafe = Fix("Do it", (Edit("train.py", at(2), "done"),), Applicability.UNSAFE)
        (one,) = by_step([wait(1, Pause.COPIES, "ACC201"), wait(2, Pause.FILLS, "ACC205", fix=unsafe)])
        assert one.fix == advice(1).fix

    def test_edits_that_meet_are_made_once(self) -> None:
        whole = Span(at(1).start, at(3).end)
        over = Fix("Do all", (Edit("train.py", whole, "other"),), Applicability.SAFE)
        (one,) = by_step([wait(2, Pause.COPIES, "ACC201"), wait(1, Pause.FILLS, "ACC205", fix=over)])
        assert one.fix == advice(2).fix


class TestWhatIsSaidOfOneCall:
    def test_the_most_severe_has_the_others(self) -> None:
        restarts = advice(1, code="ACC106", message="They start again; keep them")
        pins = advice(1, code="ACC101", severity=Severity.WARNING)
        (one,) = by_call([restarts, pins])
        assert (one.code, one.severity) == ("ACC101", Severity.WARNING)
        assert [(place.code, place.message) for place in one.related] == [
            ("ACC106", "ACC106: They start again; keep them")
        ]

    def test_one_rule_says_it_once_for_several_loops(self) -> None:
        way = Related("train.py", at(7), "steps come there from here")
        (one,) = by_call([advice(1), advice(1, related=(way,))])
        assert one.related == (way,)

    def test_what_to_do_is_what_the_first_asks_for(self) -> None:
        read = advice(1, code="ACC208", fix=None, advice="read it once an epoch")
        (one,) = by_call([replace(read, severity=Severity.WARNING), advice(1, code="ACC201")])
        assert one.fix == advice(1).fix
        assert one.remedy == "read it once an epoch"
        assert advice(1).remedy == "Do it"

    @pytest.mark.parametrize(
        "other",
        [advice(2, code="ACC106"), advice(1, code="ACC106", filename="model.py"), advice(1, code="ACC001")],
        ids=["another call", "another file", "the tool's own"],
    )
    def test_others_stand_by_themselves(self, other: Finding) -> None:
        pins = advice(1, code="ACC101")
        assert by_call([pins, other]) == [pins, other]


ONCE = "import torch\n\na = torch.zeros(4).cuda()\nb = torch.ones(4).cuda()\n"
COPIES = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, pin_memory=True)
model = torch.nn.Linear(8, 2).cuda()
for x, y in loader:
    x = x.cuda()
    y = y.cuda()
for x, y in loader:
    model(x.cuda())
"""
EVALUATES = """\
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

model = torch.nn.Linear(8, 2).cuda()
loader = DataLoader(ImageFolder("photos"), batch_size=16, num_workers=4)
right = 0
for x, y in loader:
    x = x.cuda()
    with torch.no_grad():
        right += model(x).sum().item()
"""
STEP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True)
model = torch.nn.Linear(8, 2).cuda()
total = 0
for x, y in loader:
    loss = (model(x.cuda()) - y.cuda()).square().sum()
    loss.backward()
    total += loss.item()
"""
TRAINS = "for x, y in loader:\n    model(x.cuda()).sum().backward()\n"


class TestTheCommand:
    def test_places_count_by_themselves_for_comments_and_fixes(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(ONCE)
        done = run("lint", "train.py", "--select", "ACC205")
        assert "1 finding (info)" in done.out
        assert "= train.py:4:5: Create it with" in done.out
        path.write_text(ONCE.replace("zeros(4).cuda()", "zeros(4).cuda()  # accel: ignore[ACC205]"))
        done = run("lint", "train.py", "--select", "ACC205")
        assert done.out.startswith("train.py:4:5: ACC205")
        path.write_text(ONCE)
        assert run("lint", "train.py", "--select", "ACC205", "--fix").out.startswith("Made 2 fixes.")
        assert ".cuda()" not in path.read_text()

    def test_minor_advice_is_for_those_who_select_its_rule(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(ONCE)
        assert "nothing found" in run("lint", "train.py").out
        assert "nothing found" in run("lint", "train.py", "--select", "ACC2").out
        for chosen in ("ACC205", "acc205", "create-on-cpu-then-move"):
            assert "1 finding (info)" in run("lint", "train.py", "--extend-select", chosen).out
        path.write_text(ONCE.replace("zeros(4).cuda()", "zeros(4).cuda()  # accel: ignore[ACC205]"))
        assert "nothing found" in run("lint", "train.py").out

    def test_minor_advice_is_counted_and_shown_to_those_who_ask(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(ONCE)
        left = "1 file checked, nothing found; 1 of little consequence not shown (--minor shows them).\n"
        assert run("lint", "train.py").out == left
        assert run("lint", "train.py").out == left, "what is kept from before says the same"
        shown = run("lint", "train.py", "--minor").out
        assert shown.startswith("train.py:3:5: ACC205")
        assert "1 finding (info) in 1 of 1 file;" in shown
        (project / "pyproject.toml").write_text("[tool.accel-advisor]\nminor = true\n")
        assert run("lint", "train.py").out == shown
        assert run("lint", "train.py", "--no-minor").out == left
        assert "little consequence" not in run("lint", "train.py", "--no-minor", "--min-severity", "warning").out
        path.write_text(ONCE.replace("(4).cuda()", "(4, device='cuda')"))
        assert run("lint", "train.py", "--no-minor").out == "1 file checked, nothing found.\n"

    def test_what_is_minor_is_said_beside_what_is_worth_more(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(EVALUATES)
        assert "ACC201" not in run("lint", "train.py").out
        assert "1 finding (info)" in run("lint", "train.py", "--select", "ACC201").out
        path.write_text(EVALUATES + TRAINS)
        out = run("lint", "train.py").out
        assert out.count("ACC201") == 1
        assert "= train.py:9:9: of less consequence: " in out

    def test_a_baseline_holds_each_place(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(ONCE)
        run("lint", "train.py", "--select", "ACC205", "--write-baseline", "known.json")
        path.write_text(ONCE.replace("torch.zeros(4).cuda()", 'torch.zeros(4, device="cuda")'))
        done = run("lint", "train.py", "--select", "ACC205", "--baseline", "known.json")
        assert done.out == "1 file checked, nothing new; 1 finding in the baseline.\n"

    def test_copies_of_one_file_are_one_finding(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(COPIES)
        out = run("lint", "train.py", "--select", "ACC201").out
        assert "1 finding " in out
        assert re.search(r"= train\.py:9:\d+, 11:\d+: ", out)
        run("lint", "train.py", "--select", "ACC201", "--fix")
        assert path.read_text().count("non_blocking=True") == 3

    def test_waits_of_one_step_are_one_remark(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        path.write_text(STEP)
        done = run("lint", "train.py", "--select", "ACC201,ACC208")
        assert "1 finding (warning)" in done.out
        assert done.out.startswith("train.py:11:")
        assert "= train.py:9:" in done.out
        assert "ACC201: Pass `non_blocking=True`" in done.out
        assert "Made 1 fix." in run("lint", "train.py", "--select", "ACC201,ACC208", "--fix").out
        assert "1 finding (info)" in run("lint", "train.py", "--select", "ACC201,ACC208").out

    def test_what_is_minor_is_named_beside_others_of_its_step(self, run: Run, project: Path) -> None:
        path = project / "train.py"
        labels = STEP.replace("x.cuda()", "torch.from_numpy(x.numpy() * 2).cuda()")
        path.write_text(labels)
        assert "ACC201: " in run("lint", "train.py").out
        path.write_text(labels.replace("total += loss.item()", "total += 1"))
        assert "ACC201" not in run("lint", "train.py").out

    def test_a_loader_is_one_remark_and_counted_by_rule(self, run: Run, project: Path) -> None:
        epochs = TRAINS.replace("for x", "    for x").replace("    model", "        model")
        loader = EVALUATES.partition("right = 0")[0].replace("num_workers=4", "num_workers=8")
        (project / "train.py").write_text(f"{loader}for epoch in range(9):\n{epochs}")
        select = ("lint", "train.py", "--exit-zero", "--select", "ACC101,ACC106")
        shown = run(*select).out
        assert "1 finding (warning)" in shown
        assert "ACC106: the 8 workers of `loader` are started again" in shown
        assert len(run(*select, "--output-format", "concise").out.splitlines()) == 3
        assert [line.split()[:2] for line in run(*select, "--statistics").out.splitlines()] == [
            ["1", "ACC101"],
            ["1", "ACC106"],
        ]
