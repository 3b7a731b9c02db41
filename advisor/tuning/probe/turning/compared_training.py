"""A training of which two runs are compared, one of them with a knob turned from outside, as an edit of the script
would turn it.

Both sides run under it, the script as it is with no knob: seeded alike, and with the same hooks. Where the knob cannot
be turned, or the script itself decides otherwise, the child says so and leaves.
"""

from __future__ import annotations

import contextlib
import functools
import random
import sys
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

from accel_advisor.tuning.probe.channel.wire import Frame, Site, Turned
from accel_advisor.tuning.probe.measuring.differentiated import differentiated
from accel_advisor.tuning.probe.script import stack

LOSSES_MOST = 512
"""Losses that are kept, from the first on."""
LOOK_AT = 3
"""Training steps before it is looked whether the knob is in force; no loop is warm before."""
SEED = 0


class ComparedTraining:
    """What a knob works on: it registers what it does to models and what has to hold, and notes where it was done.

    Args:
        refuse: called with the reason, in one sentence, where the knob must not be turned; does not return.
        loader: the stack of the loader that trains in the script as it is, outermost first.

    Attributes:
        sites: for each optimizer, model or loader that was turned, the stack that built or called it.
        blocks: for each model whose blocks were turned, how they are reached, as :class:`Turned` has it.
        own: what the script itself decides otherwise, in one sentence; empty where nothing of it was seen.
        stepped: the class of the optimizer that made the latest step.
    """

    def __init__(self, refuse: Callable[[str], NoReturn], loader: Sequence[Frame] = ()) -> None:
        self.refuse = refuse
        self.sites: list[tuple[Site, ...]] = []
        self.blocks: list[str] = []
        self.own = ""
        self.stepped = ""
        self._loader = tuple(loader)
        self._losses: list[Any] = []
        self._events = 0
        self._checks: list[Callable[[], str]] = []
        self._turn_model: Callable[[Any], bool] | None = None
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def install(self) -> None:
        """Takes hold of torch, which must be imported."""
        import torch

        torch.manual_seed(SEED)
        random.seed(SEED)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(SEED)
        self._keep_losses(torch.autograd)
        self._watch_steps()
        self._watch_modules(torch)

    def turn_models(self, turn: Callable[[Any], bool]) -> None:
        """Has every model that trains turned before it is first called: a module that no other one calls. ``turn`` says
        whether it did anything; where no model is turned, the knob is not in force."""
        self._turn_model = turn
        self.check(lambda: "" if self.sites else self.own or "no call of a module with parameters that train was seen")

    def check(self, missing: Callable[[], str]) -> None:
        """Has it looked, after the first steps, why the knob is not in force: in one sentence, empty where it is."""
        self._checks.append(missing)

    def is_loader(self, sites: Sequence[Site]) -> bool:
        """Whether a loader that is built from there is the one that trains in the script as it is."""
        return tuple(site.frame for site in sites) == self._loader

    def outcome(self) -> Turned | None:
        """What the parent is to know at the end; None where torch cannot be asked any more."""
        torch = sys.modules.get("torch")
        if torch is None:
            return None
        with contextlib.suppress(RuntimeError):
            return Turned(
                losses=tuple(float(loss) for loss in list(self._losses)),
                sites=tuple(self.sites),
                threads=torch.get_num_threads(),
                precision=precision_of(torch),
                benchmark=torch.backends.cudnn.benchmark,
                memory=_memory(torch),
                blocks=tuple(self.blocks),
            )
        return None

    def _keep_losses(self, autograd: Any) -> None:
        backward = autograd.backward

        @functools.wraps(backward)
        def keeping(*args: Any, **kwargs: Any) -> Any:
            loss = differentiated(args, kwargs)
            if len(self._losses) < LOSSES_MOST and getattr(loss, "numel", int)() == 1:
                self._losses.append(loss.detach())
            result = backward(*args, **kwargs)
            self._event()
            return result

        autograd.backward = keeping

    def _watch_steps(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.stepped = type(optimizer).__name__
            self._event()

        register_optimizer_step_post_hook(after)

    def _watch_modules(self, torch: Any) -> None:
        call, compiling = torch.nn.Module.__call__, torch.compiler.is_compiling
        seen, meet = self._seen, self._meet

        # torch.profiler takes the module from the frame, where it is ``self``.
        @functools.wraps(call)
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not compiling() and self not in seen and torch.is_grad_enabled():
                meet(self, sys._getframe(1))
            return call(self, *args, **kwargs)

        torch.nn.Module.__call__ = __call__

    def _meet(self, module: Any, caller: FrameType) -> None:
        self._seen.update(module.modules())
        trains = self._turn_model is not None and any(one.requires_grad for one in module.parameters())
        if self._turn_model is not None and trains and self._turn_model(module):
            self.sites.append(sites_of(caller, module))

    def _event(self) -> None:
        self._events += 1
        if self._events == LOOK_AT:
            reason = next((reason for check in self._checks if (reason := check())), "")
            if reason:
                self.refuse(reason)


def sites_of(frame: FrameType | None, value: Any = None) -> tuple[Site, ...]:
    """The frames outwards from ``frame``, outermost first, each with the names that it has for ``value``; the probe's
    own are left out."""
    sites: list[Site] = []
    while frame is not None:
        code = frame.f_code
        if not stack.is_probe(code.co_filename):
            names = () if value is None else tuple(n for n, one in list(frame.f_locals.items()) if one is value)
            sites.append(Site(stack.place(code, frame.f_lasti, frame.f_lineno), names))
        frame = frame.f_back
    sites.reverse()
    return tuple(sites)


def precision_of(torch: Any) -> str:
    """The precision of float32 products on CUDA: ``highest`` is all of float32.

    Since torch 2.9 it is ``fp32_precision`` of a backend, or of all of them, beside the older name: where a script used
    the one, asking by the other raises RuntimeError, or does not know of it.
    """
    products = getattr(torch.backends.cuda.matmul, "fp32_precision", "")
    if products:
        return "high" if products in ("tf32", "bf16") else "highest"
    return str(torch.get_float32_matmul_precision())


def _memory(torch: Any) -> int:
    """The most memory that was in use, in bytes: the accelerator's where CUDA was used, else the process's own."""
    import resource  # there is none on Windows, where the parent reads what knobs there are

    if torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_reserved())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
