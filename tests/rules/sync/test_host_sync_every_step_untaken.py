"""ACC208 host-sync-every-step in branches that no call of a function takes, by what it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of
from ..programs import IMPORTS

STEP = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
def hits(out, y, reduction="mean"):
    found = (out.argmax(1) == y).float()
    if reduction == "none":
        return found
    elif reduction == "mean":
        return found.mean().item()
    else:
        return found.sum().item()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
    out = model(x.cuda())
    out.sum().backward()
    kept = hits(out, y.cuda(), reduction="none")
"""
)
FIRST = STEP.replace('"none":\n        return found\n', '"mean":\n        return found.mean().item()\n').replace(
    'elif reduction == "mean":\n        return found.mean().item()\n    else:\n        return found.sum().item()',
    'elif reduction == "none":\n        return found',
)
PAIRS = {
    "a later branch": Pair(STEP, 'reduction="none")\n', 'reduction="sum")\n'),
    "the branch before": Pair(FIRST, 'reduction="none")\n', 'reduction="mean")\n'),
    "the branch before, by the default": Pair(FIRST, 'reduction="none")\n', "reduction=lib.asked)\n"),
    "the one before is taken": Pair(STEP, 'reduction == "none":', 'reduction == "all":'),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_about_a_branch_that_no_call_takes(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[case], tmp_path)


HANDED = (
    IMPORTS
    + """
import conf

def all_of(out):
    return out / out.max().item()

def some_of(out):
    return out / out.min().item()

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
    def forward(self, x, size, measured=False):
        out = self.layer(x)
        if measured:
            return all_of(out)
        else:
            return some_of(out)

class Net(nn.Module):
    def __init__(self, depth, measured=False):
        super(Net, self).__init__()
        self.depth = depth
        self.measured = measured
        self.parts = conf.build(depth)
    def forward(self, x):
        for part in self.parts:
            x = part[0](x, self.depth, self.measured)
        return x

def measure(loader):
    network = Net(3, measured=True)
    network.cuda().eval()
    found = [network(x) for x in loader]
    return len(found)

model = Net(3).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
    optimizer.zero_grad()
    model(x.cuda()).sum().backward()
    optimizer.step()
"""
)
ASKED = HANDED.replace("out / out.min().item()", "out / 2")
"""Only the branch waits that is not taken while nothing gives the option to what trains."""
ENDS = {
    "what trains is built with it": ("Net(3).cuda()", "Net(3, True).cuda()"),
    "by its name": ("Net(3).cuda()", "Net(3, measured=True).cuda()"),
    "by whatever is given": ("Net(3).cuda()", "Net(*conf.given).cuda()"),
    "it is set from outside": ("optimizer =", "model.measured = True; optimizer ="),
    "a name that is computed sets it": ("optimizer =", "setattr(model, conf.name, True); optimizer ="),
    "another default": ("depth, measured=False", "depth, measured=True"),
    "another value": ("self.measured = measured", "self.measured = conf.asked"),
    "the parameter is bound again": ("self.depth = depth", "self.depth = measured = depth"),
    "a class below it": ("import conf", "import conf\nclass Other(Net): pass"),
    "the class is handed on": ("model = Net", "models = {'net': Net}; model = Net"),
    "the call gives something else": ("self.measured)", "conf.asked)"),
    "the call gives it by its name": ("self.measured)", "measured=True)"),
    "the call gives whatever there is": ("self.depth, self.measured)", "*conf.given)"),
    "what is evaluated is trained": ("cuda().eval()", "cuda().eval(); conf.loss(network).backward()"),
    "what is evaluated is not switched": ("cuda().eval()", "cuda()"),
    "what is evaluated is handed back": ("return len(found)", "return network, len(found)"),
}


@pytest.mark.parametrize("case", ENDS)
def test_silent_about_an_option_that_nothing_gives_to_what_trains(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", Pair(ASKED, *ENDS[case]), tmp_path)


def test_the_branch_that_is_taken_is_named_without_the_other(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HANDED, tmp_path)
    assert "waits for the GPU at every step, at `out.min().item()`" in found.message
    assert not [one for one in found.related if "another branch" in one.message]
    (asked,) = findings_of("ACC208", HANDED.replace("model = Net(3)", "model = Net(3, True)"), tmp_path)
    assert [one for one in asked.related if "another branch" in one.message]
