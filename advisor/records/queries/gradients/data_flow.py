"""Which expressions of a function reach which others through the names and attributes that it binds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import libcst as cst

from accel_advisor.syntax.shapes import dotted, self_attribute
from accel_advisor.syntax.walking import children, descendants

INNER: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
"""What has bindings of its own."""
# Concrete kinds, since isinstance costs more than all else: the classes of libcst are abstract base classes.
_BINDS: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.AugAssign, cst.For, cst.CompFor, cst.WithItem, cst.Expr}
)
_READS: frozenset[type[cst.CSTNode]] = frozenset({cst.Name, cst.Attribute})
_SHARES: frozenset[type[cst.CSTNode]] = frozenset({cst.Global, cst.Nonlocal})
_COMPREHENSIONS: frozenset[type[cst.CSTNode]] = frozenset({cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp})
_LOOPS: frozenset[type[cst.CSTNode]] = frozenset({cst.For, cst.While})
_CHOICES: frozenset[type[cst.CSTNode]] = frozenset({cst.If, cst.IfExp})
_BRANCHES = _CHOICES | _LOOPS | {cst.Else, cst.ExceptHandler, cst.Match}
_TAKES_IN = frozenset({"append", "extend", "add", "insert", "update", "appendleft", "setdefault", "copy_", "add_"})


@dataclass(eq=False, slots=True)
class Binding:
    """A place at which a name, or an attribute of ``self``, comes to hold something.

    Attributes:
        name: the name, with ``self.`` before an attribute.
        at: where it happens, in the order of the source; negative for a parameter.
        values: the expressions that it may hold, or a part of; none for a parameter and for what nothing is known of.
        adds: whether it also holds what it held before.
        statement: what binds it; None for a parameter.
    """

    name: str
    at: float
    values: tuple[cst.BaseExpression, ...]
    adds: bool = False
    statement: cst.CSTNode | None = None


class DataFlow:
    """The bindings and readings of the names of one function, or of the top of a module.

    Attributes:
        root: the function or module.
        calls: the calls in it, in the order of the source.
        captured: names that a function or class within it mentions.
        shared: names that it says are those of a module or an outer function.
    """

    def __init__(self, root: cst.CSTNode) -> None:
        self.root = root
        self.calls: list[cst.Call] = []
        self.captured: set[str] = set()
        self.shared: set[str] = set()
        self._parents: dict[int, cst.CSTNode] = {}
        self._order: dict[int, int] = {}
        self._bindings: dict[str, list[Binding]] = {}
        self._readings: dict[str, list[cst.BaseExpression]] = {}
        self._read: set[int] = set()
        self._ordered: dict[str, list[Binding]] = {}
        self._reaching: dict[int, list[Binding]] = {}
        self._reached: dict[str, dict[int, list[cst.BaseExpression]]] = {}
        self._stored: set[int] = set()
        nodes = self._walk(root)
        self._ends = [float(at) for at in range(len(nodes))]
        for at in range(len(nodes) - 1, 0, -1):
            above = self._order[id(self._parents[id(nodes[at])])]
            self._ends[above] = max(self._ends[above], self._ends[at])
        if isinstance(root, cst.FunctionDef):
            for param in descendants(root.params, cst.Param):
                self._bind(Binding(param.name.value, -1, ()))
        for one in nodes:
            kind = type(one)
            if kind is cst.Call:
                self.calls.append(cast("cst.Call", one))
            elif kind in _BINDS:
                self._note_bindings(one)
            elif kind in _SHARES:
                self.shared |= {item.name.value for item in cast("cst.Global", one).names}
        for found in self._bindings.values():
            found.sort(key=lambda one: one.at)
        for one in nodes:
            if type(one) in _READS:
                self._note_reading(one)

    def _walk(self, root: cst.CSTNode) -> list[cst.CSTNode]:
        """The nodes outside of what has bindings of its own, in the order of the source."""
        nodes: list[cst.CSTNode] = []
        parents, order = self._parents, self._order
        stack = [root]
        while stack:
            one = stack.pop()
            if type(one) in INNER and one is not root:
                self.captured.update(map(_variable, descendants(one, cst.Name, cst.Attribute)))
                continue
            order[id(one)] = len(nodes)
            nodes.append(one)
            within = [*children(one.body if one is root and isinstance(one, cst.FunctionDef) else one)]
            parents.update((id(child), one) for child in within)
            stack += within[::-1]
        return nodes

    # -- what is asked

    def holds(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in this function, and not in one within it."""
        return id(node) in self._order

    def at(self, node: cst.CSTNode) -> int:
        """Where a node stands in the order of the source."""
        return self._order[id(node)]

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What a node is a part of; None for the function itself."""
        return self._parents.get(id(node))

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node stands in, innermost first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def of(self, kind: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """The nodes of one kind, in the order of the source."""
        for one in descendants(self.root, kind):
            if self.holds(one):
                yield one

    def read(self, binding: Binding) -> list[cst.BaseExpression]:
        """Where what a binding holds is read."""
        if binding.name not in self._reached:
            reached = self._reached[binding.name] = {}
            for reading in self._readings.get(binding.name, ()):
                for one in self.reaching(reading):
                    reached.setdefault(id(one), []).append(reading)
        return self._reached[binding.name].get(id(binding), [])

    def readings_of(self, name: str) -> list[cst.BaseExpression]:
        """Where a name, or an attribute of ``self``, is read, whatever it holds there."""
        return self._readings.get(name, [])

    def bound_by(self, statement: cst.CSTNode) -> list[Binding]:
        """What a statement binds."""
        return [one for found in self._bindings.values() for one in found if one.statement is statement]

    def only_binding(self, name: str) -> Binding | None:
        """The one binding of a name that nothing else here binds, and no parameter is called; None for another name."""
        found = self._bindings.get(name, ())
        return found[0] if len(found) == 1 and found[0].statement is not None and not found[0].adds else None

    def is_conditional(self, node: cst.CSTNode) -> bool:
        """Whether a branch or a loop is around a node."""
        return bool(self._branches(node))

    def comes_first(self, first: cst.CSTNode | None, then: cst.CSTNode) -> bool:
        """Whether one of two nodes, which stands before the other, happens wherever that does."""
        inside = self._branches(first) if first is not None else []
        return self._branches(then)[: len(inside)] == inside

    def bound_at_start(self, name: str) -> list[Binding]:
        """The parameter of this name."""
        return [one for one in self._bindings.get(name, ()) if one.statement is None]

    def reaching(self, reading: cst.CSTNode) -> list[Binding]:
        """The bindings that a reading may see; none where it is no part of this function, but of one within it."""
        known = self._reaching.get(id(reading))
        if known is None:
            found = self._found_reaching(reading, _variable(reading)) if self.holds(reading) else []
            known = self._reaching[id(reading)] = found
        return known

    def is_reading(self, node: cst.CSTNode) -> bool:
        """Whether a node reads a name, or an attribute of ``self``."""
        return id(node) in self._read

    # -- how it is found

    def _end(self, node: cst.CSTNode) -> float:
        """Where the last thing in a node stands in the order of the source."""
        return self._ends[self._order[id(node)]]

    def _found_reaching(self, reading: cst.CSTNode, name: str) -> list[Binding]:
        for above in self.around(reading):
            part = cast("cst.ListComp", above).for_in if type(above) in _COMPREHENSIONS else None
            while part is not None:
                if any(dotted(one) == name for one in descendants(part.target, cst.Name)):
                    return [one for one in self._bindings.get(name, ()) if one.statement is part]
                part = part.inner_for_in
        found: list[Binding] = []
        here, certain = self.at(reading), None
        branches = self._branches(reading)
        everything = self._in_order(name)
        until = bisect_left(everything, float(here), key=lambda one: one.at)
        replacing: list[list[object]] = []
        for one in (everything[at] for at in range(until - 1, -1, -1)):
            inside = self._branches(one.statement) if one.statement is not None else []
            if any(inside[: len(other)] == other for other in replacing):
                continue  # wherever it happens, the name is bound again before it is read
            found.append(one)
            if not one.adds:
                replacing.append(inside)
            if not one.adds and inside == branches[: len(inside)]:
                certain = one
                break
        for loop in (one for one in self.around(reading) if type(one) in _LOOPS):
            if certain is not None and certain.statement is not None and self._is_in(certain.statement, loop):
                break
            later = (one for one in everything[until:] if one.statement is not None)
            found += [one for one in later if one not in found and self._is_in(one.statement, loop)]
        return found

    def _in_order(self, name: str) -> list[Binding]:
        """The bindings of a name outside of comprehensions, in the order of the source."""
        known = self._ordered.get(name)
        if known is None:
            found = self._bindings.get(name, ())
            known = self._ordered[name] = [one for one in found if type(one.statement) is not cst.CompFor]
        return known

    def _branches(self, node: cst.CSTNode) -> list[object]:
        """The branches around a node, outermost first: the statement, and which part of it."""
        found: list[object] = []
        inner = node
        for above in self.around(node):
            kind = type(above)
            if kind in _CHOICES:
                choice = cast("cst.If", above)
                if inner is choice.test:
                    inner = above
                    continue
                found.append((id(above), inner is choice.body))
            elif kind in _BRANCHES and not (kind is cst.For and inner is cast("cst.For", above).iter):
                found.append((id(above), True))
            inner = above
        return found[::-1]

    def _is_in(self, node: cst.CSTNode | None, outer: cst.CSTNode) -> bool:
        return node is not None and (node is outer or any(one is outer for one in self.around(node)))

    def _bind(self, binding: Binding) -> None:
        self._bindings.setdefault(binding.name, []).append(binding)

    def _note_bindings(self, node: cst.CSTNode) -> None:
        if type(node) is cst.Assign:
            for target in node.targets:
                self._store(target.target, (node.value,), node)
        elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)):
            if node.value is not None:
                self._store(node.target, (node.value,), node)
        elif type(node) is cst.AugAssign:
            self._store(node.target, (node.value,), node, adds=True)
        elif isinstance(node, (cst.For, cst.CompFor)):
            self._store(node.target, (node.iter,), node, at=self._end(node.iter) + 0.5)
        elif isinstance(node, cst.WithItem) and node.asname is not None:
            self._store(node.asname.name, (node.item,), node)
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            self._note_change(node.value, node)

    def _note_change(self, call: cst.Call, statement: cst.Expr) -> None:
        """A statement that is the call of a method may put something into what it is called on, or detach that."""
        if not isinstance(call.func, cst.Attribute):
            return
        name = _variable(_base(call.func.value))
        if not name:
            return
        if call.func.attr.value == "detach_":
            self._bind(Binding(name, self._end(statement) + 0.5, (), statement=statement))
        elif call.func.attr.value in _TAKES_IN:
            values = tuple(one.value for one in call.args)
            self._bind(Binding(name, self._end(statement) + 0.5, values, adds=True, statement=statement))

    def _store(
        self,
        target: cst.CSTNode,
        values: tuple[cst.BaseExpression, ...],
        statement: cst.CSTNode,
        *,
        adds: bool = False,
        at: float | None = None,
    ) -> None:
        at = self._end(statement) + 0.5 if at is None else at
        if type(target) is cst.StarredElement:
            target = target.value
        if isinstance(target, (cst.Tuple, cst.List)):
            for index, one in enumerate(target.elements):
                parts = tuple(_part(value, index, len(target.elements)) for value in values)
                self._store(one.value, parts, statement, adds=adds, at=at)
            return
        name = _variable(target)
        if name:
            self._stored.add(id(target))
        else:
            name, adds = _variable(_base(target)), True
        if name:
            self._bind(Binding(name, at, values, adds, statement))

    def _note_reading(self, node: cst.CSTNode) -> None:
        name = _variable(node)
        if not name or id(node) in self._stored:
            return
        above = self.parent(node)
        if type(node) is cst.Name and above is not None:
            spelled = type(above) is cst.Attribute and above.attr is node
            if spelled or (type(above) is cst.Arg and above.keyword is node) or name == "self":
                return
        self._readings.setdefault(name, []).append(cast("cst.BaseExpression", node))
        self._read.add(id(node))


def _variable(node: cst.CSTNode) -> str:
    """The name that a node stands for: that of a variable, or ``self.name``; empty for anything else."""
    if type(node) is cst.Name:
        return node.value
    attribute = self_attribute(node)
    return f"self.{attribute}" if attribute is not None else ""


def _base(node: cst.CSTNode) -> cst.CSTNode:
    """The variable that an item, or an attribute of an attribute, is taken from."""
    while not _variable(node) and isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    return node


def _part(value: cst.BaseExpression, index: int, count: int) -> cst.BaseExpression:
    """The element of a display that a target of the same length takes, what ``zip`` takes it from, or the number that
    ``enumerate`` counts by, which comes of nothing else; else the whole value."""
    if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == count:
        return value.elements[index].value
    if type(value) is cst.Call and type(value.func) is cst.Name and all(not one.star for one in value.args):
        given = [one.value for one in value.args]
        if value.func.value == "zip" and len(given) == count:
            return given[index]
        if value.func.value == "enumerate" and given and count == 2:
            return given[0] if index else value.func
    return value
