"""ACC401 eval-without-no-grad where the values of what a model computes are read at once, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

ACTS = (
    IMPORTS
    + """
import gym
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 2)
    def forward(self, x):
        out = self.l(x)
        KEEP
        return out
class Policy:
    def __init__(self):
        self.actor = Actor().cuda()
        self.optimizer = torch.optim.Adam(self.actor.parameters())
    def act(self, state):
        state = torch.as_tensor(state).cuda()
        return self.actor(state).detach().cpu().numpy()
    def learn(self, batch):
        loss = self.actor(batch.cuda()).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
policy, env = Policy(), gym.make("Pendulum")
state = env.reset()
while True:
    state, reward, done, info = env.step(policy.act(state))
    policy.learn(torch.randn(4, 8))
"""
)
READ = "self.actor(state).detach().cpu().numpy()"


def test_says_where_nothing_but_values_is_used(tmp_path: Path) -> None:
    (found,) = findings_of("ACC401", ACTS.replace("KEEP", "pass"), tmp_path)
    assert found.message == (
        "what `self.actor` computes is only read, and autograd records it for nothing; compute it under "
        "`with torch.no_grad():`"
    )
    assert found.severity.value == "info"


SILENT = {
    "under no_grad": (f"        return {READ}", f"        with torch.no_grad():\n            return {READ}"),
    "used for more": (READ, "self.actor(state).mean()"),
    "kept by the model": ("KEEP", "self.last = out"),
    "a loss": (READ, "nn.functional.mse_loss(state, state).item()"),
    "a layer without weights": ("nn.Linear(8, 2)\n", "nn.Linear(8, 2)\n        self.gate = nn.ReLU()\n"),
    "once": ("while True:", "if True:"),
}
SPOKEN = {
    "a number": (READ, "self.actor(state).argmax().item()"),
    "a list": (READ, "self.actor(state)[0].cpu().tolist()"),
    "values": (READ, "self.actor(state).cpu().data.numpy().flatten()"),
    "in training mode": ("def act(self, state):", "def act(self, state):\n        self.actor.train()"),
}


@pytest.mark.parametrize("case", SILENT)
def test_is_silent_where_a_graph_is_used_or_not_recorded(case: str, tmp_path: Path) -> None:
    before, after = SILENT[case]
    text = ACTS.replace(before, after).replace("KEEP", "pass")
    if case == "a layer without weights":
        text = text.replace(READ, "self.actor.gate(state).cpu().numpy()")
    assert findings_of("ACC401", text, tmp_path) == []


@pytest.mark.parametrize("case", SPOKEN)
def test_speaks_of_each_way_to_read_values(case: str, tmp_path: Path) -> None:
    before, after = SPOKEN[case]
    (found,) = findings_of("ACC401", ACTS.replace(before, after).replace("KEEP", "pass"), tmp_path)
    assert "is only read" in found.message


COMPARES = (
    IMPORTS
    + """
import lib
class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 2)
    def forward(self, x, y):
        return (self.l(x) - self.l(y)).square().mean()
distance = Distance().cuda()
found = []
for name in lib.names():
    x, y = lib.load(name), lib.load(name + "_")
    far = distance(x.cuda(), y.cuda())
    print("%s: %.3f" % (name, far))
    found.append(far.item())
    del far
"""
)
CALL, LOOP_HEAD = "far = distance(x.cuda(), y.cuda())", "for name in lib.names():"
NOT_LATER = {
    "under no_grad": (CALL, f"with torch.no_grad():\n        {CALL}"),
    "kept with its graph": ("found.append(far.item())\n    del far\n", "found.append(far)\nlib.learn(found)\n"),
    "given to what is not known": ("found.append(far.item())", "lib.keep(far)"),
    "recording is switched off for all that follows": ("found = []", "torch.set_grad_enabled(False)"),
    "no GPU in sight": (".cuda()", ""),
    "once": ("del far", "break"),
    "in a loop over models": (LOOP_HEAD, "for distance in (distance, distance):\n    name = 'a'"),
    "in training mode": ("found = []", "found = []\ndistance.train()"),
    "a loop that learns": ("del far", "far.backward()"),
    "nothing is done with the result": (CALL, "far = torch.zeros(())\n    distance(x.cuda(), y.cuda())"),
    "what is not known to be a model": ("Distance().cuda()", "lib.pipeline().cuda()"),
}
LATER = {
    "as it is": ("", ""),
    "in a loop that waits for its end": (LOOP_HEAD, "while lib.more():\n    name = lib.next()"),
    "through another name": ("far.item()", "(far * 2).detach()"),
    "as a condition": ("del far", "assert far > 0"),
    "in a function": (CALL, "far = lib.shown(distance(x.cuda(), y.cuda()))"),
}


@pytest.mark.parametrize("case", NOT_LATER)
def test_is_silent_where_a_result_under_a_name_may_be_needed(case: str, tmp_path: Path) -> None:
    assert findings_of("ACC401", COMPARES.replace(*NOT_LATER[case]), tmp_path) == []


@pytest.mark.parametrize("case", LATER)
def test_speaks_of_a_result_that_is_only_read_under_a_name(case: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC401", COMPARES.replace(*LATER[case]), tmp_path)
    assert found.message.startswith("what `distance` computes is only read, and autograd records it for nothing")
    assert found.severity.value == "info"
