"""How the code of a program names its networks."""

from __future__ import annotations

import libcst as cst

from accel_advisor.syntax.shapes import dotted

PARAMETERS = frozenset({"parameters", "named_parameters", "trainable_parameters", "get_parameters"})
"""Methods that give the parameters of a network."""
_WRAPPED = (".module", "._orig_mod")


def network_name(node: cst.CSTNode) -> str:
    """What the code calls a network or an optimizer, without ``self.`` and what a wrapper adds."""
    return network_name_of(dotted(node))


def network_name_of(text: str) -> str:
    """A dotted name without ``self.`` and what a wrapper adds."""
    name = text.removeprefix("self.")
    for one in _WRAPPED:
        name = name.replace(f"{one}.", ".").removesuffix(one)
    return "" if name.startswith(".") else name


def owner_of_parameters(node: cst.BaseExpression) -> str:
    """The network whose parameters an expression asks for; empty for anything else."""
    func = node.func if isinstance(node, cst.Call) else None
    return network_name(func.value) if isinstance(func, cst.Attribute) and func.attr.value in PARAMETERS else ""
