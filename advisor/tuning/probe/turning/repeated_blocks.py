"""Has the repeated blocks of a model compute their activations again in the backward pass, so that these are not kept.

PyTorch calls it activation checkpointing. What is done here is what the patch will do in the source.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from accel_advisor.tuning.probe.channel.wire import ENABLE

OWN = "the script checkpoints its activations itself"
_LEAVES = "torch.nn."
"""Where the modules live that keep little more than what they are given, unless they are made of others."""


class Recomputing:
    """Turns models, one after the other.

    Args:
        refuse: called with the reason, in one sentence, where a model must not be turned; does not return.

    Attributes:
        own: whether the script was seen to do it by itself.
        blocks: how the blocks of each model that was turned are reached, as :class:`Turned` has it.
    """

    def __init__(self, refuse: Callable[[str], NoReturn]) -> None:
        import torch.utils.checkpoint as checkpointing

        self.own = False
        self.blocks: list[str] = []
        self._enabled = False  # models of transformers come to it by themselves then
        self._refuse = refuse
        self._checkpoint = checkpointing.checkpoint

        @functools.wraps(checkpointing.checkpoint)
        def checkpoint(*args: Any, **kwargs: Any) -> Any:
            self.own = self.own or not self._enabled
            return self._checkpoint(*args, **kwargs)

        checkpointing.checkpoint = checkpoint

    def turn(self, model: Any) -> bool:
        """Turns a model; whether it has blocks that can be."""
        for name, module in model.named_modules():
            if getattr(module, "supports_gradient_checkpointing", False) and hasattr(module, ENABLE):
                if module.is_gradient_checkpointing:
                    self._refuse(OWN)
                self._enabled = True
                getattr(module, ENABLE)({"use_reentrant": False})
                self.blocks.append(f"{_reach(model, name)}.{ENABLE}")
                return True
        found = list(_repeated(model, "{}"))
        for _, modules in found:
            for block in modules:
                self._wrap(block)
        ways = [way for way, _ in found]
        if len(ways) == 1:
            self.blocks.append(ways[0].removeprefix("*"))
        elif ways:
            self.blocks.append(f"({', '.join(ways)})")
        return bool(found)

    def _wrap(self, block: Any) -> None:
        again = functools.partial(self._checkpoint, block.forward, use_reentrant=False)

        @functools.wraps(block.forward)
        def first(*args: Any, **kwargs: Any) -> Any:
            before = [(buffer, buffer._version) for buffer in block.buffers()]
            result = again(*args, **kwargs)
            if block.training:
                block.forward = again
                for (buffer, version), now in zip(before, block.buffers(), strict=True):
                    if buffer is not now or version != now._version:
                        self._refuse(
                            f"{type(block).__name__} changes a buffer whenever it is called, such as running "
                            "statistics, and would change it twice a step"
                        )
            return result

        block.forward = first


def _repeated(module: Any, way: str) -> Iterator[tuple[str, list[Any]]]:
    """The outermost groups of like blocks: how each is reached from the model, starred where it is a row."""
    import torch

    rows = (torch.nn.Sequential, torch.nn.ModuleList)
    children = list(module.named_children())
    blocks = [(name, child) for name, child in children if _composite(child)]
    kinds = Counter(type(child) for _, child in blocks)
    alike = {kind for kind, count in kinds.items() if count > 1}
    inner = [found for name, child in children for found in _repeated(child, way + _step(module, name))]
    if inner and (not alike or alike & set(rows) or not isinstance(module, rows)):
        yield from inner
        return
    places = [number for number, (_, child) in enumerate(children) if type(child) in alike]
    first, last = (places[0], places[-1] + 1) if places else (0, 0)
    if isinstance(module, rows) and len(children) == len(module) and places == list(range(first, last)):
        if places:
            part = "" if len(places) == len(children) else f"[{first}:{last}]"
            yield f"*{way}{part}", [child for _, child in children[first:last]]
        return
    for number in places:
        name, child = children[number]
        yield way + _step(module, name), [child]


def _composite(module: Any) -> bool:
    """Whether a module keeps more for the backward pass than what it is given."""
    import torch

    return (not type(module).__module__.startswith(_LEAVES) or any(True for _ in module.children())) and not isinstance(
        module, (torch.nn.ModuleList, torch.nn.ModuleDict)
    )


def _reach(model: Any, name: str) -> str:
    way = "{}"
    for part in name.split(".") if name else ():
        way += _step(model, part)
        model = model.get_submodule(part)
    return way


def _step(module: Any, name: str) -> str:
    """How a child is reached, behind the name of its parent."""
    import torch

    if isinstance(module, torch.nn.ModuleDict):
        return f"[{name!r}]"
    return f"[{name}]" if name.isdigit() else f".{name}"
