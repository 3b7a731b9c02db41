"""ACC201 where the wrapper of a model copies the batches, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import Pair, check_one, check_pair
from ..programs import PHOTOS

WRAPPED = (
    PHOTOS
    + "from torch.nn.parallel import DistributedDataParallel\nimport conf, time\n"
    + "torch.distributed.init_process_group('nccl')\n"
    + "loader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
    + "net = nn.Linear(8, 2).cuda()\n"
)
MODEL = "model = DistributedDataParallel(net, device_ids=[conf.gpu])\n"
EACH = "for x, y in loader:\n    "
PAIRS = {
    "no devices are given": Pair(
        WRAPPED + "model = DistributedDataParallel(net)\n" + EACH + "model(x)", "(net)", "(net, device_ids=[0])"
    ),
    "DataParallel, whose copies are asynchronous": Pair(
        WRAPPED + "model = nn.DataParallel(net, device_ids=[0])\n" + EACH + "model(x)",
        "nn.DataParallel",
        "DistributedDataParallel",
    ),
    "moved before": Pair(WRAPPED + MODEL + EACH + "model(x.cuda(non_blocking=True))", "x.cuda(non_blocking=True)", "x"),
    "no batch": Pair(WRAPPED + MODEL + EACH + "model(torch.zeros(8))", "torch.zeros(8)", "x"),
    "out of the loop": Pair(
        WRAPPED + MODEL + "x = next(iter(loader))\nfor i in conf.all:\n    model(x)",
        "x = next(iter(loader))\nfor i in conf.all:",
        "for x, y in loader:",
    ),
    "a cast came before": Pair(WRAPPED + MODEL + EACH + "model(x.float())", "x.float()", "x"),
    "memory that nobody would pin": Pair(
        WRAPPED.replace("(photos, num_workers=2, pin_memory=True)", "(TensorDataset(torch.zeros(9), torch.zeros(9)))")
        + MODEL
        + EACH
        + "model(x)\n    y = y.cuda(non_blocking=True)",
        "(TensorDataset(torch.zeros(9), torch.zeros(9)))",
        "(photos, num_workers=2)",
    ),
    "measured": Pair(
        WRAPPED
        + MODEL
        + EACH
        + "start = time.time()\n    model(x)\n    torch.cuda.synchronize()\n    print(time.time() - start)",
        "    torch.cuda.synchronize()\n",
    ),
    "nothing says that batches are on the host": Pair(
        WRAPPED.replace(", pin_memory=True", "") + MODEL + EACH + "model(x)\n    y.sum()",
        "y.sum()",
        "y.cuda(non_blocking=True)",
    ),
    "moved in place": Pair(
        WRAPPED
        + MODEL
        + "for batch in loader:\n    for i in range(len(batch)):\n        batch[i] = batch[i].cuda(0, True)\n"
        + "    model(batch[0])",
        "batch[i] = ",
    ),
    "changed on the host": Pair(WRAPPED + MODEL + EACH + "model(x)\n    x.zero_()", "x.zero_()", "x.sum()"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", PAIRS[case], tmp_path)


def test_reports_the_call_that_copies(tmp_path: Path) -> None:
    source = WRAPPED + MODEL + EACH + "model(x).sum().backward()  # -> warning none\n"
    (found,) = check_one("ACC201", source, tmp_path)
    assert "`loader` pins its batches, but in `model(x)` DistributedDataParallel copies them" in found.message
    assert found.confidence is Confidence.PROVEN


def test_less_severe_from_memory_that_is_not_pinned(tmp_path: Path) -> None:
    source = WRAPPED.replace(", pin_memory=True", "") + MODEL + EACH
    source += "model(x)  # -> info none\n    y = y.cuda(non_blocking=True)"
    check_one("ACC201", source, tmp_path)


def test_reports_a_model_that_is_wrapped_on_some_paths(tmp_path: Path) -> None:
    wrapped = "model = net\nif conf.many: " + MODEL
    check_one("ACC201", WRAPPED + wrapped + EACH + "model(x)  # -> warning none\n", tmp_path)


SPREAD = (
    WRAPPED
    + "class Spread(nn.DataParallel):\n"
    + "    def scatter(self, inputs, kwargs, device_ids):\n"
    + "        return conf.split(moved(inputs[0])), conf.split(kwargs)\n"
    + "def moved(batch):\n"
    + "    x, y = batch\n"
    + "    return x.cuda(), y{mark}\n"
    + "model = Spread(net)\n"
    + "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    + "for batch in loader:\n"
    + "    model(batch).sum().backward()\n"
    + "    optimizer.step()\n"
)


def test_silent_where_nothing_calls_what_divides_a_batch(tmp_path: Path) -> None:
    source = SPREAD.format(mark="")
    check_pair("ACC201", Pair(source.replace("def scatter", "def divide"), "def divide", "def scatter"), tmp_path)


def test_follows_how_a_wrapper_of_the_project_divides_a_batch(tmp_path: Path) -> None:
    (found,) = check_one("ACC201", SPREAD.format(mark="  # -> warning safe"), tmp_path)
    assert found.confidence is Confidence.PROVEN
