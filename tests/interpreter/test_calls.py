"""What calls lead to, as a rule about batches (ACC201) sees it: entry points, classes, helpers, generators."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..rules.checks import check_one
from ..rules.programs import PHOTOS

DATA = PHOTOS + "\ndef make_loader(): return DataLoader(photos, num_workers=2, pin_memory=True)\n"
HEAD = """
import torch
from torch import nn
from data import make_loader
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 2).to(device)
"""
ELSEWHERE = {
    "a prefetcher with a stream": """
class Prefetcher:
    def __init__(self, batches):
        self.batches, self.stream = iter(batches), torch.cuda.Stream()
        self.preload()
    def preload(self):
        try:
            self.x, self.y = next(self.batches)
        except StopIteration:
            self.x = None
            return
        with torch.cuda.stream(self.stream):
            self.x = self.x.cuda(non_blocking=True)
    def next(self):
        x = self.x
        self.preload()
        return x
prefetcher = Prefetcher(make_loader())
x = prefetcher.next()
while x is not None:
    x = x.to(device)
    model(x).sum().backward()
    x = prefetcher.next()
""",
    "a prefetcher of another library": """
import conf
for x, y in conf.Prefetcher(make_loader(), device):
    x = x.to(device)
    model(x).sum().backward()
""",
    "single samples": """
from data import photos
for i in range(9):
    x, y = photos[i]
    x = x.to(device)
    model(x).sum().backward()
""",
    "a base whose __init__ keeps it on the host": """
class Base:
    def __init__(self, device): self.device = device
class Trainer(Base):
    def __init__(self): super().__init__(torch.device("cpu"))
    def fit(self):
        for x, y in make_loader():
            model(x.to(self.device)).sum().backward()
Trainer().fit()
""",
    "a method that children replace": """
class Base:
    def move(self, x): raise NotImplementedError
    def fit(self):
        for x, y in make_loader(): model(self.move(x)).sum().backward()
class Async(Base):
    def move(self, x): return x.to(device, non_blocking=True)
Async().fit()
""",
}


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_silent_where_nothing_waits_or_that_is_not_known(source: str, tmp_path: Path) -> None:
    check_one("ACC201", HEAD + source, tmp_path, {"data.py": DATA})


MARKED_LOOP = """
    for x, y in make_loader():
        x = x.to(device)  # -> warning safe
        model(x).sum().backward()
"""


@pytest.mark.parametrize(
    ("decorated", "end"),
    [
        ("import hydra\n@hydra.main(config_path='c', config_name='n')\ndef main(cfg):", "main()"),
        ("import typer\napp = typer.Typer()\n@app.command()\ndef main(lr: float = 0.1):", "app()"),
        ("import click\n@click.command()\n@click.option('--lr')\ndef main(lr):", "main()"),
        ("from torch.distributed.elastic.multiprocessing.errors import record\n@record\ndef main():", "main()"),
        ("import functools\ndef main(lr):", "functools.partial(main, lr=1)()"),
        ("@torch.enable_grad()\ndef main():", "main()"),
        ("class Main:\n  @staticmethod\n  def main():", "Main.main()"),
        ("class Main:\n  @classmethod\n  def main(cls):", "Main.main()"),
    ],
)
def test_enters_through_every_door(decorated: str, end: str, tmp_path: Path) -> None:
    check_one(
        "ACC201", f"{HEAD}{decorated}{MARKED_LOOP}if __name__ == '__main__':\n    {end}\n", tmp_path, {"data.py": DATA}
    )


CALLS = "".join(f"def use{i}(): return make('{i}')\nuse{i}()\n" for i in range(80))
SIZES = "".join(f"first{i} = make({i})\n" for i in range(80))
KINDS = "".join(f"class Kind{i}(nn.Linear): pass\n" for i in range(12))
PICKS = "".join(f"    if kind == {i}: return Kind{i}(8, 2)\n" for i in range(12))
WAYS = {
    "a helper of many callers": f"""
def make(size): return make_loader()
{SIZES}
for x, y in make(80):
    model(x.to(device)).sum().backward()  # -> warning safe
""",
    "a training function of many callers": f"""
def make(size):
    for x, y in make_loader():
        model(x.to(device)).sum().backward()  # -> warning safe
{CALLS}
""",
    "a model of many kinds": f"""
{KINDS}
def build(kind):
{PICKS}
    raise ValueError(kind)
one = build(conf.kind).to(device)
for x, y in make_loader():
    one(x.to(device)).sum().backward()  # -> warning safe
""",
    "calls within many calls": """
def f0(): return make_loader()
"""
    + "".join(f"def f{i}(): return f{i - 1}()\n" for i in range(1, 20))
    + """
for x, y in f19():
    model(x.to(device)).sum().backward()  # -> warning safe
""",
    "what super().__init__ sets": """
class Base:
    def __init__(self, device): self.device = device
class Trainer(Base):
    def __init__(self, device):
        super().__init__(device)
        self.loader = make_loader()
    def fit(self):
        for x, y in self.loader:
            model(x.to(self.device)).sum().backward()  # -> warning safe
Trainer(torch.device("cuda")).fit()
""",
    "what super(Trainer, self).__init__ sets": """
from base import Base
class Middle(Base): pass
class Trainer(Middle):
    def __init__(self, kind): super(Trainer, self).__init__(model, make_loader(), torch.device(kind))
    def step(self, batch):
        x, y = batch
        return self.model(x.to(self.device)).sum()  # -> warning safe
Trainer("cuda").fit()
""",
    "what Base.__init__ sets": """
from base import Base
class Trainer(Base):
    def __init__(self): Base.__init__(self, model, make_loader(), device)
    def step(self, batch):
        x, y = batch
        return self.model(x.to(self.device)).sum()  # -> warning safe
Trainer().fit()
""",
    "a method that goes on in the base": """
class Base:
    def fit(self, batches):
        for x, y in batches:
            model(x.to(device)).sum().backward()  # -> warning safe
class Trainer(Base):
    def fit(self, batches):
        return super().fit(batches)
Trainer().fit(make_loader())
""",
    "a class method of the base": """
class Base:
    @classmethod
    def make(cls): return make_loader()
class Trainer(Base):
    @classmethod
    def make(cls): return super().make()
for x, y in Trainer.make():
    model(x.to(device)).sum().backward()  # -> warning safe
""",
    "a base class of another file": """
from base import Base
class Trainer(Base):
    def step(self, batch):
        x, y = batch
        return self.model(x.to(self.device)).sum()  # -> warning safe
Trainer(model, make_loader(), device).fit()
""",
    "a property": """
class Trainer:
    @property
    def device(self): return torch.device("cuda")
    @property
    def batches(self): return make_loader()
    def fit(self):
        for x, y in self.batches:
            model(x.to(self.device)).sum().backward()  # -> warning safe
Trainer().fit()
""",
    "an attribute that another method sets": """
class Trainer:
    def __init__(self): self.setup()
    def setup(self): self.loader, self.device = make_loader(), device
    def fit(self):
        for x, y in self.loader:
            model(x.to(self.device)).sum().backward()  # -> warning safe
Trainer().fit()
""",
    "a generator without end": """
def endless(batches):
    while True:
        yield from batches
batches = endless(make_loader())
for step in range(9):
    x, y = next(batches)
    model(x.to(device)).sum().backward()  # -> warning safe
""",
    "a nested helper": """
def train(batches):
    def one(x):
        return model(x.to(device)).sum()  # -> warning safe
    for x, y in batches:
        one(x).backward()
train(make_loader())
""",
    "a dict comprehension": """
for batch in make_loader():
    batch = {key: value.to(device) for key, value in batch.items()}  # -> warning unsafe
    model(batch["x"]).sum().backward()
""",
    "a list comprehension": """
for batch in make_loader():
    x, y = [one.to(device) for one in batch]  # -> warning safe
    model(x).sum().backward()
""",
    "a mapped lambda": """
for batch in make_loader():
    x, y = map(lambda one: one.to(device), batch)  # -> warning safe
    model(x).sum().backward()
""",
    "several loaders": """
for i, ((x, y), (a, b)) in enumerate(zip(make_loader(), make_loader())):
    model(a.to(device)).sum().backward()  # -> warning safe
""",
}
BASE = """
class Base:
    def __init__(self, model, loader, device): self.model, self.loader, self.device = model, loader, device
    def fit(self):
        for batch in self.loader:
            self.step(batch).backward()
    def step(self, batch):
        raise NotImplementedError
"""


@pytest.mark.parametrize("source", WAYS.values(), ids=WAYS.keys())
def test_follows_batches_on_every_way(source: str, tmp_path: Path) -> None:
    check_one("ACC201", HEAD + source, tmp_path, {"data.py": DATA, "base.py": BASE})


def test_looks_at_a_helper_that_takes_batches_apart(tmp_path: Path) -> None:
    helper = """
def to_device(value, device):
    if isinstance(value, dict):
        return {key: to_device(one, device) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_device(one, device) for one in value]
    return value.to(device)  # -> warning unsafe
"""
    loop = """
for batch in make_loader():
    x, y = to_device(batch, device)
    model(x).sum().backward()
"""
    check_one("ACC201", HEAD + helper + loop, tmp_path, {"data.py": DATA})


def test_goes_on_where_a_call_could_only_be_of_none(tmp_path: Path) -> None:
    source = """
class Prepared:
    def __init__(self, size, prepare=None):
        self.prepare = None
        if size > 10:
            self.prepare = prepare
    def take(self, x):
        return self.prepare(x) if self.prepare is not None else x
prepared = Prepared(20)
for x, y in make_loader():
    prepared.take(x)
    model(x.to(device))  # -> warning safe
"""
    check_one("ACC201", HEAD + source, tmp_path, {"data.py": DATA})


OWN_GRADIENT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scales):
        ctx.save_for_backward(x, scales)
        return x * scales[0].item()  # -> info none
    @staticmethod
    def backward(ctx, gradient):
        x, scales = ctx.saved_tensors
        return gradient * scales[1].item(), None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("scales", torch.ones(2))
    def forward(self, x):
        return Scaled.apply(self.layer(x), self.scales)
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8))):
    loss = net(x.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_functions_with_a_gradient_of_their_own_run_in_each_step(tmp_path: Path) -> None:
    (found,) = check_one("ACC208", OWN_GRADIENT, tmp_path)
    assert [one.span.start.row for one in found.related] == [13], "what a backward pass reads is another place"
    plain = OWN_GRADIENT.replace("torch.autograd.Function", "object").replace("  # -> info none", "")
    check_one("ACC208", plain, tmp_path)


def test_functions_with_a_gradient_of_their_own_that_are_objects(tmp_path: Path) -> None:
    old = OWN_GRADIENT.replace("    @staticmethod\n", "").replace("Scaled.apply(", "Scaled()(")
    (found,) = check_one("ACC208", old, tmp_path)
    assert [one.span.start.row for one in found.related] == [11]


def test_what_an_extension_calls_backward_is_no_backward_pass(tmp_path: Path) -> None:
    asks = "import extension\n" + OWN_GRADIENT.replace("scales[1].item()", "extension.backward(scales[1].item())")
    (found,) = check_one("ACC208", asks, tmp_path)
    assert not found.related


PHASES = OWN_GRADIENT.replace(
    "        return Scaled", "        if self.phase == 'train':\n            return Scaled"
).replace("  # -> info none", "")


def test_a_phase_that_evaluates_is_no_part_of_a_training(tmp_path: Path) -> None:
    check_one("ACC208", PHASES.replace("[0].item()", "[0].item()  # -> info none"), tmp_path)
    check_one("ACC208", PHASES.replace("== 'train'", "== 'test'"), tmp_path)
