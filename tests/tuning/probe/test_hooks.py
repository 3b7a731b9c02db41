"""What the hooks do to calls of modules and tensors: they count, and change nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from accel_advisor.tuning.probe.containment.other_processes import Elsewhere
from accel_advisor.tuning.probe.hooks import Hooks, _leaves_host
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.measuring.seen_loaders import Records
from accel_advisor.tuning.probe.server import Server
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining

torch = pytest.importorskip("torch")
nn = torch.nn
THERE, HERE = torch.ones(1, device="meta"), torch.ones(1)


class Counting(Meter):
    """How often its sections were entered."""

    entered = 0

    def enter(self, kind: int) -> Any:
        self.entered += 1
        return super().enter(kind)


class Failing(nn.Module):
    def forward(self, batch: Any) -> Any:
        raise ArithmeticError


class Apart:
    """The connection of such a process."""

    here = False


class Threaded(nn.Module):
    """Calls a module in a thread of its own, as DataParallel does."""

    def forward(self, batch: Any) -> Any:
        thread = threading.Thread(target=nn.Identity(), args=(batch,))
        thread.start()
        thread.join()
        return batch


def hooks_of(meter: Meter) -> Hooks:
    """The hooks of a process that no trial measures."""
    records, session = Records(), Apart()
    server = Server(session, records, meter, Elsewhere(""), extend_epochs=False, awaits_loader=False)  # type: ignore[arg-type]
    return Hooks(server, records, meter)


def hooked() -> Counting:
    """A meter that notices the calls of modules, and runs."""
    meter = Counting()
    hooks_of(meter)._wrap_module(nn.Module, torch.compiler)
    meter.start()
    return meter


def scalar() -> Any:
    """A loss of one parameter, 3, whose gradient is 6."""
    parameter = torch.tensor([3.0], requires_grad=True)
    return parameter, (parameter**2).sum()


WAYS_BACK = {
    "grad, by position": lambda parameter, loss: torch.autograd.grad(loss, parameter)[0],
    "grad, by name": lambda parameter, loss: torch.autograd.grad(outputs=loss, inputs=parameter)[0],
    "grad, of several": lambda parameter, loss: torch.autograd.grad(inputs=[parameter], outputs=[loss])[0],
    "backward of a tensor": lambda parameter, loss: loss.backward() or parameter.grad,
    "backward, by position": lambda parameter, loss: torch.autograd.backward([loss]) or parameter.grad,
    "backward, by name": lambda parameter, loss: torch.autograd.backward(tensors=loss) or parameter.grad,
}


@pytest.mark.parametrize("way", WAYS_BACK)
def test_a_backward_pass_may_be_called_in_each_way_that_torch_takes(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient penalty names all of its arguments."""
    for name in ("backward", "grad"):
        monkeypatch.setattr(torch.autograd, name, getattr(torch.autograd, name))
    meter, refused = Counting(), []
    compared = ComparedTraining(refused.append)  # type: ignore[arg-type]
    hooks_of(meter)._wrap_backward(torch.autograd)
    compared._keep_losses(torch.autograd)
    meter.start()
    parameter, loss = scalar()
    assert WAYS_BACK[way](parameter, loss) == 6
    assert meter.entered == 1
    outcome = compared.outcome()
    assert outcome is not None
    assert outcome.losses == ((9.0,) if "backward" in way else ())


def test_a_call_that_torch_refuses_is_refused_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("backward", "grad"):
        monkeypatch.setattr(torch.autograd, name, getattr(torch.autograd, name))
    hooks_of(Counting())._wrap_backward(torch.autograd)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'inputs'"):
        torch.autograd.grad(outputs=scalar()[1])


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(nn.Module, "__call__", nn.Module.__call__)
    return hooked()


def test_modules_within_a_module_are_one_section(meter: Counting) -> None:
    nn.Sequential(nn.Sequential(nn.Identity(), nn.Identity()), nn.Identity())(HERE)
    assert meter.entered == 1
    nn.Identity()(HERE)
    assert meter.entered == 2


def test_what_another_thread_calls_is_a_section_of_its_own(meter: Counting) -> None:
    Threaded()(HERE)
    assert meter.entered == 2


def test_a_module_that_raises_leaves_no_section_open(meter: Counting) -> None:
    for within in (Failing(), nn.Sequential(nn.Identity(), Failing())):
        with pytest.raises(ArithmeticError):
            within(HERE)
        assert meter.nesting.depth == 0


def test_while_the_clock_stands_nothing_counts(meter: Counting) -> None:
    meter.pause()
    nn.Sequential(nn.Identity())(HERE)
    assert meter.entered == 0


def test_what_compile_left_in_a_module_is_called(meter: Counting) -> None:
    inner = nn.Identity()
    inner._compiled_call_impl = lambda batch: batch + 1
    assert nn.Sequential(inner, inner)(HERE) == HERE + 2
    assert inner(HERE) == HERE + 1


def test_a_call_that_is_not_torchs_own_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    called, own = [], nn.Module.__call__

    def patched(self: Any, *args: Any) -> Any:
        called.append(type(self))
        return own(self, *args)

    monkeypatch.setattr(nn.Module, "__call__", patched)
    hooked()
    nn.Sequential(nn.Identity())(HERE)
    assert called == [nn.Sequential, nn.Identity]


def test_what_is_compiled_knows_nothing_of_the_clock(meter: Counting) -> None:
    """Neither breaks in the graph nor new graphs where the clock starts, stops, or counts a module around."""
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    class Around(nn.Module):
        def forward(self, batch: Any) -> Any:
            return compiled(batch)

    compiled = torch.compile(nn.Sequential(nn.Sequential(nn.ReLU()), nn.ReLU()), backend=backend, fullgraph=True)
    compiled(HERE)
    Around()(HERE)
    meter.pause()
    compiled(HERE)
    Around()(HERE)
    assert len(graphs) == 1
    assert meter.entered == 2


@pytest.mark.parametrize(
    "wrap",
    [
        "Hooks(None, None, Meter())._wrap_module(torch.nn.Module, torch.compiler)",
        "Plan(Autocast()).install(ComparedTraining(None))",
    ],
)
def test_the_profiler_of_torch_finds_the_modules(wrap: str) -> None:
    """It reads them off the frame of the call, and takes the process down where they are missing."""
    script = f"""if True:
        import os
        import torch
        from accel_advisor.tuning.probe.hooks import Hooks
        from accel_advisor.tuning.probe.measuring.meter import Meter
        from accel_advisor.tuning.probe.knobs.autocast_knob import Autocast
        from accel_advisor.tuning.probe.knobs.training_knobs import Plan
        from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining
        {wrap}
        model = torch.nn.Sequential(torch.nn.Identity())
        with torch.profiler.profile(with_stack=True, with_modules=True):
            model(torch.ones(1))
        os._exit(0)  # the end of an interpreter with torch takes half a second
    """
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "left_open"),
    [
        ("to", (torch.float16,), {}, False),
        ("to", (torch.float16, True), {}, False),
        ("to", ("cpu",), {}, False),
        ("to", (HERE,), {}, False),
        ("to", (), {"dtype": torch.float16}, False),
        ("to", ("cuda", torch.float16, False), {}, False),
        ("to", (THERE, False), {}, False),
        ("cuda", (0, False), {}, False),
        ("to", ("cuda",), {}, True),
        ("to", (torch.device("cuda", 1), torch.float16), {}, True),
        ("to", (torch.float16,), {"device": "cuda"}, True),
        ("to", (THERE,), {}, True),
        ("to", (), {"other": THERE}, True),
        ("cuda", (), {}, True),
        ("cuda", (1,), {}, True),
    ],
)
def test_what_a_call_leaves_open(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], left_open: bool) -> None:
    assert _leaves_host(torch, name, args, kwargs) is left_open
