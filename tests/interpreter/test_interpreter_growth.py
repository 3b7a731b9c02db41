"""Work grows with the size of a file and no faster: counted in calls of functions, not by the clock."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from accel_advisor.config import Config
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.report import Program
from accel_advisor.linting.ruleset import known_codes
from accel_advisor.selection import Selection, selectors

SMALL, LARGE = 60, 240
MOST_GROWTH = 1.35 if sys.version_info < (3, 12) else 1.4
"""Calls per character in the large program over those in the small one; 4 where work grows with the square. Newer
Pythons count no calls for comprehensions, and come to 1.354 where 3.11 comes to 1.323."""

HEAD = """\
import torch
from functools import partial
from torch import nn
from torch.utils.data import DataLoader

"""


def lines(form: str, count: int, start: int = 0) -> str:
    """A line for each number: ``$`` stands for it, ``<`` for the one before, ``>`` for the one after, round."""
    made = (
        form.replace("$", str(i)).replace("<", str(max(i - 1, 0))).replace(">", str((i + 1) % count))
        for i in range(start, count)
    )
    return "\n".join(made) + "\n"


PROGRAMS: dict[str, Callable[[int], str]] = {
    "a long function": lambda n: "def f(l, m):\n  for x in l:\n" + lines("    y$ = m(x.cuda()).item()", n),
    "arrays that are copied": lambda n: (
        "def f(l, m):\n  for x in l:\n" + lines("    m(torch.from_numpy(x).cuda()).sum().backward()", n)
    ),
    "a function that moves": lambda n: "def f(x): return x.cuda()\n" + lines("a$ = f(torch.zeros(3))", n),
    "assignments": lambda n: lines("a$ = torch.zeros(3).cuda()", n),
    "functions that call the next": lambda n: lines("def f$(x): return f>(x.cuda())", n) + "f0(torch.zeros(3))\n",
    "functions that call all": lambda n: (
        lines("def f$(x): return f>(f<(f1(f0(x))), f2(f3(x)))", n) + "f0(torch.zeros(3))\n"
    ),
    "lambdas that call twice": lambda n: (
        "f0 = lambda x: x\n" + lines("f$ = lambda x: f<(f<(x))", n, 1) + f"f{n - 1}(torch.zeros(3))\n"
    ),
    "defaults that call twice": lambda n: (
        "def f0(x): return x\n" + lines("def f$(x, g=f<): return g(g(x))", n, 1) + f"f{n - 1}(1)\n"
    ),
    "partials of partials": lambda n: (
        "def f0(x, **k): return x\n" + lines("f$ = partial(f<, a$=1)", n, 1) + f"f{n - 1}(1)\n"
    ),
    "methods": lambda n: (
        "class A(nn.Module):\n" + lines("  def m$(self, x): return self.m>(x)", n) + "A().cuda().m0(torch.zeros(3))\n"
    ),
    "classes under classes": lambda n: (
        "class A0(nn.Module):\n  def forward(self, x): return x\n"
        + lines("class A$(A<):\n  def forward(self, x): return super().forward(x)", n, 1)
        + f"A{n - 1}()(torch.zeros(3))\n"
    ),
    "classes under two classes": lambda n: (
        "class A0(nn.Module): pass\nclass B0(nn.Module): pass\n"
        + lines("class A$(A<, B<): pass\nclass B$(B<, A<): pass", n, 1)
        + f"A{n - 1}()(torch.zeros(3))\n"
    ),
    "a wide dict": lambda n: "c = {" + lines("'k$': $,", n) + "}\nDataLoader(d, **c)\n",
    "entries of a dict": lambda n: "c = {}\n" + lines("c['k$'] = $", n) + "DataLoader(d, **c)\n",
    "branches": lambda n: "if a:\n  x = 0\n" + lines("elif a == $:\n  x = torch.zeros($).cuda()", n) + "f(x)\n",
    "conditions": lambda n: "x = 0\n" + lines("if a$:\n  x = $", n) + "DataLoader(d, num_workers=x)\n",
    "returns": lambda n: "def f(a):\n" + lines("  if a == $: return nn.Linear($, 2)", n) + "f(1).cuda()\n",
    "cases": lambda n: "match x:\n" + lines("  case $:\n    y = x.cuda()", n),
    "loops in loops": lambda n: "".join(f"{' ' * i}for x{i} in l:\n" for i in range(n // 4)) + " " * n + "x0.item()\n",
    "loops": lambda n: lines("for x in DataLoader(d$): x.cuda().item()", n),
    "training loops": lambda n: (
        "m = nn.Linear(2, 2).cuda()\no = torch.optim.SGD(m.parameters())\n"
        + lines("for x in DataLoader(d$):\n  s = m(x.cuda()).sum()\n  s.backward()\n  o.step()\n  print(s.item())", n)
    ),
    "a long list": lambda n: "x = [" + lines("$,", n) + "]\ny = x + x\nfor z in x: z.cuda()\n",
    "a growing list": lambda n: "x = []\n" + lines("x.append(torch.zeros($))", n) + "for z in x: z.cuda()\n",
    "tuples of twice the last": lambda n: "x = (1,)\n" + lines("x = (x, x)", n) + "f(x)\nDataLoader(*x)\n",
    "dicts of twice the last": lambda n: "x = {}\n" + lines("x = {'a': x, 'b': x}", n) + "DataLoader(**x)\n",
    "calls with the last twice": lambda n: "import numpy as np\nx = f()\n" + lines("x = np.add(x, x)", n) + "g(x)\n",
    "choices of the last": lambda n: "x = f()\n" + lines("x = (x, g$) if a else (h$, x)", n),
    "attributes": lambda n: "x = f()\n" + lines("x = x.a$", n),
    "loaders": lambda n: lines("l$ = DataLoader(d, batch_size=$, num_workers=0)", n),
    "suppressions": lambda n: lines("l$ = DataLoader(d, num_workers=0)  # accel: ignore[ACC102] $", n),
    "options": lambda n: (
        "import argparse\np = argparse.ArgumentParser()\n"
        + lines("p.add_argument('--a$', type=int, default=$)", n)
        + "args = p.parse_args()\n"
        + lines("l$ = DataLoader(d, num_workers=args.a$)", n)
    ),
    "generators": lambda n: (
        "def g0(l): yield from l\n"
        + lines("def g$(l): yield from g<(l)", n, 1)
        + f"for x in g{n - 1}(DataLoader(d)): x.cuda()\n"
    ),
    "calls of one function": lambda n: "def f(w): return DataLoader(d, num_workers=w)\n" + lines("l$ = f($)", n),
    "context managers": lambda n: lines("with torch.no_grad(): x = m(x.cuda())", n),
}


def calls_per_character(text: str, root: Path) -> float:
    """How many Python functions are called to lint a program, for each character of it."""
    config = Config(root=root)
    config = replace(config, selection=Selection(extend_select=selectors(tuple(known_codes()), "test")))
    checker = Checker()
    assert checker.ruleset(config).rules
    name = str(root / "train.py")
    calls = cProfile.Profile(builtins=False)  # counts what sys.setprofile is told of, without calling a function for it
    calls.enable()
    try:
        result = checker.check(Program((name,), (config,), str(config.root)), {name: text.encode()}, {})
    finally:
        calls.disable()
    assert not [one for one in result.findings if one.code in ("ACC001", "ACC003", "ACC004")], result.findings
    return sum(one.callcount for one in calls.getstats()) / len(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_work_grows_with_the_program(name: str, tmp_path: Path) -> None:
    sizes = SMALL - 1, SMALL, LARGE  # what is imported and remembered at the first is no work of the program
    _, small, large = (calls_per_character(HEAD + PROGRAMS[name](size), tmp_path) for size in sizes)
    assert large <= MOST_GROWTH * small


def work(text: str, root: Path) -> float:
    """How many Python functions are called to lint a program."""
    return calls_per_character(text, root) * len(text)


def busy(root: Path, calls: int) -> str:
    """Calls of a long function of another file, each with another argument."""
    (root / "helper.py").write_text("def busy(k):\n" + lines("  a$ = k", 1000) + "  return k\n")
    return "from helper import busy\n" + lines("busy($)", calls)


def test_what_is_only_imported_is_followed_for_each_call_up_to_a_limit(tmp_path: Path) -> None:
    few, many = (work(HEAD + busy(tmp_path, calls), tmp_path) for calls in (8, 60))
    assert many < 1.5 * few


def test_what_is_imported_takes_nothing_from_what_is_asked_for(tmp_path: Path) -> None:
    own = "def own(k):\n" + lines("  b$ = k.cuda()", 40) + "  return k\n" + lines("own($)", 20)
    alone = work(HEAD + own, tmp_path) - work(HEAD, tmp_path)
    called = busy(tmp_path, 60)
    beside = work(HEAD + called + own, tmp_path) - work(HEAD + called, tmp_path)
    assert beside > 0.8 * alone


NETS = 24


def nets(root: Path, calls: int, *, own: bool) -> str:
    """Calls of modules with a long ``forward``, that of each reading a module of its own; they are defined here, or in
    another file."""
    for number in range(NETS):
        (root / f"part{number}.py").write_text(lines("b$ = $", 50))
    form = "class Net$(nn.Module):\n  def forward(self, x):\n    import part$\n    part$.b0\n"
    defined = "from torch import nn\n" + lines(form + "".join(f"    a{i} = x\n" for i in range(100)), NETS)
    (root / "nets.py").write_text("" if own else defined)
    return (defined if own else "from nets import *\n") + lines("n$ = Net$()\nn$(torch.zeros(3))", calls)


def test_modules_that_are_only_imported_are_followed_up_to_a_limit(tmp_path: Path) -> None:
    work(HEAD + nets(tmp_path, NETS, own=False), tmp_path)  # from here on the trees are there
    few, many = (work(HEAD + nets(tmp_path, calls, own=False), tmp_path) for calls in (8, NETS))
    assert many < 2 * few
    own = work(HEAD + nets(tmp_path, NETS, own=True), tmp_path)
    assert own > 3 * many
