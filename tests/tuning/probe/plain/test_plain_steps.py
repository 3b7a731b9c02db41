"""Which optimizer ends a step; and loops without a loader in real trials."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.plain_loop import Unreplayed
from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Measure
from accel_advisor.tuning.probe.plain.plain_steps import ROLE, Steppers
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import CandidateError


class Sgd:
    pass


class Adam:
    pass


def test_one_optimizer_ends_a_step() -> None:
    one, seen = Sgd(), Steppers()
    assert seen.slowest is None
    for _ in range(3):
        seen.stepped(one)
    assert seen.slowest == (id(one), "Sgd")


@pytest.mark.parametrize("critics", [1, 5])
def test_of_two_the_one_that_steps_less_often_ends_it(critics: int) -> None:
    critic, generator, seen = Sgd(), Adam(), Steppers()
    for _ in range(4):
        for _ in range(critics):
            seen.stepped(critic)
        seen.stepped(generator)
    assert seen.slowest == (id(generator), "Adam")


def test_one_that_steps_no_more_ends_none() -> None:
    early, later, seen = Sgd(), Adam(), Steppers()
    for one in [early] * 3 + [later] * 20:
        seen.stepped(one)
    assert seen.slowest == (id(later), "Adam")


GAN = """
import time
import torch
torch.set_num_threads(1)

class Training:
    def __init__(self):
        self.at = 0
        self.data = torch.rand(4096, 8)
        self.critic, self.generator = torch.nn.Linear(8, 1), torch.nn.Linear(2, 8)
        self.optimizers = [torch.optim.SGD(one.parameters(), 0.01) for one in (self.critic, self.generator)]

    def next_batch(self):
        time.sleep(0.004)
        batch = self.data[self.at : self.at + 16]
        self.at = (self.at + 16) % 4096
        return batch

    def run(self):
        while True:
            for _ in range(2):
                real = self.next_batch()
                with torch.no_grad():
                    fake = self.generator(torch.rand(16, 2))
                (self.critic(fake).mean() - self.critic(real).mean()).backward()
                self.optimizers[0].step()
            self.critic(self.generator(torch.rand(16, 2))).mean().backward()
            self.optimizers[1].step()

Training().run()
"""
CLOSURE = """
import torch
torch.set_num_threads(1)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)

def batches():
    while True:
        yield torch.rand(16, 8)

for x in batches():
    def closure():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss
    optimizer.step(closure)
"""


def started(folder: Path, text: str) -> Trial:
    (folder / "train.py").write_text(text)
    return Trial(Command(Path("train.py"), None, (), folder), deadline=time.monotonic() + 120)


def test_two_optimizers_in_a_class(tmp_path: Path, temporary: Path) -> None:
    with started(tmp_path, GAN) as running:
        ready = running.start()
        loop, info = ready.plain, ready.loaders[0]
        assert loop is not None
        assert (loop.function, loop.calls, loop.optimizer) == ("Training.next_batch", 2, "SGD")
        assert loop.unreplayed is None
        assert (info.role, info.batch_size) == (ROLE, 16)
        assert info.stack[-1].function == "run"
        own = running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.1))
        assert sum(end - begin for begin, end in own.stretches) == pytest.approx(own.seconds)
        assert own.wait >= own.batches * 2 * 0.004
        assert own.samples == own.batches * 32
        assert own.passes is not None
        assert own.passes.forward + own.passes.backward + own.passes.optimizer <= own.compute * 1.001
        assert own.wait + own.transfer + own.compute + own.host == pytest.approx(own.seconds)
        replayed = running.measure(Measure(NO_WAIT, min_batches=8, min_seconds=0.1))
        assert replayed.wait < replayed.batches * 0.004
        watched = running.measure(Measure(BASELINE, min_batches=4, min_seconds=0.2, lines=True))
        assert watched.lines is not None
        assert watched.lines.asks[-1].function == "run"
        running.stop()
    assert running.leaked == ()


def test_a_generator_and_a_closure(tmp_path: Path, temporary: Path) -> None:
    with started(tmp_path, CLOSURE) as running:
        ready = running.start()
        assert ready.plain is not None
        assert (ready.plain.function, ready.plain.unreplayed) == ("batches", Unreplayed.GENERATOR)
        own = running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.05))
        assert own.passes is not None
        assert min(own.passes.forward, own.passes.backward, own.passes.optimizer) > 0
        with pytest.raises(CandidateError, match="no batch could be kept"):
            running.measure(Measure(NO_WAIT))
        running.stop()
