"""Iterators over parameters that nothing is left of where something goes over them once more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import libcst as cst

from accel_advisor.records.actions import Call, Within, methods
from accel_advisor.records.queries.gradients.data_flow import INNER, Binding, DataFlow
from accel_advisor.records.queries.gradients.flows import flows_in
from accel_advisor.syntax.imports import full_name
from accel_advisor.syntax.shapes import defined_in, dotted, names_bound_in
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program

_GENERATORS = frozenset({"parameters", "named_parameters"})
_LAZY = frozenset({"filter", "map", "zip", "itertools.chain", "itertools.chain.from_iterable"})
"""What makes an iterator, whatever it is given."""
_TO_THE_END = frozenset({"list", "tuple", "sum", "set", "sorted", "dict", "max", "min"})
"""What goes over all that it is given."""
_CLIPS = tuple(Call(f"torch.nn.utils.{name}") for name in ("clip_grad_norm_", "clip_grad_value_"))
_KEYWORDS = frozenset({"params", "parameters"})
_LEAVES = (cst.Break, cst.Return, cst.Yield)
_BINDS: tuple[type[cst.CSTNode], ...] = (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor)


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A place that goes over an iterator of which nothing is left.

    Attributes:
        use: the loop, or the call that goes over it.
        name: what the iterator is called.
        made: the expression that makes it.
        taken: what has gone over it to its end before.
        clips: whether the place is to clip gradients.
    """

    use: cst.CSTNode
    name: str
    made: cst.BaseExpression
    taken: cst.CSTNode
    clips: bool

    @property
    def place(self) -> cst.CSTNode:
        """Where to report it: at the call, or at what the loop goes over."""
        return self.use.iter if isinstance(self.use, (cst.For, cst.CompFor)) else self.use


def exhausted_iterators(facts: Facts) -> Iterator[Exhausted]:
    """Those of a document, by what binds them: names that nothing else is bound to."""
    if any(one in facts.document.text for one in _GENERATORS):
        yield from _Search(facts).found()


class _Search:
    """What is asked of each name of a document."""

    def __init__(self, facts: Facts) -> None:
        self._document = facts.document
        self._flows = facts.document.once(flows_in)
        self._imported = facts.document.imported
        self._shadowed = names_bound_in(facts.document.tree) | defined_in(facts.document.tree).keys()
        declared = descendants(facts.document.tree, cst.Global, cst.Nonlocal)
        self._shared = {item.name.value for one in declared for item in cast("cst.Global", one).names}
        self._generators = facts.program.once(_generators)
        optimizers = facts.operations_of(Within("torch.optim"))
        self._optimizers = {id(one.node) for one in optimizers if one.what.name[:1].isupper()}
        self._clips = {id(one.node) for one in facts.operations_of(*_CLIPS)}

    def found(self) -> Iterator[Exhausted]:
        """All of them."""
        for root in self._flows.roots:
            body = root.body if isinstance(root, cst.FunctionDef) else root
            own = descendants(body, cst.Assign, but=INNER)
            names = {dotted(one.targets[0].target) for one in own if self._lasts(one.value)}
            flow = self._flows.of(root) if names else None
            for name in sorted(names - {""}) if flow is not None else ():
                yield from self._of_name(flow, name) if flow is not None else ()

    def _of_name(self, flow: DataFlow, name: str) -> Iterator[Exhausted]:
        binding = flow.only_binding(name)
        made = binding.values[0] if binding is not None and len(binding.values) == 1 else None
        if binding is None or made is None or name in self._shared or not self._lasts(made):
            return
        uses = [(one, use) for one in flow.read(binding) if (use := self._goes_over(flow, one)) is not None]
        ends = (one for reading, one in uses if self._to_the_end(flow, reading, one) and flow.at(one) > binding.at)
        taken = next((one for one in ends if flow.comes_first(binding.statement, one)), None)
        if taken is None:
            return
        later = [use for _, use in uses if flow.at(use) > flow.at(taken) and flow.comes_first(taken, use)]
        if not flow.is_conditional(taken):
            later += self._by_methods(flow, name) if name.startswith("self.") else self._within(flow, binding, taken)
        for use in later:
            if id(use) not in self._optimizers:  # torch refuses to make one of nothing
                yield Exhausted(use, name, made, taken, id(use) in self._clips)

    def _within(self, flow: DataFlow, binding: Binding, taken: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What goes over a variable in functions that are defined after something has come to its end."""
        order, name = self._document.order, binding.name
        body = flow.root.body if isinstance(flow.root, cst.FunctionDef) else flow.root
        if name not in flow.captured:
            return
        for inner in descendants(body, cst.FunctionDef):
            own = self._flows.of(inner)
            if order(inner) > order(taken) and own.readings_of(name) and not self._binds(body, inner, name):
                yield from filter(None, (self._goes_over(own, one) for one in own.readings_of(name)))

    def _binds(self, body: cst.CSTNode, inner: cst.FunctionDef, name: str) -> bool:
        """Whether a function, or one around it within a body, has a variable of its own of this name."""
        around = [one for one in descendants(body, cst.FunctionDef) if any(it is inner for it in descendants(one))]
        params = (each.name.value for one in around for each in descendants(one.params, cst.Param))
        return name in params or any(name in names_bound_in(one.body) for one in around)

    def _by_methods(self, flow: DataFlow, name: str) -> Iterator[cst.CSTNode]:
        """What goes over an attribute that one method binds, in other methods of the class, where nothing in the
        document binds an attribute of this name besides: there is none before."""
        attribute = name.removeprefix("self.")
        targets = [cast("cst.AssignTarget", one).target for one in descendants(self._document.tree, *_BINDS)]
        targets += [one.name for one in descendants(self._document.tree, cst.AsName)]
        bound = [each for one in targets for each in descendants(one, cst.Attribute) if each.attr.value == attribute]
        for cls in descendants(self._document.tree, cst.ClassDef) if len(bound) == 1 else ():
            if any(one is flow.root for one in cls.body.body):
                others = [one for one in cls.body.body if isinstance(one, cst.FunctionDef) and one is not flow.root]
                for method in others:
                    own = self._flows.of(method)
                    yield from filter(None, (self._goes_over(own, one) for one in own.readings_of(name)))

    def _lasts(self, node: cst.BaseExpression) -> bool:
        """Whether an expression makes an iterator over parameters, which can be gone over once."""
        if id(node) in self._generators:
            return True
        lazy = isinstance(node, cst.GeneratorExp) or (isinstance(node, cst.Call) and self._called(node) in _LAZY)
        asked = (one.func for one in descendants(node, cst.Call)) if lazy else ()
        return any(isinstance(one, cst.Attribute) and one.attr.value in _GENERATORS for one in asked)

    def _called(self, call: cst.Call) -> str:
        """The full name of what is called: that of a builtin by itself."""
        if isinstance(call.func, cst.Name) and call.func.value not in self._imported:
            return "" if call.func.value in self._shadowed else call.func.value
        return full_name(self._imported, call.func)

    def _goes_over(self, flow: DataFlow, reading: cst.CSTNode) -> cst.CSTNode | None:
        """The loop or call that goes over what is read; None for anything else that is done with it."""
        above = flow.parent(reading)
        if isinstance(above, (cst.For, cst.CompFor)):
            return above if above.iter is reading else None
        if isinstance(above, cst.DictElement) and isinstance(above.key, cst.SimpleString):
            nearest = next((one for one in flow.around(above) if isinstance(one, cst.Call)), None)
            return nearest if above.key.value[1:-1] == "params" and id(nearest) in self._optimizers else None
        call = flow.parent(above) if isinstance(above, cst.Arg) and not above.star else None
        if not isinstance(call, cst.Call) or not isinstance(above, cst.Arg):
            return None
        first = call.args[0] is above or (above.keyword is not None and above.keyword.value in _KEYWORDS)
        known = id(call) in self._optimizers | self._clips or self._called(call) in _TO_THE_END
        return call if first and known else None

    def _to_the_end(self, flow: DataFlow, reading: cst.CSTNode, use: cst.CSTNode) -> bool:
        """Whether what goes over something certainly comes to its end."""
        if isinstance(use, cst.For):
            return not any(True for _ in descendants(use.body, *_LEAVES))
        if isinstance(use, cst.CompFor):
            around = next((one for one in flow.around(use) if not isinstance(one, cst.CompFor)), None)
            above = flow.parent(around) if isinstance(around, cst.GeneratorExp) else None
            call = flow.parent(above) if isinstance(above, cst.Arg) else None
            whole = isinstance(call, cst.Call) and self._called(call) in _TO_THE_END
            return whole or isinstance(around, (cst.ListComp, cst.SetComp, cst.DictComp))
        return True


def _generators(program: Program) -> frozenset[int]:
    """The calls, by identity, that ask modules for their parameters."""
    asked = program.operations_of(*methods("Module", *_GENERATORS))
    return frozenset(id(one.node) for one in asked)
