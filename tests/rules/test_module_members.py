"""What a module makes, keeps and lists: ACC304, ACC305 and ACC306, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import IMPORTS
from .single import check_one

SILENT = {
    "ACC304: number input": """
class Net(nn.Module):
    def forward(self, x, scale):
        return scale * torch.ones(3)
""",
    "ACC304: list input": """
class Net(nn.Module):
    def forward(self, xs):
        total = torch.zeros(3)
        for x in xs:
            total = total + x
        return total
""",
    "ACC304: dict": """
class Net(nn.Module):
    def forward(self, batch):
        return torch.zeros(3) + batch["bias"]
""",
    "ACC304: temperature number": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x, t):
        w = torch.linspace(0, 1, 3) / t
        return self.fc(x) * w.to(x.device)
""",
    "ACC304: numpy-like then moved": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        m = torch.zeros(3)
        m = m.cuda() if x.is_cuda else m
        return self.fc(x) + m
""",
    "ACC304: loss module on cpu": """
class Loss(nn.Module):
    def forward(self, x, n):
        idx = torch.arange(n)
        return x[idx].sum() + n
""",
    "ACC304: new device via get_device": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        m = torch.zeros(3, dtype=torch.bool)
        y = self.fc(x)
        y[:, m] = 0
        return y
""",
    "ACC304: under no model: default device context": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        with torch.device(x.device):
            m = torch.zeros(3)
        return self.fc(x) + m
""",
    "ACC305: moved by own method": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def set_device(self, d):
        self.w = self.w.to(d)
    def forward(self, x):
        return self.fc(x) * self.w
""",
    "ACC305: base overrides cuda": """
class Base(nn.Module):
    def _apply(self, fn, recurse=True):
        super()._apply(fn)
        self.w = fn(self.w)
        return self
class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def forward(self, x):
        return self.fc(x) * self.w
""",
    "ACC305: moved from outside": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def forward(self, x):
        return self.fc(x) * self.w
net = Net().cuda()
net.w = net.w.cuda()
""",
    "ACC305: conditional move in forward": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.w = torch.ones(3)
    def forward(self, x):
        if self.w.device != x.device:
            self.w = self.w.to(x.device)
        return self.fc(x) * self.w
""",
    "ACC305: index only": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.idx = torch.tensor([0, 1])
    def forward(self, x):
        return self.fc(x)[:, self.idx]
""",
    "ACC305: number input times attribute": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.ones(3)
    def forward(self, t):
        return t * self.w
""",
    "ACC306: teacher trick": """
class Net(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.teacher = [nn.Linear(3, 3)]
    def forward(self, x):
        with torch.no_grad():
            t = self.teacher[0](x)
        return self.fc(x), t
""",
    "ACC306: modules appended to ModuleList from list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(3, 3), nn.ReLU()]
        self.layers = layers
        self.net = nn.Sequential(*layers)
    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x
""",
    "ACC306: stateless in list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.acts = [nn.ReLU(), nn.Tanh()]
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        x = self.fc(x)
        for a in self.acts:
            x = a(x)
        return x
""",
    "ACC306: losses in a list": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = [nn.MSELoss(), nn.L1Loss()]
        self.fc = nn.Linear(3, 3)
    def forward(self, x, y):
        x = self.fc(x)
        return sum(l(x, y) for l in self.losses)
""",
    "ACC306: setattr registered": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]
        for i, b in enumerate(self.blocks):
            setattr(self, f"b{i}", b)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "ACC306: add_module in a loop": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]
        for i, b in enumerate(self.blocks):
            self.add_module(f"b{i}", b)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "ACC306: later wrapped": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3), nn.Linear(3, 3)]
        self.blocks = nn.ModuleList(self.blocks)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "ACC306: plain class, not module": """
class Ensemble:
    def __init__(self):
        self.models = [nn.Linear(3, 3), nn.Linear(3, 3)]
    def __call__(self, x):
        return [m(x) for m in self.models]
""",
}


@pytest.mark.parametrize("case", SILENT)
def test_silent(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + SILENT[case], tmp_path)


REPORTED = {
    "ACC304: masks in LSTM init hidden": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 3)
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), 3)  # -> warning none
        c0 = torch.zeros(1, x.size(0), 3)  # -> warning none
        out, _ = self.rnn(x, (h0, c0))
        return self.fc(out)
""",
    "ACC304: helper method init_hidden": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 3)
    def init_hidden(self, n):
        return torch.zeros(1, n, 3)  # -> warning none
    def forward(self, x):
        h = self.init_hidden(x.size(1))
        out, _ = self.rnn(x, h)
        return out
""",
    "ACC304: annotated tensor": """
class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(3)  # -> warning unsafe
""",
    "ACC304: shape evidence": """
class Net(nn.Module):
    def forward(self, x):
        b = x.shape[0]
        return x + torch.randn(b, 3)  # -> warning unsafe
""",
    "ACC304: positions embedding": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pos = nn.Embedding(10, 3)
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        p = self.pos(torch.arange(x.size(1)))  # -> warning none
        return self.fc(x) + p
""",
    "ACC305: loss with class weights": """
class Focal(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = torch.tensor([0.25, 0.75])  # -> warning unsafe
        self.fc = nn.Linear(3, 2)
    def forward(self, x, y):
        p = self.fc(x)
        return (p * self.alpha).sum()
""",
    "ACC305: positional": """
class PE(nn.Module):
    def __init__(self, d):
        super().__init__()
        pe = torch.zeros(500, d)
        self.pe = pe.unsqueeze(0)  # -> warning unsafe
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        x = x + self.pe[:, : x.size(1)]
        return self.drop(x)
""",
    "ACC305: error when moved": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("b", torch.ones(3))
        self.w = torch.ones(3)  # -> error unsafe
    def forward(self, x):
        return self.fc(x) * self.w + self.b
net = Net().cuda()
""",
    "ACC306: append loop": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = []
        for i in range(3):
            self.blocks.append(nn.Linear(3, 3))  # -> error none
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "ACC306: dict": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {"a": nn.Linear(3, 3), "b": nn.Linear(3, 2)}  # -> error none
    def forward(self, x):
        return self.heads["a"](x), self.heads["b"](x)
""",
    "ACC306: list comp": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(3, 3) for _ in range(4)]  # -> error unsafe
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
    "ACC306: project blocks": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        return self.fc(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [Block(), Block()]  # -> error unsafe
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
""",
}


@pytest.mark.parametrize("case", REPORTED)
def test_reported(case: str, tmp_path: Path) -> None:
    check_one(case[:6], IMPORTS + REPORTED[case], tmp_path)
