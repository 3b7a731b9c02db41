"""ACC412 debug-tools-left-on, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, MODEL

TRAIN = "for i in range(3):\n    step(torch.zeros(2, 8).cuda(), torch.zeros(2).cuda())\n"
SILENT = {
    "off": "torch.autograd.set_detect_anomaly(False)",
    "an option": "import conf\ntorch.autograd.set_detect_anomaly(conf.debug)",
    "an option with a default": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--debug', action='store_true')\n"
        "torch.autograd.set_detect_anomaly(p.parse_args().debug)"
    ),
    "under a condition": "import conf\nif conf.debug:\n    torch.autograd.set_detect_anomaly(True)",
    "in a function for it": "def debug_step():\n    torch.autograd.set_detect_anomaly(True)\ndebug_step()",
    "launches do not block": "import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '0'",
    "another variable": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'",
    "around one step": "with torch.autograd.detect_anomaly():\n    step(torch.zeros(2, 8), torch.zeros(2))",
    "a profiler around one step": "with torch.profiler.profile():\n    step(torch.zeros(2, 8), torch.zeros(2))",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC412", IMPORTS + MODEL + source + "\n" + TRAIN, tmp_path)


def test_silent_where_nothing_trains(tmp_path: Path) -> None:
    check_one("ACC412", IMPORTS + "torch.autograd.set_detect_anomaly(True)\n", tmp_path)


SILENT_PROGRAMS = {
    "env from args": """
import os, argparse
p = argparse.ArgumentParser(); p.add_argument("--debug", action="store_true"); a = p.parse_args()
torch.autograd.set_detect_anomaly(a.debug)
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(torch.zeros(2)).sum().backward(); opt.step()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC412", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


ANOMALY = "torch.autograd.set_detect_anomaly(True)"
LOADER = "import conf, contextlib, os\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"


def switched(line: str, condition: str, instead: str = "") -> Pair:
    source = f"{IMPORTS}{MODEL}{LOADER}{line}\nfor (x,) in loader:\n    step(x, x)\n"
    return Pair(source, condition, instead)


@pytest.mark.parametrize("name", ["debug_train", "profile_run", "benchmark", "test_train"])
def test_silent_in_files_that_are_named_for_it(name: str, tmp_path: Path) -> None:
    reported = []
    for stem in (name, "train"):
        path = tmp_path / f"{stem}.py"
        path.write_text(switched(ANOMALY, ANOMALY).source)
        facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
        reported.append(len(list(registry()["ACC412"].check(facts))))
    assert reported == [0, 1]


PROFILE = "torch.profiler.profile()"


def around(manager: str, instead: str) -> Pair:
    source = f"{IMPORTS}{MODEL}{LOADER}with {manager}:\n    for (x,) in loader:\n        model(x).sum().backward()\n"
    return Pair(source, manager, instead)


def function(name: str) -> Pair:
    return switched(f"def {name}():\n    {ANOMALY}\n{name}()", name, "begin")


PAIRS = {
    "anomalies on a condition": switched(f"if conf.debug:\n    {ANOMALY}", "if conf.debug:\n    "),
    "anomalies by an option": switched(ANOMALY.replace("True", "conf.debug"), "conf.debug", "True"),
    "a manager by an option": around("torch.autograd.set_detect_anomaly(conf.debug)", "torch.autograd.detect_anomaly()"),
    "perhaps a manager": around(
        "(torch.autograd.detect_anomaly() if conf.debug else contextlib.nullcontext())", "torch.autograd.detect_anomaly()"
    ),
    "a function to debug": function("debug_model"),
    "a function to profile": function("profile_step"),
    "a function for benchmarks": function("benchmark"),
    "a function of tests": function("test_step"),
    "launches by an option": switched("os.environ['CUDA_LAUNCH_BLOCKING'] = conf.block", "conf.block", "'1'"),
    "perhaps launches": switched("os.environ['CUDA_LAUNCH_BLOCKING'] = '1' if conf.a else '0'", " if conf.a else '0'"),
    "launches on a condition": switched("if conf.a: os.environ['CUDA_LAUNCH_BLOCKING'] = '1'", "if conf.a: "),
    "a default by an option": switched("os.environ.setdefault('CUDA_LAUNCH_BLOCKING', conf.a)", "conf.a", "'1'"),
    "a schedule": around("torch.profiler.profile(schedule=conf.schedule)", PROFILE),
    "other arguments of a profiler": around("torch.profiler.profile(**conf.kw)", PROFILE),
    "ranges by an option": around("torch.autograd.profiler.emit_nvtx(conf.on)", "torch.autograd.profiler.emit_nvtx()"),
    "ranges that are off": around("torch.autograd.profiler.emit_nvtx(enabled=False)", "torch.autograd.profiler.emit_nvtx()"),
    "ranges of its own, for a profiler": Pair(
        around("torch.autograd.profiler.emit_nvtx()", PROFILE).source + "torch.cuda.nvtx.mark('done')\n",
        "torch.cuda.nvtx.mark('done')\n",
    ),
    "an old profiler by an option": around("torch.autograd.profiler.profile(conf.on)", "torch.autograd.profiler.profile()"),
    "a gradient check before": switched(
        "torch.autograd.gradcheck(model, conf.x)", "torch.autograd.gradcheck(model, conf.x)\nfor (x,) in loader:\n",
        "for (x,) in loader:\n    torch.autograd.gradcheck(model, conf.x)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC412", pair, tmp_path)


@pytest.mark.parametrize(("given", "before"), [("False", ""), ("conf.debug", ""), ("True", "if conf.debug: ")])
def test_silent_about_switches_of_lightning(given: str, before: str, tmp_path: Path) -> None:
    line = f"{before}trainer = L.Trainer(detect_anomaly={given})"
    source = f"import torch\nimport lightning as L\nimport conf\n{line}\n"
    check_pair("ACC412", Pair(source, line, "trainer = L.Trainer(detect_anomaly=True)"), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # -> warning none
os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")  # -> warning none
torch.autograd.set_detect_anomaly(True)  # -> warning unsafe
def main():
    torch.autograd.set_detect_anomaly(mode=True)  # -> warning unsafe
if __name__ == "__main__":
    main()
"""
    check_one("ACC412", IMPORTS + MODEL + TRAIN + source, tmp_path)


def test_reported_around_the_whole_training(tmp_path: Path) -> None:
    source = """
loader = DataLoader(TensorDataset(torch.zeros(8, 8)))
with torch.autograd.detect_anomaly():  # -> warning none
    with torch.profiler.profile() as prof:  # -> warning none
        for (x,) in loader:
            model(x.cuda()).sum().backward()
with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)) as prof:
    for (x,) in loader:
        model(x.cuda()).sum().backward()
"""
    check_one("ACC412", IMPORTS + MODEL + source, tmp_path)


def test_reports_a_switch_of_lightning(tmp_path: Path) -> None:
    source = "import lightning as L\nt = L.Trainer(detect_anomaly=True)  # -> warning none\n"
    check_one("ACC412", "import torch\n" + source, tmp_path)


REPORTED_PROGRAMS = {
    "on": """
import os
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # -> warning none
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(3):
    model(torch.zeros(2)).sum().backward(); opt.step()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC412", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
