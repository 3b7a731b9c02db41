"""What modules are made of: the layers of libraries that they certainly have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from accel_advisor.tables.torch_modules import (
    DROPPING_NETS,
    DROPS,
    DROPS_BY_DEFAULT,
    NORMALIZES,
    NORMALIZING_NETS,
    STATELESS,
)
from accel_advisor.values.values import Module

_VISION = "torchvision.models."


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of the modules of a program.

    Attributes:
        of: full names of the library classes that a module is, or is certainly built from.
    """

    of: Callable[[Module], frozenset[str]]

    def have_weights(self, module: Module) -> bool:
        """Whether a module certainly has parameters or buffers."""
        if module.cls is None:
            return module.has_state and not module.kind.endswith("Loss")
        layers = [one for one in self.of(module) if one.startswith("torch.nn.") and not one.endswith("Loss")]
        return not STATELESS.issuperset(layers)

    def switch(self, module: Module) -> str | None:
        """The layer of a module that computes something else in evaluation mode; None where it has none for certain."""
        for name in sorted(self.of(module)):
            last = name.rpartition(".")[2]
            if name in NORMALIZES | DROPS:
                return last
            if name in DROPS_BY_DEFAULT or (name.startswith(_VISION) and last.startswith(DROPPING_NETS)):
                return "Dropout"
            if name.startswith(_VISION) and last.startswith(NORMALIZING_NETS):
                return "BatchNorm2d"
        return None
