"""Which function of the project is called from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.walking import descendants
from accel_advisor.values.immutable import immutable

if TYPE_CHECKING:
    from accel_advisor.source.document import Document
    from accel_advisor.values.values import Function


@immutable
class CallSite:
    """A call that the interpreter went through on its way to another."""

    document: Document
    node: cst.Call


class CallGraph:
    """The calls between the functions of a program, however often each was followed."""

    def __init__(self) -> None:
        self._called: dict[int, dict[int, cst.CSTNode]] = {}
        self._sites: dict[int, dict[int, tuple[cst.Call, cst.CSTNode | None]]] = {}

    def add(self, caller: Function | None, site: CallSite, called: cst.CSTNode) -> None:
        """A call of a function stands in another one, or at the top of a module."""
        self._called.setdefault(id(site.node), {})[id(called)] = called
        self._sites.setdefault(id(called), {})[id(site.node)] = site.node, caller.node if caller is not None else None

    def is_called(self, function: cst.CSTNode) -> bool:
        """Whether a call of a function stands in the program."""
        return id(function) in self._sites

    def callers_of(self, function: cst.CSTNode) -> tuple[cst.CSTNode | None, ...]:
        """The functions of the program that call a function; None stands for the top of a module."""
        return tuple(caller for _, caller in self.calls_of(function))

    def calls_of(self, function: cst.CSTNode) -> tuple[tuple[cst.Call, cst.CSTNode | None], ...]:
        """The calls of a function, and the function that each stands in; None at the top of a module."""
        return tuple(self._sites.get(id(function), {}).values())

    def called_from(self, call: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
        """The functions of the program that a call may run."""
        return tuple(self._called.get(id(call), {}).values())

    def begins_unseen(self, function: cst.CSTNode) -> bool:
        """Whether nothing that a module runs is seen to lead to a function, directly or through others."""
        seen, pending = set[int](), [function]
        while pending:
            one = pending.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            for caller in self.callers_of(one):
                if caller is None:
                    return False
                pending.append(caller)
        return True

    def leads_to(self, call: cst.CSTNode, node: cst.CSTNode) -> bool:
        """Whether a call runs the code of a function in which a node stands, directly or through others."""
        seen, pending = set[int](), [call]
        while pending:
            for key, function in self._called.get(id(pending.pop()), {}).items():
                if key not in seen:
                    seen.add(key)
                    calls = list(descendants(function, cst.Call))
                    if any(one is node for one in calls):
                        return True
                    pending += calls
        return False

    def reaches_once(self, outer: cst.CSTNode | None, inner: cst.CSTNode | None) -> bool:
        """Whether the code of one function reaches another, or itself, in a single place; None is the top of a
        module."""
        ways, seen, pending = 0, set[int](), [inner]
        while pending:
            one = pending.pop()
            if one is outer:
                ways += 1
            elif id(one) in seen:
                return False
            elif one is not None:
                seen.add(id(one))
                pending += self.callers_of(one)
        return ways == 1
