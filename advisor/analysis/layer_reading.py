"""Finds the layers that classes and functions build whatever their arguments are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.resolution import value_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.torch_modules import DROPS, DROPS_BY_DEFAULT
from accel_advisor.values.store import PARTS
from accel_advisor.values.values import Class, Function, Module, Qualified, Sequence

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.values.scope import Scope

_DECIDES: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.If, cst.IfExp, cst.Try, cst.TryStar, cst.Match, cst.Lambda, cst.BooleanOperation}
)


class LayerReader:
    """Reads the layers of modules, each class and function once and only when somebody asks."""

    def __init__(self, machine: Interpreter) -> None:
        self._machine = machine
        self._known: dict[int, frozenset[str]] = {}

    def layers_of(self, module: Module) -> frozenset[str]:
        """Full names of the library classes that a module is, or is certainly built from."""
        if module.cls is not None:
            return self._of_class(module.cls)
        scope = self._machine.scopes.get(module.document.path)
        found = self._in(module.node, scope) if scope is not None else frozenset[str]()
        children = self._machine.store.get(module, PARTS)
        for child in children.items if isinstance(children, Sequence) else ():
            found |= self.layers_of(child) if isinstance(child, Module) else frozenset()
        return found | {module.kind}

    def _of_class(self, cls: Class) -> frozenset[str]:
        if id(cls.node) not in self._known:
            self._known[id(cls.node)] = frozenset()  # a class that builds itself adds nothing
            found = (self._in(one.node.body, one.scope) for one in cls.lineage())
            self._known[id(cls.node)] = frozenset().union(*found)
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
    if name not in DROPS | DROPS_BY_DEFAULT:
        return False
    position = 0 if name in DROPS else {"Transformer": 5}.get(name.rpartition(".")[2], 3)
    for index, arg in enumerate(call.args):
        given = arg.keyword.value if arg.keyword is not None else None
        if arg.star or given in ("p", "dropout") or (given is None and index == position):
            number = arg.value
            return not (isinstance(number, (cst.Float, cst.Integer)) and number.evaluated_value > 0)
    return False
