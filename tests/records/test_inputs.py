"""What a model does with its inputs: ACC302 is silent where it moves them, or combines them with no weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..rules.checks import check_one
from ..rules.programs import NET

TAKEN: dict[str, str] = {
    "forward moves": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        x = x.to(self.fc.weight.device)
        return self.fc(x)
model = Net().cuda()
for x, y in loader:
    model(x).sum().backward()
""",
    "inner module moves": """
class Embed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(x.to(self.fc.weight.device))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = Embed()
        self.head = nn.Linear(2, 2)
    def forward(self, x):
        return self.head(self.embed(x))
model = Net().cuda()
for x, y in loader:
    model(x).sum().backward()
""",
    "sequential with a mover inside": """
class ToDevice(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
    def forward(self, x):
        return x.to(self.device)
device = torch.device("cuda")
model = nn.Sequential(ToDevice(device), nn.Linear(8, 2)).to(device)
for x, y in loader:
    model(x).sum().backward()
""",
    "wrapper class moves": """
class Wrapper:
    def __init__(self, model, device):
        self.model = model.to(device); self.device = device
    def __call__(self, x):
        return self.model(x.to(self.device))
w = Wrapper(nn.Linear(8, 2), "cuda")
for x, y in loader:
    w(x).sum().backward()
""",
    "trainer: model built in __init__, property device, to() forwarded": """
class Agent:
    def __init__(self):
        self.model = nn.Linear(8, 2)
        self.loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    def to(self, device):
        self.model.to(device)
        return self
    def train(self):
        for x, y in self.loader:
            self.model(x.cuda()).sum().backward()
agent = Agent().to("cuda")
agent.train()
""",
    "forward pre hook": """
model = nn.Linear(8, 2).cuda()
def hook(m, args):
    return tuple(a.to(m.weight.device) for a in args)
model.register_forward_pre_hook(hook)
for x, y in loader:
    model(x).sum().backward()
""",
    "forward ignores device of an int argument": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x, lengths):
        return self.fc(x)[: int(lengths.max())]
model = Net().cuda()
for x, y in loader:
    model(x.cuda(), y).sum().backward()
""",
    "lengths for pack_padded": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 2)
    def forward(self, x, lengths):
        p = nn.utils.rnn.pack_padded_sequence(x, lengths)
        return self.rnn(p)[0]
model = Net().cuda()
for x, n in loader:
    model(x.cuda(), n)
""",
    "ctc loss lengths": """
model = nn.Linear(8, 2).cuda()
crit = nn.CTCLoss()
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8), torch.zeros(8), torch.zeros(8)), batch_size=4)
for x, y, n, m in loader:
    crit(model(x.cuda()), y.cuda(), n, m).backward()
    crit(model(x.cuda()), y, n, m).backward()
    torch.nn.functional.ctc_loss(model(x.cuda()), y, n, m)
""",
    "custom loss module with cpu target": """
class L(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.NLLLoss()
    def forward(self, out, y):
        return self.n(out, y.to(out.device))
crit = L().cuda()
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    crit(model(x.cuda()), y).backward()
""",
    "method called on model, custom __call__": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def __call__(self, x):
        return super().__call__(x.to("cuda"))
    def forward(self, x):
        return self.fc(x)
model = Net().cuda()
for x, y in loader:
    model(x)
""",
    "forward type_as / index table": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(10, 8))
    def forward(self, x):
        return self.table[x]
model = Net().cuda()
for x, y in loader:
    model(x)
""",
}


@pytest.mark.parametrize("source", TAKEN.values(), ids=TAKEN.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path)


ELSEWHERE = {
    "forward moves by helper in another module": (
        """
from util import todev
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        x = todev(self, x)
        return self.fc(x)
model = Net().cuda()
for x, y in loader:
    model(x).sum().backward()
""",
        "util.py",
        """
def todev(m, x):
    return x.to(next(m.parameters()).device)
""",
    ),
}
"""Programs of two files."""


@pytest.mark.parametrize(("source", "name", "other"), ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_silent_across_files(source: str, name: str, other: str, tmp_path: Path) -> None:
    for code in ("ACC302", "ACC303"):
        check_one(code, NET + source, tmp_path, {name: other})
