"""ACC202, ACC203, ACC205, ACC206 and ACC209, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import check, fixed
from .programs import IMPORTS

GPU = "out = nn.Linear(8, 2).cuda()(torch.randn(4, 8, device='cuda'))\n"

READ_SILENT = {
    "synchronized": "y = out.to('cpu', non_blocking=True)\ntorch.cuda.synchronize()\nprint(y.mean().item())",
    "a stream is waited for": (
        "s = torch.cuda.Stream()\ny = out.to('cpu', non_blocking=True)\ns.synchronize()\nprint(y.numpy())"
    ),
    "an event is waited for": (
        "e = torch.cuda.Event()\ny = out.to('cpu', non_blocking=True)\ne.record()\ne.wait()\nprint(y.numpy())"
    ),
    "sent back": "y = out.to('cpu', non_blocking=True)\ny = y.to('cuda')\nprint(y.mean().item())",
    "it waits": "y = out.to('cpu')\nprint(y.mean().item())",
    "never read": "y = out.to('cpu', non_blocking=True)",
    "a value was read in between": "y = out.to('cpu', non_blocking=True)\ns = out.sum().item()\nprint(y.numpy())",
    "only its shape": "y = out.to('cpu', non_blocking=True)\nprint(y.size())",
    "from the host": "x = torch.zeros(8)\ny = x.to('cpu', non_blocking=True)\nprint(y.numpy())",
    "to the device": "x = torch.zeros(8)\ny = x.to('cuda', non_blocking=True)\nprint(y.mean().item())",
    "decided at run time": "import conf\ny = out.to('cpu', non_blocking=conf.fast)\nprint(y.numpy())",
}


@pytest.mark.parametrize("source", READ_SILENT.values(), ids=READ_SILENT.keys())
def test_reads_that_come_late_enough(source: str, tmp_path: Path) -> None:
    check(IMPORTS + GPU + source + "\n", tmp_path)


def test_read_too_early(tmp_path: Path) -> None:
    source = (
        "y = out.to('cpu', non_blocking=True)  # -> ACC202 error safe\nz = y.detach()\nprint(z.numpy())\n"
        "def show(t):\n    return t.to('cpu', non_blocking=True).numpy()  # -> ACC202 error safe\n"
        "p = out.to('cpu', non_blocking=True)  # -> ACC202 error safe\nprint(f'{p}')\n"
        "q = out.to('cpu', non_blocking=True)  # -> ACC202 error safe\nif q.sum() > 0:\n    print(1)\n"
    )
    check(IMPORTS + GPU + source, tmp_path)
    assert "y = out.to('cpu')  #" in fixed(IMPORTS + GPU + source, tmp_path, "ACC202")


MPS = 'device = torch.device("cuda" if torch.cuda.is_available() else "mps")\nx = torch.randn(4, 8)\n'

MPS_SILENT = {
    "no mps": "d = torch.device('cuda')\nx = x.to(d, non_blocking=True)",
    "it waits": "x = x.to(device)",
    "asks the device": "x = x.to(device, non_blocking=device.type == 'cuda')",
    "under a condition": "if device.type == 'cuda':\n    x = x.to(device, non_blocking=True)",
    "unknown": "import conf\nx = x.to(conf.device, non_blocking=True)",
    "there already": "m = torch.device('mps')\nx = torch.zeros(3, device='mps')\ny = x.to(m, non_blocking=True)",
    "behind an early return": (
        "def move(t):\n    if device.type == 'mps':\n        return t.to(device)\n"
        "    return t.to(device, non_blocking=True)\nmove(x)"
    ),
}


@pytest.mark.parametrize("source", MPS_SILENT.values(), ids=MPS_SILENT.keys())
def test_no_asynchronous_copy_to_mps(source: str, tmp_path: Path) -> None:
    check(IMPORTS + MPS + source + "\n", tmp_path)


def test_asynchronous_copies_to_mps(tmp_path: Path) -> None:
    source = (
        "x = x.to(device, non_blocking=True)  # -> ACC203 error safe\n"
        "name = 'mps'\nz = x.to(name, non_blocking=True)  # -> ACC203 error unsafe\n"
        "q = x.to('mps', non_blocking=True)  # -> ACC203 error none\n"
    )
    check(IMPORTS + MPS + source, tmp_path)
    text = fixed(IMPORTS + MPS + source, tmp_path, "ACC203")
    assert 'x = x.to(device, non_blocking=device.type == "cuda")' in text
    assert 'z = x.to(name, non_blocking=str(name).startswith("cuda"))' in text


CREATE_SILENT = {
    "made there": "x = torch.zeros(4, device='cuda')",
    "made from data": "x = torch.tensor([1.0]).to('cuda')",
    "from numpy": "import numpy as np\nx = torch.from_numpy(np.zeros(4)).to('cuda')",
    "only a cast": "x = torch.zeros(4).to(torch.float16)",
    "maybe only a cast": "import conf\nx = torch.zeros(4).to(conf.what)",
    "to another tensor": "y = torch.zeros(4)\nx = torch.zeros(4).to(y)",
    "cast and moved": "x = torch.zeros(4).to('cuda', torch.float16)",
    "to the host": "x = torch.zeros(4).to('cpu')",
    "pinned": "x = torch.zeros(4, pin_memory=True).to('cuda', non_blocking=True)",
    "into another tensor": "y = torch.zeros(4)\nx = torch.zeros(4, out=y).to('cuda')",
    "with a generator": "g = torch.Generator()\nx = torch.randn(4, generator=g).to('cuda')",
    "of arguments unseen": "import conf\nx = torch.zeros(4, **conf.kw).to('cuda')",
    "to start CUDA": "torch.zeros(1).cuda()",
    "later": "x = torch.zeros(4)\nx = x.to('cuda')",
}


@pytest.mark.parametrize("source", CREATE_SILENT.values(), ids=CREATE_SILENT.keys())
def test_factories_that_have_to_be_moved(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + "\n", tmp_path)


def test_created_on_the_host_and_moved(tmp_path: Path) -> None:
    source = """
a = torch.zeros(4).cuda()  # -> ACC205 info safe
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(3):
            self.z = torch.zeros(4).cuda()  # -> ACC205 info safe
    def forward(self, x):
        return x + torch.zeros(4).cuda()  # -> ACC205 warning safe
net = Net()
for i in range(9):
    b = torch.ones(4).to("cuda")  # -> ACC205 info safe
for x in DataLoader(TensorDataset(a)):
    b = torch.ones(4).to("cuda")  # -> ACC205 warning safe
    c = torch.arange(0, 4).to("cuda")  # -> ACC205 warning safe
    d = torch.arange(0, 4, 0.5).to("cuda")  # -> ACC205 warning unsafe
    e = torch.randn(4).to("cuda")  # -> ACC205 warning unsafe
    for part in x.split(2):
        net(part).sum().backward()
for epoch in range(9):
    f = torch.zeros(4).to("cuda")  # -> ACC205 info safe
    for i in range(9):
        g = torch.zeros(4).to("cuda")  # -> ACC205 warning safe
        net(g).sum().backward()
def noise(x):
    return torch.randn(4).to(x.device)  # -> ACC205 info unsafe
"""
    check(IMPORTS + source, tmp_path)
    text = fixed(IMPORTS + source, tmp_path, "ACC205")
    assert 'a = torch.zeros(4, device="cuda")  #' in text
    assert "return torch.randn(4, device=x.device)  #" in text


LEAF_SILENT = {
    "to the host": "w = torch.zeros(8, requires_grad=True).to('cpu')",
    "a parameter to the host": "w = nn.Parameter(torch.zeros(8)).to('cpu')",
    "made there": "w = nn.Parameter(torch.zeros(8, device='cuda'))",
    "a leaf on purpose": "w = torch.zeros(8, requires_grad=True).cuda()\nw.retain_grad()",
    "only an argument": "torch.autograd.gradcheck(torch.sin, (torch.randn(3, requires_grad=True).double(),))",
    "that dtype already": "w = torch.zeros(3, requires_grad=True, dtype=torch.float64).double()",
    "the default dtype": "w = torch.randn(3, requires_grad=True).float()",
    "the default dtype was set": "torch.set_default_dtype(torch.float64)\nw = torch.zeros(3, requires_grad=True).double()",
    "unknown dtype": "import conf\nw = nn.Parameter(conf.w).double()",
    "its data": "w = nn.Parameter(torch.zeros(3)).data.to('cuda')",
    "unknown device": "import conf\nw = nn.Parameter(torch.zeros(8)).to(conf.device)",
}


@pytest.mark.parametrize("source", LEAF_SILENT.values(), ids=LEAF_SILENT.keys())
def test_leaves_that_stay(source: str, tmp_path: Path) -> None:
    check(IMPORTS + source + "\n", tmp_path)


def test_leaves_that_are_lost(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(8)).to("cuda")  # -> ACC206 error none
v = torch.zeros(8, requires_grad=True).cuda()  # -> ACC206 error unsafe
u = torch.zeros(8, requires_grad=True).double()  # -> ACC206 error none
t = torch.randn(8, requires_grad=True).to(torch.float16)  # -> ACC206 error none
p = nn.Parameter(torch.zeros(8)).half()  # -> ACC206 error none
"""
    check(IMPORTS + source, tmp_path)


TRAIN = """
model = nn.Linear(8, 2)
criterion = nn.MSELoss()
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16)
"""

GRAPH_SILENT = {
    "a number": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss.item()",
    "detached": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss.detach()",
    "as a float": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += float(loss)",
    "its data": "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss.data",
    "the sum is differentiated": (
        "for x, y in loader:\n    loss = 0\n    for t in range(3):\n        loss += criterion(model(x), y)\n    loss.backward()"
    ),
    "never differentiated": "total = 0\nfor x, y in loader:\n    total += criterion(model(x), y)",
    "begins anew for each batch": (
        "for x, y in loader:\n    total = 0\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss"
    ),
    "the list is cleared": (
        "kept = []\nfor x, y in loader:\n    kept.clear()\n    loss = criterion(model(x), y)\n    loss.backward()\n"
        "    kept.append(loss)"
    ),
    "a new list for each batch": (
        "for x, y in loader:\n    kept = []\n    loss = criterion(model(x), y)\n    loss.backward()\n    kept.append(loss)"
    ),
    "the graph is retained": (
        "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward(retain_graph=True)\n    total += loss\n"
        "total.backward()"
    ),
    "gradients by hand": (
        "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss\n"
        "torch.autograd.grad(total, model.weight)"
    ),
}


@pytest.mark.parametrize("source", GRAPH_SILENT.values(), ids=GRAPH_SILENT.keys())
def test_sums_that_keep_no_graph(source: str, tmp_path: Path) -> None:
    check(IMPORTS + TRAIN + source + "\n", tmp_path)


def test_sums_that_keep_the_graph(tmp_path: Path) -> None:
    source = """
total, weighted, kept = 0.0, 0.0, []
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    total += loss  # -> ACC209 warning safe
    weighted += loss * 3  # -> ACC209 warning none
    kept.append(loss)  # -> ACC209 warning safe
"""
    check(IMPORTS + TRAIN + source, tmp_path)
    text = fixed(IMPORTS + TRAIN + source, tmp_path, "ACC209")
    assert "total += loss.detach()  #" in text
    assert "kept.append(loss.detach())  #" in text


def test_sum_in_a_function_that_a_loop_over_epochs_calls(tmp_path: Path) -> None:
    source = """
def epoch(model, loader):
    total = 0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total += loss  # -> ACC209 warning safe
    return total / len(loader)
for _ in range(3):
    print(epoch(model, loader))
"""
    check(IMPORTS + TRAIN + source, tmp_path)
