"""ACC116 distributed-sampler-missing-set-epoch, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, findings_of, fixed
from ..programs import EPOCHS, FILES, STAGED_FILES
from .programs import SHARDING_FRAMEWORKS

SAMPLED = "sampler = DistributedSampler(files)\nloader = DataLoader(files, sampler=sampler)"
SILENT = {
    "not shuffled": SAMPLED.replace("(files)", "(files, shuffle=False)") + EPOCHS,
    "one epoch": SAMPLED + EPOCHS.replace("10", "1"),
    "the epoch is set": SAMPLED + EPOCHS + "    sampler.set_epoch(epoch)\n",
    "the epoch is set through the loader": SAMPLED + EPOCHS + "    loader.sampler.set_epoch(epoch)\n",
    "a framework": "import accelerate\naccelerator = accelerate.Accelerator()\n" + SAMPLED + EPOCHS,
    "its own sampler": "class Mine(DistributedSampler): pass\n"
    + SAMPLED.replace("= DistributedSampler", "= Mine")
    + EPOCHS,
    "not shuffled on its path": SAMPLED.replace("(files)", "(files, shuffle=False) if conf.ddp else None") + EPOCHS,
    "nothing is trained": SAMPLED + "\nfor i in range(9):\n    for x in loader:\n        print(x)\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_the_order_changes_or_need_not(source: str, tmp_path: Path) -> None:
    check_one("ACC116", STAGED_FILES + source, tmp_path)


PAIRS = {
    "no shuffling": Pair(FILES + SAMPLED.replace("(files)", "(files, shuffle=False)") + EPOCHS, ", shuffle=False"),
    "no shuffling, by position": Pair(FILES + SAMPLED.replace("(files)", "(files, 2, 0, False)") + EPOCHS, ", False"),
    "a setting": Pair(FILES + SAMPLED.replace("(files)", "(files, shuffle=conf.s)") + EPOCHS, "conf.s", "True"),
    "one epoch": Pair(FILES + SAMPLED + EPOCHS.replace("10", "1"), "(1)", "(10)"),
    "one pass": Pair(
        FILES + SAMPLED + EPOCHS.replace("for epoch in range(10)", "if True"), "if True", "for epoch in range(10)"
    ),
    "the epoch is set": Pair(
        FILES + SAMPLED + EPOCHS + "    sampler.set_epoch(epoch)\n", "sampler.set_epoch(epoch)", "pass"
    ),
    "the epoch is set through the loader": Pair(
        FILES + SAMPLED + EPOCHS + "    loader.sampler.set_epoch(epoch)\n", "loader.sampler.set_epoch(epoch)", "pass"
    ),
    "the epoch is set on a loader": Pair(
        FILES + SAMPLED + EPOCHS + "    loader.set_epoch(epoch)\n", "loader.set_epoch(epoch)", "pass"
    ),
    "the epoch is set in a function": Pair(
        FILES + SAMPLED + EPOCHS + "def tell(l, e): l.sampler.set_epoch(e)\nfor i in range(3): tell(loader, i)\n",
        "l.sampler.set_epoch(e)",
        "pass",
    ),
    "a class of its own": Pair(
        FILES
        + "class Mine(DistributedSampler): pass\n"
        + SAMPLED.replace("sampler = Dist", "sampler = Mine or Dist").replace("Mine or DistributedSampler", "Mine")
        + EPOCHS,
        "= Mine(",
        "= DistributedSampler(",
    ),
    "an unknown sampler": Pair(
        FILES + SAMPLED.replace("DistributedSampler(", "conf.Sampler(") + EPOCHS, "conf.Sampler(", "DistributedSampler("
    ),
    "other samplers on both paths": Pair(
        FILES + SAMPLED.replace("(files)\n", "(files) if conf.d else None\n").replace("= Dist", "= conf.Dist") + EPOCHS,
        "= conf.Dist",
        "= Dist",
    ),
    "no training": Pair(
        FILES + SAMPLED + EPOCHS.replace(".sum().backward()", ""), "model(x)\n", "model(x).sum().backward()\n"
    ),
    "another seed in every epoch": Pair(
        FILES
        + "for epoch in range(10):\n    sampler = DistributedSampler(files, seed=epoch)\n    loader = DataLoader(files, sampler=sampler)\n    for x in loader:\n        model(x).sum().backward()\n",
        "for epoch in range(10):\n    sampler = DistributedSampler(files, seed=epoch)\n    loader = DataLoader(files, sampler=sampler)\n",
        SAMPLED + "\nfor epoch in range(10):\n",
    ),
    **{name: Pair(FILES + source + SAMPLED + EPOCHS, source) for name, source in SHARDING_FRAMEWORKS.items()},
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC116", PAIRS[case], tmp_path)


def test_reports_the_same_order_in_every_epoch(tmp_path: Path) -> None:
    source = SAMPLED + "  # -> ACC116 warning unsafe" + EPOCHS
    check(STAGED_FILES + source, tmp_path)
    assert "    loader.sampler.set_epoch(epoch)\n    for x in" in fixed("ACC116", STAGED_FILES + source, tmp_path)


@pytest.mark.parametrize("other", ["None", "torch.utils.data.RandomSampler(files)"])
def test_reports_a_sampler_of_one_path_without_a_fix(other: str, tmp_path: Path) -> None:
    sampled = SAMPLED.replace("(files)", f"(files) if conf.ddp else {other}")
    (found,) = check_one("ACC116", STAGED_FILES + sampled + "  # -> warning none" + EPOCHS, tmp_path)
    assert "where there is one" in found.message


BATCHED = """
from torch.utils.data.sampler import BatchSampler, SequentialSampler
batches = BatchSampler({}(files), batch_size=16, drop_last=True)
loader = DataLoader(files, batch_sampler=batches)"""


def test_silent_about_batches_of_a_sampler_that_does_not_shuffle(tmp_path: Path) -> None:
    check_one("ACC116", STAGED_FILES + BATCHED.format("SequentialSampler") + EPOCHS, tmp_path)


def test_reports_a_sampler_within_a_batch_sampler(tmp_path: Path) -> None:
    source = STAGED_FILES + BATCHED.format("DistributedSampler") + "  # -> warning unsafe" + EPOCHS
    check_one("ACC116", source, tmp_path)
    assert "    loader.batch_sampler.sampler.set_epoch(epoch)\n" in fixed("ACC116", source, tmp_path)


EPOCHS_BY_SEED = EPOCHS.replace("for epoch in range(10)", "for {}, seed in enumerate(conf.seeds[1:], 1)")


@pytest.mark.parametrize(("name", "reports"), [("epoch", 1), ("fold", 0)])
def test_takes_a_loop_for_one_over_epochs_that_is_called_so(name: str, reports: int, tmp_path: Path) -> None:
    assert len(findings_of("ACC116", STAGED_FILES + SAMPLED + EPOCHS_BY_SEED.format(name), tmp_path)) == reports


def test_reports_a_loader_that_a_function_makes(tmp_path: Path) -> None:
    made = "def loaders():\n    sampler = DistributedSampler(files) if conf.ddp else None\n"
    made += "    return DataLoader(files, sampler=sampler)\n"
    source = STAGED_FILES + made + "loader = loaders()" + EPOCHS.replace("for epoch in range(10)", "while True")
    assert len(findings_of("ACC116", source, tmp_path)) == 1
