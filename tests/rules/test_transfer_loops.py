"""ACC204, ACC208 and ACC210 to ACC219, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Finding
from accel_advisor.rule import registry

from .marked import check, findings_in, fixed
from .programs import IMPORTS

LOADER = (
    IMPORTS
    + """
data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
loader = DataLoader(data, batch_size=16, pin_memory=True)
model = nn.Linear(8, 2).cuda()
criterion = nn.MSELoss()
"""
)
STEP = """for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = criterion(out, y.cuda(non_blocking=True))
    loss.backward()
"""


def of(code: str, source: str, folder: Path) -> list[Finding]:
    return [one for one in findings_in(source, folder)[1] if one.code == code]


PIN_SILENT = {
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
        "import mystery\nfor b in DataLoader(data, collate_fn=mystery.batch, pin_memory=True):\n"
        "    b = b.pin_memory().to('cuda', non_blocking=True)"
    ),
}


@pytest.mark.parametrize("source", PIN_SILENT.values(), ids=PIN_SILENT.keys())
def test_no_word_about_pinning_elsewhere(source: str, tmp_path: Path) -> None:
    assert not of("ACC204", LOADER + source + "\n", tmp_path)


def test_pinning_in_the_loop(tmp_path: Path) -> None:
    source = "for x, y in loader:\n    x = x.pin_memory().to('cuda', non_blocking=True)  # -> ACC204 info none\n"
    check(LOADER + source, tmp_path)


SYNC_SILENT = {
    "once at each step": STEP + "    total = loss.item()\n",
    "now and then": STEP.replace("for x, y in loader", "for i, (x, y) in enumerate(loader)")
    + "    if i % 100 == 0:\n        print(loss.item(), out.max().item(), out.min().item())\n",
    "once an epoch": STEP + "print(loss.item(), out.max().item(), out.min().item())\n",
    "in evaluation": (
        "model.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        out = model(x.cuda(non_blocking=True))\n"
        "        a, b, c = out.max().item(), out.min().item(), out.sum().item()\n"
    ),
    "on the host": (
        "net = nn.Linear(8, 2)\nfor x, y in loader:\n    loss = criterion(net(x), y)\n    loss.backward()\n"
        "    a, b, c = loss.item(), loss.item(), loss.item()\n"
    ),
    "LBFGS": "opt = torch.optim.LBFGS(model.parameters())\n" + STEP + "    a, b = loss.item(), out.max().item()\n",
    "shapes": STEP + "    a, b, c = out.size(), len(out), out.dim()\n",
}


@pytest.mark.parametrize("source", SYNC_SILENT.values(), ids=SYNC_SILENT.keys())
def test_no_word_about_few_waits(source: str, tmp_path: Path) -> None:
    assert not of("ACC208", LOADER + source, tmp_path)


def test_waits_at_every_step(tmp_path: Path) -> None:
    source = LOADER + STEP + "    a = loss.item()  # -> ACC208 info none\n    b = float(out.max())\n"
    found = check(source, tmp_path)
    assert len(found[0].related) == 1
    check(source.replace("ACC208 info", "ACC208 warning") + "    print(loss)\n", tmp_path)


ALONE = {
    "ACC210": {
        "on the GPU already": "xs = [torch.zeros(8, device='cuda')]\ny = torch.stack([x.to('cuda') for x in xs])",
        "unknown": "import conf\ny = torch.stack([x.to('cuda') for x in conf.xs])",
        "joined first": "xs = [torch.zeros(8)]\ny = torch.stack(xs).to('cuda')",
    },
    "ACC211": {
        "asynchronous": "xs = [torch.zeros(8)]\ny = [x.to('cuda', non_blocking=True) for x in xs]",
        "unknown": "import conf\ny = [x.to('cuda') for x in conf.xs]",
    },
    "ACC212": {
        "bound anew": "w = torch.zeros(8)\nfor x, y in loader:\n    w = w.to('cuda')",
        "made in the loop": "for x, y in loader:\n    w = torch.zeros(8)\n    v = w.to('cuda')",
        "changed in the loop": "w = torch.zeros(8)\nfor x, y in loader:\n    w[0] = 1\n    v = w.to('cuda')",
        "filled in the loop": "w = torch.zeros(8)\nfor x, y in loader:\n    w.copy_(x)\n    v = w.to('cuda')",
        "a part of it": "w = torch.zeros(8, 8)\nfor i, (x, y) in enumerate(loader):\n    v = w[i]\n    v = v.to('cuda')",
        "before the loop": "w = torch.zeros(8)\nv = w.to('cuda')\nfor x, y in loader:\n    pass",
        "on a condition": "w = torch.zeros(8)\nfor i, (x, y) in enumerate(loader):\n    if i == 0:\n        v = w.to('cuda')",
        "bound anew by a method": (
            "class T:\n    def __init__(self): self.w = torch.zeros(8)\n    def move(self): self.w = self.w.to('cuda')\n"
            "    def fit(self):\n        for x, y in loader:\n            self.move()\nT().fit()"
        ),
        "perhaps changed": "w = torch.zeros(8)\nfor x, y in loader:\n    conf.refill(w)\n    v = w.to('cuda')",
        "a module": "m = nn.Linear(8, 2)\nfor x, y in loader:\n    m.to('cuda')",
        "unknown": "def f(w):\n    for x, y in loader:\n        v = w.to('cuda')",
    },
    "ACC213": {
        "unknown dtype": "import conf\nx = conf.x.float().cuda()",
        "default dtype": "x = torch.zeros(8)\ny = x.float().cuda()",
        "smaller": "x = torch.zeros(8, dtype=torch.float64)\ny = x.float().cuda()",
        "halved": "x = torch.zeros(8, dtype=torch.float32)\ny = x.half().cuda()",
        "on the GPU": "x = torch.zeros(8, dtype=torch.uint8, device='cuda')\ny = x.float().cuda()",
    },
    "ACC214": {
        "on a condition": STEP + "    if conf.low:\n        torch.cuda.empty_cache()",
        "when memory is short": (
            "for x, y in loader:\n    try:\n        model(x.cuda(non_blocking=True))\n    except RuntimeError:\n"
            "        torch.cuda.empty_cache()"
        ),
        "once an epoch": "for epoch in range(9):\n    for x, y in loader:\n        model(x.cuda(non_blocking=True))\n    torch.cuda.empty_cache()",
        "measures memory": STEP + "    torch.cuda.empty_cache()\n    print(torch.cuda.max_memory_allocated())",
    },
    "ACC215": {
        "times": "import time\n" + STEP + "    torch.cuda.synchronize()\n    print(time.time())",
        "events": "e = torch.cuda.Event()\n" + STEP + "    torch.cuda.synchronize()",
        "streams": "s = torch.cuda.Stream()\n" + STEP + "    torch.cuda.synchronize()",
        "a profiler": "p = torch.profiler.profile()\n" + STEP + "    torch.cuda.synchronize()",
        "copies to the host": STEP + "    host = out.to('cpu', non_blocking=True)\n    torch.cuda.synchronize()",
        "on a condition": STEP + "    if conf.debug:\n        torch.cuda.synchronize()",
        "once": STEP + "torch.cuda.synchronize()",
    },
    "ACC216": {
        "few times": "kept = torch.zeros(0)\nfor i in range(3):\n    kept = torch.cat([kept, torch.zeros(1)])",
        "on a condition": "kept = torch.zeros(0)\nfor x, y in loader:\n    if conf.keep:\n        kept = torch.cat([kept, x])",
        "of others": "for x, y in loader:\n    both = torch.cat([x, y])",
        "needed at each step": (
            "kept = torch.zeros(0)\nfor x, y in loader:\n    kept = torch.cat([kept, x])\n    model(kept.cuda())"
        ),
        "made anew": ("for x, y in loader:\n    both = x[y]\n    both = torch.cat([both, y])\n    model(both.cuda())"),
        "a queue": "kept = torch.zeros(0)\nfor x, y in loader:\n    kept = torch.cat([kept, x])[-9:]",
    },
    "ACC218": {
        "a list": "x = torch.tensor([1.0])",
        "an array": "import numpy as np\nx = torch.tensor(np.zeros(3))",
        "unknown": "import conf\nx = torch.tensor(conf.x)",
        "a number": STEP + "    x = torch.tensor(loss.item())",
    },
    "ACC219": {
        "a partial": "import functools\nhalf = functools.partial(torch.tensor, 0.5, device='cuda')\nfor x in loader:\n    half()\n",
        "in __init__": (
            "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        for i in range(3):\n"
            "            x = torch.tensor(1.0, device='cuda')"
        ),
        "once": "x = torch.tensor(1.0, device='cuda')",
        "on the host": "for i in range(3):\n    x = torch.tensor(1.0)",
        "a list": "for i in range(3):\n    x = torch.tensor([1.0], device='cuda')",
    },
}
CASES = [
    pytest.param(code, source, id=f"{code} {name}") for code, all_ in ALONE.items() for name, source in all_.items()
]


@pytest.mark.parametrize(("code", "source"), CASES)
def test_smaller_rules_are_silent(code: str, source: str, tmp_path: Path) -> None:
    assert not of(code, LOADER + "import conf\n" + source + "\n", tmp_path)


def test_an_exit_puts_no_condition_on_what_stands_before_it(tmp_path: Path) -> None:
    exit_ = "    steps += 1\n    if steps == 9:\n        break\n"
    cleaned = "    torch.cuda.empty_cache()\n"
    head, step = LOADER + "steps = 0\n", STEP.split("\n", 1)
    loop = f"{step[0]}\n"
    assert len(of("ACC214", head + loop + cleaned + step[1] + exit_, tmp_path)) == 1
    assert of("ACC214", head + loop + step[1] + exit_ + cleaned, tmp_path) == []


def test_smaller_rules_speak(tmp_path: Path) -> None:
    source = """
import gc
tensors = [torch.zeros(8) for _ in range(9)]
batch = torch.cat([t.to("cuda") for t in tensors])  # -> ACC210 warning unsafe, ACC211 info none
moved = [t.to("cuda") for t in tensors]  # -> ACC211 info none
w = torch.zeros(8)
small = torch.zeros(8, dtype=torch.uint8)
large = small.float().to("cuda")  # -> ACC213 info unsafe
kept = torch.zeros(0, 8)
copied = torch.tensor(w)  # -> ACC218 info safe
for x, y in loader:
    x = model(x.cuda(non_blocking=True)) + w.cuda()  # -> ACC212 warning none
    kept = torch.cat([kept, x])  # -> ACC216 info none
    half = torch.tensor(0.5, device="cuda")  # -> ACC219 info safe
    gc.collect()  # -> ACC214 warning unsafe
    torch.cuda.empty_cache()  # -> ACC214 warning unsafe
    torch.cuda.synchronize()  # -> ACC215 info unsafe
"""
    check(LOADER + source, tmp_path)
    assert 'large = small.to("cuda").float()  #' in fixed(LOADER + source, tmp_path, "ACC213")
    assert 'half = torch.full((), 0.5, device="cuda")  #' in fixed(LOADER + source, tmp_path, "ACC219")
    assert "gc.collect()" not in fixed(LOADER + source, tmp_path, "ACC214")
    assert 'torch.cat([t for t in tensors]).to("cuda")  #' in fixed(LOADER + source, tmp_path, "ACC210")


def test_opt_in_rules_are_off() -> None:
    assert not registry()["ACC211"].enabled
    assert not registry()["ACC219"].enabled
