"""One knob turned in a training that knows nothing of it: it is in force, or the reason why it is not is given.

Each training runs in a fork of one process that has imported torch, and ends there.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from accel_advisor.tuning.probe import knobs
from accel_advisor.tuning.probe.channel.wire import Frame
from accel_advisor.tuning.probe.knobs.batch_size_knob import BatchSize
from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.thread_binding_knob import ThreadBinding
from accel_advisor.tuning.probe.knobs.threads_knob import Threads
from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS, Plan

pytest.importorskip("torch")

PROGRAM = '''
import gc, json, os, sys, threading, traceback
from dataclasses import astuple
import torch, torch._dynamo
from accel_advisor.tuning.probe.script.stack import capture
from accel_advisor.tuning.probe.knobs.training_knobs import Plan
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining

TRAINING = """
import os
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset
data = TensorDataset(torch.randn(64, 3, 8, 8))
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 1))
teacher = nn.Linear(192, 1).requires_grad_(False)
build, made = torch.optim.AdamW, dict(batch_size=4, shuffle=True)
def blocks(count):
    kept = [nn.Sequential(nn.Conv2d(3, 3, 1), nn.Dropout(0.5), nn.Tanh()) for _ in range(count)]
    return nn.Sequential(*kept, nn.Flatten(), nn.Linear(192, 1))
{setup}
optimizer = build(model.parameters())
loader = DataLoader(data, **made)
for (inputs,) in loader:
    outputs = model(inputs)
    loss = (outputs - teacher(inputs.flatten(1))).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
{check}
"""

class Refused(BaseException):
    pass

def refuse(reason):
    raise Refused(reason)

def within(code, names):
    """Runs code with nothing of this program in its stack."""
    thread = threading.Thread(target=exec, args=(code, names))
    thread.start()
    thread.join()

def train(plan, setup, check):
    ended = []
    threading.excepthook = lambda raised: ended.append(raised.exc_value)
    names = {"sys": sys, "capture": capture}
    within("frames = capture(sys._getframe())", names)
    outer = [list(astuple(frame)) for frame in names["frames"][:-1]]
    plan = Plan.from_json({**plan, "loader": [*outer, *plan["loader"]]})
    training = ComparedTraining(refuse, plan.loader)
    plan.install(training)
    within(compile(TRAINING.format(setup=setup, check=check), "train.py", "exec"), {"__name__": "__main__"})
    for error in ended:
        if isinstance(error, Refused):
            return {"refused": str(error)}
        raise error
    found = training.outcome()
    return {
        "losses": found.losses, "precision": found.precision, "threads": found.threads, "memory": found.memory,
        "sites": [[[site.frame.row, list(site.names)] for site in stack][-1:] for stack in found.sites],
        "blocks": found.blocks,
    }

torch.set_num_threads(1)
gc.freeze()  # no fork looks through what torch has made
for case in json.load(sys.stdin):
    reading, writing = os.pipe()
    if not os.fork():
        try:
            found = train(*case)
        except BaseException:
            found = {"failed": traceback.format_exc()}
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        print(pipe.read().decode(), flush=True)
    os.wait()
os._exit(0)
'''

ROW = {"optimizer": 14, "loader": 15, "model": 17}
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
SEEN_FROM_A_WORKER = """
class Cores(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return (torch.full((3, 8, 8), 100.0 * started + sum(os.sched_getaffinity(0))),)
started = 0
def start(worker):
    global started
    started += 1
data = Cores()
made = dict(batch_size=4, num_workers=1, worker_init_fn=start, multiprocessing_context='fork')
"""
PLACE = [["train.py", "<module>", ROW["loader"], 10, ROW["loader"], 34]]

REFUSED = {
    "threads that the script sets": ("threads", 3, "torch.set_num_threads(2)", "sets the number of threads itself"),
    "threads on cores that the script sets": ("thread_binding", 3, "torch.set_num_threads(2)", "the number of threads"),
    "cores that the script chooses": ("thread_binding", 1, f"os.sched_setaffinity(0, {CORES})", "its cores itself"),
    "workers of a loader that is elsewhere": (
        "thread_binding",
        1,
        "\n",
        "was not built again in the same place",
    ),
    "an optimizer without a fused form": (
        "fused_optimizer",
        None,
        "build = torch.optim.Rprop",
        "Rprop has no fused form",
    ),
    "an optimizer that is set otherwise": (
        "fused_optimizer",
        None,
        "build = lambda weights: torch.optim.AdamW(weights, foreach=True)",
        "the script itself passes foreach to AdamW",
    ),
    "a precision that the script sets": (
        "tf32",
        None,
        "torch.set_float32_matmul_precision('highest')",
        "sets the precision of float32 products itself",
    ),
    "a precision that the script sets by its newer name": (
        "tf32",
        None,
        "torch.backends.cuda.matmul.fp32_precision = 'ieee'",
        "sets the precision of float32 products itself",
    ),
    "a benchmark that the script switches off": (
        "cudnn_benchmark",
        None,
        "torch.backends.cudnn.benchmark = False",
        "sets torch.backends.cudnn.benchmark itself",
    ),
    "no convolution": (
        "channels_last",
        None,
        "model = nn.Sequential(nn.Flatten(), nn.Linear(192, 1))",
        "no convolution of images",
    ),
    "channels last already": (
        "channels_last",
        None,
        "model.to(memory_format=torch.channels_last)",
        "have their channels last already",
    ),
    "autocast already": (
        "autocast",
        None,
        "torch.autocast('cpu', torch.bfloat16).__enter__()",
        "uses autocast itself",
    ),
    "weights in double": ("autocast", None, "model.double()", "weights are float64, not float32"),
    "compiled already": ("compile", None, "model.compile(backend='eager')", "compiles its model itself"),
    "a batch sampler": (
        "batch_size",
        8,
        "made = dict(batch_sampler=BatchSampler(RandomSampler(data), 4, False))",
        "a batch sampler of the script's own",
    ),
    "batches that the data set makes": (
        "batch_size",
        8,
        "made = dict(batch_size=None, sampler=BatchSampler(RandomSampler(data), 4, False))",
        "the data set itself makes the batches",
    ),
    "no repeated blocks": ("activation_checkpointing", None, "", "the model has no repeated blocks"),
    "layers that keep nothing of their own": (
        "activation_checkpointing",
        None,
        "model = nn.Sequential(nn.Flatten(), nn.Linear(192, 192), nn.ReLU(), nn.Linear(192, 192), nn.ReLU())",
        "the model has no repeated blocks",
    ),
    "checkpoints already": (
        "activation_checkpointing",
        None,
        "from torch.utils.checkpoint import checkpoint_sequential as cut\n"
        "model = blocks(4)\nmodel.forward = lambda x: cut(list(model), 2, x, use_reentrant=False)",
        "checkpoints its activations itself",
    ),
    "statistics that would be taken twice": (
        "activation_checkpointing",
        None,
        "kept = [nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)) for _ in range(2)]\n"
        "model = nn.Sequential(*kept, nn.Flatten())",
        "Sequential changes a buffer whenever it is called",
    ),
    "a larger batch of a loader that is not there": (
        "activation_checkpointing",
        8,
        "model = blocks(4)\n",
        "was not built again in the same place",
    ),
    "another loader": ("batch_size", 8, "\n", "was not built again in the same place"),
}
IN_FORCE = {
    "none": ("", None, "", "", None),
    "threads": ("threads", 2, "", "assert torch.get_num_threads() == 2", None),
    "none, with a precision by its newer name": (
        "",
        None,
        "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
        "",
        None,
    ),
    "thread_binding": (
        "thread_binding",
        1,
        f"exec({SEEN_FROM_A_WORKER!r})",
        f"assert inputs.unique().tolist() == [100 + sum({CORES[-1:]})] and os.sched_getaffinity(0) == {set(CORES[:1])}",
        [ROW["loader"], []],
    ),
    "fused_optimizer": ("fused_optimizer", None, "", "assert optimizer.defaults['fused']", [ROW["optimizer"], []]),
    "autocast": ("autocast", None, "", "assert outputs.dtype == torch.bfloat16", [ROW["model"], ["model"]]),
    "channels_last": (
        "channels_last",
        None,
        "",
        "assert model[0].weight.is_contiguous(memory_format=torch.channels_last)",
        [ROW["model"], ["model"]],
    ),
    "compile": (
        "compile",
        None,
        "torch._dynamo.config.disable = True",
        "assert model._compiled_call_impl is not None",
        [ROW["model"], ["model"]],
    ),
    "batch_size": ("batch_size", 8, "", "assert len(inputs) == 8", [ROW["loader"], []]),
    "none, with a dropout": ("", None, "model = blocks(4)", "", None),
    "activation_checkpointing": (
        "activation_checkpointing",
        None,
        "model = blocks(4)",
        "turned = [getattr(block.forward, 'keywords', None) for block in model]\n"
        "assert turned == [{'use_reentrant': False}] * 4 + [None] * 2",
        [ROW["model"], ["model"]],
    ),
    "activation_checkpointing, with a larger batch": (
        "activation_checkpointing",
        8,
        "model = blocks(4)",
        "assert len(inputs) == 8 and model[3].forward.keywords == {'use_reentrant': False}",
        [ROW["model"], ["model"]],
    ),
}


if len(CORES) < 2:  # there is nothing to choose among, or no way to
    REFUSED = {name: case for name, case in REFUSED.items() if case[0] != "thread_binding"}
    IN_FORCE = {name: case for name, case in IN_FORCE.items() if case[0] != "thread_binding"}


def values_of(knob: str, value: int | None) -> dict[str, Any]:
    """The fields of a knob's class."""
    if value is None:
        return {}
    if knob == "thread_binding":
        return {"training": CORES[:1], "workers": CORES[-1:], "threads": value}
    return {{"threads": "count", "batch_size": "size"}.get(knob, "batch_size"): value}


@cache
def outcomes() -> dict[str, dict[str, Any]]:
    cases = {name: (knob, value, setup, "") for name, (knob, value, setup, _) in REFUSED.items()}
    cases |= {name: (knob, value, setup, check) for name, (knob, value, setup, check, _) in IN_FORCE.items()}
    plans = [
        ({"name": knob, "values": values_of(knob, value), "loader": PLACE}, setup, check)
        for knob, value, setup, check in cases.values()
    ]
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(plans), capture_output=True, text=True, check=False
    )
    lines = result.stdout.splitlines()
    assert len(lines) == len(cases), result.stderr
    return {name: json.loads(line) for name, line in zip(cases, lines, strict=True)}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_turned_is_refused(name: str) -> None:
    found = outcomes()[name]
    assert REFUSED[name][3] in found.get("refused", ""), found


@pytest.mark.parametrize("name", IN_FORCE)
def test_a_knob_is_in_force(name: str) -> None:
    found = outcomes()[name]
    assert "losses" in found, found
    assert len(found["losses"]) == (8 if IN_FORCE[name][1] == 8 else 16)
    assert found["memory"] > 1 << 20
    place = IN_FORCE[name][4]
    assert found["sites"] == ([[place]] if place is not None else [])


def test_both_sides_see_the_same_batches_from_the_same_weights() -> None:
    found = outcomes()
    assert found["threads"]["losses"] == pytest.approx(found["none"]["losses"], rel=1e-4)
    assert found["fused_optimizer"]["losses"] == pytest.approx(found["none"]["losses"], rel=1e-4)
    assert found["autocast"]["losses"] != found["none"]["losses"]
    assert found["activation_checkpointing"]["losses"] == found["none, with a dropout"]["losses"]


def test_how_the_blocks_are_reached_is_reported() -> None:
    assert outcomes()["activation_checkpointing"]["blocks"] == ["{}[0:4]"]
    assert outcomes()["none"]["blocks"] == []


def test_the_newer_name_of_a_precision_is_read() -> None:
    assert outcomes()["none, with a precision by its newer name"]["precision"] == "high"
    assert outcomes()["none"]["precision"] == "highest"


def test_every_knob_is_listed_by_the_name_of_its_file() -> None:
    folder = Path(knobs.__path__[0])
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "knob", "knob_statements", "training_knobs"}
    assert {f"{knob.name}_knob" for knob in TRAINING_KNOBS} == files
    for knob in TRAINING_KNOBS:
        assert knob.__module__ == f"{knobs.__name__}.{knob.name}_knob"


@pytest.mark.parametrize(
    "knob", [None, *(kind() for kind in TRAINING_KNOBS), Threads(4), ThreadBinding((0, 1), (2,), 2), BatchSize(8)]
)
def test_a_plan_survives_its_way_to_the_child(knob: Knob | None) -> None:
    plan = Plan(knob, (Frame("train.py", "main", 1, 2, 3, 4),))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan
