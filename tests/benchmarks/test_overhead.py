"""What the measurement of the probe's overhead computes, and that it takes the probe out and puts it back."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch.optim import optimizer as optimizers

from benchmarks.gpu.overhead import section
from benchmarks.overhead import (
    bench,
    between,
    costs,
    middle,
    on_gpu,
    quartile,
    result,
    shortest,
    table,
)
from benchmarks.overhead_loop import MODULES, PROBE, Blocks, Loop, Plan, Switch
from benchmarks.recording import put

ROOT = Path(__file__).resolve().parents[2]


def said(inside: list[float], out: list[float], **more: Any) -> dict[str, Any]:
    """What a process says in each of whose blocks all steps take so many milliseconds, by the wall, and as many more
    by the processor's clock."""
    blocks = {
        arm: [[[each / 1e3] * 4, [2 * each / 1e3] * 4] for each in found]
        for arm, found in (("in", inside), ("out", out))
    }
    return {"kinds": {"tiny": blocks}, **more}


def test_too_few_processes_have_no_interval() -> None:
    assert middle([3.0, 1.0, 2.0, 5.0, 4.0], 1) == {"is": 3.0, "low": None, "high": None}


def test_an_interval_goes_by_order_alone() -> None:
    values = [float(each) for each in range(1, 17)]
    assert middle([*values[:-1], 1e9], 1) == middle(values, 1) == {"is": 8.5, "low": 4.0, "high": 13.0}
    assert middle([1.0, 2.0, 3.0, 4.0, 5.0, 60.0], 1) == {"is": 3.5, "low": 1.0, "high": 60.0}


def test_what_slows_some_steps_leaves_the_quartile() -> None:
    assert quartile([5.0, 1.0, 2.0, 1.5, 90.0, 70.0, 80.0, 1.25]) == 1.5


def test_a_pair_of_processes_says_what_a_step_costs() -> None:
    alone = said([10.0, 10.0, 10.0], [10.0, 10.0, 10.0])
    found = costs(alone, said([11.5, 21.5, 11.5], [11.0, 21.0, 11.0]), "tiny")
    assert found == pytest.approx({"work": 11.0, "wall": 500, "processor": 1000, "nothing": 0, "process": 1500})


def test_a_pair_of_blocks_that_was_disturbed_leaves_the_others() -> None:
    watched = said([11.5, 50.0, 11.5, 11.5, 11.5], [11.0, 11.0, 90.0, 11.0, 11.0])
    assert costs(said([1.0], [1.0]), watched, "tiny")["wall"] == pytest.approx(500)


def test_what_happens_between_steps_takes_a_share_of_all_time() -> None:
    watched = {"ends": [2e-3, 2e-3, 9.0, 9.0, 2e-3], "threads": 0.001}
    assert between(watched) == pytest.approx(0.005)


def test_the_shortest_step_of_which_so_much_may_be_taken() -> None:
    assert shortest(50.0) == pytest.approx(10.0)
    assert shortest(50.0, 0.003) == pytest.approx(25.0)
    assert shortest(50.0, 0.006) == math.inf
    assert middle([1.0, math.inf, math.inf, math.inf, 2.0, 3.0], 1) == {"is": None, "low": 1.0, "high": None}


def test_the_page_says_what_is_recorded() -> None:
    page = (ROOT / "docs" / "overhead.md").read_text(encoding="utf-8")
    record = json.loads((ROOT / "benchmarks" / "results" / "overhead.json").read_text(encoding="utf-8"))
    assert put(page, "results", table(record)) == page


def test_a_page_keeps_what_is_around_its_marks() -> None:
    page = "one\n<!-- results -->\nold\n<!-- end of results -->\ntwo\n"
    assert put(page, "results", "new\n") == page.replace("old", "new")


def test_what_is_not_the_probes_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def own() -> str:
        return "own"

    users: Any = FunctionType(own.__code__, {"__name__": "accel_advisor.tuning.tuner"})
    users.__wrapped__ = own
    module: Any = ModuleType("torch.made_up")
    module.users, module.own = users, own
    monkeypatch.setitem(sys.modules, "torch.made_up", module)
    switch = Switch()
    assert not any("made_up" in name for name in switch.names)
    switch.put(False)
    switch.put(True)
    assert module.users is users
    assert module.own is own


def test_the_probe_is_taken_out_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def own() -> str:
        return "own"

    probes: Any = FunctionType(own.__code__, {"__name__": f"{PROBE}hooks"}, "probes")
    probes.__wrapped__ = own
    module: Any = ModuleType("torch.made_up")
    module.step, module.Module = probes, type("Made", (), {"__call__": probes, "__module__": "torch.made_up"})
    monkeypatch.setitem(sys.modules, "torch.made_up", module)
    monkeypatch.setitem(optimizers._global_optimizer_post_hooks, -1, probes)
    switch = Switch()
    assert {"torch.made_up.Made.__call__", "torch.made_up.step", "torch.optim.optimizer, hook probes"} <= {
        *switch.names
    }
    switch.put(False)
    assert (module.step, module.Module.__call__) == (own, own)
    assert -1 not in optimizers._global_optimizer_post_hooks
    switch.put(True)
    assert (module.step, module.Module.__call__) == (probes, probes)
    assert optimizers._global_optimizer_post_hooks[-1] is probes


def test_a_step_calls_as_many_modules_as_it_says() -> None:
    assert len(Loop("cpu")._model) == MODULES


def test_a_larger_step_has_as_many_modules_and_larger_matrices() -> None:
    loop = Loop("cpu")
    seen: list[Any] = []
    for width, rows in ((16, 128), (8, 64)):
        loop.size(width, rows)
        loop._model.register_forward_pre_hook(lambda _, inputs: seen.append(tuple(inputs[0].shape)))
        loop.step()
        assert len(loop._model) == MODULES
    assert seen == [(128, 16), (64, 8)]


def test_a_process_on_a_gpu_gives_one_number_and_six_an_interval() -> None:
    def process(inside: float, out: float) -> dict[str, Any]:
        blocks = said([inside, inside], [out, out])["kinds"]["tiny"]
        events = {"a module": {"in": [[[2e-6]]], "out": [[[1e-6]]]}}
        return {"kinds": {"short": blocks, "long": blocks}, "events": events, "ends": [1e-3], "threads": 0.001}

    few = section(process(2.0, 2.0), [process(2.02, 2.0)])
    assert few["kinds"]["long"]["microseconds a step"]["wall"] == {"is": 20.0, "low": None, "high": None}
    found = section(process(2.0, 2.0), [process(2.0 + each / 100, 2.0) for each in range(6)])
    short = found["kinds"]["short"]
    assert short["microseconds a step"]["wall"] == {"is": 25.0, "low": 0.0, "high": 50.0}
    assert short["overhead"]["wall"] == {"is": 0.0125, "low": 0.0, "high": 0.025}
    assert short["overhead"]["all told"]["is"] == pytest.approx(0.0125 + 0.002 + 0.001)
    assert short["nothing, microseconds a step"] == 0.0
    assert found["events, microseconds"]["a module"] == {"is": 1.0, "low": 1.0, "high": 1.0}
    about = {
        "machine": {"gpus": [{"name": "A GPU"}]},
        "versions": {"torch": "2.11.0"},
        "date": "a day",
        "commit": "abc",
    }
    (text,) = on_gpu(found | about)
    assert "A GPU, torch 2.11.0, a day, commit abc), by the wall: 1.25 % (0.00 to 2.50) of a step of 2.0 ms" in text
    assert text.endswith("Medians of 6 processes. Without the probe the same reading finds 0.0 us and 0.0 us.")
    (text,) = on_gpu(few | about)
    assert "Medians of 1 processes, too few for an interval. " in text


def test_a_trial_with_the_probe_in_and_out() -> None:
    kinds = {"tiny": Blocks(0.0, rounds=2, skip=3, steps=4), "ordinary": Blocks(0.001, rounds=1, skip=1, steps=2)}
    plan = Plan(0, kinds, False, periods=2, seen=Blocks(0.0, rounds=1, skip=1, steps=2))
    with bench(plan) as one:
        alone, watched = one.alone(0), one.watched(0)
    assert alone["taken"] == []
    assert alone["iterators"]["in"] == alone["iterators"]["out"] == watched["iterators"]["out"]
    assert watched["iterators"]["in"].startswith(PROBE)
    assert {
        "torch.utils.data.dataloader.DataLoader.__iter__",
        "torch.nn.modules.module.Module.__call__",
        "torch.Tensor.to",
        "torch.autograd.backward",
        "torch.optim.optimizer, hook after",
    } <= set(watched["taken"])
    assert [[len(clock) for clock in block] for block in watched["kinds"]["tiny"]["in"]] == [[4, 4], [4, 4]]
    assert [[len(clock) for clock in block] for block in watched["kinds"]["ordinary"]["out"]] == [[2, 2]]
    assert [[len(clock) for clock in block] for block in alone["kinds"]["tiny"]["in"]] == [[4, 4]]
    found = result([(alone, watched)], kinds)
    assert found["pairs"] == 1
    assert found["kinds"]["ordinary"]["steps"] == 4
    assert set(found["events, microseconds"]) == {*watched["events"], "those of a tiny step"}
