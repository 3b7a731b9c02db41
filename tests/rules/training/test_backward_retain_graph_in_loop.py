"""ACC414 backward-retain-graph-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, fixed, severities
from ..programs import IMPORTS, MODEL

LOADER = "loader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
SILENT = {
    "not retained": "    model(x).sum().backward()",
    "not a literal": "    model(x).sum().backward(retain_graph=conf.keep)",
    "two losses": "    y = model(x)\n    y.sum().backward(retain_graph=True)\n    y.mean().backward()",
    "a gradient penalty": (
        "    y = model(x).sum()\n    g = torch.autograd.grad(y, x)\n    y.backward(retain_graph=True)"
    ),
    "double backward": "    model(x).sum().backward(retain_graph=True, create_graph=True)",
    "one for each loss": "    for loss in model(x):\n        loss.backward(retain_graph=True)",
    "an adversary in a helper": "    attack(x)\n    model(x).sum().backward(retain_graph=True)",
    "the graphs are used after the loop": (
        "    loss = model(x).sum()\n    loss.backward(retain_graph=True)\n    total = loss\ntotal.backward()"
    ),
    "the graph was made before": "    y.backward(retain_graph=True)",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_silent(body: str, tmp_path: Path) -> None:
    head = "import conf\ny = model(torch.zeros(2, 8))\ndef attack(x):\n    model(x).sum().backward()\n"
    check_one("ACC414", IMPORTS + MODEL + LOADER + head + "for (x,) in loader:\n" + body + "\n", tmp_path)


def test_silent_outside_of_loops(tmp_path: Path) -> None:
    check_one("ACC414", IMPORTS + MODEL + "model(torch.zeros(2, 8)).sum().backward(retain_graph=True)\n", tmp_path)


HELPERS = {
    "two losses of a model": "out = model(x)\n    back(out.sum())\n    back(out.mean())",
    "two losses that are not known": "out = conf.net(model(x))\n    back(conf.a(out))\n    back(conf.b(out))",
    "two losses through a second helper": "out = conf.net(model(x))\n    back2(conf.a(out))\n    back2(conf.b(out))",
    "two losses by two ways": "out = conf.net(model(x))\n    back(conf.a(out))\n    back2(conf.b(out))",
}
BACK = """
import conf
def back(loss):
    loss.backward(retain_graph=True){mark}
def back2(loss):
    back(loss)
"""


@pytest.mark.parametrize("body", HELPERS.values(), ids=HELPERS.keys())
def test_silent_in_helpers_for_several_losses(body: str, tmp_path: Path) -> None:
    check_one(
        "ACC414", IMPORTS + MODEL + LOADER + BACK.format(mark="") + f"for (x,) in loader:\n    {body}\n", tmp_path
    )


SILENT_PROGRAMS = {
    "gan": """
model = nn.Linear(2, 2); d = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for (x,) in loader:
    fake = model(x)
    d(fake).sum().backward(retain_graph=True)
    (d(fake).mean()).backward()
""",
    "loop over losses": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
for (x,) in loader:
    out = model(x)
    for l in (out.sum(), out.mean()):
        l.backward(retain_graph=True)
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC414", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIR_LOADER = "import conf, contextlib, os\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"


def retained(line: str) -> Pair:
    """A step that keeps its graph, with one more line behind its backward pass."""
    source = f"{IMPORTS}{MODEL}{PAIR_LOADER}other = nn.Linear(8, 2)\nfor (x,) in loader:\n    loss = model(x).sum()\n"
    return Pair(f"{source}    loss.backward(retain_graph=True)\n    {line}\n", line, "pass")


PAIRS = {
    "a second loss": retained("loss.mean().backward()"),
    "perhaps a second loss": retained("if conf.twice: loss.mean().backward()"),
    "a second model": retained("other(loss).sum().backward()"),
    "actor and critic": retained("(other(x) - 1).sum().backward()"),
    "a scaled loss": retained("conf.scaler.scale(loss).backward()"),
    "autograd.grad": retained("torch.autograd.grad(loss, x)"),
    "autograd.backward": retained("torch.autograd.backward(loss)"),
    "an engine": retained("conf.engine.backward(loss)"),
    "create_graph": Pair(retained("pass").source.replace("=True", "=True, create_graph=True"), ", create_graph=True"),
    "perhaps create_graph": Pair(
        retained("pass").source.replace("=True", "=True, create_graph=conf.a"), ", create_graph=conf.a"
    ),
    "an option": Pair(retained("pass").source.replace("=True", "=conf.keep"), "conf.keep", "True"),
    "several passes over one graph": Pair(
        retained("pass").source.replace("    loss.backward", "    for k in range(2): loss.backward"),
        "for k in range(2): ",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC414", pair, tmp_path)


@pytest.mark.parametrize("helper", ["back", "back2"])
def test_reported_in_helpers(helper: str, tmp_path: Path) -> None:
    program = BACK.format(mark="  # -> info unsafe") + f"for (x,) in loader:\n    {helper}(model(x).sum())\n"
    check_one("ACC414", IMPORTS + MODEL + LOADER + program, tmp_path)


def test_reported_in_a_helper_of_two_loops(tmp_path: Path) -> None:
    loops = """
def train():
    for (x,) in loader:
        back(model(x).sum())
def refine():
    for (x,) in loader:
        back(model(x).mean())
train()
refine()
"""
    check_one("ACC414", IMPORTS + MODEL + LOADER + BACK.format(mark="  # -> info unsafe") + loops, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
def train(model, loader):
    for i, (x,) in enumerate(loader):
        loss = model(x).sum()
        loss.backward(retain_graph=True)  # -> info unsafe
        optimizer.step()
for epoch in range(3):
    train(model, loader)
    with torch.no_grad():
        for (x,) in loader:
            model(x)
"""
    check_one("ACC414", IMPORTS + MODEL + LOADER + source, tmp_path)
    assert "loss.backward()  #" in fixed("ACC414", IMPORTS + MODEL + LOADER + source, tmp_path)


REPORTED_PROGRAMS = {
    "alone": """
model = nn.Linear(2, 2)
loader = DataLoader(TensorDataset(torch.zeros(8, 2)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in loader:
    opt.zero_grad()
    loss = model(x).sum()
    loss.backward(retain_graph=True)  # -> info unsafe
    opt.step()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC414", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


CARRIES = """
model = nn.GRU(8, 8)
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
state = None
for (x,) in loader:
    opt.zero_grad()
    out, state = model(x, state)
    loss = out.sum()
    loss.backward(retain_graph=True)
    opt.step()
"""
STARTS_ANEW = {
    "detached behind the step": ("    opt.step()\n", "    opt.step()\n    state = state.detach()\n"),
    "detached in place": ("    opt.step()\n", "    opt.step()\n    state.detach_()\n"),
    "detached in the call": ("model(x, state)", "model(x, state.detach())"),
    "begun in each step": ("    opt.zero_grad()", "    state = None"),
    "not given": ("model(x, state)", "model(x)"),
    "another result": ("out, state = model(x, state)", "out, other = model(x, state)"),
    "a batch of its own": ("out, state = model(x, state)", "x, other = model(x)\n    out = x"),
    "no model": ("out, state = model(x, state)", "out, state = print(model(x), state)"),
}


@pytest.mark.parametrize("change", STARTS_ANEW.values(), ids=STARTS_ANEW.keys())
def test_state_that_is_not_carried_is_information(change: tuple[str, str], tmp_path: Path) -> None:
    assert CARRIES.count(change[0]) == 1
    assert severities("ACC414", IMPORTS + CARRIES.replace(*change), tmp_path) == ["info"]


STATES = {
    "one": ("", ""),
    "a pair": ("out, state = model(x, state)", "out, (state, cell) = model(x, (state, cell))"),
    "an attribute": ("state", "conf.state"),
    "by keyword": ("model(x, state)", "model(x, hx=state)"),
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES.keys())
def test_carried_state_is_a_warning(change: tuple[str, str], tmp_path: Path) -> None:
    (found,) = findings_of("ACC414", IMPORTS + "import conf\n" + CARRIES.replace(*change), tmp_path)
    name = "conf.state" if change[0] == "state" else "state"
    assert str(found.severity) == "warning"
    assert f"detach `{name}` in each step" in found.message


def test_carried_state_costs_all_steps_before() -> None:
    """What the warning says: without a cut, the graph of a step holds those of all steps before it."""
    torch = pytest.importorskip("torch")
    model, state, sizes = torch.nn.GRU(4, 4), None, []
    for _ in range(4):
        out, state = model(torch.zeros(1, 1, 4), state)
        sizes.append(_nodes(out.sum().grad_fn))
        out.sum().backward(retain_graph=True)
    assert sizes == sorted(set(sizes))


def _nodes(start: object) -> int:
    seen, todo = set(), [start]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [one for one, _ in node.next_functions]  # type: ignore[attr-defined]
    return len(seen)
