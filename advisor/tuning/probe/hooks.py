"""Where the probe takes hold of torch: in place, on the classes themselves, once torch has been imported.

``isinstance``, subclasses and ``from torch.utils.data import DataLoader`` all hold. torch is not imported before the
script does it, since scripts set environment variables that only count before.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from accel_advisor.tuning.probe.measuring.differentiated import differentiated
from accel_advisor.tuning.probe.measuring.meter import BACKWARD, COMPUTE, TRANSFER, Meter
from accel_advisor.tuning.probe.measuring.seen_loaders import LoaderRecord, Records
from accel_advisor.tuning.probe.measuring.worker_pools import MAKING, own_iterator
from accel_advisor.tuning.probe.server import Server

STATEFUL = "torchdata.stateful_dataloader.stateful_dataloader"
"""The module of a loader whose methods replace torch's without calling them."""
_PLAIN_CALL = ("_compiled_call_impl", "_call_impl")
"""What torch's ``Module.__call__`` names where it does no more than choose between these two."""


class ServedIterator:
    """What ``iter(loader)`` returns: the user's own iterator until its loop is warm, candidates from then on."""

    def __init__(self, server: Server, record: LoaderRecord, loader: Any, own: Any, within: Any) -> None:
        self._server = server
        self._loader = loader
        self._record = record
        self._own = own
        self._within = within
        record.iterator = weakref.ref(self)
        self._batches = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        server = self._server
        own = self._own
        if (
            own is not None
            and server.serving(self._record) is None
            and not server.take_over(self._record, self._within)
        ):
            try:
                batch = server.pass_through(self._record, own, self._batches)
            except StopIteration:
                if not server.take_over(self._record, self._within, dry=True):
                    raise
            else:
                self._batches += 1
                return batch
        self._own = self._within = None
        assert server.feed is not None
        server.steps_elsewhere = 0
        batch = server.feed.next(self._batches)
        self._batches += 1
        return batch

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__.get("_own")
        if own is None:
            raise AttributeError(f"{name} is not known of the iterator of a loader in a trial")
        return getattr(own, name)


class Hooks:
    """Installs the wrappers into torch and forwards what they see."""

    def __init__(self, server: Server, records: Records, meter: Meter) -> None:
        self._server = server
        self._records = records
        self._meter = meter

    def install_stateful(self) -> None:
        """Take hold of torchdata's loader, too."""
        self._wrap_loader(importlib.import_module(STATEFUL).StatefulDataLoader)

    def install(self) -> None:
        """Take hold of torch, which must be imported."""
        import torch
        import torch.utils.data
        from torch.utils.data import DataLoader

        self._wrap_loader(DataLoader)
        self._wrap_module(torch.nn.Module, torch.compiler)
        self._wrap_backward(torch.autograd)
        self._watch_optimizers()
        self._spare_the_script()
        self._wrap_transfers(torch)

    def _wrap_loader(self, kind: Any) -> None:
        records, server = self._records, self._server
        build, iterate, iterator = kind.__init__, kind.__iter__, kind._get_iterator

        @functools.wraps(build)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            build(loader, *args, **kwargs)
            records.built(loader)

        def serve(loader: Any, make: Callable[[Any], Any]) -> Any:
            record = records.of(loader)
            feed = server.serving(record)
            if feed is not None:
                feed.new_epoch()
                return ServedIterator(server, record, loader, None, None)
            return ServedIterator(server, record, loader, *own_iterator(loader, make))

        @functools.wraps(iterate)
        def __iter__(loader: Any) -> Any:  # noqa: N807
            return serve(loader, iterate)

        @functools.wraps(iterator)
        def _get_iterator(loader: Any) -> Any:
            # A subclass with an __iter__ of its own may call this alone.
            if not MAKING.active:
                return serve(loader, iterator)
            MAKING.iterator = made = iterator(loader)
            return made

        kind.__init__, kind.__iter__, kind._get_iterator = __init__, __iter__, _get_iterator

    def _wrap_module(self, kind: Any, compiler: Any) -> None:
        meter, nesting, call = self._meter, self._meter.nesting, kind.__call__
        tracing: Callable[[], bool] = compiler.is_dynamo_compiling
        compiling: Callable[[], bool] = compiler.is_compiling
        known = getattr(getattr(call, "__code__", None), "co_names", None) == _PLAIN_CALL

        # Most calls are of modules within modules: they pay for this line and, where torch's own function is the known
        # one, for no frame besides. What is compiled must ask for that first, and then reads nothing that may change.
        # torch.profiler takes the module from the frame, where it is ``self``.
        @functools.wraps(call)
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if tracing() or nesting.depth or not meter.running or compiling():
                if known and self._compiled_call_impl is None:
                    return self._call_impl(*args, **kwargs)
                return call(self, *args, **kwargs)
            if meter.took is not None:
                meter.took(self, args, kwargs)
            token = meter.enter(COMPUTE)
            try:
                return call(self, *args, **kwargs)
            finally:
                meter.leave(COMPUTE, token)

        kind.__call__ = __call__

    def _wrap_backward(self, autograd: Any) -> None:
        meter, server = self._meter, self._server

        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def training(*args: Any, **kwargs: Any) -> Any:
                token = meter.enter(BACKWARD)
                try:
                    return function(*args, **kwargs)
                finally:
                    meter.leave(BACKWARD, token)
                    server.training_event(_device_of(args, kwargs) if server.feed is None else None)

            return training

        backward, grad = wrap(autograd.backward), wrap(autograd.grad)
        autograd.backward, autograd.grad = backward, grad

    def _watch_optimizers(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        meter, server = self._meter, self._server
        tokens: list[Any] = []

        def before(optimizer: Any, args: Any, kwargs: Any) -> None:
            tokens.append(meter.step_begins())

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            meter.step_ends(tokens.pop() if tokens else None)
            server.stepped(optimizer)

        register_optimizer_step_pre_hook(before)
        register_optimizer_step_post_hook(after)

    def _spare_the_script(self) -> None:
        """torch raises in the main thread, wherever that is, when a worker dies. A candidate's worker must not end the
        user's code: its failure is reported when the candidate is asked for its next batch."""
        signal_handling: Any = importlib.import_module("torch.utils.data._utils.signal_handling")
        server, check = self._server, signal_handling._error_if_any_worker_fails

        @functools.wraps(check)
        def error_if_any_worker_fails() -> None:
            try:
                check()
            except RuntimeError as error:
                if not server.worker_failed(error):
                    raise

        signal_handling._error_if_any_worker_fails = error_if_any_worker_fails

    def _wrap_transfers(self, torch: Any) -> None:
        meter, server = self._meter, self._server
        tracing: Callable[[], bool] = torch.compiler.is_dynamo_compiling
        compiling: Callable[[], bool] = torch.compiler.is_compiling

        def wrap(name: str) -> None:
            move = getattr(torch.Tensor, name)

            @functools.wraps(move)
            def transfer(tensor: Any, *args: Any, **kwargs: Any) -> Any:
                if tracing() or meter.device is None or tensor.device.type != "cpu" or compiling():
                    return move(tensor, *args, **kwargs)
                # In the warm-up too: a block begins in the middle of what is under way.
                if server.feed is not None and server.feed.non_blocking and _leaves_host(torch, name, args, kwargs):
                    kwargs.setdefault("non_blocking", True)
                if not meter.running:
                    return move(tensor, *args, **kwargs)
                token = meter.enter(TRANSFER)
                moved = tensor
                try:
                    moved = move(tensor, *args, **kwargs)
                finally:
                    meter.leave(TRANSFER, token if moved.device.type != "cpu" else None)
                return moved

            setattr(torch.Tensor, name, transfer)

        for name in ("to", "cuda", "xpu"):
            if hasattr(torch.Tensor, name):
                wrap(name)
        self._wrap_copy(torch)

    def _wrap_copy(self, torch: Any) -> None:
        """Loops that replay CUDA graphs copy their batches into tensors that stay where they are."""
        meter, copy = self._meter, torch.Tensor.copy_
        tracing: Callable[[], bool] = torch.compiler.is_dynamo_compiling
        compiling: Callable[[], bool] = torch.compiler.is_compiling

        @functools.wraps(copy)
        def copy_(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if tracing() or meter.device is None or not meter.running or compiling() or tensor.device.type == "cpu":
                return copy(tensor, *args, **kwargs)
            source = args[0] if args else kwargs.get("other")
            if not isinstance(source, torch.Tensor) or source.device.type != "cpu":
                return copy(tensor, *args, **kwargs)
            token = meter.enter(TRANSFER)
            try:
                return copy(tensor, *args, **kwargs)
            finally:
                meter.leave(TRANSFER, token)

        torch.Tensor.copy_ = copy_


def _device_of(args: Sequence[Any], kwargs: dict[str, Any]) -> str | None:
    device = getattr(differentiated(args, kwargs), "device", None)
    return str(device) if device is not None else None


def _leaves_host(torch: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a call of ``Tensor.to`` or ``Tensor.cuda`` names an accelerator and leaves non_blocking open."""
    if name != "to":
        return len(args) < 2
    target = kwargs.get("device", kwargs.get("other", args[0] if args else None))
    most = 3
    if isinstance(target, torch.Tensor):
        target, most = target.device, 2  # to(other, non_blocking), but to(device, dtype, non_blocking)
    if isinstance(target, (str, int)):
        target = torch.device(target)
    return isinstance(target, torch.device) and target.type != "cpu" and len(args) < most
