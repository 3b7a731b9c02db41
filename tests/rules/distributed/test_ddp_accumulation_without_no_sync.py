"""ACC503 ddp-accumulation-without-no-sync, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import IMPORTS, PARALLEL, RANKS
from .programs import RANKS_OF_TWO_LAYERS

OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nloader = DataLoader(conf.data)\nk = 4\n"


def loop(body: str, before: str = "", guard: str = "if (i + 1) % k == 0:") -> str:
    """A training loop that uses its gradients where ``guard`` says so."""
    lines = [
        "for i, x in enumerate(loader):",
        *body.splitlines(),
        guard,
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]
    return PARALLEL + OPTIMIZER + before + "\n    ".join(lines) + "\n"


ONE_PASS = "model(x).sum().backward()"
SILENT = {
    "no sync": loop("with model.no_sync():\n    model(x).sum().backward()"),
    "a switch": loop("model.require_backward_grad_sync = (i + 1) % k == 0\n" + ONE_PASS),
    "a switch on what is not known": loop("conf.unwrap(model).require_backward_grad_sync = i % k == 0\n" + ONE_PASS),
    "no sync of what is not known": loop("with conf.wrap(model).no_sync():\n    model(x).sum().backward()"),
    "one process": loop(ONE_PASS).replace(PARALLEL, "model = Net()\n"),
    "a framework": loop(ONE_PASS, "import accelerate\na = accelerate.Accelerator()\n"),
    "every pass": loop(ONE_PASS, guard="if True:"),
    "no step for what is not finite": loop(ONE_PASS, guard="if conf.is_finite(x):"),
    "one by default": loop(ONE_PASS, "k = 1\n"),
    "backward in some passes too": loop("pass", guard="if i % k == 0:\n        model(x).sum().backward()"),
    "only a schedule": PARALLEL
    + OPTIMIZER
    + "s = torch.optim.lr_scheduler.StepLR(optimizer, 1)\nfor i, x in enumerate(loader):\n    model(x).sum().backward()\n"
    + "    optimizer.step()\n    if i % k == 0:\n        s.step()\n        optimizer.zero_grad()\n",
    "sharded": loop(
        ONE_PASS, "from torch.distributed.fsdp import FullyShardedDataParallel\nFullyShardedDataParallel(model)\n"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_no_gradients_are_exchanged_for_nothing(source: str, tmp_path: Path) -> None:
    check_one("ACC503", RANKS + source, tmp_path)


def steps(
    body: str,
    condition: str,
    instead: str,
    before: str = "",
    guard: str = "if (i + 1) % k == 0:",
    start: str = PARALLEL,
) -> Pair:
    """A training loop that uses its gradients where ``guard`` says so."""
    lines = [
        "for i, x in enumerate(loader):",
        *body.splitlines(),
        guard,
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]
    return Pair(RANKS_OF_TWO_LAYERS + start + OPTIMIZER + before + "\n    ".join(lines) + "\n", condition, instead)


PASS = "model(x).sum().backward()"
PAIRS = {
    "no sync": steps(
        "with model.no_sync():\n    model(x).sum().backward()", "with model.no_sync():", "with open('x'):"
    ),
    "no sync at times": steps(
        "with model.no_sync() if (i + 1) % k else open('x'):\n    model(x).sum().backward()",
        "model.no_sync() if (i + 1) % k else ",
        "",
    ),
    "a switch": steps(
        "model.require_backward_grad_sync = (i + 1) % k == 0\n" + PASS, "model.require_backward_grad_sync", "y"
    ),
    "one pass": steps(PASS, "k = 1\n", "", "k = 1\n"),
    "one pass written out": steps(PASS, "% 1 ==", "% k ==", guard="if (i + 1) % 1 == 0:"),
    "every pass": steps(PASS, "if True:", "if (i + 1) % k == 0:", guard="if True:"),
    "one process": steps(PASS, "model = Net()\n", PARALLEL, start="model = Net()\n"),
    "Accelerate": steps(
        PASS, "a = accelerate.Accelerator()\n", "", "import accelerate\na = accelerate.Accelerator()\n"
    ),
    "Lightning": steps(
        PASS,
        "L.Trainer(accumulate_grad_batches=4)\n",
        "",
        "import lightning as L\nL.Trainer(accumulate_grad_batches=4)\n",
    ),
    "transformers": steps(PASS, "Trainer(model)\n", "", "from transformers import Trainer\nTrainer(model)\n"),
    "FSDP": steps(
        PASS, "FSDP(Net())\n", "", "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nFSDP(Net())\n"
    ),
    "fully sharded": steps(
        PASS, "fully_shard(model)\n", "", "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\n"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC503", PAIRS[case], tmp_path)


SCALED = "scaler = torch.amp.GradScaler('cuda')\n"


@pytest.mark.parametrize(
    "source",
    [
        loop(ONE_PASS),
        loop(ONE_PASS, guard="if i % conf.k == conf.k - 1:"),
        loop(ONE_PASS, guard="if (i + 1) % k == 0 or i + 1 == len(loader):"),
        loop("scaler.scale(model(x).sum()).backward()", SCALED).replace("optimizer.step()", "scaler.step(optimizer)"),
    ],
)
def test_reports_gradients_that_are_exchanged_for_nothing(source: str, tmp_path: Path) -> None:
    assert severities("ACC503", RANKS + source, tmp_path) == ["info"]


OPTION = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--every', type=int, default=1)\nk = p.parse_args().every\n"


def test_reports_what_an_option_asks_for(tmp_path: Path) -> None:
    source = RANKS + loop(ONE_PASS.replace(".backward()", ".backward()"), OPTION)
    assert severities("ACC503", source, tmp_path) == ["info"]
    check_one("ACC503", source.replace("p.parse_args().every", "1"), tmp_path)


CHUNKS = (
    PARALLEL
    + OPTIMIZER
    + """
for x in loader:
    optimizer.zero_grad()
    for part in x.chunk(4):
        {body}
    optimizer.step()
"""
)


def test_reports_a_step_behind_a_loop_of_backward_passes(tmp_path: Path) -> None:
    backward = "model(part).sum().backward()  # -> info none"
    (found,) = check_one("ACC503", RANKS + CHUNKS.format(body=backward), tmp_path)
    assert "after the loop only" in found.message


@pytest.mark.parametrize(
    "body",
    [
        "with model.no_sync():\n            model(part).sum().backward()",
        "model(part).sum().backward()\n        optimizer.step()",
        "model(part).sum().backward(retain_graph=True)",
        "part.backward()",
        "for model in conf.models:\n            model(part).sum().backward()",
    ],
)
def test_silent_about_loops_of_other_backward_passes(body: str, tmp_path: Path) -> None:
    check_one("ACC503", RANKS + CHUNKS.format(body=body), tmp_path)


ACCELERATED = """
from accelerate import Accelerator
accelerator = Accelerator({arguments})
model = nn.Linear(8, 2)
optimizer = torch.optim.Adam(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(1000):
    for _ in range(4):
        {before}loss = model(torch.zeros(4, 8, device=accelerator.device)).sum()
        accelerator.backward(loss){mark}
    optimizer.step()
    optimizer.zero_grad()
"""


def test_reports_what_accelerate_exchanges_for_nothing(tmp_path: Path) -> None:
    speaks = ACCELERATED.format(arguments="", before="", mark="  # -> info none")
    (found,) = check_one("ACC503", IMPORTS + speaks, tmp_path)
    assert "accumulate()" in found.message
    asked = ACCELERATED.format(arguments="gradient_accumulation_steps=4", before="", mark="")
    check_one("ACC503", IMPORTS + asked, tmp_path)
    managed = ACCELERATED.format(arguments="", before="with accelerator.accumulate(model): ", mark="")
    check_one("ACC503", IMPORTS + managed, tmp_path)


TWO_PRECISIONS = """\
loss = model(x).sum()
if args.half:
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
else:
    loss.backward()
"""
OPTIONS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--half", action="store_true")
args = parser.parse_args()
"""


def test_reported_where_an_option_chooses_between_two_backward_passes(tmp_path: Path) -> None:
    source = RANKS + loop(TWO_PRECISIONS, OPTIONS)
    assert severities("ACC503", source, tmp_path) == ["info"]
    assert severities("ACC503", source.replace("if (i + 1) % k == 0:", "if args.half:"), tmp_path) == []


IN_TURNS = """
def whole(x):
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
def part(x):
    model(x).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
for i, x in enumerate(loader):
    whole(x)
    if i % 4 == 0:
        part(x)
"""


def test_silent_where_each_backward_pass_has_its_step(tmp_path: Path) -> None:
    source = RANKS + PARALLEL + OPTIMIZER + IN_TURNS
    assert severities("ACC503", source, tmp_path) == []
    late = source.replace("whole(x)\n    if", "model(x).sum().backward()\n    if")
    assert severities("ACC503", late, tmp_path) == ["info"]
