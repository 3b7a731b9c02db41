"""The arguments of a call as they are evaluated, and the parameters that they become."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.iteration import element_of, entries
from accel_advisor.interpreter.library.evident_models import as_model
from accel_advisor.interpreter.library.external_settings import is_command
from accel_advisor.interpreter.resolution import value_of
from accel_advisor.records.operations import Argument
from accel_advisor.syntax.documented_types import documented_types
from accel_advisor.syntax.shapes import dotted, named_parameters, names_bound_in, positional_parameters
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.known_datasets import TENSOR_DATASET
from accel_advisor.tables.tensor_methods import TENSOR_CLASSES
from accel_advisor.tables.wrappers import TRANSPARENT_DECORATORS
from accel_advisor.values.devices import device_by_default
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import SOMEWHERE, input_at, place_of_input
from accel_advisor.values.store import OPEN
from accel_advisor.values.values import (
    ABSENT,
    UNKNOWN,
    Bound,
    Choice,
    Class,
    Configured,
    Constant,
    Filed,
    Function,
    Iterated,
    Mapping,
    Opaque,
    Qualified,
    Sequence,
    Tensor,
    Value,
    join,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.abstract_machine import Machine


from accel_advisor.interpreter.arguments import Arguments

_COMPARE: dict[type[cst.BaseCompOp], Callable[[int, int], bool]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}
_INNER: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.Lambda, cst.ClassDef})


def parameter_defaults(machine: Machine, params: cst.Parameters) -> tuple[tuple[str, Value], ...]:
    """The defaults of a function's parameters, which Python evaluates once, where it is defined."""
    defaults: list[tuple[str, Value]] = []
    for param in named_parameters(params):
        if param.default is not None:
            value = machine.evaluate(param.default)
            if isinstance(value, Constant):
                value = value.at("parameter default", param.name.value)
            defaults.append((param.name.value, value))
    return tuple(defaults)


def evaluate_arguments(machine: Machine, node: cst.Call) -> Arguments:
    """Evaluates the arguments of a call, taking known dicts and tuples apart."""
    arguments = Arguments(node)
    for arg in node.args:
        value = machine.evaluate(arg.value)
        if arg.star == "*":
            if isinstance(value, Sequence):
                arguments.positional += [Argument(item) for item in value.items]
            else:
                arguments.open = arguments.starred = True
                some = Iterated(element_of(machine, value)) if isinstance(value, Tensor) else value
                arguments.rest += (some,) if isinstance(some, Iterated) else ()
        elif arg.star == "**":
            _splat(machine, arguments, value)
        elif arg.keyword is not None:
            arguments.keywords[arg.keyword.value] = Argument(value, arg)
        else:
            arguments.positional.append(Argument(value, arg))
    return arguments


def _splat(machine: Machine, arguments: Arguments, value: Value) -> None:
    if isinstance(value, Filed):
        arguments.files += (value,)
    options = value.options if isinstance(value, Choice) else [value]
    if not all(isinstance(one, Mapping) for one in options):
        arguments.open = True
        return
    mappings = [one for one in options if isinstance(one, Mapping)]
    arguments.mappings += tuple(mappings)
    tables: list[dict[str, Value]] = []
    for mapping in mappings:
        known, unsure = entries(machine, mapping)
        arguments.open |= unsure
        tables.append(known)
    for key in dict.fromkeys(key for table in tables for key in table):
        found = join_all(table.get(key, ABSENT) for table in tables)
        if found == ABSENT:
            continue
        home = next((mapping for mapping, table in zip(mappings, tables, strict=True) if key in table), None)
        arguments.keywords[key] = Argument(found, None, home)


def _is_transparent(decorator: Value) -> bool:
    name = decorator.name if isinstance(decorator, (Qualified, Opaque)) else ""
    return name.startswith(TRANSPARENT_DECORATORS)


def returns_what_it_returns(function: Function) -> bool:
    """Whether no decorator puts another result in the place of a function's own."""
    return all(_is_transparent(one) for one in function.decorators)


def _passes_on(decorator: Value) -> bool:
    """Whether a decorator of the project gives the function the arguments that the caller gave."""
    if not isinstance(decorator, Function) or isinstance(decorator.node, cst.Lambda):
        return False
    name = decorator.node.params.params[0].name.value if decorator.node.params.params else ""
    given = [
        one.args
        for one in descendants(decorator.node.body, cst.Call)
        if isinstance(one.func, cst.Name) and one.func.value == name
    ]
    return bool(given) and all([arg.star for arg in args] == ["*", "**"] for args in given)


def takes_what_it_is_given(function: Function) -> bool:
    """Whether no decorator puts other arguments in the place of those that a function is called with."""
    return all(_is_transparent(one) or _passes_on(one) for one in function.decorators)


def takes(function: Function | None, arguments: Arguments, *, bound: bool) -> bool:
    """Whether a function, as a method if it is bound, can be called with these arguments; true for one not known."""
    if function is None:
        return True
    params = function.node.params
    places = positional_parameters(params)[bound:]
    names = {one.name.value for one in (*places, *params.kwonly_params)}
    given = len(arguments.positional)
    if given > len(places) and not isinstance(params.star_arg, cst.Param):
        return False
    if not names.issuperset(arguments.keywords) and params.star_kwarg is None:
        return False
    if arguments.open:
        return True
    needed = [one for one in (*places[given:], *params.kwonly_params) if one.default is None]
    return all(one.name.value in arguments.keywords for one in needed)


def declared_type(function: Function, parameter: cst.Param) -> tuple[str, Ground]:
    """The type that a function declares a parameter to be, as it is written, and where it does so: its annotation, else
    a docstring; empty for none, and for an annotation that is no name."""
    if parameter.annotation is not None:
        return dotted(parameter.annotation.annotation), Ground.ANNOTATION
    node, owner, name = function.node, function.owner, parameter.name.value
    written = documented_types(node).get(name, "") if isinstance(node, cst.FunctionDef) else ""
    if not written and owner is not None and function.name == "__init__":
        written = documented_types(owner.node).get(name, "")
    return written, Ground.DOCSTRING


def _declared(machine: Machine, function: Function, parameter: cst.Param) -> Value:
    """What a parameter is as far as its function declares it: a tensor, or a data set of tensors."""
    name, ground = declared_type(function, parameter)
    tensor = Tensor(SOMEWHERE, proven=False, basis=Evidence.of(ground))
    if name in TENSOR_CLASSES:
        return tensor
    if parameter.annotation is None or not name.endswith("TensorDataset"):
        return UNKNOWN
    meant = value_of(machine, function.scope, parameter.annotation.annotation)
    return Opaque(meant.name, (tensor,)) if isinstance(meant, Qualified) and meant.name == TENSOR_DATASET else UNKNOWN


def given_for(function: Function, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call of a function writes for one of its parameters; None where it writes nothing, or splats before."""
    params = function.node.params
    places = [one.name.value for one in positional_parameters(params)]
    static = Qualified("staticmethod") in function.decorators
    places = places[function.owner is not None and not static :]
    for at, arg in enumerate(call.args):
        if arg.star == "*":
            return None
        if name == (arg.keyword.value if arg.keyword is not None else next(iter(places[at : at + 1]), None)):
            return arg.value
    return None


def bind_parameters(
    machine: Machine, function: Function, arguments: Arguments, receiver: Value | None
) -> dict[str, Value]:
    """The values of a function's parameters in one call; Unknown for what is not known to be given."""
    if is_command(function):
        # what it is called with are the words of a command line
        arguments = Arguments(None, open=True)
    params = function.node.params
    names = [param.name.value for param in positional_parameters(params)]
    defaults = dict(function.defaults)
    more = join_all(one.element for one in arguments.rest if isinstance(one, Iterated)) if arguments.rest else UNKNOWN
    bound: dict[str, Value] = {}
    positional = [Argument(receiver)] if receiver is not None else []
    positional += arguments.positional
    for name, argument in zip(names, positional, strict=False):
        bound[name] = argument.value
    options = dict(function.options)
    keywords = dict(arguments.keywords)
    everything = [*names, *(param.name.value for param in params.kwonly_params)]
    for name in everything:
        given = keywords.pop(name, None)
        if given is not None and name not in bound:
            value = given.value
            if isinstance(value, Choice) and ABSENT in value.options:
                rest = join_all(one for one in value.options if one != ABSENT)
                value = join(rest, defaults.get(name, UNKNOWN))
            bound[name] = value
        elif name not in bound and name in options:
            bound[name] = options[name]
        elif name not in bound and arguments.rest and name in names and name not in defaults:
            bound[name] = _one_of(machine, function, name, more)
        elif name not in bound:
            default = defaults.get(name, UNKNOWN)
            bound[name] = device_by_default(default) if arguments.open else default
    for param in named_parameters(params):
        name = param.name.value
        if bound.get(name) == UNKNOWN:
            bound[name] = _declared(machine, function, param)
    for param in positional_parameters(params):
        if bound[param.name.value] == UNKNOWN:
            bound[param.name.value] = as_model(machine, UNKNOWN, param.name, function.document)
    if type(params.star_arg) is cst.Param:
        rest_values = tuple(one.value for one in positional[len(names) :])
        some = Iterated(join_all((more, *rest_values))) if arguments.rest else UNKNOWN
        bound[params.star_arg.name.value] = some if arguments.starred else Sequence(rest_values)
    if params.star_kwarg is not None:
        mapping = Mapping(function.document, None)
        for key, argument in keywords.items():
            machine.store.set(mapping, key, argument.value)
        if arguments.open:
            machine.store.set(mapping, OPEN, Constant(True))
        bound[params.star_kwarg.name.value] = mapping
    return bound


def _one_of(machine: Machine, function: Function, name: str, values: Value) -> Value:
    """What a parameter is that is given one of these values: of the inputs of a ``forward``, one of its own, since some
    may be tensors and others not."""
    if not isinstance(values, Tensor) or input_at(values.place) is None:
        return values
    place = place_of_input(function.node, name)
    machine.recorder.inputs.hand_on(values.place, place)
    return replace(values, place=place)


def hands_back(decorator: Value) -> bool:
    """Whether a decorator is a function of the project that returns what it decorates."""
    return any(_returns_first(one) for one in options_of(decorator))


def register(machine: Machine, decorated: Class | Function, decorators: tuple[Value, ...]) -> None:
    """Lets the decorators that return what they decorate do with it what they do besides."""
    given = Arguments(None, [Argument(decorated)])
    for decorator in reversed(decorators):
        for one in options_of(decorator):
            if isinstance(one, Bound) and _returns_first(one):
                machine.inline(one.function, bind_parameters(machine, one.function, given, one.receiver), None)
            elif isinstance(one, Function) and _returns_first(one):
                machine.inline(one, bind_parameters(machine, one, given, None), None)


def _returns_first(decorator: Value) -> bool:
    """Whether all that a function returns is the first argument that it is given."""
    function = decorator.function if isinstance(decorator, Bound) else decorator
    if not isinstance(function, Function) or not isinstance(function.node, cst.FunctionDef):
        return False
    params = function.node.params.params[isinstance(decorator, Bound) :]
    returned = [one.value for one in descendants(function.node.body, cst.Return, but=_INNER)]
    names = {one.value if isinstance(one, cst.Name) else None for one in returned}
    return bool(params) and names == {params[0].name.value}


def answer_by_arguments(machine: Machine, test: cst.BaseExpression) -> bool | None:
    """What a test of a parameter comes to, where the call that is being interpreted gives a literal for it."""
    if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        answer = answer_by_arguments(machine, test.expression)
        return None if answer is None else not answer
    if type(test) is cst.BooleanOperation:
        sides = {answer_by_arguments(machine, one) for one in (test.left, test.right)}
        decisive = type(test.operator) is cst.Or
        return decisive if decisive in sides else None if None in sides else not decisive
    asked, only = test, None
    if type(test) is cst.Comparison and len(test.comparisons) == 1:
        asked, only = test.left, test.comparisons[0]
    counts = type(asked) is cst.Call and bool(asked.args) and machine.evaluate(asked.func) == Qualified("len")
    counted = asked.args[0].value if type(asked) is cst.Call and counts else None
    known = _given_as(machine, counted or asked)
    if isinstance(known, Sequence) and (counted is None) is (only is None):
        return bool(known.items) if only is None else _compares(machine, len(known.items), only)
    if not isinstance(known, Constant) or counted is not None:
        return None
    if only is None:
        return known.value if isinstance(known.value, bool) else None
    other = machine.evaluate(only.comparator) if isinstance(only.operator, (cst.Equal, cst.NotEqual)) else UNKNOWN
    return (known.value == other.value) is isinstance(only.operator, cst.Equal) if isinstance(other, Constant) else None


def _given_as(machine: Machine, asked: cst.BaseExpression) -> Value:
    """What a parameter of the function that is being interpreted is; Unknown for any other expression, and for a list
    that the function changes."""
    function = machine.frame.function
    if function is None or type(asked) is not cst.Name:
        return UNKNOWN
    named = named_parameters(function.node.params)
    known = machine.lookup(asked.value) if any(one.name.value == asked.value for one in named) else UNKNOWN
    changed = isinstance(known, Sequence) and asked.value in names_bound_in(function.node.body)
    return UNKNOWN if changed else known


def _compares(machine: Machine, count: int, compared: cst.ComparisonTarget) -> bool | None:
    """What a comparison of how many elements there are comes to; None where what it compares with is not known."""
    other, compare = machine.evaluate(compared.comparator), _COMPARE.get(type(compared.operator))
    if compare is None or not isinstance(other, Constant) or type(other.value) is not int:
        return None
    return compare(count, other.value)


def untaken_branches(answers: list[bool | None]) -> frozenset[int]:
    """The branches that are not taken where this is what their tests come to, as far as it is known: those whose test
    is not met, and all behind one whose test is."""
    met = answers.index(True) if True in answers else len(answers)
    unmet = [at for at, answer in enumerate(answers) if answer is False]
    return frozenset([*unmet, *range(met + 1, len(answers) + 1)])


def answer_by_default(machine: Machine, test: cst.BaseExpression, value: Value) -> tuple[str, bool] | None:
    """The option that decides a test alone, and what the test comes to while it keeps its default; ``value`` is that
    of the test."""
    if type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        plain = isinstance(test.expression, (cst.Name, cst.Attribute))
        found = answer_by_default(machine, test.expression, machine.evaluate(test.expression)) if plain else None
        return None if found is None else (found[0], not found[1])
    if not isinstance(value, Configured) or not isinstance(value.default, Constant):
        return None
    default = value.default.value
    option = value.options[-1] if value.options else value.variable
    return (option, default) if option and isinstance(default, bool) else None
