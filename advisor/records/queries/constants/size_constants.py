"""Masks, grids, windows and indices that each step builds again although they depend on sizes and settings alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Call, Method, calls
from accel_advisor.records.queries.constants.given_sizes import GivenSizes
from accel_advisor.records.queries.constants.size_values import SizeValues, parameters_of
from accel_advisor.records.queries.destinations import reaches_gpu
from accel_advisor.records.queries.steps.literal_copies import literal_copies
from accel_advisor.records.queries.training_loops import runs_often
from accel_advisor.syntax.shapes import dotted, is_written, keywords_of, last_name
from accel_advisor.syntax.variation import bindings
from accel_advisor.syntax.walking import children, descendants
from accel_advisor.tables.sized_values import FILLED, OF_LISTS, OWN_FACTORIES, STRUCTURED
from accel_advisor.tables.torch_functions import SETS_DEFAULT_DEVICE

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import OperationContext

_CACHES = ("functools.lru_cache", "functools.cache", "functools.cached_property", "torch.jit.script")
_COMPILERS = calls("torch.compile", "torch.jit.script", "torch.jit.trace")
_VIEWS = frozenset(
    {"view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "permute", "transpose", "t", "contiguous"}
    | {"size", "dim", "numel", "detach", "ravel", "flatten", "expand_dims", "moveaxis", "swapaxes", "from_numpy"}
    | {"len", "range", "int", "float", "tuple", "list", "zip", "enumerate", "min", "max", "requires_grad_"}
    | {"broadcast_to"}
)
"""Functions and methods that run nothing on the device."""
_SCOPES: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})
_FEWEST = 4
"""Operations of torch that are worth a word: of what is filled on the host by fewer, ACC205 speaks."""


@dataclass(eq=False)
class SizeConstant:
    """What a function builds again each time.

    Attributes:
        parts: the expressions that build it, in source order.
        function: the name of the function that builds it.
        copy: the call that puts it onto the GPU; None where the GPU builds it.
        looped: whether a loop of one step builds it in each of its passes.
        settled: whether no size of an input goes into it, so that it can be built in the constructor.
        last: the last of the parts that runs something.
    """

    parts: list[cst.BaseExpression]
    function: str
    copy: cst.Call | None = None
    looped: bool = False
    settled: bool = False
    last: cst.BaseExpression | None = None

    @property
    def place(self) -> cst.BaseExpression:
        """The expression that a finding is about: the copy, or the last part that does more than look at it."""
        return self.copy or self.last or self.parts[-1]

    @property
    def others(self) -> list[cst.BaseExpression]:
        """The parts but for that in which :attr:`place` stands."""
        return [one for one in self.parts if all(inner is not self.place for inner in descendants(one))]

    def holds(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in one of its parts."""
        return any(inner is node for part in self.parts for inner in descendants(part))


def size_constants(facts: Facts) -> Iterator[SizeConstant]:
    """The constants of a document that a forward pass or a step builds, by several operations or on the host."""
    names = {one.what.full for one in facts.operations if isinstance(one.what, Call)}
    if names.isdisjoint(STRUCTURED | OF_LISTS | FILLED):
        return
    given = facts.program.once(GivenSizes)
    code = given.code_of(facts)
    found: list[tuple[SizeValues, SizeConstant]] = []
    covered = set[int]()
    for function in _candidates(facts):
        for region in _regions(facts, function):
            values = SizeValues(code, function, region, given.parameters(function))
            builder = _Builder(facts, values)
            found += [(values, one) for one in builder.constants()]
            covered |= values.entered if builder.parts else set()
    written = {id(one.maker) for one in literal_copies(facts)} if found else set()
    for values, one in found:
        literal = any(id(call) in written for part in one.parts for call in descendants(part, cst.Call))
        if id(values.function) not in covered and not literal:
            yield one


def _candidates(facts: Facts) -> list[cst.FunctionDef]:
    """The functions of a document that make a tensor or array of sizes, or call one that does."""
    names = STRUCTURED | FILLED | OF_LISTS
    makers = [one for one in facts.operations if isinstance(one.what, Call) and one.what.full in names]
    own = [one for one in facts.operations if isinstance(one.what, Method) and one.what.name in OWN_FACTORIES]
    found: dict[int, cst.FunctionDef] = {}
    pending: list[cst.CSTNode | None] = [one.function for one in (*makers, *own)]
    here = {id(one.function) for one in facts.operations}
    while pending:
        one = pending.pop()
        if not isinstance(one, cst.FunctionDef) or id(one) not in here or id(one) in found:
            continue
        if one.name.value != "__init__":
            found[id(one)] = one
            pending += [caller for _, caller in facts.call_graph.calls_of(one)]
    return list(found.values())


def _regions(facts: Facts, function: cst.FunctionDef) -> list[cst.CSTNode]:
    """What of a function runs in each step: its loops that train, those of a generator that hand something out, or else
    all of it."""
    own = [one for one in facts.loops if one.function is function and one.document is facts.document]
    loops = [one.node for one in own if one.learns] or [one.node for one in own if _hands_out(one.node)]
    inner = [one for one in loops if not any(other is not one and _is_in(other, one) for other in loops)]
    return list(inner) or [function]


def _hands_out(loop: cst.CSTNode) -> bool:
    """Whether a loop yields in its passes: what its generator does before it happens once for all of them."""
    return next(descendants(loop, cst.Yield, but=_SCOPES), None) is not None


def _is_in(node: cst.CSTNode, outer: cst.CSTNode) -> bool:
    return any(one is node for one in descendants(outer, type(node)))


def _is_written(call: cst.Call) -> bool:
    """Whether a call makes a tensor of numbers that are written out."""
    return bool(call.args) and isinstance(call.args[0].value, cst.List) and is_written(call.args[0].value)


@dataclass(eq=False)
class _Builder:
    """Puts together what builds one constant, in one region of a function."""

    facts: Facts
    values: SizeValues
    parts: dict[int, cst.BaseExpression] = field(default_factory=dict)
    names: dict[str, set[int]] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)

    def constants(self) -> Iterator[SizeConstant]:
        """The constants that are worth building once."""
        for statement in descendants(
            self.values.code, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Return, cst.Expr, but=_SCOPES
        ):
            value = getattr(statement, "value", None)
            if isinstance(value, cst.BaseExpression):
                for part in self._largest(value):
                    self.parts[id(part)] = part
                    if self._keeps(statement):
                        self.kept.add(id(part))
                    for name in self._targets(statement, value, part):
                        self.names.setdefault(name, set()).add(id(part))
        for group in self._groups():
            found = self._constant(group)
            if found is not None:
                yield found

    def _largest(self, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        """The largest expressions that depend on sizes alone and make a tensor or an array, or use what is one."""
        if isinstance(node, cst.BaseExpression) and type(node) is not cst.Name and self.values.holds(node):
            if self._makes(node) or self._uses(node):
                yield node
            return
        if type(node) not in _SCOPES:
            for one in children(node):
                yield from self._largest(one)

    def _makes(self, node: cst.CSTNode) -> bool:
        return any(self._is_maker(one) for one in descendants(node, cst.Call))

    def _is_maker(self, call: cst.Call) -> bool:
        name = self.values.library(call)
        own = isinstance(call.func, cst.Attribute) and call.func.attr.value in OWN_FACTORIES
        if own or name in STRUCTURED | FILLED | OF_LISTS:
            return True
        return any(id(one) in self.values.entered and self._makes(one) for one in self._called(call))

    def _called(self, call: cst.Call) -> tuple[cst.CSTNode, ...]:
        return self.facts.call_graph.called_from(call)

    def _uses(self, node: cst.CSTNode) -> bool:
        return any(one.value in self.names for one in descendants(node, cst.Name))

    def _targets(self, statement: cst.CSTNode, value: cst.BaseExpression, part: cst.BaseExpression) -> set[str]:
        """The names that a statement binds to a part, where that is all that it binds them to."""
        if value is not part or not isinstance(statement, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            return set()
        targets = [one.target for one in statement.targets] if isinstance(statement, cst.Assign) else [statement.target]
        names = {one.value for target in targets for one in descendants(target, cst.Name)} - {"self"}
        return {name for name in names if self.values.holds_name(name)}

    def _keeps(self, statement: cst.CSTNode) -> bool:
        """Whether an assignment keeps what it is given beyond the call: in an object, a dict, or a global name."""
        targets = [one.target for one in statement.targets] if isinstance(statement, cst.Assign) else []
        shared = {item.name.value for one in descendants(self.values.code, cst.Global) for item in one.names}
        return any(
            dotted(one).partition(".")[0] in shared
            or isinstance(one, cst.Attribute)
            or (isinstance(one, cst.Subscript) and isinstance(one.value, cst.Attribute))
            for one in targets
        )

    def _groups(self) -> Iterator[list[cst.BaseExpression]]:
        """The parts, put together where one uses the name of another."""
        groups: list[set[int]] = []
        for key, part in self.parts.items():
            used = {one.value for one in descendants(part, cst.Name)} & self.names.keys()
            joined = {key}.union(*(self.names[name] for name in used))
            meeting = [one for one in groups if one & joined]
            groups = [one for one in groups if not one & joined]
            groups.append(joined.union(*meeting))
        for group in groups:
            yield [part for key, part in self.parts.items() if key in group]

    # -- what is worth a word

    def _constant(self, parts: list[cst.BaseExpression]) -> SizeConstant | None:
        made = [call for part in parts for call in self._calls(part)]
        makers = [one for one in made if self._is_maker(one)]
        patterned = [one for one in makers if self._is_patterned(one)]
        slices = self._written(parts)
        if any(id(one) in self.kept for one in parts):
            return None
        if not makers or not (patterned or slices > 1) or not self._is_often(parts):
            return None
        listed = slices > 1 or any(self._is_listed(one) for one in makers)
        copies = [one for one in made if self._copies(one)]
        work = sum(map(self._work_of, parts))
        last = next((one for one in reversed(parts) if self._work_of(one)), None)
        name = self.values.function.name.value
        looped = self._is_looped(parts[-1])
        settled = not any(self._asks_form(part) for part in parts)
        on_host = any(self._is_on_host(one) for one in makers)
        if all(map(_is_written, makers)) and work < _FEWEST:
            return None  # a few numbers
        if copies and on_host and (listed or work >= _FEWEST):
            return SizeConstant(parts, name, copies[0], looped, settled, last)
        if on_host or not self._is_on_gpu(makers) or self.facts.does(*_COMPILERS):
            return None
        grid = any(self.values.library(one) == "torch.meshgrid" for one in made)
        if work >= _FEWEST and (looped or grid):
            return SizeConstant(parts, name, None, looped, settled, last)
        return None

    def _work_of(self, part: cst.BaseExpression) -> int:
        """How many operations an expression runs that are more than another look at what is there."""
        sums = (one for one in descendants(part, cst.BinaryOperation) if self._makes(one) or self._uses(one))
        return sum(1 for one in self._calls(part) if not self._is_view(one)) + sum(1 for _ in sums)

    def _calls(self, node: cst.CSTNode, depth: int = 3) -> Iterator[cst.Call]:
        """The calls in an expression, and those of the project's functions that it calls."""
        for one in descendants(node, cst.Call):
            yield one
            for function in self._called(one) if depth else ():
                if id(function) in self.values.entered and isinstance(function, cst.FunctionDef):
                    yield from self._calls(function.body, depth - 1)

    def _is_patterned(self, call: cst.Call) -> bool:
        """Whether a call makes more than one number many times."""
        name = self.values.library(call)
        if name in OF_LISTS or (isinstance(call.func, cst.Attribute) and call.func.attr.value == "new_tensor"):
            return any(isinstance(arg.value, (cst.ListComp, cst.List)) for arg in call.args)
        return name in STRUCTURED

    def _written(self, parts: list[cst.BaseExpression]) -> int:
        """How many numbers are written into slices of it, one after the other."""
        known = {name for name, keys in self.names.items() if keys & {id(one) for one in parts}}
        found = 0
        for one in descendants(self.values.code, cst.Assign, but=frozenset({cst.ClassDef, cst.Lambda})):
            target = one.targets[0].target
            found += isinstance(target, cst.Subscript) and dotted(target.value) in known
        return found

    def _is_listed(self, call: cst.Call) -> bool:
        """Whether Python or numpy makes what a call gives."""
        name = self.values.library(call)
        if name.startswith("numpy."):
            return True
        return name in OF_LISTS and any(isinstance(arg.value, (cst.ListComp, cst.List)) for arg in call.args)

    def _is_view(self, call: cst.Call) -> bool:
        func = call.func
        name = last_name(func)
        moved = self.values.is_move(call)
        return name in _VIEWS or moved or any(id(one) in self.values.entered for one in self._called(call))

    def _copies(self, call: cst.Call) -> bool:
        """Whether a call evidently puts onto a GPU what it moves, or makes there what numpy or a list holds."""
        if self.values.is_move(call):
            known = [one for one in self.facts.transfers if one.node is call]
            contexts = [context for one in known for context in one.contexts]
            if contexts:
                return any(reaches_gpu(self.facts, one) is not None for one in contexts)
            return self.facts.names_gpu_anywhere
        if self.values.library(call) in OF_LISTS:
            return self._is_given_device(call) and self.facts.names_gpu_anywhere
        own = isinstance(call.func, cst.Attribute) and call.func.attr.value == "new_tensor"
        return own and self.facts.names_gpu_anywhere

    def _is_given_device(self, call: cst.Call) -> bool:
        """Whether a factory is given a device, and not certainly the host."""
        known = self.values.home.operations.get(id(call))
        given = "device" in keywords_of(call)
        return given and (known is None or known.given("device").device_kinds != {"cpu"})

    def _is_on_host(self, call: cst.Call) -> bool:
        """Whether a call makes something in memory of the host."""
        name = self.values.library(call)
        if name.startswith("numpy."):
            return True
        if not name or name.endswith("_like") or name in ("torch.meshgrid", "torch.tril", "torch.triu", "torch.outer"):
            return False
        if name in OF_LISTS and any(isinstance(arg.value, (cst.ListComp, cst.List)) for arg in call.args):
            return True
        return not self._is_given_device(call) and not self.facts.does(*calls(*SETS_DEFAULT_DEVICE))

    def _is_on_gpu(self, makers: list[cst.Call]) -> bool:
        return self.facts.names_gpu_anywhere and not any(map(self._is_on_host, makers))

    def _is_often(self, parts: list[cst.BaseExpression]) -> bool:
        """Whether all of it happens in each step, and nothing keeps it."""
        found = [self.values.home.operations.get(id(call)) for part in parts for call in self._calls(part)]
        known = [one for one in found if one is not None]
        contexts = [context for one in known for context in one.contexts]
        if any(name in _CACHES for context in contexts for name in context.managers):
            return False
        if any("__getitem__" in one.functions for one in contexts):
            return False
        return bool(known) and all(any(map(self._runs_often, one.contexts)) for one in known if one.contexts)

    def _runs_often(self, context: OperationContext) -> bool:
        """Whether it happens in each step, or in a forward pass by another name that is called in a way not seen."""
        unseen = "forward" in context.functions[0] if context.functions else False
        skipped = any(one.varies is not None or one.rare or one.exits for one in context.conditions)
        return (unseen and not skipped) or runs_often(self.facts, context)

    def _is_looped(self, part: cst.BaseExpression) -> bool:
        """Whether a loop within the region, or one around the call of the function in a step, repeats it."""
        body = self.values.region.body if isinstance(self.values.region, (cst.FunctionDef, cst.For)) else None
        inside = descendants(body, cst.For, cst.While, but=_SCOPES) if body is not None else ()
        return any(one is part for loop in inside for one in descendants(loop, type(part)))

    def _asks_form(self, part: cst.BaseExpression) -> bool:
        """Whether the size of an input goes into it: a name that the function binds, or a parameter."""
        local = set(bindings(self.values.function.body)) | parameters_of(self.values.function)
        own = {name for name in self.names if self.values.holds_name(name)}
        where = {
            id(inner)
            for call in descendants(part, cst.Call)
            for arg in call.args
            if (arg.keyword is not None and arg.keyword.value in ("device", "dtype")) or self.values.is_move(call)
            for inner in descendants(arg.value)
        }
        return any(one.value in local - own - {"self"} for one in descendants(part, cst.Name) if id(one) not in where)
