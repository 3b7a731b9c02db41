"""ACC208 host-sync-every-step behind wrappers of the project, and of what writers of TensorBoard are given in a dict."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from .programs import BATCH, CLASSIFIER

PARTS = """
class Loss(nn.Module):
    def forward(self, out, y):
        return out[y > 0].sum(){mark}

class Both(nn.Module):
    def __init__(self, model, criterion):
        super().__init__()
        self.model, self.criterion = model, criterion
    def forward(self, x, y):
        return self.criterion(self.model(x), y)

class Spread(nn.DataParallel):
    def scatter(self, inputs, kwargs, device_ids):
        return [conf.moved(inputs[0], one) for one in device_ids], [kwargs] * len(device_ids)
{own}
net = Spread({module}Both(model, Loss())).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in loader:
    optimizer.zero_grad()
    net(batch).mean().backward()
    optimizer.step()
"""
OWN = "    def forward(self, batch):\n        return batch[0].cuda(non_blocking=True).sum()\n"


@pytest.mark.parametrize("module", ["", "module="])
def test_reports_what_a_subclass_of_data_parallel_wraps(module: str, tmp_path: Path) -> None:
    check_one("ACC208", CLASSIFIER + PARTS.format(mark="  # -> info none", own="", module=module), tmp_path)


def test_silent_where_a_subclass_runs_something_else(tmp_path: Path) -> None:
    check_pair("ACC208", Pair(CLASSIFIER + PARTS.format(mark="", own=OWN, module=""), OWN), tmp_path)


def test_reports_what_is_reached_through_the_wrapper(tmp_path: Path) -> None:
    source = PARTS.format(mark="", own="", module="").replace("return out[y > 0].sum()", "return (out - y).sum()")
    inner = "net.module.model(batch[0].cuda(non_blocking=True)).sum()"
    check_one("ACC208", CLASSIFIER + source + f"    total = {inner}\n    total.item()  # -> info none\n", tmp_path)


WRITTEN = CLASSIFIER + "writer = conf.writer()\n" + BATCH + "    writer.add_scalars('a', {'rate': 0.1}, i)\n"


def test_scalars_that_are_written_in_a_dict_are_read(tmp_path: Path) -> None:
    check_pair("ACC208", Pair(WRITTEN, "0.1", "loss"), tmp_path)
    check_one("ACC208", WRITTEN.replace("0.1}, i)", "0.1, 'loss': loss}, i)  # -> info none"), tmp_path)
