"""Which conditions tell the passes of a loop apart."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.syntax.variation import Passes, numbers_returned
from accel_advisor.syntax.walking import descendants

LOOPS = """
for epoch in range(9):
    warm = epoch < 3
    for i, batch in enumerate(loader):
        last = i == n - 1
        amp = args.amp and torch.cuda.is_available()
        steps += 1
        self.seen += len(batch)
        x = batch.to(device)
        mask = batch.get("mask")
        if best is None:
            best = x
        if TEST:
            pass
"""


def _level(test: str) -> int:
    module = cst.parse_module(LOOPS.replace("TEST", test))
    outer, inner = descendants(module, cst.For)
    *_, decided = descendants(module, cst.If)
    return Passes((outer, inner)).level(decided.test, decided)


@pytest.mark.parametrize(
    "test",
    [
        "args.amp",
        "amp",
        "rank == 0",
        "is_main_process()",
        "dist.get_rank() == 0",
        "isinstance(batch, dict)",
        "len(batch) < 4",
        "x.shape[0] < 4",
        "x.size(0) % world_size != 0",
        "world_size > 1 and x.shape[0] % world_size",
        "mask is not None",
        "'labels' in batch",
        "cfg.get('amp', False)",
        "not args.quiet and n > 3",
    ],
)
def test_is_the_same_in_all_passes(test: str) -> None:
    assert _level(test) == 0


@pytest.mark.parametrize("test", ["epoch == 0", "warm", "epoch > args.first"])
def test_tells_passes_of_the_outer_loop_apart(test: str) -> None:
    assert _level(test) == 1


@pytest.mark.parametrize(
    "test",
    [
        "i == 0",
        "last",
        "steps > 9",
        "self.seen > 9",
        "steps % args.log == 0",
        "n % 2",
        "args.amp and i > 3",
        "time.time() - begin > 60",
        "logger.wants(args)",
        "x.max() > 3",
        "best",
    ],
)
def test_tells_passes_of_the_inner_loop_apart(test: str) -> None:
    assert _level(test) == 2


def test_what_is_made_where_it_is_missing_is_missing_once() -> None:
    module = cst.parse_module("for x in loader:\n    if best is None:\n        best = x\n")
    (loop,) = descendants(module, cst.For)
    (decided,) = descendants(module, cst.If)
    assert Passes((loop,)).level(decided.test, decided) == 1
    assert Passes((loop,)).level(decided.test) == 0


def test_a_parameter_is_missing_anew_in_each_call() -> None:
    module = cst.parse_module(
        "def mask(x, best=None):\n    if best is None:\n        best = x\nfor x in loader:\n    mask(x)\n"
    )
    (function,), (loop,), (decided,) = (list(descendants(module, kind)) for kind in (cst.FunctionDef, cst.For, cst.If))
    assert isinstance(function, cst.FunctionDef)
    assert isinstance(decided, cst.If)
    caller = Passes((loop,))
    assert Passes((), function, caller=caller).level(decided.test, decided) == 0
    assert Passes((loop,), function, caller=caller).level(decided.test, decided) == 2


def test_a_parameter_varies_as_what_it_is_given() -> None:
    module = cst.parse_module(
        "def show(loss, now, name='a', *, loud=False):\n    if now:\n        pass\n"
        "for i in range(9):\n    show(loss, i == 3, loud=args.loud)\n"
    )
    (function,), (loop,), (call, *_) = (
        list(descendants(module, cst.FunctionDef)),
        list(descendants(module, cst.For)),
        [one for one in descendants(module, cst.Call) if one.func.deep_equals(cst.Name("show"))],
    )
    inner = Passes((), function, call=call, caller=Passes((loop,)))
    assert [inner.level(cst.Name(name)) for name in ("now", "name", "loud")] == [1, 0, 0]


@pytest.mark.parametrize(
    ("returned", "numbers"),
    [
        ("x, x.shape[2]", (False, True)),
        ("x, len(x), x.float()", (False, True, False)),
        ("x, *x.split(2), x.size(0)", ()),
        ("x", ()),
    ],
)
def test_which_parts_of_what_a_function_returns_are_numbers(returned: str, numbers: tuple[bool, ...]) -> None:
    (function,) = descendants(cst.parse_module(f"def forward(self, x):\n    return {returned}\n"), cst.FunctionDef)
    assert isinstance(function, cst.FunctionDef)
    assert numbers_returned(function) == numbers
