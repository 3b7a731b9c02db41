"""Branches that a program seldom takes."""

from __future__ import annotations

from textwrap import indent

import libcst as cst
import pytest

from accel_advisor.syntax.rarity import evaluating_branch, lasting_branch, leaves_with_kept, rare_branch
from accel_advisor.syntax.walking import descendants


def _rare(body: str) -> list[int | None]:
    """The rare branch of each condition in a function."""
    (function,) = cst.parse_module(f"def f(self, x=None):\n{indent(body, '    ')}\n").body
    assert isinstance(function, cst.FunctionDef)
    return [rare_branch(one, function) for one in descendants(function.body, cst.If, cst.IfExp)]


@pytest.mark.parametrize(
    "body",
    [
        "if step % 100 == 0:\n    pass",
        "if not step % 100 == 1 or self.on:\n    pass\nelse:\n    pass",
        "if i == 0:\n    pass",
        "if i < 0x8:\n    pass",
        "if epoch < 5 and self.on:\n    pass",
        "if torch.isnan(loss):\n    pass",
        "if not np.all(np.isfinite(p)):\n    pass",
        "if not math.isfinite(loss.item()) or torch.isinf(loss).any():\n    pass",
        "seldom = self.on and self.steps % 32 == 0\nif seldom:\n    pass",
        "shown = log(x) if batch_idx == 0 else None",
        "state = self.state[x]\nif len(state) == 0:\n    state['a'] = 1",
        "if self.mask is None:\n    self.mask = make(x)",
        "if not hasattr(self, 'mask'):\n    self.mask = make(x)",
        "if not self.ready:\n    self.ready = True",
        "if x not in self.known:\n    self.known[x] = make(x)",
    ],
)
def test_a_test_says_that_its_branch_is_seldom_taken(body: str) -> None:
    found = _rare(body)
    assert found == [1] if body.startswith("if not step") else found == [0]


@pytest.mark.parametrize(
    "body",
    [
        "if self.on:\n    pass",
        "if step % 100 < 50:\n    pass",
        "if i == self.last:\n    pass",
        "if torch.isnan(loss) or self.on:\n    pass",
        "if np.all(p):\n    pass",
        "if self.isnan:\n    pass",
        "if epoch < 5 or self.on:\n    pass",
        "if epoch < 500:\n    pass",
        "if x is None:\n    x = make()",
        "if self.mask is None:\n    x = make()",
        "state = make(x)\nif len(state) == 0:\n    state['a'] = 1",
        "often = self.on\nif often:\n    pass",
        "often = step % 10 == 0\noften = True\nif often:\n    pass",
    ],
)
def test_a_test_says_nothing_of_how_often_its_branch_is_taken(body: str) -> None:
    assert _rare(body) == [None]


@pytest.mark.parametrize(
    ("test", "rare"),
    [
        ("len(chosen) > 0", [1]),
        ("chosen.numel()", [1]),
        ("not chosen.size(0) > 0", [0]),
        ("count > 0", [None]),
        ("len(chosen) > 4", [None]),
        ("len(chosen) == 0", [None]),
    ],
)
def test_there_is_seldom_nothing(test: str, rare: list[int | None]) -> None:
    assert _rare(f"if {test}:\n    y = f(chosen)\nelse:\n    y = 0") == rare


@pytest.mark.parametrize(
    ("test", "leaves"),
    [
        ("hasattr(self, 'mask')", True),
        ("hasattr(self, 'mask') and self.mask.shape == x.shape", True),
        ("self.mask is not None", True),
        ("x in self.mask", True),
        ("hasattr(self, 'other')", False),
        ("self.mask is None", False),
        ("x in self.other", False),
    ],
)
def test_a_function_leaves_with_what_it_kept(test: str, leaves: bool) -> None:
    for returned, kept in (("self.mask", True), ("self.mask[x]", True), ("x", False), ("other.mask", False)):
        text = f"def f(self, x):\n    if {test}:\n        return {returned}\n    self.mask = make(x)\n"
        function = cst.parse_module(text).body[0]
        assert isinstance(function, cst.FunctionDef)
        (condition,) = descendants(function.body, cst.If)
        assert isinstance(condition, cst.If)
        assert leaves_with_kept(condition, function) is (leaves and kept)


def test_all_but_one_pass_of_many_take_the_other_branch() -> None:
    assert _rare("if step % 100 != 0:\n    pass\nelse:\n    pass") == [1]


@pytest.mark.parametrize(
    ("test", "branch"),
    [
        ("self.steps > config['start']", 0),
        ("epoch >= warmup", 0),
        ("it < first", 1),
        ("step % 100 > 50", None),
        ("loss > 3", None),
        ("step == 7", None),
    ],
)
def test_a_counter_goes_past_a_bound_for_good(test: str, branch: int | None) -> None:
    assert lasting_branch(cst.parse_expression(test)) == branch


def test_what_a_loop_counts_is_a_counter_whatever_its_name() -> None:
    test = cst.parse_expression("t >= args.start")
    counting, other, taking = (
        cst.parse_statement(f"for {head}:\n    pass")
        for head in ("t in range(args.end)", "u in range(9)", "t in times")
    )
    assert lasting_branch(test, counting) == 0
    assert [lasting_branch(test, one) for one in (other, taking, None)] == [None, None, None]


@pytest.mark.parametrize(
    ("test", "branch"),
    [
        ("self.training", 1),
        ("not self.training", 0),
        ("self.phase == 'test'", 0),
        ("mode != 'train'", 0),
        ("cfg.run_mode == 'train'", 1),
        ("not split == 'val'", 1),
        ("training", 1),
        ("args.evaluate", 0),
        ("not args.isTrain", 0),
        ("args.test_only", 0),
        ("self.flips and not self.training", 0),
        ("args.evaluate and args.save", 0),
        ("self.training or self.keeps", 1),
        ("self.flips or not self.training", None),
        ("self.flips and self.training", None),
        ("args.train", None),
        ("args.eval_interval", None),
        ("self.phase == 'warm-up'", None),
        ("self.mode == test", None),
        ("self.mode in ('test', 'val')", None),
        ("self.name == 'test'", None),
        ("0 < x < 3", None),
    ],
)
def test_a_test_says_which_branch_is_for_evaluation(test: str, branch: int | None) -> None:
    assert evaluating_branch(cst.parse_expression(test)) == branch
