"""Functions that are a step of a training, by whomever they are called."""

from __future__ import annotations

from pathlib import Path

from ..rules.checks import Pair, check_pair, findings_of

AGENT = """
import copy
import torch
from torch import nn

def follow(net, target):
    for param, other in zip(net.parameters(), target.parameters()):
        other.data.copy_(0.1 * param.data + 0.9 * other.data)

class Agent:
    def __init__(self, net):
        self.critic = net.cuda()
        self.target = copy.deepcopy(net).cuda()
        self.critic_opt = torch.optim.Adam(self.critic.parameters())

    def update_critic(self, x):
        loss = self.critic(x.cuda()).mean()
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()

    def update(self, x):
        self.update_critic(x)
        follow(self.critic, self.target)
"""


def test_a_method_that_calls_those_that_take_steps_is_a_step(tmp_path: Path) -> None:
    (found,) = findings_of("ACC436", AGENT, tmp_path)
    assert "that a training calls this function at each step" in found.message
    no_step = AGENT.replace("self.critic_opt.step()", "pass")
    check_pair("ACC436", Pair(no_step, "pass", "self.critic_opt.step()"), tmp_path)


def test_a_method_that_calls_them_in_a_loop_is_more_than_a_step(tmp_path: Path) -> None:
    looping = AGENT.replace(
        "        self.update_critic(x)", "        for one in x:\n            self.update_critic(one)"
    )
    check_pair("ACC436", Pair(looping, "for one in x:\n            ", "one = x\n        "), tmp_path)
