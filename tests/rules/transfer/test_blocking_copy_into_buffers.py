"""ACC201 blocking-host-to-device-copy where batches are copied into a tensor on the GPU, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, fixed
from ..programs import PHOTOS_AND_MODEL

PINNED = "loader = DataLoader(photos, num_workers=2, pin_memory=True)\nbuffer = torch.FloatTensor(1).cuda()\n"


def copied(line: str, instead: str) -> Pair:
    loop = f"batches = iter(loader)\nfor i in range(100):\n    x, y = next(batches)\n    {line}\n    model(buffer)\n"
    return Pair(PHOTOS_AND_MODEL + PINNED + loop, line, instead)


SILENT = {
    "asynchronous": copied("buffer.copy_(x, non_blocking=True)", "buffer.copy_(x)"),
    "asynchronous by position": copied("buffer.copy_(x, True)", "buffer.copy_(x)"),
    "into a tensor on the host": copied("torch.zeros(9).copy_(x)", "torch.zeros(9).cuda().copy_(x)"),
    "into a tensor that nothing is known of": copied("open(buffer).copy_(x)", "buffer.copy_(x)"),
    "of what is no batch": copied("buffer.copy_(torch.ones(9))", "buffer.copy_(x)"),
    "changed afterwards": copied("buffer.copy_(x); x.zero_()", "buffer.copy_(x)"),
    "from the GPU": copied("buffer.copy_(x.cuda(non_blocking=True))", "buffer.copy_(x)"),
}


@pytest.mark.parametrize("case", SILENT)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", SILENT[case], tmp_path)


FORMS = {
    "buffer.copy_(x)": "buffer.copy_(x, non_blocking=True)",
    "buffer.copy_(src=x)": "buffer.copy_(src=x, non_blocking=True)",
    "buffer.resize_(x.size()).copy_(x)": "buffer.resize_(x.size()).copy_(x, non_blocking=True)",
    "buffer.data.resize_(x.size()).copy_(x)": "buffer.data.resize_(x.size()).copy_(x, non_blocking=True)",
    "buffer[:4].copy_(x)": "buffer[:4].copy_(x, non_blocking=True)",
    "buffer.copy_(x.view(-1))": "buffer.copy_(x.view(-1), non_blocking=True)",
}


@pytest.mark.parametrize("form", FORMS)
def test_copies_into_a_tensor_on_the_gpu(form: str, tmp_path: Path) -> None:
    source = PHOTOS_AND_MODEL + PINNED + f"for x, y in loader:\n    {form}  # -> warning safe\n    model(buffer)\n"
    check_one("ACC201", source, tmp_path)
    assert f"    {FORMS[form]}  #" in fixed("ACC201", source, tmp_path)


def test_a_buffer_that_an_option_puts_on_the_gpu(tmp_path: Path) -> None:
    source = "import conf\nbuffer = torch.zeros(9)\nif conf.cuda:\n    buffer = buffer.cuda()\n"
    loop = "for x, y in loader:\n    buffer.copy_(x)  # -> warning safe\n    model(buffer)\n"
    check_one("ACC201", PHOTOS_AND_MODEL + PINNED + source + loop, tmp_path)


def test_a_loader_that_does_not_pin(tmp_path: Path) -> None:
    source = "loader = DataLoader(photos, num_workers=2)  # -> ACC101 warning\nbuffer = torch.zeros(9, device='cuda')\n"
    loop = "for x, y in loader:\n    buffer.copy_(x)  # -> ACC201 info\n    model(buffer)\n"
    check(PHOTOS_AND_MODEL + source + loop, tmp_path)
