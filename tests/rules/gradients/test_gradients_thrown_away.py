"""ACC435 gradients-thrown-away, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

NETS = (
    IMPORTS
    + """
import itertools
import conf
g, d = conf.Generator(), conf.Critic()
g_optimizer = torch.optim.Adam(g.parameters())
d_optimizer = torch.optim.Adam(d.parameters())
def loss_of(scores):
    total = 0
    for score in scores:
        total += (1 - score).square().mean()
    return total, len(scores)
"""
)
STEP = """
for z, real in conf.batches:
    fake = g(z)
    d_optimizer.zero_grad()
    (d(fake.detach()) - d(real)).mean().backward()
    d_optimizer.step()
    g_optimizer.zero_grad()
    loss = -d(fake).mean()
    loss.backward()
    g_optimizer.step()
"""
PROGRAM = NETS + STEP

SILENT = {
    "frozen for the pass": Pair(
        PROGRAM.replace("    loss = -d", "    d.requires_grad_(False)\n    loss = -d"), "d.requires_grad_(False)\n    "
    ),
    "frozen by a function": Pair(
        PROGRAM.replace("    loss = -d", "    conf.set_requires_grad(d, False)\n    loss = -d"),
        "conf.set_requires_grad(d, False)\n    ",
    ),
    "frozen one by one": Pair(
        PROGRAM.replace(
            "    loss = -d", "    for p in d.parameters():\n        p.requires_grad = False\n    loss = -d"
        ),
        "p.requires_grad = False",
        "p.data",
    ),
    "toggled by a framework": Pair(
        PROGRAM.replace("    loss = -d", "    conf.toggle(d)\n    loss = -d"), "conf.toggle(d)\n    "
    ),
    "toggled by Lightning": Pair(
        PROGRAM.replace("    loss = -d", "    conf.trainer.toggle_optimizer(g_optimizer)\n    loss = -d"),
        "conf.trainer.toggle_optimizer(g_optimizer)\n    ",
    ),
    "its own update asks for the same": Pair(
        PROGRAM.replace(
            "(d(fake.detach()) - d(real)).mean().backward()", "s = d(fake)\n    s.mean().backward(retain_graph=True)"
        ).replace("-d(fake).mean()", "-s.mean()"),
        "-s.mean()",
        "-d(fake).mean()",
    ),
    "only some are asked for": Pair(
        PROGRAM.replace("loss.backward()", "loss.backward(inputs=list(g.parameters()))"),
        "inputs=list(g.parameters())",
    ),
    "added up on purpose": Pair(
        PROGRAM.replace("    d_optimizer.zero_grad()\n", "    # nothing\n"),
        "    # nothing\n",
        "    d_optimizer.zero_grad()\n",
    ),
    "zeroed too early": Pair(
        PROGRAM.replace("    d_optimizer.zero_grad()\n", "").replace(
            "    loss = -d", "    d.zero_grad()\n    loss = -d"
        ),
        "    d.zero_grad()\n    loss = -d(fake).mean()\n    loss.backward()\n",
        "    loss = -d(fake).mean()\n    loss.backward()\n    d.zero_grad()\n",
    ),
    "both are stepped": Pair(
        PROGRAM + "    d_optimizer.step()\n", "    g_optimizer.step()\n    d_optimizer", "    g_optimizer"
    ),
    "one optimizer for both": Pair(
        PROGRAM.replace("Adam(g.parameters())", "Adam(itertools.chain(g.parameters(), d.parameters()))"),
        "itertools.chain(g.parameters(), d.parameters())",
        "g.parameters()",
    ),
    "unknown parameters": Pair(
        PROGRAM.replace("Adam(g.parameters())", "Adam(conf.some)"), "Adam(conf.some)", "Adam(g.parameters())"
    ),
    "the loss does not depend on it": Pair(
        PROGRAM.replace("-d(fake).mean()", "-fake.mean()"), "-fake.mean()", "-d(fake).mean()"
    ),
    "it only gives values": Pair(
        PROGRAM.replace("-d(fake).mean()", "-(fake * d(fake).detach()).mean()"), ".detach()).mean()", ").mean()"
    ),
    "a reward that numpy computes": Pair(
        PROGRAM.replace("-d(fake).mean()", "torch.tensor(numpy.mean(d(fake))) - g(z)").replace(
            "import conf", "import conf, numpy"
        ),
        "numpy.mean(d(fake))",
        "d(fake).mean()",
    ),
    "a number that a function of the program reads": Pair(
        PROGRAM.replace("-d(fake).mean()", "read(d(fake).mean()) - g(z).mean()").replace(
            "def loss_of",
            "def read(x):\n    if isinstance(x, float):\n        return x\n    return x.item()\ndef loss_of",
        ),
        "return x.item()",
        "return x.sum()",
    ),
    "what an enumeration counts": Pair(
        PROGRAM.replace(
            "loss = -d(fake).mean()",
            "loss = -g(z).mean()\n    for i, s in enumerate(d(fake)):\n        loss = loss + i",
        ),
        "loss + i",
        "loss + s",
    ),
    "what is zipped beside it": Pair(
        PROGRAM.replace(
            "loss = -d(fake).mean()",
            "loss = -g(z).mean()\n    for a, s in zip(g(z), d(fake)):\n        loss = loss + a",
        ),
        "loss + a",
        "loss + s",
    ),
    "what is drawn from it": Pair(
        PROGRAM.replace("-d(fake).mean()", "-g(z).mean() + d(fake).softmax(1).multinomial(1)"), "multinomial", "cumsum"
    ),
    "values under a manager that is called so": Pair(
        PROGRAM.replace(
            "loss = -d(fake).mean()",
            "loss = -g(z).mean()\n    with conf.no_grad_or_nothing():\n        s = d(fake)\n    loss = loss + s",
        ),
        "no_grad_or_nothing",
        "nothing",
    ),
    "values under no_grad": Pair(
        PROGRAM.replace(
            "    loss = -d(fake).mean()", "    with torch.no_grad():\n        s = d(fake)\n    loss = (fake * s).sum()"
        ),
        "with torch.no_grad()",
        "if True",
    ),
}


@pytest.mark.parametrize("pair", SILENT.values(), ids=SILENT.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC435", pair, tmp_path)


def test_silent_about_one_network(tmp_path: Path) -> None:
    check_one("ACC435", NETS + "for x in conf.batches:\n    g(x).sum().backward()\n    g_optimizer.step()\n", tmp_path)


def test_reported_at_the_call(tmp_path: Path) -> None:
    (found,) = check_one(
        "ACC435", PROGRAM.replace("loss = -d(fake).mean()", "loss = -d(fake).mean()  # -> info none"), tmp_path
    )
    assert "weights of `d`" in found.message
    assert "`d.requires_grad_(False)`" in found.message
    assert "averaged" not in found.message


@pytest.mark.parametrize(
    "loss",
    [
        "scores = d(fake)\n    loss, _ = loss_of(scores)",
        "first, _ = d(fake)\n    parts = {'a': first}\n    parts['b'] = z\n    loss = sum(parts.values())",
        "loss = z.mean()\n    loss += d.score(fake)",
        "many = []\n    many.append(d(fake))\n    loss = torch.stack(many).mean()",
        "inner = d.module if conf.many else d\n    loss = inner(fake).mean()",
    ],
)
def test_what_a_loss_depends_on(loss: str, tmp_path: Path) -> None:
    assert findings_of("ACC435", PROGRAM.replace("loss = -d(fake).mean()", loss), tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("loss.backward()", "conf.scaler.scale(loss).backward()"),
        ("g_optimizer.step()", "conf.scaler.step(g_optimizer)"),
        ("loss.backward()", "conf.accelerator.backward(loss)"),
        ("    d_optimizer.zero_grad()", "    d.zero_grad()"),
        ("    d_optimizer.zero_grad()", "    for one in [g_optimizer, d_optimizer]:\n        one.zero_grad()"),
        ("Adam(d.parameters())", "Adam([{'params': d.parameters()}])"),
        ("Adam(d.parameters())", "Adam(filter(lambda p: True, d.parameters()))"),
    ],
)
def test_other_ways_to_write_a_step(old: str, new: str, tmp_path: Path) -> None:
    source = PROGRAM.replace(old, new)
    assert source != PROGRAM
    assert findings_of("ACC435", source, tmp_path)


def test_what_comes_before_a_network_is_detached(tmp_path: Path) -> None:
    """The update of the critic goes through the generator: to detach what that computes is the remedy."""
    source = PROGRAM.replace("d(fake.detach())", "d(g(z))")
    found = findings_of("ACC435", source, tmp_path)
    assert len(found) == 2
    assert "weights of `g`" in found[0].message
    assert "detach what `g` computes" in found[0].message


def test_several_networks_and_passes_are_one_finding(tmp_path: Path) -> None:
    source = PROGRAM.replace("d.parameters()", "itertools.chain(d.parameters(), e.parameters())")
    source = source.replace("-d(fake).mean()", "-d(fake).mean() + e(fake).mean()").replace(
        "g, d =", "e = conf.e\ng, d ="
    )
    (found,) = findings_of("ACC435", source, tmp_path)
    assert "`d` and `e`" in found.message
    assert "call `requires_grad_(False)` of each before" in found.message
    assert [one.message for one in found.related] == ["`e` is called here", "the backward pass is here"]


def test_parallel_processes_average_them_too(tmp_path: Path) -> None:
    source = PROGRAM.replace("g_optimizer =", "d = nn.parallel.DistributedDataParallel(d)\ng_optimizer =")
    (found,) = findings_of("ACC435", source, tmp_path)
    assert "averaged over all processes" in found.message


TRAINER = (
    IMPORTS
    + """
import conf
class Trainer:
    def __init__(self, g, d):
        self.g, self.d = g, d
        self.g_optimizer = torch.optim.Adam(self.g.parameters())
        self.d_optimizer = torch.optim.Adam(self.d.parameters())
    def update_d(self, z, real):
        self.d_optimizer.zero_grad()
        self.d(self.g(z).detach(), real).backward()
        self.d_optimizer.step()
    def update_g(self, z):
        self.g_optimizer.zero_grad()
        self.loss = self.d(self.g(z))
        self.loss.backward()
        self.g_optimizer.step()
trainer = Trainer(conf.g, conf.d)
for z, real in conf.batches:
    trainer.update_d(z, real)
    trainer.update_g(z)
"""
)


def test_updates_in_methods_of_their_own(tmp_path: Path) -> None:
    (found,) = findings_of("ACC435", TRAINER, tmp_path)
    assert "weights of `self.d`" in found.message
    check_one("ACC435", TRAINER.replace("        self.d_optimizer.zero_grad()\n", ""), tmp_path)


def test_dicts_of_networks_and_of_optimizers(tmp_path: Path) -> None:
    source = (
        IMPORTS
        + """
import conf
class Solver:
    def __init__(self):
        self.nets, self.optims = conf.nets(), conf.optims()
        for name in self.nets.keys():
            self.optims[name] = torch.optim.Adam(self.nets[name].parameters())
    def reset(self):
        for one in self.optims.values():
            one.zero_grad()
    def train(self):
        nets, optims = self.nets, self.optims
        for z, real in conf.batches:
            loss = critic_loss(nets, z, real)
            self.reset()
            loss.backward()
            optims.critic.step()
            loss = loss_for(nets, z)
            self.reset()
            loss.backward()
            optims.generator.step()
def critic_loss(nets, z, real):
    return nets.critic(nets.generator(z).detach(), real)
def loss_for(networks, z):
    return networks.critic(networks.generator(z))  # -> info none
Solver().train()
"""
    )
    check_one("ACC435", source, tmp_path)
    check_one("ACC435", source.replace("            self.reset()\n", "").replace("  # -> info none", ""), tmp_path)
