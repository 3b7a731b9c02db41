"""ACC117 for evaluations among the epochs of a distributed training, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Frequency, Severity

from ..checks import Pair, check_pair, findings_of
from ..programs import FILES

PARALLEL = """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import FakeData
rank = int(os.environ["LOCAL_RANK"])
fake = FakeData()
dist.init_process_group("nccl")
model = DDP(nn.Linear(8, 2).to(rank), device_ids=[rank])
"""
LOADERS = """
loader = DataLoader(fake, sampler=DistributedSampler(fake))
val = DataLoader(fake, batch_size=4)
"""
EPOCHS = """
for epoch in range(10):
    for x in loader:
        model(x).sum().backward()
    for x in val:
        with torch.no_grad():
            model(x)
"""
SPEAKS = FILES + PARALLEL + LOADERS + EPOCHS
PAIRS = {
    "a sampler": Pair(SPEAKS.replace("batch_size=4", "sampler=DistributedSampler(fake)"), "sampler=DistributedSampler(fake))\n\nfor", ")\n\nfor"),
    "an unknown sampler": Pair(SPEAKS.replace("batch_size=4", "sampler=conf.S(fake)"), "sampler=conf.S(fake)"),
    "a training that is not seen to divide": Pair(SPEAKS.replace("fake, sampler=DistributedSampler", "fake, sampler=conf.S"), "sampler=conf.S", "sampler=DistributedSampler"),
    "one process": Pair(SPEAKS.replace('dist.init_process_group("nccl")', "pass"), "pass\nmodel", 'dist.init_process_group("nccl")\nmodel'),
    "once, after the training": Pair(SPEAKS.replace("    for x in val", "for x in val").replace("        with torch.no_grad():\n            model(x)", "    with torch.no_grad():\n        model(x)"), "for x in val:\n    with torch.no_grad():\n        model(x)", "    for x in val:\n        model(x)"),
    "no model": Pair(SPEAKS.replace("            model(x)\n", "            print(x)\n"), "            print(x)\n", "            model(x)\n"),
    "a few samples": Pair(SPEAKS.replace("val = DataLoader(fake,", "val = DataLoader(data,"), "val = DataLoader(data,", "val = DataLoader(fake,"),
    "data that are not known": Pair(SPEAKS.replace("val = DataLoader(fake,", "val = DataLoader(conf.d,"), "conf.d,", "fake,"),
    "a part by rank": Pair(SPEAKS.replace("val = DataLoader(fake,", "val = DataLoader(Subset(fake, range(rank, 100, 4)),"), "Subset(fake, range(rank, 100, 4))", "fake"),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_where_it_is_divided_or_costs_little(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC117", pair, tmp_path)


@pytest.mark.parametrize("condition", ["True", "rank == 0"])
def test_advice_wherever_the_processes_go_through_it(condition: str, tmp_path: Path) -> None:
    source = SPEAKS.replace("    for x in val:", f"    for x in val if {condition} else ():")
    for text in (SPEAKS, source):
        (found,) = findings_of("ACC117", text, tmp_path)
        assert (found.severity, found.frequency) == (Severity.INFO, Frequency.EPOCH)
        assert "`val`" in found.message


def test_one_that_a_function_goes_through(tmp_path: Path) -> None:
    inside = "def evaluate(batches):\n    for x in batches:\n        model(x)\n"
    called = EPOCHS.partition("    for x in val")[0] + "    evaluate(val)\n"
    (found,) = findings_of("ACC117", FILES + PARALLEL + LOADERS + inside + called, tmp_path)
    assert "`val`" in found.message
