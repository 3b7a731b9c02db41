"""ACC201 and ACC207, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check, fixed
from .programs import IMPORTS, MODEL, PHOTOS

PINNED = "loader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'

SILENT = {
    "asynchronous already": "for x, y in loader:\n    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))",
    "asynchronous by position": "for x, y in loader:\n    step(x.cuda(0, True), y.cuda(0, True))",
    "to the host": "for x, y in loader:\n    x = x.to('cpu')",
    "only a cast": "for x, y in loader:\n    x = x.to(torch.float32)",
    "to where another tensor is": "z = torch.zeros(1)\nfor x, y in loader:\n    x = x.to(z)",
    "unknown device": "import conf\nfor x, y in loader:\n    x = x.to(conf.device)",
    "once, before the loop": "w = torch.zeros(8)\nw = w.cuda()",
    "a module": "for x, y in loader:\n    model.to('cuda')",
    "from the device": "for x, y in loader:\n    x = x.cuda(non_blocking=True).cuda()",
    "changed on the host afterwards": "for x, y in loader:\n    z = x.cuda()\n    x.zero_()",
    "written to afterwards": "for x, y in loader:\n    z = x.cuda()\n    torch.add(x, 1, out=x)",
    "measured": (
        "import time\nfor x, y in loader:\n    start = time.time()\n    x = x.cuda()\n    torch.cuda.synchronize()\n"
        "    print(time.time() - start)"
    ),
    "prepared by accelerate": (
        "from accelerate import Accelerator, DataLoaderConfiguration as Conf\n"
        "a = Accelerator(dataloader_config=Conf(non_blocking=True))\nloader = a.prepare(loader)\n"
        "for x, y in loader:\n    x = x.to(a.device)  # -> ACC313 info"
    ),
}


@pytest.mark.parametrize("loop", SILENT.values(), ids=SILENT.keys())
def test_silent_where_nothing_waits_or_it_cannot_be_told(loop: str, tmp_path: Path) -> None:
    check(PHOTOS + MODEL + PINNED + loop + "\n", tmp_path)


def test_silent_where_memory_is_pageable_and_nothing_would_pin_it(tmp_path: Path) -> None:
    source = """
from torch.utils.data import TensorDataset
for (x,) in DataLoader(TensorDataset(torch.zeros(9, 8))):
    model(x.cuda()).sum().backward()
"""
    check(PHOTOS + MODEL + source, tmp_path)


def test_silent_in_a_lightning_module(tmp_path: Path) -> None:
    source = """
import lightning as L
class Net(L.LightningModule):
    def training_step(self, batch, index):
        for x, y in DataLoader(photos, num_workers=2, pin_memory=True):
            x = x.cuda()  # -> ACC312 info
"""
    check(PHOTOS + source, tmp_path)


def test_reports_a_statement_once(tmp_path: Path) -> None:
    loop = "for x, y in loader:\n    x, y = x.cuda(), y.cuda()  # -> ACC201 warning safe\n    step(x, y)\n"
    found = check(PHOTOS + MODEL + PINNED + loop, tmp_path)
    assert len(found[0].related) == 1
    fixed_source = fixed(PHOTOS + MODEL + PINNED + loop, tmp_path, "ACC201")
    assert "x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)" in fixed_source


@pytest.mark.parametrize(
    "header",
    [
        "for x, y in loader:",
        "for i, (x, y) in enumerate(loader):",
        "for i, (x, y) in enumerate(loader, 1):",
        "from tqdm import tqdm\nfor x, y in tqdm(loader):",
        "from tqdm.auto import tqdm\nfor i, (x, y) in tqdm(enumerate(loader)):",
        "for (x, y), other in zip(loader, range(9)):",
        "import itertools\nfor x, y in itertools.islice(itertools.cycle(loader), 9):",
        "it = iter(loader)\nfor _ in range(9):\n  if True:\n    x, y = next(it)",
        "for batch in loader:\n    x, y = batch",
        "for batch in loader:\n    x = batch[0]",
    ],
)
def test_follows_batches_through_every_loop(header: str, tmp_path: Path) -> None:
    check(PHOTOS + MODEL + PINNED + header + "\n    x = x.cuda()  # -> ACC201 warning safe\n", tmp_path)


def test_names_each_loader_once_in_one_line(tmp_path: Path) -> None:
    source = """
for loader in (
    DataLoader(photos, num_workers=2, pin_memory=True),
    DataLoader(photos, num_workers=3, pin_memory=True),
):
    for x, y in loader:
        x = x.to(  # -> ACC201 warning safe
            device,
        )
"""
    message = check(PHOTOS + DEVICE + source, tmp_path)[0].message
    assert message.startswith("`loader` pins its batches, but `x.to(")
    assert "\n" not in message


def test_only_an_opportunity_from_pageable_memory(tmp_path: Path) -> None:
    source = "loader = DataLoader(photos, num_workers=2)  # -> ACC101 warning\nfor x, y in loader:\n    x = x.cuda()  # -> ACC201 info safe\n"
    check(PHOTOS + source, tmp_path)


def test_asks_the_device_where_it_may_be_mps(tmp_path: Path) -> None:
    source = """
device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
loader = DataLoader(photos, num_workers=2, pin_memory=True)
for x, y in loader:
    x = x.to(device)  # -> ACC201 warning safe
"""
    check(PHOTOS + source, tmp_path)
    assert 'x.to(device, non_blocking=device.type == "cuda")' in fixed(PHOTOS + source, tmp_path, "ACC201")


def test_a_cast_or_a_collate_function_makes_the_fix_unsafe(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    x = x.to(device, torch.float32)  # -> ACC201 warning unsafe
for x, y in DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=list):
    x = x.to(device)  # -> ACC201 warning unsafe
"""
    check(PHOTOS + DEVICE + PINNED + source, tmp_path)


def test_an_array_over_the_memory_of_a_batch_makes_the_fix_unsafe(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    z = x.to(device)  # -> ACC201 warning unsafe
    x.numpy()[:] = 0
"""
    check(PHOTOS + DEVICE + PINNED + source, tmp_path)


def test_knows_the_batch_in_a_function_that_gets_the_loader(tmp_path: Path) -> None:
    source = """
def train(loader, device):
    for x, y in loader:
        x = x.to(device)  # -> ACC201 warning safe
def main():
    device = torch.device("cuda:0")
    train(DataLoader(photos, num_workers=2, pin_memory=True), device)
if __name__ == "__main__":
    main()
"""
    check(PHOTOS + source, tmp_path)


DISCARD_SILENT = {
    "a module": "model = nn.Linear(8, 2)\nmodel.to('cuda')",
    "unknown": "import mystery\nx = mystery.make()\nx.to('cuda')",
    "a tokenizer's output": "from transformers import BatchEncoding\nx = BatchEncoding({})\nx.to('cuda')",
    "used": "x = torch.zeros(8)\nx = x.to('cuda')\nprint(x)",
    "an argument": "x = torch.zeros(8)\nprint(x.to('cuda'))",
    "a start of CUDA": "torch.zeros(1).to('cuda')\ntorch.zeros(1).half()",
    "a parameter": "def move(x):\n    x.to('cuda')",
}


@pytest.mark.parametrize("source", DISCARD_SILENT.values(), ids=DISCARD_SILENT.keys())
def test_discarded_is_silent_where_it_is_not_a_tensor_for_certain(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + "\n", tmp_path)


def test_discarded_move_of_a_tensor(tmp_path: Path) -> None:
    source = (
        "x = torch.randn(4, 8)\nx.to('cuda')  # -> ACC207 error unsafe\nx.half()  # -> ACC207 error unsafe\nprint(x)\n"
    )
    check(IMPORTS + source, tmp_path)
    assert "x = x.to('cuda')" in fixed(IMPORTS + source, tmp_path, "ACC207")


def test_discarded_move_of_a_batch(tmp_path: Path) -> None:
    source = (
        "for x, y in loader:\n    x.cuda(non_blocking=True)  # -> ACC207 error unsafe\n"
        "    y.cuda()  # -> ACC207 error unsafe\n"
    )
    check(PHOTOS + PINNED + source, tmp_path)
