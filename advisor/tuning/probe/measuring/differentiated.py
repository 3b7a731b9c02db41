"""What a backward pass begins with, however it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def differentiated(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The first tensor that a call of ``torch.autograd.backward`` or ``grad`` is given; None where there is none."""
    given = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
    return given[0] if isinstance(given, Sequence) and given else given
