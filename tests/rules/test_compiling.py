"""ACC421, ACC422 and ACC423, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

NET = """
net = nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.load("x.pt"))
loader = DataLoader(data, batch_size=16)
def learn(model, x):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""

LOOP_SILENT = {
    "once": "net = torch.compile(net)\nfor (x,) in loader:\n    learn(net, x)",
    "a model of its own in each pass": (
        "for width in (8, 16):\n    net = nn.Linear(8, width)\n    net = torch.compile(net)\n    learn(net, 1)"
    ),
    "one of several models": "for net in (nn.Linear(8, 2), nn.Linear(8, 3)):\n    net = torch.compile(net)\n    learn(net, 1)",
    "under another name once an epoch": "for e in range(9):\n    fast = torch.compile(net)\n    for (x,) in loader:\n        learn(fast, x)",
    "on a condition": "for e in range(9):\n    if e == 3:\n        net = torch.compile(net)\n    learn(net, 1)",
    "in place": "for e in range(9):\n    net.compile()\n    learn(net, 1)",
    "a function": "for (x,) in loader:\n    torch.compile(lambda t: t + 1)(x)",
    "built for each batch": "for (x,) in loader:\n    fresh = torch.compile(nn.Linear(8, 2))\n    fresh(x).sum().backward()",
}


@pytest.mark.parametrize("source", LOOP_SILENT.values(), ids=LOOP_SILENT.keys())
def test_compile_in_loop_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC421", IMPORTS + NET + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "for e in range(9):\n    net = torch.compile(net)  # -> info none\n    learn(net, 1)",
        "while True:\n    net = torch.compile(net, mode='reduce-overhead')  # -> info none\n    learn(net, 1)",
        "for (x,) in loader:\n    fast = torch.compile(net)  # -> info none\n    learn(fast, x)",
        "for (x,) in loader:\n    torch.compile(net)(x).sum().backward()  # -> info none",
    ],
)
def test_compile_in_loop_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC421", IMPORTS + NET + source + "\n", tmp_path)


TRAIN = "\nfor (x,) in loader:\n    learn(fast, x)\n"
RAGGED_SILENT = {
    "shapes may change": "fast = torch.compile(net)\nloader = DataLoader(data, batch_size=16)",
    "asked to be dynamic": (
        "fast = torch.compile(net, dynamic=True, mode='reduce-overhead')\nloader = DataLoader(data, batch_size=16)"
    ),
    "the last batch is dropped": (
        "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=16, drop_last=True)"
    ),
    "perhaps dropped": (
        "import conf\nfast = torch.compile(net, dynamic=False)\n"
        "loader = DataLoader(data, batch_size=16, drop_last=conf.drop)"
    ),
    "other arguments": (
        "import conf\nfast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=16, **conf.kw)"
    ),
    "batches of one": "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data)",
    "a sampler of batches": (
        "import conf\nfast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_sampler=conf.sampler)"
    ),
    "no batches": "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=None)",
    "an even number of samples": (
        "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16)"
    ),
    "the plain model": "torch.compile(net, dynamic=False)\nfast = net\nloader = DataLoader(data, batch_size=16)",
    "an option": (
        "import conf\nfast = torch.compile(net, dynamic=conf.dynamic)\nloader = DataLoader(data, batch_size=16)"
    ),
}


@pytest.mark.parametrize("source", RAGGED_SILENT.values(), ids=RAGGED_SILENT.keys())
def test_ragged_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC422", IMPORTS + NET + source + TRAIN, tmp_path)


def test_ragged_silent_in_evaluation(tmp_path: Path) -> None:
    source = (
        "fast = torch.compile(net, dynamic=False)\nwith torch.no_grad():\n    for (x,) in loader:\n        fast(x)\n"
    )
    check_one("ACC422", IMPORTS + NET + source, tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "fast = torch.compile(net, dynamic=False)\nloader = DataLoader(data, batch_size=16)  # -> info none",
        "fast = torch.compile(net, mode='reduce-overhead')\nloader = DataLoader(data, 16)  # -> info none",
        (
            "fast = torch.compile(net, dynamic=False)\n"
            "loader = DataLoader(TensorDataset(torch.zeros(60, 8)), batch_size=16)  # -> info none"
        ),
    ],
)
def test_ragged_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC422", IMPORTS + NET + source + TRAIN, tmp_path)


PREFIX_SILENT = {
    "the plain model": "fast = torch.compile(net)\ntorch.save(net.state_dict(), 'm.pt')",
    "compiled in place": "net.compile()\ntorch.save(net.state_dict(), 'm.pt')",
    "the module inside": "net = torch.compile(net)\ntorch.save(net._orig_mod.state_dict(), 'm.pt')",
    "kept in memory": "net = torch.compile(net)\nbest = net.state_dict()",
    "the prefix is taken off": (
        "net = torch.compile(net)\nkept = {k.replace('_orig_mod.', ''): v for k, v in net.state_dict().items()}\n"
        "torch.save(net.state_dict(), 'm.pt')"
    ),
    "loaded into a compiled model": (
        "net = torch.compile(net)\nnet.load_state_dict(torch.load('m.pt'))\ntorch.save(net.state_dict(), 'm.pt')"
    ),
    "the optimizer's": "net = torch.compile(net)\ntorch.save(optimizer.state_dict(), 'o.pt')",
    "a function": "f = torch.compile(lambda t: t)\ntorch.save(net.state_dict(), 'm.pt')",
}


@pytest.mark.parametrize("source", PREFIX_SILENT.values(), ids=PREFIX_SILENT.keys())
def test_prefix_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC423", IMPORTS + NET + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "net = torch.compile(net)\ntorch.save(net.state_dict(), 'm.pt')  # -> info none",
        "fast = torch.compile(net)\nfast.cuda()\ntorch.save({'model': fast.state_dict()}, 'm.pt')  # -> info none",
        "import conf\nif conf.fast:\n    net = torch.compile(net)\ntorch.save(net.state_dict(), 'm.pt')  # -> info none",
        "def save(m):\n    state = {'a': {'b': m.state_dict()}}\n    torch.save(state, 'm')  # -> info none\nsave(torch.compile(net))",
    ],
)
def test_prefix_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC423", IMPORTS + NET + source + "\n", tmp_path)


def test_what_is_known_of_a_module_is_known_of_the_compiled_one(tmp_path: Path) -> None:
    source = """
net = torch.compile(nn.Linear(8, 2))
net.cuda()
for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8))):
    net(x)  # -> error
"""
    check_one("ACC302", IMPORTS + NET + source, tmp_path)
