"""What is seen of a training that rules are silent about, and what is not."""

from __future__ import annotations

from pathlib import Path

from accel_advisor.analysis.project import analyze
from accel_advisor.records.queries.seen_training import seen_training
from accel_advisor.sights import Gap, NotKnown, Seen, SeenLoader
from accel_advisor.source.document import Document

HEAD = """import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(3, 2)
"""
LOADER = "loader = DataLoader(data, num_workers=4, pin_memory=True)\n"


def seen(text: str, folder: Path) -> Seen | None:
    path = folder / "train.py"
    path.write_text(HEAD + text)
    document = Document.read(path)
    return seen_training(analyze([document], folder).facts[str(path)])


def known(text: str, folder: Path) -> Seen:
    found = seen(text, folder)
    assert found is not None
    return found


class TestTrains:
    def test_a_file_that_only_predicts_has_nothing_to_say(self, tmp_path: Path) -> None:
        loop = "for x in loader:\n    model(x.cuda())"
        assert seen(f"{LOADER}{loop}\n", tmp_path) is None
        assert seen(f"{LOADER}{loop}.sum().backward()\n", tmp_path) is not None

    def test_a_function_that_others_call_is_not_the_training(self, tmp_path: Path) -> None:
        function = "def step(loss):\n    loss.backward()\n"
        assert seen(function, tmp_path) is None
        assert seen(f"{function}while True:\n    step(model(torch.rand(3)))\n", tmp_path) is not None

    def test_a_framework_that_trains_counts(self, tmp_path: Path) -> None:
        trainer = "from transformers import Trainer\ntrainer = Trainer(model)\ntrainer.train()\n"
        assert known(trainer, tmp_path).moved_by == ("transformers",)
        assert seen(trainer.replace("transformers", "elsewhere"), tmp_path) is None


class TestSettings:
    def test_a_loader_that_nothing_in_sight_builds_has_none(self, tmp_path: Path) -> None:
        source = "def train(train_loader):\n    for x in train_loader:\n        model(x.cuda()).sum().backward()\n"
        assert known(source, tmp_path).loaders == ()

    def test_loaders_and_copies_have_theirs(self, tmp_path: Path) -> None:
        loop = "for x in loader:\n    model(x.to('cuda', non_blocking=True)).sum().backward()\n"
        found = known(LOADER + loop, tmp_path)
        assert found.loaders == (SeenLoader("DataLoader", "line 6", True, 4),)
        assert (found.asynchronous, found.waiting, found.gaps) == (1, 0, ())
        assert found.healthy
        waiting = known(LOADER + loop.replace(", non_blocking=True", ""), tmp_path)
        assert (waiting.asynchronous, waiting.waiting) == (0, 1)
        assert not waiting.healthy

    def test_what_is_not_known_is_no_setting(self, tmp_path: Path) -> None:
        loop = "for x in loader:\n    model(x.to('cuda', non_blocking=True)).sum().backward()\n"
        arguments = "import conf\nloader = DataLoader(data, num_workers=conf.n, pin_memory=conf.pin)\n"
        found = known(arguments + loop, tmp_path)
        assert found.loaders == (SeenLoader("DataLoader", "line 7", None, None),)
        assert not found.healthy


class TestGaps:
    def test_a_device_that_is_not_known_is_named_as_it_is_bound(self, tmp_path: Path) -> None:
        body = "    for x in loader:\n        model(x.to(device, non_blocking=True)).sum().backward()\n"
        found = known(f"{LOADER}def main(rank, n):\n    device = rank % n\n{body}", tmp_path)
        assert found.gaps == (NotKnown(Gap.DEVICE, "line 10", "device = rank % n"),)
        assert known(f"{LOADER}def main(rank, n):\n    device = 'cuda'\n{body}", tmp_path).gaps == ()

    def test_numbers_are_known(self, tmp_path: Path) -> None:
        body = "    model(torch.rand(3)).sum().backward()\n"
        counted = known(f"from itertools import count\nfor step in count(1):\n{body}", tmp_path)
        assert counted.gaps == ()
        assert known(f"for step in steps:\n{body}", tmp_path).gaps != ()

    def test_a_loop_over_what_is_not_known_is_named(self, tmp_path: Path) -> None:
        body = "    for x in loader:\n        model(x).sum().backward()\n"
        found = known(f"def train(stream):\n{body.replace('loader', 'stream')}", tmp_path)
        assert found.gaps == (NotKnown(Gap.BATCHES, "line 7", "stream"),)
        assert known(f"def train(loader):\n{body}", tmp_path).gaps == (NotKnown(Gap.BATCHES, "line 7", "loader"),)
        assert known(f"{LOADER}def train(loader):\n{body}train(loader)\n", tmp_path).gaps == ()
