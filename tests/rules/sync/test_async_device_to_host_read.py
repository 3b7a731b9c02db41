"""ACC202 async-device-to-host-read, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair, fixed
from ..programs import IMPORTS

GPU = "out = nn.Linear(8, 2).cuda()(torch.randn(4, 8, device='cuda'))\n"
SILENT = {
    "synchronized": "y = out.to('cpu', non_blocking=True)\ntorch.cuda.synchronize()\nprint(y.mean().item())",
    "a stream is waited for": (
        "s = torch.cuda.Stream()\ny = out.to('cpu', non_blocking=True)\ns.synchronize()\nprint(y.numpy())"
    ),
    "an event is waited for": (
        "e = torch.cuda.Event()\ny = out.to('cpu', non_blocking=True)\ne.record()\ne.wait()\nprint(y.numpy())"
    ),
    "sent back": "y = out.to('cpu', non_blocking=True)\ny = y.to('cuda')\nprint(y.mean().item())",
    "it waits": "y = out.to('cpu')\nprint(y.mean().item())",
    "never read": "y = out.to('cpu', non_blocking=True)",
    "a value was read in between": "y = out.to('cpu', non_blocking=True)\ns = out.sum().item()\nprint(y.numpy())",
    "only its shape": "y = out.to('cpu', non_blocking=True)\nprint(y.size())",
    "from the host": "x = torch.zeros(8)\ny = x.to('cpu', non_blocking=True)\nprint(y.numpy())",
    "to the device": "x = torch.zeros(8)\ny = x.to('cuda', non_blocking=True)\nprint(y.mean().item())",
    "decided at run time": "import conf\ny = out.to('cpu', non_blocking=conf.fast)\nprint(y.numpy())",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_reads_that_come_late_enough(source: str, tmp_path: Path) -> None:
    check(IMPORTS + GPU + source + "\n", tmp_path)


PAIR_GPU = "import conf\nout = nn.Linear(8, 2).cuda()(torch.randn(4, 8, device='cuda'))\n"
COPY = "y = out.to('cpu', non_blocking=True)\n"
READ = "print(y.mean().item())"
PAIRS: dict[str, tuple[str, ...]] = {
    "synchronized": (COPY + "torch.cuda.synchronize()\n" + READ, "torch.cuda.synchronize()\n"),
    "synchronized by torch.accelerator": (
        COPY + "torch.accelerator.synchronize()\n" + READ,
        "torch.accelerator.synchronize()\n",
    ),
    "a stream is waited for": (
        "s = torch.cuda.Stream()\n" + COPY + "s.synchronize()\n" + READ,
        "s.synchronize()\n",
    ),
    "the current stream is waited for": (
        COPY + "torch.cuda.current_stream().synchronize()\n" + READ,
        "torch.cuda.current_stream().synchronize()\n",
    ),
    "an event is waited for": (
        "e = torch.cuda.Event()\n" + COPY + "e.record()\ne.synchronize()\n" + READ,
        "e.synchronize()\n",
    ),
    "an event waits": ("e = torch.cuda.Event()\n" + COPY + "e.record()\ne.wait()\n" + READ, "e.wait()\n"),
    "sent back": (COPY + "y = y.to('cuda')\n" + READ, "y = y.to('cuda')\n"),
    "sent back by cuda()": (COPY + "y = y.cuda()\n" + READ, "y = y.cuda()\n"),
    "it waits": ("y = out.to('cpu')\n" + READ, "cpu'", "cpu', non_blocking=True"),
    "it waits, as asked": ("y = out.to('cpu', non_blocking=False)\n" + READ, "False", "True"),
    "never read": (COPY, "True)\n", "True)\n" + READ),
    "a value was read in between": (COPY + "s = out.sum().item()\n" + READ, ".item()\n", "\n"),
    "only its size": (COPY + "print(y.size())", "y.size", "y.sum"),
    "only its shape": (COPY + "print(y.shape)", "y.shape", "y"),
    "from host": (
        "x = torch.zeros(8)\ny = x.to('cpu', non_blocking=True)\n" + READ,
        "torch.zeros(8)",
        "torch.zeros(8, device='cuda')",
    ),
    "to the device": ("y = out.to('cuda', non_blocking=True)\n" + READ, "cuda',", "cpu',"),
    "decided at run time": ("y = out.to('cpu', non_blocking=conf.fast)\n" + READ, "conf.fast", "True"),
    "returned": ("def f(t):\n    return t.to('cpu', non_blocking=True)\nf(out)", "out)", "out).sum().item()"),
    "copied into a buffer, and waited for": (
        (
            "host = torch.empty(4, 2, pin_memory=True)\nhost.copy_(out, non_blocking=True)\n"
            "torch.cuda.synchronize()\nprint(host.sum())"
        ),
        "torch.cuda.synchronize()\n",
    ),
    "copied to pageable memory": (
        "host = torch.empty(4, 2)\nhost.copy_(out, non_blocking=True)\nprint(host.sum())",
        "(4, 2)",
        "(4, 2, pin_memory=True)",
    ),
    "copied from the host": (
        (
            "host = torch.empty(4, 2, pin_memory=True)\nhost.copy_(torch.zeros(4, 2), non_blocking=True)\n"
            "print(host.sum())"
        ),
        "torch.zeros(4, 2)",
        "out",
    ),
    "copy_ waits": (
        ("host = torch.empty(4, 2, pin_memory=True)\nhost.copy_(out, non_blocking=False)\nprint(host.sum())"),
        "False",
        "True",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC202", Pair(IMPORTS + PAIR_GPU + source, *change), tmp_path)


READS = [
    *("y.item()", "y.numpy()", "y.tolist()", "print(y)", "f'{y}'", "if y: pass", "if y > 0: pass", "print(y[0])"),
    *("y[0].item()", "float(y[0])", "z = y + 1", "z = 2 * y", "z = y / y", "z = y == 0", "z = torch.softmax(y, 1)"),
    *("z = numpy.asarray(y)", "z = y.argmax(1)", "z = torch.cat([y, y])", "torch.save(y, 'a')"),
]


@pytest.mark.parametrize("read", READS)
def test_every_way_to_read_on_the_host(read: str, tmp_path: Path) -> None:
    copy = COPY.replace("\n", "  # -> error safe\n")
    check_one("ACC202", IMPORTS + "import numpy\n" + PAIR_GPU + copy + read + "\n", tmp_path)


def test_an_asynchronous_copy_by_position(tmp_path: Path) -> None:
    source = "y = out.to('cpu', torch.float32, True)  # -> error none\nprint(y.mean())\n"
    check_one("ACC202", IMPORTS + PAIR_GPU + source, tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = (
        "y = out.to('cpu', non_blocking=True)  # -> ACC202 error safe\nz = y.detach()\nprint(z.numpy())\n"
        "def show(t):\n    return t.to('cpu', non_blocking=True).numpy()  # -> ACC202 error safe\n"
        "p = out.to('cpu', non_blocking=True)  # -> ACC202 error safe\nprint(f'{p}')\n"
        "q = out.to('cpu', non_blocking=True)  # -> ACC202 error safe\nif q.sum() > 0:\n    print(1)\n"
    )
    check(IMPORTS + GPU + source, tmp_path)
    assert "y = out.to('cpu')  #" in fixed("ACC202", IMPORTS + GPU + source, tmp_path)
