"""ACC215 synchronize-in-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair, findings_of
from ..programs import REGRESSION, REGRESSION_STEP

LOADED = REGRESSION + "import conf\n"
SYNCHRONIZED = REGRESSION_STEP + "    torch.cuda.synchronize()"
EVALUATED = "for x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n    torch.cuda.synchronize()"
CLOCKS = (
    "time.time()",
    "time.perf_counter()",
    "time.monotonic()",
    "time.perf_counter_ns()",
    "time.process_time()",
    "timeit.default_timer()",
    "datetime.datetime.now()",
    "time.monotonic_ns()",
)
PAIRS: dict[str, tuple[str, ...]] = {
    **{
        clock: (
            f"import time, timeit, datetime\n{EVALUATED}\n    print({clock})",
            f"print({clock})",
            "print()",
        )
        for clock in CLOCKS
    },
    "time of steps without a loader": (
        "import time\nx = torch.zeros(16, 8).cuda()\nfor i in range(99):\n    model(x).sum().backward()\n"
        "    torch.cuda.synchronize()\n    print(time.time())",
        "for i in range(99)",
        "for _ in loader",
    ),
    "events": ("e = torch.cuda.Event()\n" + SYNCHRONIZED, "e = torch.cuda.Event()\n"),
    "streams": ("s = torch.cuda.Stream()\n" + SYNCHRONIZED, "s = torch.cuda.Stream()\n"),
    "under a stream": (
        REGRESSION_STEP + "    with torch.cuda.stream(conf.s):\n        pass\n    torch.cuda.synchronize()",
        "with torch.cuda.stream(conf.s):\n        pass\n    ",
    ),
    "profiler": ("p = torch.profiler.profile()\n" + SYNCHRONIZED, "p = torch.profiler.profile()\n"),
    "a profiler imported": (
        "from torch.profiler import profile\np = profile()\n" + SYNCHRONIZED,
        "from torch.profiler import profile\np = profile()\n",
    ),
    "autograd profiler": (
        "p = torch.autograd.profiler.profile()\n" + SYNCHRONIZED,
        "p = torch.autograd.profiler.profile()\n",
    ),
    "nvtx by autograd": (
        "p = torch.autograd.profiler.emit_nvtx()\n" + SYNCHRONIZED,
        "p = torch.autograd.profiler.emit_nvtx()\n",
    ),
    "CUDA's profiler": ("torch.cuda.profiler.start()\n" + SYNCHRONIZED, "torch.cuda.profiler.start()\n"),
    "nvtx": (
        REGRESSION_STEP + "    torch.cuda.nvtx.range_push('a')\n    torch.cuda.synchronize()",
        "torch.cuda.nvtx.range_push('a')\n    ",
    ),
    "record_function": (
        REGRESSION_STEP
        + ("    with torch.autograd.profiler.record_function('a'):\n        pass\n    torch.cuda.synchronize()"),
        "with torch.autograd.profiler.record_function('a'):\n        pass\n    ",
    ),
    "timed": (
        "import torch.utils.benchmark as b\nt = b.Timer('1')\n" + SYNCHRONIZED,
        "import torch.utils.benchmark as b\nt = b.Timer('1')\n",
    ),
    "copies to the host": (
        REGRESSION_STEP + "    host = out.to('cpu', non_blocking=True)\n    torch.cuda.synchronize()",
        "host = out.to('cpu', non_blocking=True)\n    ",
    ),
    "copies into a buffer of the host": (
        "host = torch.empty(16, 2, pin_memory=True)\n"
        + REGRESSION_STEP
        + "    host.copy_(out, non_blocking=True)\n    torch.cuda.synchronize()",
        "host = torch.empty(16, 2, pin_memory=True)\n" + REGRESSION_STEP + "    host.copy_(out, non_blocking=True",
        (
            "for x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
            "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward("
        ),
    ),
    "condition": (
        REGRESSION_STEP + "    if conf.debug:\n        torch.cuda.synchronize()",
        "if conf.debug",
        "with torch.enable_grad()",
    ),
    "once": (REGRESSION_STEP + "torch.cuda.synchronize()", "\ntorch.cuda.synchronize", "\n    torch.cuda.synchronize"),
    "no batches": (
        "for i in range(9):\n    torch.cuda.synchronize()",
        "i in range(9):",
        (
            "x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
            "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()"
        ),
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC215", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    x = model(x.cuda(non_blocking=True))
    torch.cuda.synchronize()  # -> ACC215 info unsafe
"""
    check(REGRESSION + source, tmp_path)


def test_for_a_clock_of_a_training_once(tmp_path: Path) -> None:
    both = (
        "    torch.cuda.synchronize()\n    print(time.time())\n    torch.cuda.synchronize()\n    print(time.time())\n"
    )
    (found,) = findings_of("ACC215", "import time\n" + REGRESSION + REGRESSION_STEP + both, tmp_path)
    assert "for a clock" in found.message
    assert found.fix is None
    assert len(found.related) == 1
