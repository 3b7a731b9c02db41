"""ACC447 exhausted-parameters, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of, fixed

HEAD = "import itertools, conf\nimport torch\nfrom torch import nn\nfrom torch.nn.utils import clip_grad_norm_\n"
MADE = "params = filter(lambda p: p.requires_grad, net.parameters())\n"
OPTIMIZER = "optimizer = torch.optim.Adam(params)\n"
CLIP = "clip_grad_norm_(params, 1.0)\n"
PROGRAM = HEAD + "net = nn.Linear(2, 2)\n" + MADE + OPTIMIZER + CLIP
METHODS = HEAD + (
    "class Trainer:\n"
    "    def __init__(self, net):\n"
    "        self.params = itertools.chain(net.a.parameters(), net.b.parameters())\n"
    "        self.optimizer = torch.optim.Adam(self.params)\n"
    "    def step(self):\n"
    "        clip_grad_norm_(self.params, 1.0)\n"
)
INNER = HEAD + (
    "def main(net):\n"
    "    params = itertools.chain(net.a.parameters(), net.b.parameters())\n"
    "    optimizer = torch.optim.Adam(params)\n"
    "    def update():\n"
    "        for p in params:\n"
    "            p.requires_grad = False\n"
    "    return update\n"
)

SILENT = {
    "a list": (MADE, "params = list(net.parameters())\n"),
    "what is asked anew": (CLIP, "clip_grad_norm_(net.parameters(), 1.0)\n"),
    "what is bound anew": (OPTIMIZER, OPTIMIZER + MADE),
    "a use before": (OPTIMIZER + CLIP, CLIP.replace("clip_grad_norm_", "print") + OPTIMIZER),
    "a branch that may not have been taken": (OPTIMIZER, "if conf.learns:\n    " + OPTIMIZER),
    "another branch": (OPTIMIZER + CLIP, f"if conf.learns:\n    {OPTIMIZER}else:\n    {CLIP}"),
    "a loop that may end early": (OPTIMIZER, "for p in params:\n    if p.ndim > 1:\n        break\n"),
    "a loop within a call that stops at the first": (OPTIMIZER, "print(any(p.ndim > 1 for p in params))\n"),
    "an optimizer of nothing, which torch refuses": (CLIP, OPTIMIZER),
    "something else than parameters": (MADE, "params = filter(lambda p: p.requires_grad, conf.tensors)\n"),
    "parameters of what is not known": (MADE, "params = conf.net.parameters()\n"),
    "a filter of its own": (MADE, "def filter(*given):\n    return list(given[1])\n" + MADE),
    "a function that may keep it": (OPTIMIZER, "conf.count(params)\n"),
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    before, after = SILENT[case]
    assert before in PROGRAM
    assert findings_of("ACC447", PROGRAM, tmp_path)
    assert findings_of("ACC447", PROGRAM.replace(before, after), tmp_path) == []


MAKERS = [
    "net.parameters()",
    "itertools.chain(net.parameters(), conf.more)",
    "(p for p in net.parameters() if p.requires_grad)",
    "map(conf.view, net.parameters())",
]


@pytest.mark.parametrize("maker", MAKERS)
def test_iterators_of_all_kinds(maker: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC447", PROGRAM.replace(MADE, f"params = {maker}\n"), tmp_path)
    assert str(found.severity) == "error"
    assert "`params` is an iterator that line 7 has gone over to its end" in found.message
    assert "no gradient is clipped" in found.message


TAKEN = [
    "optimizer = torch.optim.Adam([{'params': params}])\n",
    "optimizer = torch.optim.Adam(lr=0.1, params=params)\n",
    "kept = list(params)\n",
    "count = sum(p.numel() for p in params)\n",
    "sizes = [p.numel() for p in params]\n",
    "for p in params:\n    p.requires_grad = True\n",
]


@pytest.mark.parametrize("line", TAKEN)
def test_what_comes_to_the_end(line: str, tmp_path: Path) -> None:
    assert len(findings_of("ACC447", PROGRAM.replace(OPTIMIZER, line), tmp_path)) == 1


def test_all_places_of_one_name_are_one_finding(tmp_path: Path) -> None:
    (found,) = findings_of("ACC447", PROGRAM + "for p in params:\n    p.requires_grad = False\n", tmp_path)
    assert [one.span.start.row for one in found.related] == [6, 7, 9]


@pytest.mark.parametrize("method", ["__init__", "build"])
def test_an_attribute_in_another_method(method: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC447", METHODS.replace("__init__", method), tmp_path)
    assert found.span.start.row == 10


@pytest.mark.parametrize(
    "more",
    [
        "    def renew(self, net):\n        self.params = net.parameters()\n",
        "def set(trainer, net):\n    trainer.params = list(net.parameters())\n",
        "    def renew(self, net):\n        self.params, self.net = list(net.parameters()), net\n",
        "    def renew(self, net):\n        self.params: list[object] = list(net.parameters())\n",
    ],
)
def test_silent_about_an_attribute_that_something_else_sets(more: str, tmp_path: Path) -> None:
    check_pair("ACC447", Pair(METHODS + more, more), tmp_path)


def test_a_function_that_is_defined_later(tmp_path: Path) -> None:
    (found,) = findings_of("ACC447", INNER, tmp_path)
    assert (found.span.start.row, found.span.start.column) == (9, 18)
    assert "this goes over nothing here" in found.message


INNER_SILENT = {
    "one that is defined before": (
        "    optimizer = torch.optim.Adam(params)\n    def update():\n        for p in params:\n"
        "            p.requires_grad = False\n",
        "    def update():\n        for p in params:\n            p.requires_grad = False\n"
        "    optimizer = torch.optim.Adam(params)\n",
    ),
    "one with a parameter of that name": ("def update():", "def update(params):"),
    "one with a variable of that name": ("        for p in", "        params = conf.params\n        for p in"),
    "one beside another that binds the name anew": (
        "    def update():",
        "    def renew():\n        nonlocal params\n        params = list(net.a.parameters())\n    def update():",
    ),
    "one where the optimizer may be made of others": (
        "    optimizer = torch",
        "    if conf.learns:\n        optimizer = torch",
    ),
}


@pytest.mark.parametrize("case", INNER_SILENT)
def test_silent_about_a_function(case: str, tmp_path: Path) -> None:
    before, after = INNER_SILENT[case]
    assert before in INNER
    assert findings_of("ACC447", INNER.replace(before, after), tmp_path) == []


def test_the_fix_of_a_generator_expression_stays_in_its_brackets(tmp_path: Path) -> None:
    source = PROGRAM.replace(MADE, "params = (p for p in net.parameters())\n")
    text = fixed("ACC447", source, tmp_path)
    assert text == source.replace("(p for p in net.parameters())", "(list(p for p in net.parameters()))")
    compile(text, "train.py", "exec")


def test_the_fix_makes_a_list(tmp_path: Path) -> None:
    text = fixed("ACC447", PROGRAM, tmp_path)
    assert text == PROGRAM.replace(MADE, "params = list(filter(lambda p: p.requires_grad, net.parameters()))\n")
    assert findings_of("ACC447", text, tmp_path) == []


@pytest.mark.filterwarnings("ignore:.*is an empty generator, no gradient clipping")
@pytest.mark.parametrize("version", ["list", "iterator"])
def test_what_torch_makes_of_it(version: str) -> None:
    """The claim: an optimizer leaves nothing of an iterator, and nothing is clipped then."""
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(2, 2)
    params = list(net.parameters()) if version == "list" else net.parameters()
    torch.optim.SGD(params, lr=0.1)
    (100 * net(torch.ones(1, 2))).sum().backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    norm = torch.linalg.vector_norm(torch.cat([one.grad.flatten() for one in net.parameters() if one.grad is not None]))
    assert (norm.item() <= 1.001) is (version == "list")
