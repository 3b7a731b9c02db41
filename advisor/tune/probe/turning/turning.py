"""Turns one knob of the training from outside, as an edit of the script would, and keeps the losses to compare.

Both sides of a comparison run under it, the script as it is with no knob: seeded alike, and with the same hooks. Where
the knob cannot be turned, or the script itself decides otherwise, the child says so and leaves.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import random
import resource
import sys
import weakref
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from accel_advisor.tune.probe.channel.connection import Session
from accel_advisor.tune.probe.channel.reasons import KnobRefused
from accel_advisor.tune.probe.channel.wire import Refused, Site, Turned
from accel_advisor.tune.probe.script import stack
from accel_advisor.tune.probe.turning import recomputing

LOSSES_MOST = 512
"""Losses that are kept, from the first on."""
LOOK_AT = 3
"""Training steps before it is looked whether the knob is in force; no loop is warm before."""
SEED = 0
FUSIBLE = ("Adagrad", "Adam", "AdamW", "SGD")


class Turning:
    """One knob, or none.

    Args:
        plan: ``name`` of the knob, empty for none; its ``value``, where it has one; ``stack`` of the loader that it is
            a knob of. The value of ``activation_checkpointing`` is the size of a batch that goes with it; that of
            ``thread_binding`` is the number of threads, on the cores in ``training``, beside workers on ``workers``.
    """

    def __init__(self, plan: dict[str, Any], session: Session) -> None:
        self._name: str = plan["name"]
        self._value: Any = plan.get("value")
        self._loader = [list(frame) for frame in plan.get("stack", ())]
        self._session = session
        self._losses: list[Any] = []
        self._events = 0
        self._own = ""
        self._stepped = ""
        self._sites: list[tuple[Site, ...]] = []
        self._resized: list[tuple[Site, ...]] = []
        self._recomputing: recomputing.Recomputing | None = None
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()
        self._turn_module: Callable[[Any, Any], bool] | None = {
            "activation_checkpointing": self._recompute,
            "autocast": self._autocast,
            "channels_last": self._channels_last,
            "compile": self._compile,
        }.get(self._name)
        self._training = frozenset(plan.get("training", ()))
        self._workers = frozenset(plan.get("workers", ()))

    def install(self) -> None:
        """Take hold of torch, which must be imported."""
        import torch

        torch.manual_seed(SEED)
        random.seed(SEED)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(SEED)
        self._keep_losses(torch.autograd)
        self._watch_steps()
        self._watch_modules(torch)
        if self._name in ("threads", "thread_binding"):
            torch.set_num_threads(self._value)
        if self._name == "thread_binding":
            os.sched_setaffinity(0, self._training)  # and threads that this one starts
            self._confine(torch.utils.data.DataLoader)
        elif self._name == "tf32":
            torch.set_float32_matmul_precision("high")
        elif self._name == "cudnn_benchmark":
            torch.backends.cudnn.benchmark = True
        elif self._name == "fused_optimizer":
            for name in FUSIBLE:
                self._fuse(getattr(torch.optim, name))
        elif self._name == "activation_checkpointing":
            self._recomputing = recomputing.Recomputing(self._refuse)
        if self._resizes:
            self._resize(torch.utils.data.DataLoader)

    def told(self) -> Turned | None:
        """What the parent is to know at the end; None where torch cannot be asked any more."""
        torch = sys.modules.get("torch")
        if torch is None:
            return None
        with contextlib.suppress(RuntimeError):
            return Turned(
                losses=tuple(float(loss) for loss in list(self._losses)),
                sites=tuple(self._resized if self._name == "batch_size" else self._sites),
                threads=torch.get_num_threads(),
                precision=_precision(torch),
                benchmark=torch.backends.cudnn.benchmark,
                memory=_memory(torch),
                blocks=tuple(self._recomputing.blocks) if self._recomputing is not None else (),
            )
        return None

    # -- what both sides do -------------------------------------------------------------------------------------

    def _keep_losses(self, autograd: Any) -> None:
        backward = autograd.backward

        @functools.wraps(backward)
        def keeping(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            loss = tensors[0] if isinstance(tensors, Sequence) and tensors else tensors
            if len(self._losses) < LOSSES_MOST and getattr(loss, "numel", int)() == 1:
                self._losses.append(loss.detach())
            result = backward(tensors, *args, **kwargs)
            self._event()
            return result

        autograd.backward = keeping

    def _watch_steps(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            self._stepped = type(optimizer).__name__
            self._event()

        register_optimizer_step_post_hook(after)

    def _watch_modules(self, torch: Any) -> None:
        """Every model that trains is turned before it is first called: a module that no other one calls."""
        call, compiling = torch.nn.Module.__call__, torch.compiler.is_compiling
        seen, meet = self._seen, functools.partial(self._meet, torch)

        # torch.profiler takes the module from the frame, where it is ``self``.
        @functools.wraps(call)
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not compiling() and self not in seen and torch.is_grad_enabled():
                meet(self, sys._getframe(1))
            return call(self, *args, **kwargs)

        torch.nn.Module.__call__ = __call__

    def _meet(self, torch: Any, module: Any, caller: FrameType) -> None:
        self._seen.update(module.modules())
        trains = self._turn_module is not None and any(one.requires_grad for one in module.parameters())
        if self._turn_module is not None and trains and self._turn_module(torch, module):
            self._sites.append(_sites_of(module, caller))

    def _event(self) -> None:
        self._events += 1
        if self._events == LOOK_AT:
            reason = self._missing()
            if reason:
                self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        self._session.refuse(Refused(KnobRefused(reason)))

    def _missing(self) -> str:
        """Why the knob is not in force, in one sentence; empty where it is."""
        import torch

        if self._name in ("threads", "thread_binding") and torch.get_num_threads() != self._value:
            return "the script sets the number of threads itself"
        if self._name == "thread_binding" and os.sched_getaffinity(0) != self._training:
            return "the script chooses its cores itself"
        if self._name == "tf32" and _precision(torch) == "highest":
            return "the script sets the precision of float32 products itself"
        if self._name == "cudnn_benchmark" and not torch.backends.cudnn.benchmark:
            return "the script sets torch.backends.cudnn.benchmark itself"
        if self._name == "fused_optimizer" and not self._sites:
            return self._own or f"{self._stepped or 'its optimizer'} has no fused form in torch.optim"
        if self._recomputing is not None and self._recomputing.own:
            return recomputing.OWN
        if self._turn_module is not None and not self._sites:
            return self._own or "no call of a module with parameters that train was seen"
        if (self._resizes and not self._resized) or (self._name == "thread_binding" and not self._sites):
            return self._own or "the loader that trains was not built again in the same place"
        return ""

    # -- one knob each ------------------------------------------------------------------------------------------

    def _fuse(self, kind: Any) -> None:
        build = kind.__init__
        signature = inspect.signature(build)
        if "fused" not in signature.parameters:
            return

        @functools.wraps(build)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if type(optimizer) is not kind:
                build(optimizer, *args, **kwargs)
                return
            with contextlib.suppress(TypeError):
                given = signature.bind(optimizer, *args, **kwargs).arguments
                chosen = [name for name in ("fused", "foreach", "differentiable") if given.get(name) is not None]
                if chosen:
                    self._own = f"the script itself passes {chosen[0]} to {kind.__name__}"
            if self._own:
                build(optimizer, *args, **kwargs)
                return
            build(optimizer, *args, **kwargs, fused=True)
            self._sites.append(_sites_of(None, sys._getframe(1)))

        kind.__init__ = __init__

    def _resize(self, kind: Any) -> None:
        build = kind.__init__

        @functools.wraps(build)
        def __init__(loader: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            sites = _sites_of(None, sys._getframe(1))
            if [_listed(site) for site in sites] == self._loader:
                if kwargs.get("batch_sampler") is not None:
                    self._own = "a batch sampler of the script's own decides the size of a batch"
                elif kwargs.get("batch_size", args[0] if args else 1) is None:
                    self._own = "the data set itself makes the batches"
                else:
                    args = (self._value, *args[1:]) if args else args
                    kwargs = kwargs if args else {**kwargs, "batch_size": self._value}
                    self._resized.append(sites)
            build(loader, dataset, *args, **kwargs)

        kind.__init__ = __init__

    def _confine(self, kind: Any) -> None:
        build = kind.__init__

        @functools.wraps(build)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            sites = _sites_of(None, sys._getframe(1))
            build(loader, *args, **kwargs)
            if [_listed(site) for site in sites] == self._loader:
                loader.worker_init_fn = Confined(self._workers, loader.worker_init_fn)
                self._sites.append(sites)

        kind.__init__ = __init__

    @property
    def _resizes(self) -> bool:
        return self._name == "batch_size" or (self._name == "activation_checkpointing" and self._value is not None)

    def _recompute(self, torch: Any, module: Any) -> bool:
        assert self._recomputing is not None
        turned = self._recomputing.turn(module)
        self._own = self._own or ("" if turned else "the model has no repeated blocks")
        return turned

    def _autocast(self, torch: Any, module: Any) -> bool:
        first = next(module.parameters())
        if torch.is_autocast_enabled(first.device.type):
            self._refuse("the script uses autocast itself")
        if first.dtype != torch.float32:
            self._refuse(f"the model's weights are {str(first.dtype).removeprefix('torch.')}, not float32")
        module.forward = torch.autocast(first.device.type, torch.bfloat16)(module.forward)
        return True

    def _channels_last(self, torch: Any, module: Any) -> bool:
        kernels = [one for one in module.parameters() if one.dim() == 4]
        if not kernels:
            self._refuse("the model has no convolution of images")
        if all(one.is_contiguous(memory_format=torch.channels_last) for one in kernels):
            self._refuse("the weights of the model's convolutions have their channels last already")
        module.to(memory_format=torch.channels_last)
        return True

    def _compile(self, torch: Any, module: Any) -> bool:
        if module._compiled_call_impl is not None or type(module).__name__ == "OptimizedModule":
            self._refuse("the script compiles its model itself")
        module.compile()
        return True


def _sites_of(value: Any, frame: FrameType | None) -> tuple[Site, ...]:
    """The frames outwards from ``frame``, outermost first, each with the names that it has for ``value``."""
    sites: list[Site] = []
    while frame is not None:
        code = frame.f_code
        if not stack.is_probe(code.co_filename):
            names = () if value is None else tuple(n for n, one in list(frame.f_locals.items()) if one is value)
            sites.append(Site(stack.place(code, frame.f_lasti, frame.f_lineno), names))
        frame = frame.f_back
    sites.reverse()
    return tuple(sites)


def _listed(site: Site) -> list[Any]:
    frame = site.frame
    return [frame.filename, frame.function, frame.row, frame.column, frame.end_row, frame.end_column]


class Confined:
    """What a worker starts with: cores of its own, and then what the script lets it start with."""

    def __init__(self, cores: frozenset[int], start: Callable[[int], Any] | None) -> None:
        self._cores = cores
        self._start = start

    def __call__(self, worker: int) -> None:
        """Run in a worker."""
        os.sched_setaffinity(0, self._cores)
        if self._start is not None:
            self._start(worker)


def _precision(torch: Any) -> str:
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
    if torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_reserved())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
