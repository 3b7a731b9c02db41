"""Which function of the script gives the model its batches: watched for a few steps, in which nothing is timed.

What each function returns is remembered by where its tensors and arrays lie in memory. A tensor that the model is then
called with, or one that was made of it by a cast, a copy or an index, tells which functions it came through.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from dataclasses import dataclass
from inspect import CO_GENERATOR
from time import perf_counter
from types import CodeType, FrameType
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Frame
from accel_advisor.tuning.probe.measuring import batches
from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.script.stack import capture, is_library, is_probe

_METHODS = (
    "to cuda xpu cpu float double half bfloat16 long int type contiguous clone pin_memory reshape unsqueeze squeeze "
    "permute transpose div sub __getitem__ __truediv__ __sub__ __mul__ flatten"
).split()
_FUNCTIONS = "tensor as_tensor stack cat from_numpy".split()


@dataclass(slots=True)
class _Call:
    """A call that is under way; ``trains`` where the model was called in it."""

    frame: FrameType
    began: float
    trains: bool = False


@dataclass(frozen=True, slots=True)
class FetchFound:
    """What gives the batches: its code, the stack of one of its calls, and how often a step calls it."""

    code: CodeType
    asks: tuple[Frame, ...]
    calls: int

    @property
    def is_generator(self) -> bool:
        """Whether it gives its batches by ``yield``."""
        return bool(self.code.co_flags & CO_GENERATOR)


class FetchSearch:
    """Watches the thread that begins it, step by step.

    Attributes:
        idle: that something else profiles this thread, so that nothing can be seen.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._own: dict[CodeType, bool] = {}
        self._calls: list[_Call] = []
        self._givers: dict[int, set[CodeType]] = {}
        self._held: list[Any] = []
        self._carried: set[CodeType] = set()
        self._counts: Counter[CodeType] = Counter()
        self._steps: list[tuple[set[CodeType], Counter[CodeType]]] = []
        self._seconds: Counter[CodeType] = Counter()
        self._asks: dict[CodeType, tuple[Frame, ...]] = {}
        self._undo: list[tuple[Any, str, Any]] = []
        self.idle = sys.getprofile() is not None

    def begin(self) -> None:
        """Watch this thread from now on."""
        if self.idle:
            return
        import torch

        for name in _METHODS:
            self._follow(torch.Tensor, name)
        for name in _FUNCTIONS:
            self._follow(torch, name)
        sys.setprofile(self._profile)

    def end(self) -> FetchFound | None:
        """Watch no more, and say what was found; None where no function gave the model its batches in every step."""
        if not self.idle:
            sys.setprofile(None)
            for owner, name, original in reversed(self._undo):
                setattr(owner, name, original)
        self._held.clear()
        self._calls.clear()
        shared = set.intersection(*(carried for carried, _ in self._steps)) if self._steps else set()
        if not shared:
            return None
        code = max(shared, key=self._seconds.__getitem__)
        return FetchFound(code, self._asks[code], min(counts[code] for _, counts in self._steps))

    def took(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A module was called by the script itself, with these arguments."""
        if self.idle or not any(one.requires_grad for one in module.parameters()):
            return
        for call in self._calls:
            call.trains = True
        for leaf in (*batches.leaves(args), *batches.leaves(kwargs)):
            place = _place(leaf)
            if place is not None:
                self._carried |= self._givers.get(place, set())

    def forget(self) -> None:
        """What happened so far is no whole step."""
        self._carried, self._counts = set(), Counter()

    def step(self) -> None:
        """A step has ended. A batch may have been fetched in the one before that which trained with it."""
        self._steps.append((self._carried, self._counts))
        self._carried, self._counts = set(), Counter()

    def _profile(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "call":
            code = frame.f_code
            own = self._own.get(code)
            if own is None:
                own = self._own[code] = _is_own(code)
            if own and not self._meter.nesting.depth:
                self._calls.append(_Call(frame, perf_counter()))
        elif event == "return" and self._calls and self._calls[-1].frame is frame:
            call = self._calls.pop()
            if not call.trains:
                self._gave(frame, value, perf_counter() - call.began)

    def _gave(self, frame: FrameType, value: Any, seconds: float) -> None:
        code, gives = frame.f_code, False
        for leaf in batches.leaves(value):
            place = _place(leaf)
            if place is not None:
                gives = True
                self._givers.setdefault(place, set()).add(code)
                self._held.append(leaf)
        if gives:
            self._counts[code] += 1
            self._seconds[code] += seconds  # type: ignore[assignment]
            if code not in self._asks and frame.f_back is not None:
                self._asks[code] = capture(frame.f_back)

    def _follow(self, owner: Any, name: str) -> None:
        """Let what a method or function makes of a tensor count as what it was made of."""
        original = getattr(owner, name, None)
        if original is None:
            return
        follow = self._made

        @functools.wraps(original)
        def made(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            follow(args, result)
            return result

        self._undo.append((owner, name, owner.__dict__.get(name, original)))
        setattr(owner, name, made)

    def _made(self, args: tuple[Any, ...], result: Any) -> None:
        if self._meter.nesting.depth:
            return
        givers: set[CodeType] = set()
        for leaf in batches.leaves(args):
            givers |= self._givers.get(_place(leaf) or 0, set())
        place = _place(result)
        if givers and place is not None:
            self._givers.setdefault(place, set()).update(givers)
            self._held.append(result)


def _is_own(code: CodeType) -> bool:
    """Whether code is a function of the script's own; a comprehension is a part of the one around it."""
    name = code.co_filename
    comprehends = code.co_name.startswith("<") and code.co_name != "<lambda>"
    return not (comprehends or name.startswith("<") or is_probe(name) or is_library(name))


def _place(leaf: Any) -> int | None:
    """Where a tensor or an array lies in memory; None for anything else, and for what takes none."""
    import torch

    if isinstance(leaf, torch.Tensor):
        try:
            return leaf.untyped_storage().data_ptr() or None
        except (RuntimeError, NotImplementedError):  # a sparse tensor, or one without storage
            return None
    interface = getattr(leaf, "__array_interface__", None)
    if not isinstance(interface, dict) or not getattr(leaf, "ndim", 0):
        return None
    return int(interface["data"][0]) or None
