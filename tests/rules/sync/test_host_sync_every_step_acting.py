"""ACC208 host-sync-every-step, in loops that step an environment, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair

AGENT = """
import conf
import torch
from torch import nn

class Game:
    def step(self, action):
        return conf.look(action)

class Agent:
    def __init__(self):
        self.net = nn.Linear(8, 2).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters())
    def act(self, state):
        with torch.no_grad():
            return self.net(state.cuda()).argmax(1).item()
    def learn(self, states):
        q = self.net(states.cuda())
        READ
        loss = q.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        conf.keep(loss.item())

agent, game, state = Agent(), Game(), conf.state
for turn in range(conf.turns):
    action = agent.act(state)
    state, reward, done = game.step(action)
    agent.learn(conf.states)
"""
PAIRS = {
    "the action that the next step needs": Pair(
        AGENT.replace("READ", ""), "state, reward, done", "state, loss, accuracy"
    ),
    "values alone, where it learns": Pair(AGENT.replace("READ", ""), "loss = q.mean()", "loss = q[q > 0].mean()"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[case], tmp_path)


def test_what_learning_waits_for_in_its_midst_is_told_first(tmp_path: Path) -> None:
    source = AGENT.replace("READ", "q = q[q > 0]  # -> info")
    (found,) = check_one("ACC208", source, tmp_path)
    assert [one.message for one in found.related][:1] == ["it waits here too"]
    assert "masks" in found.message
