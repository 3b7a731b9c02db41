"""Where an argument of a loader is decided, and the edit that decides it otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import libcst as cst

from ..finding import Edit
from .edits import add_before_splat, add_entry, add_keyword, replace_node
from .facts import LoaderCall, LoaderContext
from .operations import Argument
from .values import ABSENT, Choice, Configured, Constant, Mapping, Opaque, Origin, Value, options_of

Setting = int | bool | None
"""The value of a knob, as it stands in source."""


@dataclass(frozen=True, slots=True)
class KnobPlan:
    """How to bring about one value of one knob.

    Attributes:
        edits: what to change; empty where nothing has to be, and where nothing can be.
        words: where the value is decided, in words that can follow "num_workers is decided by".
        refusal: why nothing can be edited and what to do by hand, in one sentence; empty where it can.
    """

    edits: tuple[Edit, ...] = ()
    words: str = ""
    refusal: str = ""


def describe(origin: Origin) -> str:
    """An origin in words: ``the argparse default of --workers (train.py:12)``."""
    row = origin.document.span(origin.node).start.row
    where = f"{PurePath(origin.document.filename).name}:{row}"
    what = {
        "argument": "the argument in the call",
        "constant": f"the constant `{origin.name}`",
        "dict entry": f"the dict entry `{origin.name}`",
        "parameter default": f"the default of the parameter `{origin.name}`",
        "argparse default": f"the argparse default of `{origin.name}`",
        "class attribute": f"the attribute `{origin.name}`",
    }[origin.kind]
    return f"{what} ({where})"


def literal_of(loader: LoaderCall, context: LoaderContext, knob: str, wanted: Setting, settled: bool) -> str:
    """The expression that gives a knob its value, for a call that does not give it yet.

    ``persistent_workers`` and ``prefetch_factor`` raise where there are no workers. Where the call takes the number of
    workers from a name, another run or another caller may pass 0, so the expression asks for it.

    Args:
        settled: the call itself now says how many workers there are.
    """
    workers = context.arguments.get("num_workers")
    dependent = knob in ("persistent_workers", "prefetch_factor") and wanted not in (None, False)
    if not dependent or settled or workers is None or workers.node is None:
        return repr(wanted)
    node = workers.node.value
    if isinstance(node, cst.Integer):
        return repr(wanted)
    code = loader.document.code(node)
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        code = f"({code})"
    return f"{code} > 0" if knob == "persistent_workers" else f"{wanted!r} if {code} else None"


def plan_knob(
    loader: LoaderCall,
    context: LoaderContext,
    knob: str,
    wanted: Setting,
    current: Setting,
    argv: tuple[str, ...],
    *,
    settled: bool = True,
) -> KnobPlan:
    """The edit that gives a loader's argument another value, at the place where the present one is decided.

    Args:
        context: the way in which the loader was built.
        current: the value that was measured; it picks among values that depend on the run.
        argv: the command line of the script; an option that is given there decides, whatever its default says.
        settled: the call itself says, after all edits, how many workers there are.
    """
    argument = context.arguments.get(knob)
    if argument is None:
        return _add(loader, context, knob, wanted, literal_of(loader, context, knob, wanted, settled))
    value = _taken(argument.value, current)
    if value == ABSENT:
        return _refuse(loader, knob, wanted, "is given on some paths through the program only, and was not on this one")
    if isinstance(value, Configured):
        return _configured(loader, knob, wanted, current, value, argv)
    if isinstance(value, Constant):
        origin = value.origin
        if origin is not None and _same(value.value, current):
            return KnobPlan((replace_node(origin.document, origin.node, repr(wanted)),), describe(origin))
        return _refuse(loader, knob, wanted, "has another value at run time than the source says")
    return _formula(loader, argument, knob, wanted)


def _taken(value: Value, current: Setting) -> Value:
    """The alternative of a value that was taken in the measured run."""
    if not isinstance(value, Choice):
        return value
    fitting = [one for one in options_of(value) if isinstance(one, Constant) and _same(one.value, current)]
    if len(fitting) == 1:
        return fitting[0]
    rest = [one for one in options_of(value) if not isinstance(one, Constant)]
    if not fitting and len(rest) == 1:
        return rest[0]
    return value


def _same(one: object, other: object) -> bool:
    return one == other or (one is None and other is False) or (one is False and other is None)


def _refuse(loader: LoaderCall, knob: str, wanted: Setting, why: str) -> KnobPlan:
    row = loader.document.span(loader.node).start.row
    where = f"{loader.document.filename}:{row}"
    return KnobPlan(refusal=f"{knob} of `{loader.label}` ({where}) {why}; set it to {wanted!r} by hand")


def _add(loader: LoaderCall, context: LoaderContext, knob: str, wanted: Setting, expression: str) -> KnobPlan:
    if wanted in (None, False):
        return KnobPlan(words="DataLoader's own default")
    if context.open:
        return _refuse(loader, knob, wanted, "may come out of arguments that could not be followed")
    row = loader.document.span(loader.node).start.row
    edit = add_keyword(loader.document, loader.node, knob, expression)
    if edit is not None:
        name = PurePath(loader.document.filename).name
        return KnobPlan((edit,), f"the call of `{loader.label}` ({name}:{row})")
    if len(context.mappings) == 1:
        mapping = context.mappings[0]
        edit = add_entry(mapping.document, mapping.node, knob, repr(wanted))
        if edit is not None:
            return KnobPlan((edit,), f"the dict in line {edit.span.start.row} that is splatted into the call")
    closed = all(not one.open and knob not in one.arguments for one in loader.contexts)
    edit = add_before_splat(loader.document, loader.node, knob, expression) if closed else None
    if edit is not None:
        name = PurePath(loader.document.filename).name
        return KnobPlan((edit,), f"the call of `{loader.label}` ({name}:{row})")
    return _refuse(loader, knob, wanted, "cannot be added beside `**` in the call")


def _configured(
    loader: LoaderCall, knob: str, wanted: Setting, current: Setting, value: Configured, argv: tuple[str, ...]
) -> KnobPlan:
    option = next((one for one in value.options if one.startswith("--")), next(iter(value.options), ""))
    if any(given == one or given.startswith(f"{one}=") for given in argv for one in value.options):
        return _refuse(loader, knob, wanted, f"is given on the command line; run the script with `{option} {wanted}`")
    default = value.default
    if not isinstance(default, Constant) or default.origin is None or not _same(default.value, current):
        return _refuse(loader, knob, wanted, f"is decided by the option `{option}` when the script starts")
    if isinstance(default.value, bool) or isinstance(wanted, bool):
        return _refuse(loader, knob, wanted, f"is decided by the flag `{option}`")
    origin = default.origin
    return KnobPlan((replace_node(origin.document, origin.node, repr(wanted)),), describe(origin))


def _formula(loader: LoaderCall, argument: Argument, knob: str, wanted: Setting) -> KnobPlan:
    """A value that is computed: a formula that stands in the call itself is replaced, anything else is named."""
    document, node = loader.document, argument.node.value if argument.node is not None else None
    if node is None and argument.mapping is not None:
        document, node = argument.mapping.document, entry_of(argument.mapping, knob)
    if node is None:
        return _refuse(loader, knob, wanted, "could not be followed to a place in the source")
    computed = isinstance(node, (cst.Call, cst.BinaryOperation, cst.IfExp, cst.Comparison))
    if computed and (isinstance(argument.value, Opaque) or not isinstance(node, cst.Call)):
        row = document.span(node).start.row
        words = f"the formula `{document.code(node)}` ({PurePath(document.filename).name}:{row})"
        return KnobPlan((replace_node(document, node, repr(wanted)),), words)
    return _refuse(loader, knob, wanted, f"is decided by `{document.code(node)}`")


def entry_of(mapping: Mapping, key: str) -> cst.BaseExpression | None:
    """The expression that a dict display, or a ``dict(...)`` call, gives under a key."""
    if isinstance(mapping.node, cst.Call):
        for arg in mapping.node.args:
            if arg.keyword is not None and arg.keyword.value == key:
                return arg.value
    if isinstance(mapping.node, cst.Dict):
        for element in mapping.node.elements:
            if isinstance(element, cst.DictElement) and getattr(element.key, "evaluated_value", None) == key:
                return element.value
    return None
