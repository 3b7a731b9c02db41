"""Takes the place of the function that fetches: times its calls, or leaves them out and hands out a kept batch.

The function stays the object that it is, whoever holds it: only its code is put in the place of another, which asks
here. Calls that were left out are made up for once the clock stands, with the arguments that they were given, so that
an index that they move on, or a generator of random numbers, is where a real run has it.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from accel_advisor.tuning.probe.channel.plain_loop import Unreplayed
from accel_advisor.tuning.probe.measuring import batches
from accel_advisor.tuning.probe.measuring.blocks import Ceiling
from accel_advisor.tuning.probe.measuring.meter import Meter


class ReplayedCall:
    """The calls of one function, in the thread that makes this.

    Args:
        code: of the function.

    Attributes:
        unreplayed: why its calls cannot be left out; None where they can.
        samples, bytes: of the batch that it gave first.
    """

    def __init__(self, meter: Meter, ceiling: Ceiling, code: CodeType) -> None:
        self._meter = meter
        self._ceiling = ceiling
        self._thread = threading.get_ident()
        self._within = False
        self._keeping = True
        self._replaying = False
        self._skipped: list[Callable[[], Any]] = []
        self._raised: BaseException | None = None
        self.samples = self.bytes = 0
        self.unreplayed: Unreplayed | None = None
        functions = [one for one in gc.get_referrers(code) if type(one) is FunctionType and one.__code__ is code]
        if not functions:
            self.unreplayed = Unreplayed.NOT_A_FUNCTION
        for function in functions:
            real = FunctionType(
                code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
            )
            real.__kwdefaults__ = function.__kwdefaults__
            function.__code__ = _asking(self._asked(real), code)

    def kept(self) -> None:
        """Enough batches were kept to be handed out."""
        self._keeping = False
        if self.unreplayed is None and self._ceiling.empty:
            self.unreplayed = Unreplayed.NOT_COPIED

    def replay(self) -> None:
        """Leave calls out from now on."""
        self._ceiling.prepare(None)
        self._replaying = True

    def make_up(self) -> None:
        """Leave no more calls out, and make those that were; the clock must stand."""
        self._replaying = False
        skipped, self._skipped = self._skipped, []
        self._within = True
        try:
            for call in skipped:
                call()
        except BaseException as error:  # the loop's own: it is raised where the loop asks next
            self._raised = error
        finally:
            self._within = False

    def _asked(self, real: FunctionType) -> Callable[..., Any]:
        import torch

        def take(*args: Any, **kwargs: Any) -> Any:
            if self._within or threading.get_ident() != self._thread or self._meter.nesting.depth:
                return real(*args, **kwargs)
            if self._raised is not None:
                error, self._raised = self._raised, None
                raise error
            # An evaluation between two steps may ask the same function, for batches of other data.
            if self._replaying and torch.is_grad_enabled():
                self._skipped.append(lambda: real(*args, **kwargs))
                return self._ceiling.hand_out()[0]
            self._within = True
            began = self._meter.begin_wait()
            try:
                batch = real(*args, **kwargs)
            finally:
                self._meter.end_wait(began)
                self._within = False
            if self._keeping and torch.is_grad_enabled():
                self._keep(batch)
            return batch

        return take

    def _keep(self, batch: Any) -> None:
        if not self.samples:
            self.samples, self.bytes = batches.samples(batch), batches.tensor_bytes(batch)
        if any(getattr(leaf, "requires_grad", False) for leaf in batches.leaves(batch)):
            self.unreplayed = Unreplayed.NEEDS_GRADIENTS
        if self.unreplayed is not None:
            return
        try:
            self._ceiling.remember(batch)
        except Exception:  # whatever a class of the script's raises where it cannot be copied
            self.unreplayed = Unreplayed.NOT_COPIED


def _asking(hook: Callable[..., Any], code: CodeType) -> CodeType:
    """The code of a function that asks ``hook``, to be put in the place of ``code``: it has as many free variables,
    which a function's closure must match."""

    def asking(*args: Any, **kwargs: Any) -> Any:
        hook: Any = "hook"
        return hook(*args, **kwargs)

    own = asking.__code__
    constants: tuple[Any, ...] = tuple(hook if one == "hook" else one for one in own.co_consts)
    return own.replace(co_consts=constants, co_freevars=code.co_freevars, co_name=code.co_name)
