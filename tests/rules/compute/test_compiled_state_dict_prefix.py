"""ACC423 compiled-state-dict-prefix, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one
from ..programs import IMPORTS, LEARNER

SILENT = {
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


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC423", IMPORTS + LEARNER + source + "\n", tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "net = torch.compile(net)\ntorch.save(net.state_dict(), 'm.pt')  # -> info none",
        "fast = torch.compile(net)\nfast.cuda()\ntorch.save({'model': fast.state_dict()}, 'm.pt')  # -> info none",
        "import conf\nif conf.fast:\n    net = torch.compile(net)\ntorch.save(net.state_dict(), 'm.pt')  # -> info none",
        "def save(m):\n    state = {'a': {'b': m.state_dict()}}\n    torch.save(state, 'm')  # -> info none\nsave(torch.compile(net))",
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC423", IMPORTS + LEARNER + source + "\n", tmp_path)
