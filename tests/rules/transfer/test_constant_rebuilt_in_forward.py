"""ACC220 constant-rebuilt-in-forward, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

HEAD = IMPORTS + "import functools, conf, torchaudio\n"
NET = """
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size, self.window, self.cache = size, None, {{}}
    def forward(self, x, length):
        {0}
        return x * w
"""


def net(line: str) -> str:
    return HEAD + NET.format(line)


MADE = "w = torch.hann_window(self.size)"
PAIRS = {
    "as long as the input": Pair(net("w = torch.hann_window(x.size(1))"), "x.size(1)", "self.size"),
    "as long as an argument": Pair(net("w = torch.hann_window(length)"), "(length)", "(self.size)"),
    "a size that the pass computes": Pair(
        net("n = x.size(1)\n        w = torch.hann_window(n)"), "hann_window(n)", "hann_window(self.size)"
    ),
    "an attribute that the pass sets": Pair(
        net("self.size = x.size(1)\n        " + MADE), "self.size = x.size(1)", "pass"
    ),
    "kept after the first time": Pair(
        net("if self.window is None:\n            self.window = torch.hann_window(self.size)\n        w = self.window"),
        "if self.window is None:\n            ",
    ),
    "not in a forward pass": Pair(net(MADE).replace("def forward", "def build"), "def build", "def forward"),
    "a mask of the input": Pair(net("w = torch.tril(x)"), "tril(x)", "tril(torch.ones(self.size, self.size))"),
    "a function with a cache": Pair(
        HEAD + "@functools.lru_cache\ndef window():\n    return torch.hann_window(512)\n" + NET.format("w = window()"),
        "@functools.lru_cache\n",
    ),
    "unpacked": Pair(net("w = torch.hann_window(*conf.sizes)"), "*conf", "conf"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC220", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "made",
    [
        "torch.hann_window(self.size)",
        "torch.hann_window(self.size, device=x.device, dtype=x.dtype)",
        "torch.hann_window(self.size).to(x.device)",
        "torch.kaiser_window(512, beta=conf.BETA)",
        "torch.tril(torch.ones(self.size, self.size, device=x.device))",
        "torchaudio.functional.melscale_fbanks(512, 0, 8000, 80, 16000)",
    ],
)
def test_reported_as_information(made: str, tmp_path: Path) -> None:
    check_one("ACC220", net(f"w = {made}  # -> info none"), tmp_path)


def test_a_transform_becomes_a_module(tmp_path: Path) -> None:
    (found,) = findings_of("ACC220", net("w = torchaudio.transforms.MelSpectrogram(16000)(x)"), tmp_path)
    assert found.message.endswith("compute it once in `__init__`, as a module of its own")


def test_follows_a_function_that_the_forward_pass_calls(tmp_path: Path) -> None:
    source = """
def stft(x, size):
    return x * torch.hann_window(size)  # -> info none
"""
    check_one("ACC220", HEAD + source + NET.format("w = stft(x, 512)"), tmp_path)
    check_one("ACC220", HEAD + source.replace("  # -> info none", "") + NET.format("w = stft(x, length)"), tmp_path)


SIZED = """
import functools
import numpy as np
import torch
from torch import nn

def mask(size):
    return torch.from_numpy(np.triu(np.ones((size, size)), k=1))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line, self.kept, self.step = nn.Linear(8, 8), {}, 4
    def forward(self, x, lengths):
        n = x.size(1)
        m = mask(n).to(x.device)
        return self.line(x) * m

net = Net().cuda()
loss = net(torch.zeros(4, 8).cuda(), torch.zeros(4)).sum().backward()
"""
LINE = "m = mask(n).to(x.device)"
GRID = """y = torch.arange(n, device=x.device) * self.step
        m = torch.stack(torch.meshgrid(y, y)).float()"""
HELD = "if n not in self.kept:\n            self.kept[n] = mask(n).to(x.device)\n        m = self.kept[n]"
SHARED = "global m\n        if m is None or m.size(0) < n:\n            m = mask(n).to(x.device)"
AT_THE_TOP = """
def similarity(x, size=5):
    return (x * mask(size).to(x.device)).sum()

for x in torch.utils.data.DataLoader(torch.zeros(9, 4, 8), batch_size=3):
    x = x.cuda()
    (net(x, x) + similarity(x, int(x.max()))).sum().backward()
"""


def on_host(name: str) -> Pair:
    """What a pass makes of a list, on the device that a name stands for."""
    made = SIZED.replace(LINE, f"m = torch.tensor([i / 2 for i in range(n)], device={name})")
    return Pair(f'import torch\n{name} = torch.device("cpu")\n{made}', '"cpu"', '"cuda"')


SIZED_PAIRS = {
    "a size that the data say": Pair(SIZED.replace("x.size(1)", "int(x.max())"), "int(x.max())", "x.size(1)"),
    "a size that the data say, at the call": Pair(
        SIZED.replace("mask(n)", "mask(lengths.max())"), "lengths.max()", "lengths.size(0)"
    ),
    "an attribute that each pass sets": Pair(
        SIZED.replace("n = x.size(1)", "self.step = x.max()\n        n = self.step"), "self.step = x.max()", "pass"
    ),
    "kept by its size": Pair(SIZED.replace(LINE, HELD), "if n not in self.kept:\n            self.kept[n]", "m"),
    "kept in a global name": Pair(SIZED.replace(LINE, SHARED), SHARED, LINE),
    "a function with a cache": Pair(
        SIZED.replace("def mask", "@functools.lru_cache\ndef mask"), "@functools.lru_cache\n"
    ),
    "filled with what the data say": Pair(
        SIZED.replace(
            LINE, "m = np.eye(n) * 2\n        m[0] = lengths.numpy()\n        m = torch.from_numpy(m).cuda()"
        ),
        "lengths.numpy()",
        "1",
    ),
    "drawn at random": Pair(
        SIZED.replace("np.ones((size, size))", "np.random.rand(size, size)"),
        "np.random.rand(size, size)",
        "np.ones(size)",
    ),
    "drawn at random, in a package whose functions all do that": Pair(
        SIZED.replace("np.triu(np.ones((size, size)), k=1)", "np.outer(np.random.permutation(size), np.ones(size))"),
        "np.random.permutation(size)",
        "np.arange(size)",
    ),
    "drawn at random, by a function that another is called much like": Pair(
        SIZED.replace("torch.from_numpy(np.triu", "torch.nn.functional.dropout(torch.from_numpy(np.triu").replace(
            "k=1))", "k=1)))"
        ),
        "dropout",
        "normalize",
    ),
    "a part of the model": Pair(
        SIZED.replace("self.step = nn.Linear(8, 8), {}, 4", "self.step = nn.Linear(8, 8), {}, module")
        .replace("def __init__(self)", "def __init__(self, module)")
        .replace("mask(n)", "mask(self.step)")
        .replace("Net()", "Net(None)"),
        "{}, module",
        '{}, np.sqrt(conf.sizes["module"])',
    ),
    "a type of the host, by another name": Pair(
        SIZED.replace("mask(n).to(x.device)", "mask(n).type(KIND)") + "KIND = torch.FloatTensor\n",
        "torch.FloatTensor",
        "torch.cuda.FloatTensor",
    ),
    "a list on the host, by another name": on_host("HOME"),
    "a list on the host, by a name that says both": on_host("cpu_or_gpu"),
    "nothing on a GPU": Pair(SIZED.replace(".cuda()", ""), "net = Net()", "net = Net().cuda()"),
    "one range": Pair(
        SIZED.replace(LINE, "m = torch.arange(n).to(x.device)"),
        "torch.arange(n)",
        "(torch.arange(n) * 2 + 1).float().sqrt()",
    ),
    "three operations on the host": Pair(
        SIZED.replace(LINE, "m = (torch.arange(n) * 2 + 1).t().to(x.device)"),
        "(torch.arange(n) * 2 + 1).t()",
        "(torch.arange(n) * 2 + 1).repeat(n, 1)",
    ),
    "a size that only the top of a module knows": Pair(
        SIZED.replace("mask(n)", "mask(4)").replace("mask(4).to(x.device)", "4") + AT_THE_TOP,
        "int(x.max())",
        "9",
    ),
    "one slice that is written": Pair(
        SIZED.replace(LINE, "m = torch.zeros(n, n)\n        m[0] = 1\n        m = m.to(x.device)"),
        "m[0] = 1",
        "m[0] = 1\n        m[:, 0] = 2",
    ),
    "a few numbers": Pair(
        SIZED.replace(LINE, "m = torch.tensor([1.0, 2.0]).to(x.device)"), "[1.0, 2.0]", "[i / 2 for i in range(n)]"
    ),
    "never copied": Pair(
        SIZED.replace(LINE, GRID.replace(", device=x.device", "")),
        "net = Net()",
        'torch.set_default_device("cuda")\nnet = Net()',
    ),
    "a copy that stays on the host": Pair(SIZED.replace("x.device", '"cpu"'), '"cpu"', "x.device"),
    "one number many times": Pair(
        SIZED.replace("np.triu(np.ones((size, size)), k=1)", "np.ones(size) * 2"), "np.ones(size)", "np.eye(size)"
    ),
    "two kernels": Pair(
        SIZED.replace(LINE, "m = torch.arange(n, device=x.device) * 2"),
        "m = torch.arange(n, device=x.device) * 2",
        GRID,
    ),
    "a compiler joins the kernels": Pair(
        SIZED.replace(LINE, GRID).replace("net = Net().cuda()", "net = torch.compile(Net().cuda())"),
        "torch.compile(Net().cuda())",
        "Net().cuda()",
    ),
    "in the constructor": Pair(
        SIZED.replace(LINE, "m = self.m").replace(
            "self.step = nn.Linear(8, 8), {}, 4", "self.m = nn.Linear(8, 8), {}, mask(4).cuda()"
        ),
        "m = self.m",
        "m = mask(n).cuda()",
    ),
}


@pytest.mark.parametrize("case", SIZED_PAIRS)
def test_sizes_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC220", SIZED_PAIRS[case], tmp_path)


def test_what_depends_on_sizes_is_kept_by_size(tmp_path: Path) -> None:
    (found,) = findings_of("ACC220", SIZED, tmp_path)
    assert found.message.startswith("`mask(n).to(x.device)` is built on the host and copied to the GPU in each step")
    assert "by size and device" in found.message


@pytest.mark.parametrize(
    ("line", "minor"),
    [(LINE, False), ("m = torch.triu(torch.ones(n, n).cuda(), diagonal=1).repeat(n, 1, 1).byte()", True)],
)
def test_what_is_filled_and_moved_in_one_expression_is_of_little_consequence(
    line: str, minor: bool, tmp_path: Path
) -> None:
    source = SIZED.replace(LINE, line)
    (found,) = findings_of("ACC220", source, tmp_path)
    moved = [one.span.start.row for one in findings_of("ACC205", source, tmp_path)]
    assert (found.minor, found.span.start.row in moved) == (minor, minor)


@pytest.mark.parametrize(
    ("given", "place"),
    [("part, n", "torch.stack(torch.meshgrid(y, y)).float()"), ("torch.ones(n, device=x.device), n", "warp(")],
)
def test_what_a_function_makes_for_the_data_is_reported_in_the_function(given: str, place: str, tmp_path: Path) -> None:
    warp = "def warp(x, n):\n    y = torch.arange(n, device=x.device) * 2\n    m = torch.stack(torch.meshgrid(y, y)).float()"
    loop = (
        f"m = [torch.zeros_like(x)]\n        for i in range(n):\n            part = x[i]\n            w = warp({given})"
    )
    source = (
        SIZED.replace(LINE, loop).replace("* m", "* w").replace("class Net", f"{warp}\n    return x + m\n\nclass Net")
    )
    (found,) = findings_of("ACC220", source, tmp_path)
    assert found.message.startswith(f"`{place}")


def test_what_depends_on_settings_belongs_into_the_constructor(tmp_path: Path) -> None:
    (found,) = findings_of("ACC220", SIZED.replace("mask(n)", "mask(self.step)"), tmp_path)
    assert "`register_buffer`" in found.message


def test_a_loop_within_the_step_is_named(tmp_path: Path) -> None:
    looped = "for _ in range(4):\n            y = torch.arange(n, device=x.device) * self.step\n            "
    looped += "m = torch.stack((y.sqrt(), y.exp()))"
    (found,) = findings_of("ACC220", SIZED.replace(LINE, looped), tmp_path)
    assert "in each pass of a loop of each step" in found.message
    assert [one.span.start.row for one in found.related] == [17]


def test_it_is_told_where_the_last_operation_runs_not_where_that_is_looked_at(tmp_path: Path) -> None:
    (found,) = findings_of("ACC220", SIZED.replace(LINE, f"{GRID}\n        m = m.view(2, -1)"), tmp_path)
    assert found.message.startswith("`torch.stack(torch.meshgrid(y, y)).float()` is built by several small kernels")


def test_a_default_is_a_size_where_the_call_stands_at_the_top(tmp_path: Path) -> None:
    top = AT_THE_TOP.replace(", int(x.max())", "")
    (found,) = findings_of("ACC220", SIZED.replace("mask(n).to(x.device)", "4") + top, tmp_path)
    assert found.message.startswith("`mask(size).to(x.device)` is built on the host")


ELSEWHERE = """
import torch
from train import net, similarity
def step(x):
    y = x.type(torch.float)
    n = int(y.max())
    (net(y, y) + similarity(y, n)).sum().backward()
for x in torch.utils.data.DataLoader(torch.zeros(9, 4, 8), batch_size=3):
    step(x.cuda())
"""


def test_what_a_call_in_another_file_gives_is_read_there(tmp_path: Path) -> None:
    source = SIZED.replace("mask(n).to(x.device)", "4") + AT_THE_TOP.partition("for x in")[0]
    check_pair("ACC220", Pair(source, "int(y.max())", "y.size(1)", {"use.py": ELSEWHERE}), tmp_path)


def test_what_a_generator_makes_before_it_hands_anything_out_is_made_once(tmp_path: Path) -> None:
    source = """
import conf
import torch
from torch import nn
from torch.utils.data import DataLoader

class Ahead:
    def __init__(self, loader):
        self.loader = loader
    def batches(loader):
        mean = torch.tensor([0.485 * 255, 0.456 * 255, 0.406 * 255]).cuda().view(1, 3, 1, 1)
        for x, y in loader:
            x = x.cuda(non_blocking=True).float().sub_(mean)
            yield x, y
    def __iter__(self):
        return Ahead.batches(self.loader)

net = nn.Conv2d(3, 8, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
loader = Ahead(DataLoader(conf.data, 8, pin_memory=True))
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
"""
    mean = source[source.index("        mean =") : source.index("        for x, y in loader")]
    loop = "        for x, y in loader:\n"
    once = Pair(source, mean + loop, loop + mean.replace("mean =", "    mean ="))
    check_pair("ACC220", once, tmp_path)
