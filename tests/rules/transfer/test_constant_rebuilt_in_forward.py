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
