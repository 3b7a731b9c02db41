"""ACC417 where DataParallel runs the model in threads, which take no dtype from an autocast around the call."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Finding

from ..checks import findings_of
from ..programs import IMAGE_LOADER, IMPORTS

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])
    def forward(self, x):
        return self.body(x)
net = Net()
"""
TRAINING = (
    IMPORTS
    + IMAGE_LOADER
    + NET
    + """
{wrap}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def train(loader, model):
    for (x,) in loader:
        model(x.cuda()).sum().backward()
        optimizer.step()
train(loader, {called})
"""
)
NAMED = TRAINING.replace("def train(loader, model)", "def train(loader, net)").replace("model(x", "net(x")
TRY = ", and try it first with `accel-advisor tune --knobs autocast`, which compares the losses, too"
AROUND = f'compute the model and the loss under `torch.autocast("cuda", torch.bfloat16)`{TRY}'
INSIDE = (
    'decorate the `forward` of `Net` with `@torch.autocast("cuda", torch.bfloat16)`, since the threads of DataParallel'
)
UNNAMED = 'compute the `forward` that DataParallel calls under `torch.autocast("cuda", torch.bfloat16)`'
THREADS = "DataParallel runs this in threads"


def of(folder: Path, wrap: str, called: str = "net", source: str = TRAINING) -> Finding:
    """The one finding about a training whose model is wrapped."""
    (found,) = findings_of("ACC417", source.format(wrap=wrap, called=called), folder)
    assert (THREADS in [one.message for one in found.related]) == ("DataParallel" in found.message)
    return found


@pytest.mark.parametrize(
    "wrap",
    [
        "net.cuda()",
        "net = nn.parallel.DistributedDataParallel(net.cuda())",
        "net = nn.DataParallel(net.cuda(), device_ids=[0])",
        "net.cuda()\nother = nn.DataParallel(nn.Conv2d(3, 3, 3)).cuda()\nother(torch.zeros(1, 3, 8, 8).cuda())",
        "net = nn.DataParallel(net)\nnet.load_state_dict(torch.load('net.pt'))\nnet = net.module.cuda()",
    ],
    ids=["no wrapper", "processes", "one device", "another model", "taken off"],
)
def test_autocast_stands_around_the_call_of_what_no_thread_runs(wrap: str, tmp_path: Path) -> None:
    assert of(tmp_path, wrap).message.endswith(AROUND)


BRANCHES = """
if torch.cuda.device_count() > 1:
    net = {many}
else:
    net = {one}
"""


@pytest.mark.parametrize(
    ("wrap", "called"),
    [
        ("net = nn.DataParallel(net).cuda()", "net"),
        ("net = torch.nn.parallel.DataParallel(net.cuda(), device_ids=conf.devices)", "net"),
        (BRANCHES.format(many="nn.DataParallel(net).cuda()", one="net.cuda()"), "net"),
        (BRANCHES.format(many="net.cuda()", one="nn.DataParallel(net).cuda()"), "net"),
        ("if conf.parallel:\n    net = nn.DataParallel(net)\nnet.cuda()", "net"),
        (BRANCHES.format(many="nn.parallel.DistributedDataParallel(net)", one="nn.DataParallel(net).cuda()"), "net"),
        (
            "class Run:\n    def __init__(self):\n        self.model = nn.DataParallel(net).cuda()\nrun = Run()",
            "run.model",
        ),
    ],
    ids=["always", "its other name", "on one branch", "on the other", "by an option", "beside processes", "attribute"],
)
def test_autocast_stands_in_the_forward_that_threads_run(wrap: str, called: str, tmp_path: Path) -> None:
    message = of(tmp_path, wrap, called).message
    assert INSIDE in message
    assert message.endswith("and compute the loss under it, too, and `.float()` wherever numpy reads what it returns")


@pytest.mark.parametrize(
    "wrap",
    [
        "net.body = nn.DataParallel(net.body)\nnet.cuda()",
        "net = nn.DataParallel(nn.Sequential(net)).cuda()",
    ],
    ids=["a part of the model", "no class of the project"],
)
def test_a_forward_without_a_name_is_that_which_threads_run(wrap: str, tmp_path: Path) -> None:
    assert UNNAMED in of(tmp_path, wrap, source=NAMED).message


def test_a_part_that_the_model_wraps_itself(tmp_path: Path) -> None:
    source = TRAINING.replace("self.body = ", "self.body = nn.DataParallel(").replace("(8)])", "(8)]))")
    assert UNNAMED in of(tmp_path, "net.cuda()", source=source).message


def test_a_model_that_is_not_known_is_told_by_its_name(tmp_path: Path) -> None:
    wrap = "from sync_batchnorm import DataParallelWithCallback\nnet = DataParallelWithCallback(net).cuda()"
    assert INSIDE in of(tmp_path, wrap, "conf.net", NAMED).message
    assert INSIDE in of(tmp_path, wrap, source=NAMED).message
    assert of(tmp_path, wrap.replace("\nnet =", "\nother ="), "conf.net", NAMED).message.endswith(AROUND)


OWN = "class Own(nn.DataParallel):\n    pass\nnet = Own(net).cuda()"


def test_a_model_whose_last_layer_alone_learns(tmp_path: Path) -> None:
    last = "with torch.no_grad():\n            seen = model(x.cuda())\n        conf.last(seen).sum().backward()"
    source = TRAINING.replace("model(x.cuda()).sum().backward()", last)
    assert INSIDE in of(tmp_path, "net = nn.DataParallel(net).cuda()", source=source).message


def test_the_class_that_has_the_forward_is_named(tmp_path: Path) -> None:
    wrap = "class Wide(Net):\n    width = 2\nnet = nn.DataParallel(Wide()).cuda()"
    assert INSIDE in of(tmp_path, wrap).message


def test_settings_may_list_more_devices_than_they_do_by_default(tmp_path: Path) -> None:
    wrap = "devices = (0,)\nnet = nn.DataParallel(net.cuda(), device_ids=list(devices))"
    assert INSIDE in of(tmp_path, wrap).message


TRAINER = """
class Trainer:
    def __init__(self, net, learns):
        self.net = conf.build(net)
        if not learns:
            self.net.eval()
        self.net = {made}
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def step(self, x):
        self.net.forward(x).sum().backward()
        self.optimizer.step()
trainer = Trainer(net, conf.learns)
for (x,) in loader:
    trainer.step(x.cuda())
"""


def test_the_part_of_an_object_that_takes_the_steps(tmp_path: Path) -> None:
    made = "nn.DataParallel(self.net, device_ids=conf.devices).cuda()"
    start = IMPORTS + IMAGE_LOADER + NET
    (found,) = findings_of("ACC417", start + TRAINER.format(made=made), tmp_path)
    assert UNNAMED in found.message
    (plain,) = findings_of("ACC417", start + TRAINER.format(made="self.net.cuda()"), tmp_path)
    assert plain.message.endswith(AROUND)


def test_a_class_that_derives_from_it(tmp_path: Path) -> None:
    assert INSIDE in of(tmp_path, OWN).message


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("torch==1.8.1", "under `torch.cuda.amp.autocast()`, and scale the loss with a `torch.cuda.amp.GradScaler`"),
        ("torch>=1.2,<1.9", "`torch.cuda.amp.GradScaler` (torch 1.7 or later)"),
        (
            "torch==1.6.0",
            "take nothing from one around the call, and compute the loss under it, too, and scale the loss",
        ),
    ],
)
def test_float16_reaches_the_threads_since_the_version_that_hands_it_on(stated: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "p"\ndependencies = ["{stated}"]\n')
    source = TRAINING.format(wrap="net = nn.DataParallel(net).cuda()", called="net")
    (found,) = findings_of("ACC417", source, tmp_path)
    assert said in found.message
    assert found.message.startswith("this loop trains")
    inside = stated == "torch==1.6.0"
    assert ("decorate the `forward` of `Net`" in found.message) == inside
    assert (THREADS in [one.message for one in found.related]) == inside
