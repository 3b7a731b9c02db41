"""Each condition under which ACC204, ACC210 to ACC213 and ACC216 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .test_transfer_loops import LOADER

LOADED = LOADER + "import conf\n"
FETCH = "def fetch():\n    for x, y in loader:\n        x = x.pin_memory().to('cuda', non_blocking=True)\n"
FILLED = "kept = torch.zeros(0)\nfor x, y in loader:\n    "
FIXED = "w = torch.zeros(8)\nfor x, y in loader:\n    "
HEADS = {"ACC204": LOADED, "ACC210": LOADED, "ACC211": LOADED, "ACC212": LOADED, "ACC213": LOADED, "ACC216": LOADED}
PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "ACC204": {
        "not a loader's": (
            "for x, y in loader:\n    w = torch.zeros(8)\n    w = w.pin_memory().to('cuda')",
            "w.pin",
            "x.pin",
        ),
        "once": (
            (
                "buffer = torch.zeros(8).pin_memory()\nfor x, y in loader:\n"
                "    model(buffer.to('cuda', non_blocking=True))"
            ),
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
                "for b, c in DataLoader(data, collate_fn=conf.batch, pin_memory=True):\n"
                "    b = b.pin_memory().to('cuda', non_blocking=True)"
            ),
            "collate_fn=conf.batch, ",
        ),
        "a batch of the project": (
            (
                "class B:\n    def __init__(self, s): self.x = torch.stack([a for a, b in s])\n"
                "    def pin_memory(self): self.x = self.x.pin_memory(); return self\n"
                "    def to(self, d, non_blocking=False): return self.x.to(d)\n"
                "for b in DataLoader(data, collate_fn=B):\n    b.pin_memory().to('cuda', non_blocking=True)"
            ),
            (
                "class B:\n    def __init__(self, s): self.x = torch.stack([a for a, b in s])\n"
                "    def pin_memory(self): self.x = self.x.pin_memory(); return self\n"
                "    def to(self, d, non_blocking=False): return self.x.to(d)\n"
                "for b in DataLoader(data, collate_fn=B):\n    "
            ),
            "for b, c in DataLoader(data):\n    x = ",
        ),
        "to the host": ("for x, y in loader:\n    x = x.pin_memory().to('cpu')", "'cpu'", "'cuda'"),
        "only pinned": ("for x, y in loader:\n    x = x.pin_memory()", "y()", "y().cuda()"),
        "unknown device": ("for x, y in loader:\n    x = x.pin_memory().to(conf.d)", "conf.d", "'cuda'"),
        "outside loop": (
            "x, y = next(iter(loader))\nx = x.pin_memory().to('cuda')",
            "x, y = next(iter(loader))\n",
            "for x, y in loader: ",
        ),
    },
    "ACC210": {
        "on the GPU already": (
            "xs = [torch.zeros(8, device='cuda')]\ny = torch.stack([x.to('cuda') for x in xs])",
            ", device='cuda'",
        ),
        "a list on the GPU": (
            ("xs = [torch.zeros(8).cuda() for i in range(3)]\ny = torch.stack([x.to('cuda') for x in xs])"),
            ".cuda() ",
            " ",
        ),
        "unknown": ("xs = conf.xs\ny = torch.stack([x.to('cuda') for x in xs])", "conf.xs", "[torch.zeros(8)]"),
        "joined first": (
            "xs = [torch.zeros(8)]\ny = torch.stack(xs).to('cuda')",
            "xs).to('cuda'",
            "[x.to('cuda') for x in xs]",
        ),
        "to the host": ("xs = [torch.zeros(8)]\ny = torch.stack([x.to('cpu') for x in xs])", "'cpu'", "'cuda'"),
        "unknown device": ("xs = [torch.zeros(8)]\ny = torch.stack([x.to(conf.d) for x in xs])", "conf.d", "'cuda'"),
        "only a cast": ("xs = [torch.zeros(8)]\ny = torch.cat([x.to('cuda', torch.half) for x in xs])", ", torch.half"),
        "another function": (
            "xs = [torch.zeros(8)]\ny = conf.stack([x.to('cuda') for x in xs])",
            "conf.stack",
            "torch.stack",
        ),
    },
    "ACC211": {
        "async": ("xs = [torch.zeros(8)]\ny = [x.to('cuda', non_blocking=True) for x in xs]", ", non_blocking=True"),
        "unknown": ("xs = conf.xs\ny = [x.to('cuda') for x in xs]", "conf.xs", "[torch.zeros(8)]"),
        "on the GPU already": ("xs = [torch.zeros(8).cuda()]\ny = [x.to('cuda') for x in xs]", ".cuda()]", "]"),
        "to the host": ("xs = [torch.zeros(8)]\ny = [x.to('cpu') for x in xs]", "'cpu'", "'cuda'"),
        "loop": (
            "xs = [torch.zeros(8)]\nfor x in xs:\n    x.to('cuda')",
            "for x in xs:\n    x.to('cuda')",
            "y = [x.to('cuda') for x in xs]",
        ),
        "targets": (
            (
                "for images, targets in DataLoader(conf.coco, collate_fn=conf.c):\n"
                "    t = [{k: v.to('cuda') for k, v in t.items()} for t in targets]"
            ),
            ("DataLoader(conf.coco, collate_fn=conf.c):\n    t = [{k: v.to('cuda') for k, v in t.items()} for t"),
            "loader:\n    t = [v.to('cuda') for v",
        ),
    },
    "ACC212": {
        "rebinding": (FIXED + "w = w.to('cuda')", "w = w.to", "v = w.to"),
        "made in loop": (FIXED + "w = torch.zeros(8)\n    v = w.to('cuda')", "    w = torch.zeros(8)\n"),
        "changed": (FIXED + "w[0] = 1\n    v = w.to('cuda')", "w[0] = 1", "pass"),
        "filled": (FIXED + "w.copy_(x)\n    v = w.to('cuda')", "w.copy_(x)", "pass"),
        "added": (FIXED + "w += 1\n    v = w.to('cuda')", "w += 1", "pass"),
        "assigned": (FIXED + "w = w + 1\n    v = w.to('cuda')", "w = w + 1", "pass"),
        "assigned later": (FIXED + "v = w.to('cuda')\n    w = conf.n()", "w = conf.n()", "pass"),
        "part": (
            ("w = torch.zeros(8, 8)\nfor i, (x, y) in enumerate(loader):\n    v = w[i]\n    v = v.to('cuda')"),
            "v = v.to",
            "v = w.to",
        ),
        "before": (
            "w = torch.zeros(8)\nv = w.to('cuda')\nfor x, y in loader:\n    pass",
            "v = w.to('cuda')\nfor x, y in loader:\n    pass",
            "for x, y in loader:\n    v = w.to('cuda')",
        ),
        "condition": (
            ("w = torch.zeros(8)\nfor i, (x, y) in enumerate(loader):\n    if i == 0:\n        v = w.to('cuda')"),
            "if i == 0",
            "with torch.enable_grad()",
        ),
        "method": (
            (
                "class T:\n    def __init__(self): self.w = torch.zeros(8)\n"
                "    def move(self): self.w = self.w.to('cuda')\n    def fit(self):\n        for x, y in loader:\n"
                "            self.move()\nT().fit()"
            ),
            "self.w = self.w.to",
            "v = self.w.to",
        ),
        "perhaps": (FIXED + "conf.refill(w)\n    v = w.to('cuda')", "conf.refill(w)", "pass"),
        "module": (
            "m = nn.Linear(8, 2)\nfor x, y in loader:\n    v = m.to('cuda')",
            "nn.Linear(8, 2)\n",
            "torch.zeros(8)\n",
        ),
        "unknown": (
            "def f(w):\n    for x, y in loader:\n        v = w.to('cuda')\nf(conf.w)",
            "conf.w",
            "torch.zeros(8)",
        ),
        "to the host": (FIXED + "v = w.to('cpu')", "'cpu'", "'cuda'"),
        "no CUDA": (FIXED + "v = w.to('mps')", "'mps'", "'cuda'"),
        "unknown device": (FIXED + "v = w.to(conf.d)", "conf.d", "'cuda'"),
        "not batch loop": (
            "w = torch.zeros(8)\nfor i in range(9):\n    v = w.to('cuda')",
            "i in range(9)",
            "x, y in loader",
        ),
        "on the GPU already": (
            "w = torch.zeros(8).cuda()\nfor x, y in loader:\n    v = w.to('cuda')",
            ".cuda()\nfor",
            "\nfor",
        ),
        "one step": (FIXED + "v = w.to('cuda')\n    break", "break", "pass"),
        "bound anew among others": (FIXED + "w, v = w.to('cuda'), 1", ":\n    w", ":\n    u"),
        "bound anew as an attribute": (
            (
                "class T:\n    def __init__(self): self.w = torch.zeros(8)\n    def fit(self):\n"
                "        for x, y in loader:\n            self.w = self.w.to('cuda')\nT().fit()"
            ),
            "\n            self.w",
            "\n            v",
        ),
        "bound anew in an expression": (FIXED + "model(w := w.to('cuda'))", "w := "),
        "bound anew afterwards": (FIXED + "v = w.to('cuda')\n    w = v", ")\n    w", ")\n    u"),
    },
    "ACC213": {
        "unknown dtype": ("x = conf.x\nx = x.float().cuda()", "conf.x", "torch.zeros(8, dtype=torch.uint8)"),
        "default": ("x = torch.zeros(8)\ny = x.float().cuda()", ")\ny", ", dtype=torch.uint8)\ny"),
        "smaller": ("x = torch.zeros(8, dtype=torch.float64)\ny = x.float().cuda()", "float64", "uint8"),
        "a half": (
            "x = torch.zeros(8, dtype=torch.float32)\ny = x.half().cuda()",
            "torch.float32)\ny = x.half",
            "torch.uint8)\ny = x.float",
        ),
        "the same width": ("x = torch.zeros(8, dtype=torch.int32)\ny = x.float().cuda()", "int32", "int16"),
        "on the GPU": ("x = torch.zeros(8, dtype=torch.uint8, device='cuda')\ny = x.float().cuda()", ", device='cuda'"),
        "to host": ("x = torch.zeros(8, dtype=torch.uint8)\ny = x.float().to('cpu')", "'cpu'", "'cuda'"),
        "no CUDA": ("x = torch.zeros(8, dtype=torch.uint8)\ny = x.float().to(conf.d)", "conf.d", "'cuda'"),
        "cast by the move": (
            "x = torch.zeros(8, dtype=torch.uint8)\ny = x.to('cuda', torch.float32)",
            "x.to('cuda', torch.float32)",
            "x.float().to('cuda')",
        ),
        "cast afterwards": (
            "x = torch.zeros(8, dtype=torch.uint8)\ny = x.cuda().float()",
            "cuda().float()",
            "float().cuda()",
        ),
        "a comparison": ("x = torch.zeros(8) > 0\ny = x.float().cuda()", ") > 0", ", dtype=torch.bool)"),
    },
    "ACC216": {
        "few times": (
            ("kept = torch.zeros(0)\nfor i in range(3):\n    kept = torch.cat([kept, torch.zeros(1)])"),
            "i in range(3):\n    kept = torch.cat([kept, torch.zeros(1)",
            "x, y in loader:\n    kept = torch.cat([kept, x",
        ),
        "one pass": (FILLED + "kept = torch.cat([kept, x])\n    break", "break", "pass"),
        "condition": (
            FILLED + "if conf.keep:\n        kept = torch.cat([kept, x])",
            "if conf.keep",
            "with torch.enable_grad()",
        ),
        "others": (FILLED + "both = torch.cat([x, y])", "both = torch.cat([x", "kept = torch.cat([kept"),
        "needed": (FILLED + "kept = torch.cat([kept, x])\n    model(kept.cuda())", "model(kept.cuda())", "pass"),
        "needed before": (FILLED + "print(kept.mean())\n    kept = torch.cat([kept, x])", "kept.mean()"),
        "made anew": (FILLED + "kept = x[y]\n    kept = torch.cat([kept, y])", "kept = x[y]", "pass"),
        "queue": (FILLED + "kept = torch.cat([kept, x])[-9:]", "[-9:]"),
        "a few batches": (
            (
                "kept = torch.zeros(0)\nimport itertools\nfor x, y in itertools.islice(loader, 3):\n"
                "    kept = torch.cat([kept, x])"
            ),
            "import itertools\nfor x, y in itertools.islice(loader, 3)",
            "for x, y in loader",
        ),
        "until a break": (
            (
                "kept = torch.zeros(0)\nfor i, (x, y) in enumerate(loader):\n    kept = torch.cat([kept, x])\n"
                "    if i == 3:\n        break"
            ),
            "\n    if i == 3:\n        break",
        ),
        "given at each step": (
            (
                "def f():\n    kept = torch.zeros(0)\n    for x, y in loader:\n"
                "        kept = torch.cat([kept, x])\n        yield kept\nfor z in f(): print(z)"
            ),
            "\n        yield kept\nfor z in f(): print(z",
            "\n    return kept\nf(",
        ),
    },
}

CASES = [pytest.param(code, name, id=f"{code}: {name}") for code, all_ in PAIRS.items() for name in all_]


@pytest.mark.parametrize(("code", "name"), CASES)
def test_silent_for_one_reason(code: str, name: str, tmp_path: Path) -> None:
    source, *change = PAIRS[code][name]
    check_pair(code[:6], Pair(HEADS[code] + source, *change), tmp_path)
