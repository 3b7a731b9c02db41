"""A trial on a plain script: real child, real torch, real workers."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_TRANSFER, NO_WAIT, Block, Measure, Settings
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import CandidateError

SCRIPT = """\
import time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.full((8,), float(index % 5)), index % 3


model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.01)


def main():
    loader = DataLoader(Samples(), batch_size=10, shuffle=True)
    for epoch in range(1000):
        for count, (x, y) in enumerate(loader):
            assert count < len(loader)
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""


OWN_STEP = """\
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.01 * parameter.grad
"""
BY_HAND = (
    SCRIPT.replace("optimizer = torch.optim.SGD(model.parameters(), 0.01)\n", "")
    .replace("optimizer.zero_grad", "model.zero_grad")
    .replace("            optimizer.step()\n", OWN_STEP)
)
"""With its first optimizer torch imports its compiler, for as long as all else takes to start."""
assert "optim" not in BY_HAND


def adds_up(block: Block) -> bool:
    parts = block.wait + block.transfer + block.compute + block.host
    return parts == pytest.approx(block.seconds, rel=1e-6)


def test_the_clock_of_a_block_stands_between_epochs(tmp_path: Path) -> None:
    """And the block says when it ran, so that nothing else is read off meanwhile."""
    script = tmp_path / "train.py"
    between = "        time.sleep(0.2)\n        for count"
    script.write_text(BY_HAND.replace("return 400", "return 60").replace("        for count", between))
    with Trial(Command(script, None, (), tmp_path), deadline=time.monotonic() + 300) as trial:
        trial.start()
        block = trial.measure(Measure(BASELINE, min_batches=18, min_seconds=0.0))
        trial.stop()
    spans = block.stretches
    assert len(spans) > 1
    assert spans[0][0] == block.began
    assert sum(end - begin for begin, end in spans) == pytest.approx(block.seconds)
    assert all(later - end > 0.15 for (_, end), (later, _) in pairwise(spans))


def test_blocks_of_a_plain_script(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    with Trial(Command(script, None, (), tmp_path), deadline=time.monotonic() + 300) as trial:
        ready = trial.start()
        assert ready.device == "cpu"
        loader = ready.loaders[0]
        assert (loader.role, loader.batch_size, loader.length, loader.settings) == ("train", 10, 40, Settings())
        assert loader.dataset == "__main__.Samples"
        site = loader.stack[-1]
        assert (site.filename, site.function, site.row, site.column) == (str(script), "main", 21, 14)
        assert SCRIPT.splitlines()[site.row - 1][site.column - 1 : site.end_column - 1].startswith("DataLoader(")
        blocks = {}
        for what in (BASELINE, Settings(2, 2), Settings(2, 2, persistent_workers=True), NO_WAIT):
            least = 100 if what == NO_WAIT else 20
            block = blocks[what] = trial.measure(Measure(what, min_batches=least, min_seconds=0.1))
            assert adds_up(block)
            assert block.batches >= 20
            assert block.samples == 10 * block.batches
        assert blocks[Settings(2, 2)].batches % 2 == 0
        assert blocks[Settings(2, 2)].worker_bytes > 0
        # Ten samples of 2 ms are waited for one after the other, or not at all.
        assert blocks[BASELINE].wait >= 20 * 10 * 0.002
        waits = {what: block.wait / block.batches for what, block in blocks.items()}
        assert waits[NO_WAIT] < waits[BASELINE] / 10
        epoch = blocks[Settings(2, 2)].epoch_seconds
        assert epoch is not None
        assert epoch > 0.02
        assert blocks[Settings(2, 2, persistent_workers=True)].epoch_seconds is not None
        with pytest.raises(CandidateError, match="no accelerator"):
            trial.measure(Measure(NO_TRANSFER))
        with pytest.raises(CandidateError, match="without an accelerator"):
            trial.measure(Measure(Settings(0, pin_memory=True)))
        assert adds_up(trial.measure(Measure(BASELINE, min_batches=4, min_seconds=0.0)))
        trial.stop()
    assert trial.leaked == ()
    assert list(tmp_path.iterdir()) == [script]


GARBAGE = """\
import gc


class Leftover:
    def __del__(self):
        with open("collected.txt", "w") as file:
            file.write("collected")


gc.set_threshold(1_000_000_000)
one = Leftover()
one.own = one
del one
{ask}
"""


@pytest.mark.parametrize(("ask", "collected"), [("", ["collected.txt"]), ("gc.disable()", [])])
def test_what_importing_left_over_is_collected_before_the_first_block(
    tmp_path: Path, ask: str, collected: list[str]
) -> None:
    """Else a full collection falls into a block; a script that does without is left alone."""
    script = tmp_path / "train.py"
    script.write_text(GARBAGE.format(ask=ask) + BY_HAND)
    with Trial(Command(script, None, (), tmp_path), deadline=time.monotonic() + 60) as running:
        running.start()
        running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.05))
    assert [Path(path).name for path in running.contained] == collected
