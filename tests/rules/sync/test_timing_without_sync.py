"""ACC217 timing-without-sync, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

START = """
import time
import conf
net = nn.Linear(8, 2).cuda()
x = torch.zeros(4, 8, device="cuda")
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
STOP = "\nprint(time.time() - start)\n"
SILENT = {
    "synchronized in a function": (
        "def now():\n    torch.cuda.synchronize()\n    return time.time()\nstart = now()\nnet(x)\nend = now()\nend - start"
    ),
    "an epoch": "start = time.time()\nfor (b,) in loader:\n    net(b.cuda())",
    "an epoch of unknown batches": "start = time.time()\nfor b in conf.loader:\n    net(b.cuda())",
    "a step that waits": (
        "for i in range(9):\n    start = time.time()\n    loss = net(x).sum()\n    loss.backward()\n"
        "    loss.item()\n    time.time() - start"
    ),
    "from the step before": (
        "start = time.time()\nfor i in range(9):\n    net(x)\n    print(time.time() - start)\n    start = time.time()"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC217", IMPORTS + START + source + STOP, tmp_path)


PAIRS: dict[str, tuple[str, ...]] = {
    "a forward that comes to a read": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(8, 2)\n"
        "    def forward(self, x):\n        return self.decode(self.fc(x))\n    def decode(self, y):\n"
        "        return y.to('cpu')\nnet = Net().cuda()\nstart = time.time()\nnet(x)" + STOP,
        "y.to('cpu')",
        "y.relu()",
    ),
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
    "a step that waits": (
        (
            "for i in range(9):\n    start = time.time()\n    loss = net(x).sum()\n    loss.backward()\n"
            "    loss.item()\n    time.time() - start"
        ),
        "    loss.item()\n",
    ),
    "a step that waits before unknown calls": (
        (
            "for i in range(9):\n    start = time.time()\n    loss = conf.net(x)\n    loss.backward()\n"
            "    print(loss)\n    conf.step()\n    time.time() - start"
        ),
        "    print(loss)\n",
    ),
    "batches of a loader in between": (
        (
            "for i in range(9):\n    start = time.time()\n    for (b,) in loader:\n        net(b.cuda()).sum().backward()\n"
            "    time.time() - start"
        ),
        "for (b,) in loader:\n        net(b.cuda()).sum().backward()",
        "if 1:\n        net(x).sum().backward()",
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
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC217", Pair(IMPORTS + START + source, *change), tmp_path)


REPORTED = {
    "a call": "start = time.time()\nnet(x)\nprint(time.time() - start)  # -> info none",
    "read afterwards": "start = time.time()\ny = net(x)\nend = time.time()\nprint(end - start)  # -> info none\ny.cpu()",
    "many calls": "a = time.perf_counter()\nfor i in range(99):\n    net(x)\nb = time.perf_counter() - a  # -> info none",
    "moved before": "start = time.time()\ny = torch.zeros(4, 8).cuda()\nnet(y)\nt = time.time() - start  # -> info none",
    "in a loop": (
        "for (b,) in loader:\n    b = b.cuda()\n    start = time.time()\n    y = net(b)\n"
        "    t = time.time() - start  # -> info none\n    y.cpu()"
    ),
    "a product": "from timeit import default_timer as now\ns = now()\ntorch.matmul(x, x)\nt = now() - s  # -> info none",
    "in a function": "def f(n):\n    s = time.time()\n    n(x)\n    return time.time() - s  # -> info none\nf(net)",
    "synchronized too early": (
        "torch.cuda.synchronize()\ns = time.time()\ntorch.cuda.synchronize()\nnet(x)\nt = time.time() - s  # -> info none"
    ),
}


@pytest.mark.parametrize("source", REPORTED.values(), ids=REPORTED.keys())
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC217", IMPORTS + START + source + "\n", tmp_path)


@pytest.mark.parametrize(
    ("early", "minor", "words"),
    [
        ("", False, "tells the time of the launches only"),
        ("    print(loss.item())\n", True, "leaves out what the GPU was given after it was waited for last"),
    ],
)
def test_minor_where_each_pass_waits_for_a_part_of_it(early: str, minor: bool, words: str, tmp_path: Path) -> None:
    """As a training does that reads its loss before the backward pass."""
    source = (
        f"for i in range(9):\n    start = time.time()\n    loss = net(x).sum()\n{early}"
        "    loss.backward()\n    optimizer.step()\n    seconds = time.time() - start\n"
    )
    (found,) = findings_of("ACC217", IMPORTS + START + source, tmp_path)
    assert words in found.message
    assert found.minor is minor
