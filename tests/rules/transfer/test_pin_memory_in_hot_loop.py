"""ACC204 pin-memory-in-hot-loop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_one, check_pair
from ..programs import REGRESSION as PINNED

REGRESSION = PINNED.replace("pin_memory=True", "num_workers=4")
"""A model on the GPU, and a loader with workers that does not pin."""

SILENT = {
    "not a loader's": "for x, y in loader:\n    w = torch.zeros(8).pin_memory()\n    w = w.to('cuda', non_blocking=True)",
    "once": "buffer = torch.zeros(8).pin_memory()\nfor x, y in loader:\n    model(buffer.to('cuda', non_blocking=True))",
    "under a stream": (
        "s = torch.cuda.Stream()\nfor x, y in loader:\n    with torch.cuda.stream(s):\n"
        "        x = x.pin_memory().to('cuda', non_blocking=True)"
    ),
    "in a thread": (
        "import threading\ndef fetch():\n    for x, y in loader:\n        x = x.pin_memory().to('cuda', non_blocking=True)\n"
        "threading.Thread(target=fetch).start()"
    ),
    "a batch with a method of its own": (
        "import mystery\nfor b in DataLoader(data, collate_fn=mystery.batch, num_workers=4):\n"
        "    b = b.pin_memory().to('cuda', non_blocking=True)"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_pinning_elsewhere(source: str, tmp_path: Path) -> None:
    check_one("ACC204", REGRESSION + source + "\n", tmp_path)


LOADED = REGRESSION + "import conf\n"
FETCH = "def fetch():\n    for x, y in loader:\n        x = x.pin_memory().to('cuda', non_blocking=True)\n"
PAIRS: dict[str, tuple[str, ...]] = {
    "without workers": (
        "for x, y in DataLoader(data):\n    x = x.pin_memory().to('cuda', non_blocking=True)",
        "DataLoader(data)",
        "DataLoader(data, num_workers=2)",
    ),
    "pinned by the loader": (
        (
            "for x, y in DataLoader(data, num_workers=2, pin_memory=True):\n"
            "    x = x.pin_memory().to('cuda', non_blocking=True)"
        ),
        ", pin_memory=True",
    ),
    "not a loader's": (
        "for x, y in loader:\n    w = torch.zeros(8)\n    w = w.pin_memory().to('cuda')",
        "w.pin",
        "x.pin",
    ),
    "once": (
        ("buffer = torch.zeros(8).pin_memory()\nfor x, y in loader:\n    model(buffer.to('cuda', non_blocking=True))"),
        "buffer.to",
        "x.pin_memory().to",
    ),
    "under a stream": (
        (
            "s = torch.cuda.Stream()\nfor x, y in loader:\n    with torch.cuda.stream(s):\n"
            "        x = x.pin_memory().to('cuda', non_blocking=True)"
        ),
        "with torch.cuda.stream(s)",
        "if 1",
    ),
    "under a stream itself": (
        (
            "s = torch.cuda.Stream()\nfor x, y in loader:\n    with s:\n"
            "        x = x.pin_memory().to('cuda', non_blocking=True)"
        ),
        "with s",
        "if 1",
    ),
    "in a thread": (
        "import threading\n" + FETCH + "threading.Thread(target=fetch).start()",
        "threading.Thread(target=fetch).start()",
        "fetch()",
    ),
    "in a class of a thread": (
        (
            "import threading\nclass F(threading.Thread):\n    def run(self):\n        for x, y in loader:\n"
            "            x = x.pin_memory().to('cuda', non_blocking=True)\nF().start()"
        ),
        "(threading.Thread)",
    ),
    "in a class of a thread, imported": (
        (
            "from threading import Thread\nclass F(Thread):\n    def run(self):\n        for x, y in loader:\n"
            "            x = x.pin_memory().to('cuda', non_blocking=True)\nF().start()"
        ),
        "(Thread)",
    ),
    "in a pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor as P\n" + FETCH + "P().submit(fetch)",
        "P().submit(fetch)",
        "fetch()",
    ),
    "in a dummy pool": (
        "from multiprocessing.dummy import Pool\n" + FETCH + "Pool().apply_async(fetch)",
        "Pool().apply_async(fetch)",
        "fetch()",
    ),
    "in a background generator": (
        (
            "from prefetch_generator import BackgroundGenerator\ndef fetch():\n    for x, y in loader:\n"
            "        yield x.pin_memory().to('cuda', non_blocking=True)\n"
            "for x in BackgroundGenerator(fetch()): model(x)"
        ),
        "BackgroundGenerator(fetch())",
        "fetch()",
    ),
    "under a background decorator": (
        (
            "from prefetch_generator import background\n@background()\ndef fetch():\n    for x, y in loader:\n"
            "        yield x.pin_memory().to('cuda', non_blocking=True)\nfor x in fetch(): model(x)"
        ),
        "@background()\n",
    ),
    "for the next pass": (
        (
            "nxt = None\nfor x, y in loader:\n    cur = nxt\n"
            "    nxt = x.pin_memory().to('cuda', non_blocking=True)\n    if cur is not None:\n"
            "        model(cur)"
        ),
        (
            "nxt = None\nfor x, y in loader:\n    cur = nxt\n"
            "    nxt = x.pin_memory().to('cuda', non_blocking=True)\n    if cur is not None:\n        model(cur"
        ),
        ("for x, y in loader:\n    nxt = x.pin_memory().to('cuda', non_blocking=True)\n    model(nxt"),
    ),
    "for the next pass of a generator": (
        (
            "def fetch():\n    last = None\n    for x, y in loader:\n        if last is not None:\n"
            "            yield last\n        last = x.pin_memory().to('cuda', non_blocking=True)\n"
            "    yield last\nfor x in fetch(): model(x)"
        ),
        (
            "last = None\n    for x, y in loader:\n        if last is not None:\n            yield last\n"
            "        last = x.pin_memory().to('cuda', non_blocking=True)\n    yield last"
        ),
        "for x, y in loader:\n        yield x.pin_memory().to('cuda', non_blocking=True)",
    ),
    "for the next pass, the same name": (
        (
            "it = iter(loader)\nx, y = next(it)\nx = x.pin_memory().to('cuda', non_blocking=True)\n"
            "for i in range(9):\n    out = model(x)\n    x, y = next(it)\n"
            "    x = x.pin_memory().to('cuda', non_blocking=True)\n    out.sum().backward()"
        ),
        (
            "x, y = next(it)\nx = x.pin_memory().to('cuda', non_blocking=True)\nfor i in range(9):\n"
            "    out = model(x)\n    x, y = next(it)\n    x = x.pin_memory().to('cuda', non_blocking=True"
        ),
        (
            "for i in range(9):\n    x, y = next(it)\n    x = x.pin_memory().to('cuda', non_blocking=True)\n"
            "    out = model(x"
        ),
    ),
    "a prefetcher": (
        (
            "class P:\n    def __init__(self): self.it = iter(loader); self.fetch()\n    def fetch(self):\n"
            "        x, y = next(self.it)\n        self.x = x.pin_memory().to('cuda', non_blocking=True)\n"
            "    def next(self):\n        x = self.x\n        self.fetch()\n        return x\np = P()\n"
            "for i in range(9):\n    model(p.next())"
        ),
        (
            "; self.fetch()\n    def fetch(self):\n        x, y = next(self.it)\n"
            "        self.x = x.pin_memory().to('cuda', non_blocking=True)\n    def next(self):\n"
            "        x = self.x\n        self.fetch()\n        return x"
        ),
        (
            "\n    def next(self):\n        x, y = next(self.it)\n"
            "        return x.pin_memory().to('cuda', non_blocking=True)"
        ),
    ),
    "a batch of its own kind": (
        (
            "for b, c in DataLoader(data, collate_fn=conf.batch, num_workers=4):\n"
            "    b = b.pin_memory().to('cuda', non_blocking=True)"
        ),
        "collate_fn=conf.batch, ",
    ),
    "a batch of the project": (
        (
            "class B:\n    def __init__(self, s): self.x = torch.stack([a for a, b in s])\n"
            "    def pin_memory(self): self.x = self.x.pin_memory(); return self\n"
            "    def to(self, d, non_blocking=False): return self.x.to(d)\n"
            "for b in DataLoader(data, num_workers=4, collate_fn=B):\n    b.pin_memory().to('cuda', non_blocking=True)"
        ),
        (
            "class B:\n    def __init__(self, s): self.x = torch.stack([a for a, b in s])\n"
            "    def pin_memory(self): self.x = self.x.pin_memory(); return self\n"
            "    def to(self, d, non_blocking=False): return self.x.to(d)\n"
            "for b in DataLoader(data, num_workers=4, collate_fn=B):\n    "
        ),
        "for b, c in DataLoader(data, num_workers=4):\n    x = ",
    ),
    "to the host": ("for x, y in loader:\n    x = x.pin_memory().to('cpu')", "'cpu'", "'cuda'"),
    "only pinned": ("for x, y in loader:\n    x = x.pin_memory()", "y()", "y().cuda()"),
    "unknown device": ("for x, y in loader:\n    x = x.pin_memory().to(conf.d)", "conf.d", "'cuda'"),
    "outside loop": (
        "x, y = next(iter(loader))\nx = x.pin_memory().to('cuda')",
        "x, y = next(iter(loader))\n",
        "for x, y in loader: ",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    source, *change = PAIRS[case]
    check_pair("ACC204", Pair(LOADED + source, *change), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "for x, y in loader:\n    x = x.pin_memory().to('cuda', non_blocking=True)  # -> ACC204 info none\n"
    check(REGRESSION + source, tmp_path)
