"""What a batch weighs, how many samples it holds, and how to hand the same one out twice."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def leaves(batch: Any) -> Iterator[Any]:
    """The tensors and other leaves of a batch, in order."""
    if isinstance(batch, Mapping):
        for value in batch.values():
            yield from leaves(value)
    elif isinstance(batch, (list, tuple)):
        for value in batch:
            yield from leaves(value)
    else:
        yield batch


def _tensors(batch: Any) -> Iterator[Any]:
    import torch

    for leaf in leaves(batch):
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif not isinstance(leaf, _PLAIN) and hasattr(leaf, "__dict__"):
            # torch_geometric's Data, transformers' BatchEncoding and their like keep tensors as attributes.
            store = getattr(leaf, "__dict__", {})
            yield from (value for value in leaves(store) if isinstance(value, torch.Tensor))


def samples(batch: Any) -> int:
    """Samples in a batch: the first dimension of its first tensor, else the length of its first sequence."""
    for tensor in _tensors(batch):
        if tensor.dim():
            return int(tensor.shape[0])
    if isinstance(batch, (list, tuple)) and batch:
        return len(batch)
    return 1


def tensor_bytes(batch: Any) -> int:
    """Bytes of all tensors of a batch."""
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(batch))


def rebuild(batch: Any, leaf: Callable[[Any], Any]) -> Any:
    """New containers of the same kind around ``leaf`` of every leaf, so a loop that pops or appends does no harm."""
    if isinstance(batch, Mapping):
        if type(batch) is dict:
            return {key: rebuild(value, leaf) for key, value in batch.items()}
        fresh = copy.copy(batch)
        try:
            for key in batch:
                fresh[key] = rebuild(batch[key], leaf)  # type: ignore[index]
        except TypeError:
            return copy.deepcopy(batch)
        return fresh
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(rebuild(value, leaf) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(rebuild(value, leaf) for value in batch)
    return leaf(batch)


@dataclass(slots=True)
class _Kept:
    """A tensor that is handed out again and again, and what it must look like."""

    pristine: Any
    handed: Any
    version: int


class Cached:
    """One batch of a ceiling, handed out any number of times at almost no cost.

    Tensors are handed out as detached views of one copy. Only where the loop wrote into it (its version counter
    moved) is it restored from the pristine one: :meth:`restore` does so, outside the clock of the block.
    """

    def __init__(self, batch: Any, device: str | None) -> None:
        self.size = samples(batch)
        self.bytes = tensor_bytes(batch)
        self._kept: list[_Kept] = []
        self._others: list[Any] = []
        self._device = device
        self._template = rebuild(batch, self._keep)

    def _keep(self, leaf: Any) -> Any:
        import torch

        if isinstance(leaf, _PLAIN):
            return leaf
        if isinstance(leaf, torch.Tensor):
            pristine = leaf.detach()
            if self._device is not None:
                pristine = pristine.to(self._device)
            handed = pristine.clone()
            if leaf.is_pinned() and self._device is None:
                handed = handed.pin_memory()
            self._kept.append(_Kept(pristine, handed, handed._version))
            return self._kept[-1]
        if self._device is not None and hasattr(leaf, "to"):
            leaf = copy.deepcopy(leaf).to(self._device)  # torch_geometric's Data moves itself
        self._others.append(leaf)
        return _Deep(copy.deepcopy(leaf))

    @property
    def spoiled(self) -> bool:
        """Whether the loop wrote into what it was handed, or holds objects that must be copied each time."""
        return bool(self._others) or any(kept.handed._version != kept.version for kept in self._kept)

    def restore(self) -> None:
        """Bring back what the loop wrote over."""
        for kept in self._kept:
            if kept.handed._version != kept.version:
                kept.handed.copy_(kept.pristine)
                kept.version = kept.handed._version

    def hand_out(self) -> Any:
        """The batch, in containers of its own."""

        def leaf(value: Any) -> Any:
            if isinstance(value, _Kept):
                return value.handed.detach()
            return copy.deepcopy(value.value) if isinstance(value, _Deep) else value

        return rebuild(self._template, leaf)


@dataclass(slots=True)
class _Deep:
    """Something that is neither tensor nor plain: copied deeply each time."""

    value: Any
