"""Each condition under which ACC202 and ACC203 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS
from .single import check_one

GPU = "import conf\nout = nn.Linear(8, 2).cuda()(torch.randn(4, 8, device='cuda'))\n"
MPS = 'import conf\ndevice = torch.device("cuda" if torch.cuda.is_available() else "mps")\nx = torch.randn(4, 8)\n'
COPY = "y = out.to('cpu', non_blocking=True)\n"
READ = "print(y.mean().item())"
MOVE = "x = x.to(device, non_blocking=True)"
HEADS = {"ACC202": IMPORTS + GPU, "ACC203": IMPORTS + MPS}
PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "ACC202": {
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
        "it is told to wait": ("y = out.to('cpu', non_blocking=False)\n" + READ, "False", "True"),
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
    },
    "ACC203": {
        "no mps": ("d = torch.device('cuda')\nx = x.to(d, non_blocking=True)", "torch.device('cuda')", "device"),
        "cpu only": ("d = torch.device('cpu')\nx = x.to(d, non_blocking=True)", "torch.device('cpu')", "device"),
        "it waits": ("x = x.to(device)", "(device)", "(device, non_blocking=True)"),
        "told to wait": ("x = x.to(device, non_blocking=False)", "False", "True"),
        "asks the device": ("x = x.to(device, non_blocking=device.type == 'cuda')", "device.type == 'cuda'", "True"),
        "asks the device beforehand": ("nb = device.type == 'cuda'\nx = x.to(device, non_blocking=nb)", "=nb", "=True"),
        "asks for CUDA": ("nb = torch.cuda.is_available()\nx = x.to(device, non_blocking=nb)", "=nb", "=True"),
        "behind an early return": (
            (
                "def move(t):\n    if device.type == 'mps':\n        return t.to(device)\n"
                "    return t.to(device, non_blocking=True)\nmove(x)"
            ),
            "return t.to(device)\n",
            "t.to(device)\n",
        ),
        "in a conditional expression": (
            "y = x.to(device, non_blocking=True) if device.type == 'cuda' else x.to(device)",
            " if device.type == 'cuda' else x.to(device)",
        ),
        "behind and": ("y = device.type == 'cuda' and x.to(device, non_blocking=True)", "device.type == 'cuda' and "),
        "behind an assertion": ("assert device.type == 'cuda'\n" + MOVE, "assert device.type == 'cuda'\n"),
        "behind continue": (
            (
                "for i in range(3):\n    if device.type == 'mps':\n        continue\n"
                "    y = x.to(device, non_blocking=True)"
            ),
            "if device.type == 'mps':\n        continue\n    ",
        ),
        "unknown": ("x = x.to(conf.device, non_blocking=True)", "conf.device", "device"),
        "there already": (
            ("m = torch.device('mps')\nx = torch.zeros(3, device='mps')\ny = x.to(m, non_blocking=True)"),
            ", device='mps'",
        ),
        "by cuda()": ("x = x.cuda(non_blocking=True)", "x.cuda(", "x.to('mps', "),
        "mps is left out": (
            (
                "if torch.cuda.is_available():\n    d = torch.device('cuda')\n"
                "elif torch.backends.mps.is_available():\n    d = torch.device('cpu')\nelse:\n"
                "    d = torch.device('cpu')\nx = x.to(d, non_blocking=True)"
            ),
            "mps.is_available():\n    d = torch.device('cpu')",
            "mps.is_available():\n    d = torch.device('mps')",
        ),
        "a string without mps": (
            "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = x.to(d, non_blocking=True)",
            "'cpu'",
            "'mps'",
        ),
        "module": (
            "x = nn.Linear(1, 1).to(torch.device('cuda'), non_blocking=True)",
            "nn.Linear(1, 1).to(torch.device('cuda')",
            "x.to(device",
        ),
        "mps to cpu": ("q = x.to('mps')\ny = q.to('cpu', non_blocking=True)", "'cpu'", "device"),
        "under a condition": ("if device.type == 'cuda':\n    " + MOVE, "if device.type == 'cuda':\n    "),
        "unless it is mps": ("if device.type != 'mps':\n    " + MOVE, "if device.type != 'mps':\n    "),
        "asks the device and more": (
            "y = x.to(device, non_blocking=device.type == 'cuda' and True)",
            "device.type == 'cuda' and ",
        ),
        "asks whether it is mps": (
            "y = x.to(device, non_blocking=device.type != 'mps')",
            "device.type != 'mps'",
            "True",
        ),
        "asks by text": (
            "d = 'mps'\nif 'cuda' in str(device):\n    y = x.to(device, non_blocking=True)",
            "d = 'mps'\nif 'cuda' in str(device):\n    ",
        ),
        "a loop behind an exit": (
            (
                "if device.type == 'mps':\n    raise SystemExit\nfor i in range(3):\n"
                "    y = x.to(device, non_blocking=True)"
            ),
            "if device.type == 'mps':\n    raise SystemExit\n",
        ),
        "a loop behind an exit, by a string": (
            (
                "d = 'cuda' if torch.cuda.is_available() else 'mps'\nif d == 'mps':\n    raise SystemExit\n"
                "for i in range(3): y = x.to(d, non_blocking=True)"
            ),
            "if d == 'mps':\n    raise SystemExit\nfor i in range(3): ",
        ),
        "behind an exit": (
            "if device.type == 'mps':\n    raise SystemExit('no')\n" + MOVE,
            "if device.type == 'mps':\n    raise SystemExit('no')\n",
        ),
    },
}

CASES = [pytest.param(code, name, id=f"{code}: {name}") for code, all_ in PAIRS.items() for name in all_]


@pytest.mark.parametrize(("code", "name"), CASES)
def test_silent_for_one_reason(code: str, name: str, tmp_path: Path) -> None:
    source, *change = PAIRS[code][name]
    check_pair(code[:6], Pair(HEADS[code] + source, *change), tmp_path)


READS = [
    *("y.item()", "y.numpy()", "y.tolist()", "print(y)", "f'{y}'", "if y: pass", "if y > 0: pass", "print(y[0])"),
    *("y[0].item()", "float(y[0])", "z = y + 1", "z = 2 * y", "z = y / y", "z = y == 0", "z = torch.softmax(y, 1)"),
    *("z = numpy.asarray(y)", "z = y.argmax(1)", "z = torch.cat([y, y])", "torch.save(y, 'a')"),
]


@pytest.mark.parametrize("read", READS)
def test_every_way_to_read_on_the_host(read: str, tmp_path: Path) -> None:
    copy = COPY.replace("\n", "  # -> error safe\n")
    check_one("ACC202", IMPORTS + "import numpy\n" + GPU + copy + read + "\n", tmp_path)


def test_an_asynchronous_copy_by_position(tmp_path: Path) -> None:
    source = "y = out.to('cpu', torch.float32, True)  # -> error none\nprint(y.mean())\n"
    check_one("ACC202", IMPORTS + GPU + source, tmp_path)
