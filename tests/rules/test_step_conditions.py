"""Each condition under which ACC208 and ACC209 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .test_every_step import BATCH, HEAD

WAITS = "a, b = loss.item(), out.max().item()"
HEADS = {"ACC208": HEAD + BATCH, "ACC208 in other loops": HEAD, "ACC209": HEAD}
PAIRS: dict[str, dict[str, tuple[str, ...]]] = {
    "ACC208": {
        "every hundredth": ("    if i % 100 == 0:\n        " + WAITS, "if i % 100 == 0", "with torch.enable_grad()"),
        "behind a modulus": (
            "    if i % 100 == 0 and loss.item() > 3 and out.max().item() > 3:\n        pass",
            "i % 100 == 0 and loss.item() > 3 and out.max().item() > 3:\n        pass",
            "loss.item() > 3 or out.max().item() > 3:\n        pass\n    a = out.sum().item()",
        ),
        "as a function decides": (
            "    if conf.should_log(i):\n        " + WAITS,
            "if conf.should_log(i",
            "with torch.enable_grad(",
        ),
        "early continue": ("    if i % 100:\n        continue\n    " + WAITS, "continue", "pass"),
        "epoch level": (WAITS, "a, b", "    a, b"),
        "one wait": ("    a = loss.item()", " = loss.item", ", b = loss.item(), out.max().item"),
        "eval after cpu": ("    host = out.detach().cpu()\n    a, b = host.max().item(), host.min().item()", ".cpu()"),
        "sizes": (
            "    a, b, c = out.size(0), len(out), out.dim()",
            "out.size(0), len(out",
            "loss.item(), out.max().item(",
        ),
        "only its size": (
            "    a, b = out.shape[0], out.shape[-1]",
            "out.shape[0], out.shape[-1]",
            "loss.item(), out.max().item()",
        ),
        "printed shapes": (
            "    print(out.shape)\n    print(out.size())",
            "out.shape)\n    print(out.size()",
            "out)\n    print(loss",
        ),
        "numbers of elements": (
            "    a, b = int(out.numel()), float(out.size(0))",
            "out.numel()), float(out.size(0",
            "out.max()), float(out.sum(",
        ),
        "where with three arguments": ("    a = loss.item()\n    z = torch.where(y > 0, y, y)", ", y, y"),
        "repeated as often": ("    a = loss.item()\n    z = torch.repeat_interleave(out, 3)", ", 3", ", y"),
        "repeated to a known size": (
            "    a = loss.item()\n    z = torch.repeat_interleave(out, y, output_size=9)",
            ", output_size=9",
        ),
        "repeated to a known size, method": (
            "    a = loss.item()\n    z = out.repeat_interleave(y, output_size=9)",
            ", output_size=9",
        ),
        "a logged shape": (
            "    import logging\n    a = loss.item()\n    logging.info('%s', out.shape)",
            "out.shape",
            "out",
        ),
        "a logger's shape": (
            (
                "    import logging\n    log = logging.getLogger('a')\n    a = loss.item()\n"
                "    log.info('%s', out.shape)"
            ),
            "out.shape",
            "out",
        ),
        "inner loop": ("    for k in range(3):\n        " + WAITS, "for k in range(3", "with torch.enable_grad("),
        "whether there is one": (
            "    if loss is None or out is None: pass",
            "is None or out is None",
            "> 3 or out.sum() > 3",
        ),
        "under debug": ("    if conf.debug:\n        " + WAITS, "if conf.debug", "with torch.enable_grad()"),
        "of one rank": ("    if conf.rank == 0:\n        " + WAITS, "if conf.rank == 0", "with torch.enable_grad()"),
        "numpy of host": (
            "    a, b = torch.zeros(3).numpy(), torch.zeros(3).tolist()",
            "torch.zeros(3).numpy(), torch.zeros(3).tolist",
            "loss.item(), out.max().item",
        ),
        "non tensors": (
            "    d = {}\n    a, b = d.items(), d.copy()",
            "d.items(), d.copy",
            "loss.item(), out.max().item",
        ),
        "on a condition with a name": (
            "    log = i % 10 == 0\n    if log: " + WAITS,
            "log = i % 10 == 0\n    if log: ",
        ),
        "one check": ("    assert not torch.isnan(loss)", "loss)", "loss)\n    a = loss.item()"),
        "in a conditional expression": (
            "    a, b = (loss.item(), out.max().item()) if i % 10 == 0 else (0, 0)",
            "(loss.item(), out.max().item()) if i % 10 == 0 else (0, 0",
            "loss.item(), out.max().item(",
        ),
    },
    "ACC208 in other loops": {
        "one progress bar": (
            (
                "from tqdm import tqdm\nbar = tqdm(loader)\n\nfor i, (x, y) in enumerate(bar):\n"
                "    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)\n    out = model(x)\n"
                "    loss = criterion(out, y)\n    loss.backward()\n    bar.set_postfix(loss=loss.item())"
            ),
            "())",
            "(), m=out.max().item())",
        ),
        "evaluation": (
            (
                "model.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        out = model(x.cuda())\n"
                "        a, b, c = out.max().item(), out.min().item(), out.sum().item()\n"
            ),
            (
                "model.eval()\nwith torch.no_grad():\n    for x, y in loader:\n        out = model(x.cuda())\n"
                "        a, b, c = out.max().item(), out.min().item(), out.sum().item"
            ),
            (
                "if 1:\n    for x, y in loader:\n        out = model(x.cuda())\n"
                "        a, b, c = out.max().item(), out.min().item(), out.sum().item()\n        out.sum().backward"
            ),
        ),
        "LBFGS": (
            "o = torch.optim.LBFGS(model.parameters())\n" + BATCH + "    " + WAITS + "\n",
            "torch.optim.LBFGS",
            "torch.optim.SGD",
        ),
        "an environment of gym": (
            "import gym\nenv = gym.make('a')\n"
            + BATCH
            + ("    action = out.argmax().item()\n    obs, reward, done, info = env.step(loss.item())\n"),
            "import gym\nenv = gym.make('a')\n"
            + BATCH
            + "    action = out.argmax().item()\n    obs, reward, done, info = env.step",
            BATCH + "    action = out.argmax().item()\n    b = ",
        ),
        "an environment of gymnasium": (
            "import gymnasium as gym\nenv = gym.make('a')\n"
            + BATCH
            + ("    action = out.argmax().item()\n    obs, reward, done, info = env.step(loss.item())\n"),
            "import gymnasium as gym\nenv = gym.make('a')\n"
            + BATCH
            + "    action = out.argmax().item()\n    obs, reward, done, info = env.step",
            BATCH + "    action = out.argmax().item()\n    b = ",
        ),
        "an unknown environment": (
            "env = conf.env()\n"
            + BATCH
            + ("    action = out.argmax().item()\n    obs, reward, done, info = env.step(loss.item())\n"),
            "env = conf.env()\n" + BATCH + "    action = out.argmax().item()\n    obs, reward, done, info = env.step",
            BATCH + "    action = out.argmax().item()\n    b = ",
        ),
        "lightning": (
            (
                "import lightning as L\nclass N(L.LightningModule):\n    def fit(self):\n"
                "        for x, y in loader:\n"
                "            x = x.to(device); out = model(x); loss = criterion(out, y.to(device)); loss.backward()\n"
                "            "
            )
            + WAITS
            + "\n",
            "import lightning as L\nclass N(L.LightningModule)",
            "class N",
        ),
        "a scaler's own wait": (
            "s = torch.amp.GradScaler('cuda')\no = torch.optim.SGD(model.parameters(), lr=1)\n"
            + BATCH
            + "    s.step(o); s.update(); a = loss.item()\n",
            "s = torch.amp.GradScaler('cuda')\no = torch.optim.SGD(model.parameters(), lr=1)\n"
            + BATCH
            + "    s.step(o); s.update(); a = loss.item",
            BATCH + "    a, b = loss.item(), out.max().item",
        ),
    },
    "ACC209": {
        "never differentiated": (
            "total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)",
            "total += criterion(model(x), y)",
            "loss = criterion(model(x), y)\n    loss.backward()\n    total += loss",
        ),
        "another loss": (
            "total = 0\n" + BATCH + "    other = criterion(model(x), y)\n    total += other\n",
            "other\n",
            "loss\n",
        ),
        "multi-task": (
            (
                "for x, y in loader:\n    loss = 0\n    for t in range(3):\n"
                "        loss += criterion(model(x), y)\n    loss.backward()"
            ),
            (
                "for x, y in loader:\n    loss = 0\n    for t in range(3):\n"
                "        loss += criterion(model(x), y)\n    loss.backward()"
            ),
            (
                "total = 0\nfor x, y in loader:\n    for t in range(3):\n        loss = criterion(model(x), y)\n"
                "        loss.backward()\n        total += loss"
            ),
        ),
        "two losses": (
            (
                "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss += criterion(model(x), y)\n"
                "    loss.backward()"
            ),
            (
                "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss += criterion(model(x), y)\n"
                "    loss.backward()"
            ),
            (
                "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n"
                "    total += loss"
            ),
        ),
        "the sum is differentiated": (
            "total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)\ntotal.backward()",
            "total += criterion(model(x), y)\ntotal.backward",
            "loss = criterion(model(x), y)\n    total += loss\n    loss.backward",
        ),
        "the graph is retained": (
            (
                "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n"
                "    loss.backward(retain_graph=True)\n    total += loss\ntotal.backward()"
            ),
            "retain_graph=True)\n    total += loss\ntotal.backward()",
            ")\n    total += loss\n",
        ),
        "a graph of gradients": (
            "total = 0\n" + BATCH + "    criterion(model(x), y).backward(create_graph=True)\n    total += loss\n",
            "create_graph=True",
        ),
        "autograd.grad": (
            "total = 0\n" + BATCH + "    total += loss\n    torch.autograd.grad(total, model.weight)\n",
            "torch.autograd.grad(total, model.weight)",
            "pass",
        ),
        "item": ("total = 0\n" + BATCH + "    total += loss.item()\n", "loss.item()", "loss"),
        "detach": ("total = 0\n" + BATCH + "    total += loss.detach()\n", "loss.detach()", "loss"),
        "detach_": ("total = 0\n" + BATCH + "    loss.detach_()\n    total += loss\n", "loss.detach_()", "pass"),
        "float": ("total = 0\n" + BATCH + "    total += float(loss)\n", "float(loss)", "loss"),
        "made from data": ("total = 0\n" + BATCH + "    total += loss.data\n", "loss.data", "loss"),
        "cpu detach": ("total = 0\n" + BATCH + "    total += loss.cpu().detach()\n", ".detach()"),
        "clone detach": (
            "kept = []\n" + BATCH + "    kept.append(loss.clone().detach())\n",
            "loss.clone().detach()",
            "loss",
        ),
        "no_grad": (
            "total = 0\n" + BATCH + "    with torch.no_grad():\n        total += loss\n",
            "with torch.no_grad()",
            "if 1",
        ),
        "no_grad +": (
            "total = 0\n" + BATCH + "    with torch.no_grad():\n        total = total + loss\n",
            "with torch.no_grad()",
            "if 1",
        ),
        "inference_mode": (
            "total = 0\n" + BATCH + "    with torch.inference_mode():\n        total += loss\n",
            "with torch.inference_mode()",
            "if 1",
        ),
        "made under no_grad": (
            "total = 0\n"
            + BATCH
            + ("    with torch.no_grad():\n        other = criterion(model(x), y)\n    total += other\n"),
            "with torch.no_grad():\n        other = criterion(model(x), y)\n    total += other",
            "total += loss",
        ),
        "cleared": ("kept = []\n" + BATCH + "    kept.clear()\n    kept.append(loss)\n", "kept.clear()", "pass"),
        "rebound list": (
            "kept = []\n" + BATCH + "    kept = []\n    kept.append(loss)\n",
            "kept = []\n    ",
            "pass\n    ",
        ),
        "rebound": ("total = 0\n" + BATCH + "    total = 0\n    total += loss\n", "total = 0\n    ", "pass\n    "),
        "dict of lists cleared": (
            "d = {'a': []}\n" + BATCH + "    d['a'] = []\n    d['a'].append(loss)\n",
            "d['a'] = []",
            "pass",
        ),
        "every hundredth": (
            "total = 0\n" + BATCH + "    total += loss\n    if i % 100 == 0:\n        total = 0\n",
            "\n        total = 0",
            "\n        pass",
        ),
        "popped": (
            "losses = []\n" + BATCH + "    losses.append(loss)\n    if i > 10:\n        losses.pop(0)\n",
            "losses.pop(0)",
            "pass",
        ),
        "sliced": (
            "losses = []\n" + BATCH + "    losses.append(loss)\n    losses = losses[-10:]\n",
            "losses = losses[-10:]",
            "pass",
        ),
        "deque": ("losses = deque(maxlen=10)\n" + BATCH + "    losses.append(loss)\n", "deque(maxlen=10)", "[]"),
        "another name": ("total = 0\n" + BATCH + "    both = total + loss\n", "both", "total"),
        "no loop": (
            ("total = 0\nx, y = next(iter(loader))\nloss = criterion(model(x), y)\nloss.backward()\ntotal += loss"),
            "x, y = next(iter(loader))\nloss = criterion(model(x), y)\nloss.backward()\n",
            "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    ",
        ),
        "added in a function without autograd": (
            "@torch.no_grad()\ndef log(t, l): return t + l\ntotal = 0\n" + BATCH + "    total = log(total, loss)",
            "@torch.no_grad()\ndef log(t, l): return t + l\ntotal = 0\n" + BATCH + "    total = log(total, loss)",
            "total = 0\n" + BATCH + "    total = total + loss",
        ),
        "an item detached": ("d = {'a': 0}\n" + BATCH + "    d['a'] += loss.detach()", "loss.detach()", "loss"),
        "numbers in a list": ("l = []\n" + BATCH + "    l.append(loss.item())", "loss.item()", "loss"),
        "arrays in a list": (
            "l = []\n" + BATCH + "    l.append(loss.detach().cpu().numpy())",
            "loss.detach().cpu().numpy()",
            "loss",
        ),
        "data in a list": ("l = []\n" + BATCH + "    l.append(loss.data)", "loss.data", "loss"),
        "a product without autograd": (
            "l = []\n" + BATCH + "    with torch.no_grad():\n        l.append(loss * 2)",
            " * 2",
        ),
        "a mean without autograd": (
            "l = []\n" + BATCH + "    with torch.no_grad():\n        l.append(loss.mean())",
            "with torch.no_grad():\n        ",
        ),
    },
}

CASES = [pytest.param(code, name, id=f"{code}: {name}") for code, all_ in PAIRS.items() for name in all_]


@pytest.mark.parametrize(("code", "name"), CASES)
def test_silent_for_one_reason(code: str, name: str, tmp_path: Path) -> None:
    source, *change = PAIRS[code][name]
    check_pair(code[:6], Pair(HEADS[code] + source, *change), tmp_path)


@pytest.mark.parametrize("device", ['torch.device("cpu")', 'torch.device("mps")', "conf.device"])
def test_silent_where_nothing_is_on_a_gpu_for_certain(device: str, tmp_path: Path) -> None:
    cuda = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'
    source = HEAD.replace(cuda, device) + BATCH + "    " + WAITS
    check_pair("ACC208", Pair(source, f"device = {device}", f"device = {cuda}"), tmp_path)
