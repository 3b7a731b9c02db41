"""Each condition under which ACC214, ACC215 and ACC217 to ACC219 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS
from .test_timing import START, STOP
from .test_transfer_loops import LOADER, STEP

LOADED = LOADER + "import conf\n"
SYNCHRONIZED = STEP + "    torch.cuda.synchronize()"
HEADS = {"ACC214": LOADED, "ACC215": LOADED, "ACC217": IMPORTS + START, "ACC218": LOADED, "ACC219": LOADED}
PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "ACC214": {
        "condition": (
            STEP + "    if conf.low:\n        torch.cuda.empty_cache()",
            "if conf.low",
            "with torch.enable_grad()",
        ),
        "now and then": (
            (
                "for i, (x, y) in enumerate(loader):\n    out = model(x.cuda(non_blocking=True))\n"
                "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()\n    if i % 100 == 0:\n"
                "        torch.cuda.empty_cache()"
            ),
            "if i % 100 == 0",
            "with torch.enable_grad()",
        ),
        "now and then, gc": (
            (
                "for i, (x, y) in enumerate(loader):\n    out = model(x.cuda(non_blocking=True))\n"
                "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()\n    import gc\n"
                "    if i % 100 == 0:\n        gc.collect()"
            ),
            "if i % 100 == 0",
            "with torch.enable_grad()",
        ),
        "when memory is short": (
            (
                "for x, y in loader:\n    try:\n        model(x.cuda(non_blocking=True))\n"
                "    except RuntimeError:\n        torch.cuda.empty_cache()"
            ),
            "torch.cuda.empty_cache",
            "pass\n    torch.cuda.empty_cache",
        ),
        "between phases": (
            (
                "for e in range(3):\n    for x, y in loader:\n        model(x.cuda()).sum().backward()\n"
                "    torch.cuda.empty_cache()\n    for x, y in loader:\n        model(x.cuda())"
            ),
            (
                "e in range(3):\n    for x, y in loader:\n        model(x.cuda()).sum().backward()\n"
                "    torch.cuda.empty_cache()\n    for x, y in loader:\n        model(x.cuda()"
            ),
            (
                "x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
                "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()\n"
                "    torch.cuda.empty_cache("
            ),
        ),
        "measures memory": (
            STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.max_memory_allocated())",
            "print(torch.cuda.max_memory_allocated())",
            "pass",
        ),
        "measures what is reserved": (
            STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.memory_reserved())",
            "print(torch.cuda.memory_reserved())",
            "pass",
        ),
        "asks for free memory": (
            STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.mem_get_info())",
            "print(torch.cuda.mem_get_info())",
            "pass",
        ),
        "prints a summary": (
            STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.memory_summary())",
            "print(torch.cuda.memory_summary())",
            "pass",
        ),
        "reads statistics": (
            STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.memory_stats())",
            "print(torch.cuda.memory_stats())",
            "pass",
        ),
        "no batches": (
            "for i in range(9):\n    torch.cuda.empty_cache()",
            "i in range(9):",
            (
                "x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
                "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()"
            ),
        ),
        "no model": (
            "for x, y in loader:\n    torch.cuda.empty_cache()",
            "torch.cuda.empty_cache",
            (
                "out = model(x.cuda(non_blocking=True))\n    loss = criterion(out, y.cuda(non_blocking=True))\n"
                "    loss.backward()\n    torch.cuda.empty_cache"
            ),
        ),
        "another function": (STEP + "    conf.empty_cache()", "conf.", "torch.cuda."),
        "after memory was short": (
            (
                "for x, y in loader:\n    oom = False\n    try:\n        model(x.cuda())\n"
                "    except torch.cuda.OutOfMemoryError:\n        oom = True\n    if oom:\n"
                "        torch.cuda.empty_cache()"
            ),
            (
                "oom = False\n    try:\n        model(x.cuda())\n    except torch.cuda.OutOfMemoryError:\n"
                "        oom = True\n    if oom:\n        "
            ),
            (
                "out = model(x.cuda(non_blocking=True))\n    loss = criterion(out, y.cuda(non_blocking=True))\n"
                "    loss.backward()\n    "
            ),
        ),
        "gc, once an epoch": ("import gc\n" + STEP + "gc.collect()", "\ngc.collect", "\n    gc.collect"),
    },
    "ACC215": {
        "time": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.time())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.time()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "perf_counter": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.perf_counter())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.perf_counter()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "monotonic": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.monotonic())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.monotonic()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "perf_counter_ns": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.perf_counter_ns())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.perf_counter_ns()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "process_time": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.process_time())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.process_time()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "timeit": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(timeit.default_timer())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(timeit.default_timer()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "datetime": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(datetime.datetime.now())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(datetime.datetime.now()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "monotonic_ns": (
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.monotonic_ns())",
            "import time, timeit, datetime\n" + SYNCHRONIZED + "\n    print(time.monotonic_ns()",
            STEP + "    torch.cuda.synchronize(",
        ),
        "events": ("e = torch.cuda.Event()\n" + SYNCHRONIZED, "e = torch.cuda.Event()\n"),
        "streams": ("s = torch.cuda.Stream()\n" + SYNCHRONIZED, "s = torch.cuda.Stream()\n"),
        "under a stream": (
            STEP + "    with torch.cuda.stream(conf.s):\n        pass\n    torch.cuda.synchronize()",
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
            STEP + "    torch.cuda.nvtx.range_push('a')\n    torch.cuda.synchronize()",
            "torch.cuda.nvtx.range_push('a')\n    ",
        ),
        "record_function": (
            STEP
            + ("    with torch.autograd.profiler.record_function('a'):\n        pass\n    torch.cuda.synchronize()"),
            "with torch.autograd.profiler.record_function('a'):\n        pass\n    ",
        ),
        "timed": (
            "import torch.utils.benchmark as b\nt = b.Timer('1')\n" + SYNCHRONIZED,
            "import torch.utils.benchmark as b\nt = b.Timer('1')\n",
        ),
        "copies to the host": (
            STEP + "    host = out.to('cpu', non_blocking=True)\n    torch.cuda.synchronize()",
            "host = out.to('cpu', non_blocking=True)\n    ",
        ),
        "copies into a buffer of the host": (
            "host = torch.empty(16, 2, pin_memory=True)\n"
            + STEP
            + "    host.copy_(out, non_blocking=True)\n    torch.cuda.synchronize()",
            "host = torch.empty(16, 2, pin_memory=True)\n" + STEP + "    host.copy_(out, non_blocking=True",
            (
                "for x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
                "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward("
            ),
        ),
        "condition": (
            STEP + "    if conf.debug:\n        torch.cuda.synchronize()",
            "if conf.debug",
            "with torch.enable_grad()",
        ),
        "once": (STEP + "torch.cuda.synchronize()", "\ntorch.cuda.synchronize", "\n    torch.cuda.synchronize"),
        "no batches": (
            "for i in range(9):\n    torch.cuda.synchronize()",
            "i in range(9):",
            (
                "x, y in loader:\n    out = model(x.cuda(non_blocking=True))\n"
                "    loss = criterion(out, y.cuda(non_blocking=True))\n    loss.backward()"
            ),
        ),
    },
    "ACC217": {
        "synchronized": (
            "start = time.time()\nnet(x)\ntorch.cuda.synchronize()" + STOP,
            "torch.cuda.synchronize()",
            "pass",
        ),
        "synchronized by torch.accelerator": (
            "start = time.time()\nnet(x)\ntorch.accelerator.synchronize()" + STOP,
            "torch.accelerator.synchronize()",
            "pass",
        ),
        "synchronized where there is a GPU": (
            ("start = time.time()\nnet(x)\nif torch.cuda.is_available():\n    torch.cuda.synchronize()") + STOP,
            "torch.cuda.synchronize()",
            "pass",
        ),
        "synchronized in a function": (
            (
                "def now():\n    torch.cuda.synchronize()\n    return time.time()\nstart = now()\nnet(x)\n"
                "end = now()\nend - start"
            ),
            "torch.cuda.synchronize()\n    ",
        ),
        "value read": (
            "start = time.time()\nprint(net(x).sum().item())" + STOP,
            "print(net(x).sum().item())",
            "net(x)",
        ),
        "printed": ("start = time.time()\nprint(net(x))" + STOP, "print(net(x))", "net(x)"),
        "copied back": ("start = time.time()\ny = net(x).cpu()" + STOP, ".cpu()"),
        "moved back": ("start = time.time()\ny = net(x).to('cpu')" + STOP, ".to('cpu')"),
        "decided on": (
            "start = time.time()\nif net(x).sum() > 0:\n    pass" + STOP,
            "if net(x).sum() > 0:\n    pass",
            "net(x).sum() > 0",
        ),
        "events": (
            (
                "a = torch.cuda.Event(enable_timing=True)\nb = torch.cuda.Event(enable_timing=True)\n"
                "start = time.time()\nnet(x)\na.elapsed_time(b)"
            )
            + STOP,
            "a.elapsed_time(b)",
            "pass",
        ),
        "given to something unknown": ("start = time.time()\nconf.show(net(x))" + STOP, "conf.show(net(x))", "net(x)"),
        "on the host": (
            "net = nn.Linear(8, 2)\nx = torch.zeros(4, 8)\nstart = time.time()\nnet(x)" + STOP,
            "nn.Linear(8, 2)\nx = torch.zeros(4, 8)",
            "nn.Linear(8, 2).cuda()",
        ),
        "nothing on the GPU": ("y = net(x)\nstart = time.time()\nz = 3" + STOP, "z = 3", "net(x)"),
        "a loop that waits": (
            "start = time.time()\nfor i in range(9):\n    net(x).sum().item()\n    net(x)" + STOP,
            ".sum().item()",
        ),
        "an epoch of unknown batches": (
            "start = time.time()\nfor b in conf.loader:\n    net(x)" + STOP,
            "conf.loader",
            "range(9)",
        ),
        "training": (
            ("start = time.time()\nfor e in range(9):\n    net(x).sum().backward()\n    optimizer.step()") + STOP,
            ".sum().backward()\n    optimizer.step()",
        ),
        "a step of training": (
            ("for i in range(9):\n    start = time.time()\n    net(x).sum().backward()\n    time.time() - start"),
            ".sum().backward()",
        ),
        "from the step before": (
            (
                "start = time.time()\nfor i in range(9):\n    net(x)\n    print(time.time() - start)\n"
                "    start = time.time()"
            ),
            "    net(x)",
            "    start = time.time()\n    net(x)",
        ),
        "started elsewhere": ("start = conf.start\nnet(x)" + STOP, "conf.start", "time.time()"),
        "blocking launches": (
            "import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'\nstart = time.time()\nnet(x)" + STOP,
            "CUDA_LAUNCH_BLOCKING",
            "A",
        ),
        "a scaler's step": (
            "s = torch.amp.GradScaler('cuda')\nstart = time.time()\nnet(x)\ns.step(optimizer)" + STOP,
            "s.step(optimizer)",
            "pass",
        ),
        "no clock": ("start = 1\nnet(x)" + STOP, "start = 1", "start = time.time()"),
        "an event": (
            "e = torch.cuda.Event()\nstart = time.time()\nnet(x)\ne.synchronize()" + STOP,
            "e.synchronize()",
            "pass",
        ),
        "an epoch": ("start = time.time()\nfor (b,) in loader:\n    net(x)" + STOP, "(b,) in loader", "b in range(9)"),
    },
    "ACC218": {
        "list": ("t = torch.zeros(1)\nx = torch.tensor([1.0])", "[1.0]", "t"),
        "list of tensors": ("t = torch.zeros(1)\nx = torch.tensor([t, t])", "[t, t]", "t"),
        "array": ("import numpy as np\nx = torch.tensor(np.zeros(3))", "np.zeros(3)", "torch.zeros(3)"),
        "tensor numpy": ("t = torch.zeros(1)\nx = torch.tensor(t.numpy())", ".numpy()"),
        "unknown": ("x = torch.tensor(conf.x)", "conf.x", "torch.zeros(3)"),
        "number": ("t = torch.zeros(1)\nx = torch.tensor(t.item())", ".item()"),
        "only its size": ("t = torch.zeros(1)\nx = torch.tensor(t.shape)", ".shape"),
        "made by as_tensor": ("t = torch.zeros(1)\nx = torch.as_tensor(t)", "as_tensor", "tensor"),
        "custom batch": (
            "for b, c in DataLoader(data, collate_fn=conf.c):\n    x = torch.tensor(b)",
            ", collate_fn=conf.c",
        ),
        "tensor tolist": ("t = torch.zeros(1)\nx = torch.tensor(t.tolist())", ".tolist()"),
    },
    "ACC219": {
        "in __init__": (
            (
                "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        for i in range(3):\n            x = torch.tensor(1.0, device='cuda')"
            ),
            "__init__(self)",
            "forward(self)",
        ),
        "once": ("x = torch.tensor(1.0, device='cuda')", "x =", "for i in range(3): x ="),
        "on the host": ("for i in range(3):\n    x = torch.tensor(1.0, device='cpu')", "'cpu'", "'cuda'"),
        "no device": ("for i in range(3):\n    x = torch.tensor(1.0)", "1.0", "1.0, device='cuda'"),
        "list": ("for i in range(3):\n    x = torch.tensor([1.0], device='cuda')", "[1.0]", "1.0"),
        "unknown value": ("for i in range(3):\n    x = torch.tensor(conf.x, device='cuda')", "conf.x", "1.0"),
        "unknown device": ("for i in range(3):\n    x = torch.tensor(1.0, device=conf.d)", "conf.d", "'cuda'"),
        "partial": (
            (
                "import functools\nhalf = functools.partial(torch.tensor, 0.5, device='cuda')\nfor x in loader:\n"
                "    half()"
            ),
            ("half = functools.partial(torch.tensor, 0.5, device='cuda')\nfor x in loader:\n    half("),
            "for x in loader:\n    torch.tensor(0.5, device='cuda'",
        ),
    },
}

CASES = [pytest.param(code, name, id=f"{code}: {name}") for code, all_ in PAIRS.items() for name in all_]


@pytest.mark.parametrize(("code", "name"), CASES)
def test_silent_for_one_reason(code: str, name: str, tmp_path: Path) -> None:
    source, *change = PAIRS[code][name]
    check_pair(code[:6], Pair(HEADS[code] + source, *change), tmp_path)
