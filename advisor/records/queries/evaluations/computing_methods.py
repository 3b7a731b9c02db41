"""Methods besides ``forward`` by which the models of a program compute: ``model.loss(batch)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted, last_name, methods_of, methods_reached, self_attribute
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Program

_STOPS = frozenset({"no_grad", "inference_mode", "set_grad_enabled", "enable_grad", "grad", "backward"})
_SETS_UP = frozenset({"__init__", "forward", "train", "eval"})


def computing_methods(program: Program) -> frozenset[str]:
    """The names of methods of a program's modules that take something and run a part of the module on the way to what
    they return, while autograd records; none that another function of the program bears that stops it, or that
    differentiates."""
    computing, stopping = set[str](), set[str]()
    for facts in program:
        found, stops = facts.document.once(_methods)
        computing |= found
        stopping |= stops
    return frozenset(computing - stopping)


def _methods(tree: cst.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The names of what computes in a text, and of what stops autograd there or differentiates."""
    computing, stopping = set[str](), set[str]()
    for cls in descendants(tree, cst.ClassDef):
        methods = methods_of(cls)
        parts = _parts(methods["__init__"]) if _is_module(cls) and "__init__" in methods else frozenset[str]()
        for name, method in methods.items():
            reached = methods_reached((cls,), name)
            if any(one.value in _STOPS for each in reached for one in descendants(each, cst.Name)):
                stopping.add(name)
            elif parts and name not in _SETS_UP and len(method.params.params) > 1 and _returns(method):
                called = {_called(call) for each in reached for call in descendants(each, cst.Call)}
                computing |= {name} if called & parts else set()
    for function in descendants(tree, cst.FunctionDef):
        if any(one.value in _STOPS for one in descendants(function, cst.Name)):
            stopping.add(function.name.value)
    return frozenset(computing), frozenset(stopping)


def _is_module(cls: cst.ClassDef) -> bool:
    return any(last_name(one.value) == "Module" for one in cls.bases)


def _parts(init: cst.FunctionDef) -> frozenset[str]:
    """What a module may hold as parts: the attributes that its ``__init__`` binds to what a call makes, or is given."""
    given = {one.name.value for one in init.params.params}
    found = set[str]()
    for one in descendants(init, cst.Assign):
        made = isinstance(one.value, cst.Call) or dotted(one.value) in given
        names = (self_attribute(target.target) for target in one.targets) if made else ()
        found |= {name for name in names if name}
    return frozenset(found)


def _called(call: cst.Call) -> str | None:
    """The attribute of ``self`` that is called as a module is: ``self.encoder(x)``, ``self.encoder.forward(x)``."""
    func = call.func
    if isinstance(func, cst.Attribute) and func.attr.value == "forward":
        func = func.value
    return self_attribute(func) if call.args else None


def _returns(method: cst.FunctionDef) -> bool:
    return any(one.value is not None for one in descendants(method.body, cst.Return))
