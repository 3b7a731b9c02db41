"""ACC208 host-sync-every-step in code that a training is told, by a flag or by its own classes, not to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair
from ..programs import IMPORTS

EPOCH = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def score(out):
    return out.sum().item()
def epoch(loader, train=True):
    for x, y in loader:
        out = model(x.cuda())
        if not train and conf.scores:
            score(out)
        if train:
            out.sum().backward()
            optimizer.step()
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
for number in range(3):
    epoch(loader)
    with torch.no_grad():
        epoch(loader, train=False)
"""
)
CLOSURE = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def make(train):
    def step(x):
        if train:
            model(x).sum().backward()
            optimizer.step()
        else:
            print(model(x).sum().item())
    return step
learn, check = make(train=True), make(train=False)
for number, (x, y) in enumerate(DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)):
    learn(x.cuda())
    if number % 100 == 0:
        check(x.cuda())
"""
)
CHOSEN = (
    IMPORTS
    + """
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x, y):
        return self.layer(x).sum()
class Guesser(Learner):
    def forward(self, x):
        return self.layer(x).sum().item()
model = (Learner() if conf.trains else Guesser()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
    model(x.cuda(), y.cuda()).backward()
    optimizer.step()
"""
)
ATTACK = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def attack(x, y):
    delta = torch.zeros_like(x).requires_grad_()
    for number in range(10):
        out = model(x + delta)
        if (out.argmax(1) == y).sum().item() == 0:
            break
        out.sum().backward()
        delta.data += delta.grad.sign()
    return delta
for epoch in range(3):
    for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
        model(x.cuda()).sum().backward()
        optimizer.step()
    attack(x.cuda(), y.cuda())
"""
)
ATTACKED = ATTACK.replace("    attack(x.cuda(), y.cuda())\n", "") + (
    """
def robust(loader):
    model.eval()
    for x, y in loader:
        attack(x.cuda(), y.cuda())
model.train()
robust(DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4))
"""
)
SCORED = (
    IMPORTS
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x):
        return self.layer(x) * x.sum().item()
model = conf.build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
task = 0
for number, (x, y) in enumerate(DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)):
    if number % 100 == 0 or y[0] != task:
        print(model(x.cuda()).shape)
    loss = model.observe(x.cuda())
    loss.backward()
    optimizer.step()
"""
)
PAIRS = {
    "a flag that the training does not give": Pair(EPOCH, "if not train and conf.scores:", "if train and conf.scores:"),
    "a flag beside an option": Pair(EPOCH, "if not train and conf.scores:", "if not train or conf.scores:"),
    "a flag of the function around": Pair(
        CLOSURE, "optimizer.step()\n", "optimizer.step()\n            print(x.sum().item())\n"
    ),
    "a class that cannot take it": Pair(CHOSEN, "def forward(self, x):", "def forward(self, x, y=None):"),
    "a model that is called to be scored": Pair(SCORED, "if number % 100 == 0 or y[0] != task:", "if y[0] != task:"),
    "an attack once an epoch": Pair(ATTACK, "    attack(x.cuda()", "        attack(x.cuda()"),
    "an attack in an evaluation": Pair(ATTACKED, "    model.eval()\n", "    model.train()\n"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_about_what_no_training_runs(case: str, tmp_path: Path) -> None:
    check_pair("ACC208", PAIRS[case], tmp_path)
