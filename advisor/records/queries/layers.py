"""What modules are made of: the layers of libraries that their classes build whatever their arguments are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.resolution import value_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Class, Function, Module, Qualified, Sequence

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.values.store import Scope

_DECIDES: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.If, cst.IfExp, cst.Try, cst.TryStar, cst.Match, cst.Lambda, cst.BooleanOperation}
)
_DROPS = frozenset(f"torch.nn.{name}" for name in "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout".split())
_NORMALIZES = frozenset(f"torch.nn.{name}" for name in "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm".split())
_DROPS_BY_DEFAULT = frozenset(
    f"torch.nn.{name}" for name in "Transformer TransformerEncoderLayer TransformerDecoderLayer".split()
)
_VISION = "torchvision.models."
_NORMALIZING_NETS = tuple(
    "resne resnext wide_resnet densenet mobilenet efficientnet inception googlenet shufflenet mnasnet regnet".split()
)
_DROPPING_NETS = ("vgg", "alexnet", "squeezenet")


class Layers:
    """Finds the layers of modules, each class and function once."""

    def __init__(self, machine: Interpreter) -> None:
        self._machine = machine
        self._known: dict[int, frozenset[str]] = {}

    def of(self, module: Module) -> frozenset[str]:
        """Full names of the library classes that a module is, or is certainly built from."""
        if module.cls is not None:
            return self._of_class(module.cls)
        scope = self._machine.scopes.get(str(Path(module.document.filename).resolve()))
        found = self._in(module.node, scope) if scope is not None else frozenset[str]()
        children = self._machine.store.get(module, "\0children")
        for child in children.items if isinstance(children, Sequence) else ():
            found |= self.of(child) if isinstance(child, Module) else frozenset()
        return found | {module.kind}

    def have_weights(self, module: Module) -> bool:
        """Whether a module certainly has parameters or buffers."""
        if module.cls is None:
            return module.has_state and not module.kind.endswith("Loss")
        layers = [one for one in self.of(module) if one.startswith("torch.nn.") and not one.endswith("Loss")]
        return any(not self._machine.recorder.stateless(one) for one in layers)

    def switch(self, module: Module) -> str | None:
        """The layer of a module that computes something else in evaluation mode; None where it has none for certain."""
        for name in sorted(self.of(module)):
            last = name.rpartition(".")[2]
            if name in _NORMALIZES | _DROPS:
                return last
            if name in _DROPS_BY_DEFAULT or (name.startswith(_VISION) and last.startswith(_DROPPING_NETS)):
                return "Dropout"
            if name.startswith(_VISION) and last.startswith(_NORMALIZING_NETS):
                return "BatchNorm2d"
        return None

    def _of_class(self, cls: Class) -> frozenset[str]:
        if id(cls.node) not in self._known:
            self._known[id(cls.node)] = frozenset()
            found = frozenset[str]()
            for one in cls.lineage():
                found |= self._in(one.node.body, one.scope)
            self._known[id(cls.node)] = found
        return self._known[id(cls.node)]

    def _of_function(self, function: Function) -> frozenset[str]:
        if id(function.node) not in self._known:
            self._known[id(function.node)] = frozenset()
            self._known[id(function.node)] = self._in(function.node.body, function.scope)
        return self._known[id(function.node)]

    def _in(self, node: cst.CSTNode, scope: Scope) -> frozenset[str]:
        """The layers that the calls in a piece of program build, where no condition decides about them."""
        found = frozenset[str]()
        for call in descendants(node, cst.Call, but=_DECIDES):
            callee = value_of(self._machine, scope, call.func)
            if isinstance(callee, Qualified) and callee.name.startswith(("torch.nn.", "torchvision.models.")):
                if not _may_be_off(callee.name, call):
                    found |= {callee.name}
            elif isinstance(callee, Class):
                found |= self._of_class(callee)
            elif isinstance(callee, Function) and callee.owner is None:
                found |= self._of_function(callee)
        return found


def _may_be_off(name: str, call: cst.Call) -> bool:
    """Whether a layer that drops values may have been given a probability of zero."""
    if name not in _DROPS | _DROPS_BY_DEFAULT:
        return False
    position = 0 if name in _DROPS else {"Transformer": 5}.get(name.rpartition(".")[2], 3)
    for index, arg in enumerate(call.args):
        given = arg.keyword.value if arg.keyword is not None else None
        if arg.star or given in ("p", "dropout") or (given is None and index == position):
            number = arg.value
            return not (isinstance(number, (cst.Float, cst.Integer)) and number.evaluated_value > 0)
    return False
