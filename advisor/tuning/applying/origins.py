"""Where an argument of a loader is decided, and the edit that decides it otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath

import libcst as cst

from accel_advisor.editing.edits import add_before_splat, add_entry, add_keyword, replace_node
from accel_advisor.finding import Edit
from accel_advisor.interpreter.library.external_settings import settings_in
from accel_advisor.records.facts import LoaderCall, LoaderContext
from accel_advisor.records.operations import Argument
from accel_advisor.source.document import Document
from accel_advisor.source.program_lines import line_name
from accel_advisor.syntax.shapes import keywords_of
from accel_advisor.values.values import (
    ABSENT,
    Choice,
    Configured,
    Constant,
    Filed,
    Mapping,
    Opaque,
    Origin,
    Value,
    options_of,
)

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
    where = _named(origin.document, origin.node)
    what = {
        "argument": "the argument in the call",
        "constant": f"the constant `{origin.name}`",
        "dict entry": f"the dict entry `{origin.name}`",
        "parameter default": f"the default of the parameter `{origin.name}`",
        "argparse default": f"the argparse default of `{origin.name}`",
        "option default": f"the default of the option `{origin.name}`",
        "environment default": f"the default of the environment variable `{origin.name}`",
        "class attribute": f"the attribute `{origin.name}`",
        "formula": f"the formula `{origin.document.code(origin.node)}`",
    }[origin.kind]
    return f"{what} ({where})"


def _line(document: Document, node: cst.CSTNode) -> str:
    """The line of a node after the name of its file."""
    return line_name(document.filename, document.span(node).start.row)


def _named(document: Document, node: cst.CSTNode) -> str:
    return f"{PurePath(document.filename).name}:{_line(document, node)}"


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
        if value.origin is not None and _same(value.value, current):
            return _replaced(value.origin, wanted)
        return _refuse(loader, knob, wanted, "has another value at run time than the source says")
    if isinstance(value, Opaque) and value.origin is not None:
        outside = next(settings_in(value), None)
        if outside is not None:
            return _refuse(loader, knob, wanted, f"is computed from {_decider(outside)}")
        return _replaced(value.origin, wanted)
    if isinstance(value, Filed):
        return _refuse(loader, knob, wanted, *_in_file(loader, value, wanted))
    return _formula(loader, argument, knob, wanted)


def _replaced(origin: Origin, wanted: Setting) -> KnobPlan:
    """Another value at the place where the present one is decided; a string there holds it as text."""
    written = repr(wanted)
    if isinstance(origin.node, cst.SimpleString):
        written = f"{origin.node.prefix}{origin.node.quote}{wanted}{origin.node.quote}"
    return KnobPlan((replace_node(origin.document, origin.node, written),), describe(origin))


def _decider(value: Configured | Filed) -> str:
    """What decides a value from outside of the program, in words."""
    if isinstance(value, Filed):
        return f"`{'.'.join(value.keys)}` in {value.path or 'a file that is named at run time'}"
    if value.variable:
        return f"the environment variable `{value.variable}`"
    option = next((one for one in value.options if one.startswith("--")), next(iter(value.options), ""))
    return f"the option `{option}`" if option else "a setting"


def _in_file(loader: LoaderCall, value: Filed, wanted: Setting) -> tuple[str, str]:
    """Why an entry of a file is not edited, and what to do."""
    if not value.path:
        return f"is decided by {_decider(value)}", ""
    places = (Path(loader.document.filename).parent / value.path, Path(value.path))
    row = next((row for path in places if (row := row_of_key(path, value.keys)) is not None), None)
    line = f", line {row}" if row is not None else ""
    override = f", or run the script with `{'.'.join(value.keys)}={wanted}`" if value.overrides else ""
    return f"is decided by {_decider(value)}{line}", f"set it to {wanted!r} there{override}"


def row_of_key(path: Path, keys: tuple[str, ...]) -> int | None:
    """The line of a YAML, JSON or TOML file that gives the value under some keys; None where that is not certain."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    entry = re.compile(rf"""(?:^|[{{,])\s*["']?{re.escape(keys[-1])}["']?\s*[:=]""") if keys else None
    found = [row for row, line in enumerate(lines, 1) if entry is not None and entry.search(line)]
    return found[0] if len(found) == 1 else None


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


def _refuse(loader: LoaderCall, knob: str, wanted: Setting, why: str, remedy: str = "") -> KnobPlan:
    where = f"{loader.document.filename}:{_line(loader.document, loader.node)}"
    remedy = remedy or f"set it to {wanted!r} by hand"
    return KnobPlan(refusal=f"{knob} of `{loader.label}` ({where}) {why}; {remedy}")


def _add(loader: LoaderCall, context: LoaderContext, knob: str, wanted: Setting, expression: str) -> KnobPlan:
    if wanted in (None, False) and not (knob == "pin_memory" and loader.constructor.pins):
        return KnobPlan(words="DataLoader's own default")
    keyword = loader.constructor.prefix + knob
    if context.files:
        home = context.files[0]
        return _refuse(loader, knob, wanted, f"may stand in {_decider(home)}", f"write `{keyword}: {wanted}` there")
    if context.open:
        return _refuse(loader, knob, wanted, "may come out of arguments that could not be followed")
    where = _named(loader.document, loader.node)
    edits = add_keyword(loader.document, loader.node, keyword, expression)
    if edits is not None:
        return KnobPlan(edits, f"the call of `{loader.label}` ({where})")
    if len(context.mappings) == 1:
        mapping = context.mappings[0]
        edits = add_entry(mapping.document, mapping.node, keyword, repr(wanted))
        if edits is not None:
            return KnobPlan(edits, f"the dict in {edits[0].span.start.line} that is splatted into the call")
    closed = all(not one.open and knob not in one.arguments for one in loader.contexts)
    edit = add_before_splat(loader.document, loader.node, keyword, expression) if closed else None
    if edit is not None:
        return KnobPlan((edit,), f"the call of `{loader.label}` ({where})")
    return _refuse(loader, knob, wanted, "cannot be added beside `**` in the call")


def _configured(
    loader: LoaderCall, knob: str, wanted: Setting, current: Setting, value: Configured, argv: tuple[str, ...]
) -> KnobPlan:
    option = next((one for one in value.options if one.startswith("--")), next(iter(value.options), ""))
    given = f"{value.variable}=" if value.variable else f"{option} "
    remedy = f"run the script with `{given}{wanted}`"
    if any(word == one or word.startswith(f"{one}=") for word in argv for one in value.options):
        return _refuse(loader, knob, wanted, "is given on the command line", remedy)
    default = value.default
    if not isinstance(default, Constant) or default.origin is None or not _same(default.value, current):
        return _refuse(loader, knob, wanted, f"is decided by {_decider(value)} when the script starts", remedy)
    if isinstance(default.value, bool) or isinstance(wanted, bool):
        return _refuse(loader, knob, wanted, f"is decided by the flag `{option}`")
    return _replaced(default.origin, wanted)


def _formula(loader: LoaderCall, argument: Argument, knob: str, wanted: Setting) -> KnobPlan:
    """A value that is computed: a formula that stands in the call itself is replaced, anything else is named."""
    document, node = loader.document, argument.node.value if argument.node is not None else None
    if node is None and argument.mapping is not None:
        document, node = argument.mapping.document, entry_of(argument.mapping, loader.constructor.prefix + knob)
    if node is None:
        return _refuse(loader, knob, wanted, "could not be followed to a place in the source")
    computed = isinstance(node, (cst.Call, cst.BinaryOperation, cst.IfExp, cst.Comparison))
    if computed and (isinstance(argument.value, Opaque) or not isinstance(node, cst.Call)):
        words = f"the formula `{document.code(node)}` ({_named(document, node)})"
        return KnobPlan((replace_node(document, node, repr(wanted)),), words)
    return _refuse(loader, knob, wanted, f"is decided by `{document.code(node)}`")


def entry_of(mapping: Mapping, key: str) -> cst.BaseExpression | None:
    """The expression that a dict display, or a ``dict(...)`` call, gives under a key."""
    if isinstance(mapping.node, cst.Call):
        return keywords_of(mapping.node).get(key)
    if isinstance(mapping.node, cst.Dict):
        for element in mapping.node.elements:
            if isinstance(element, cst.DictElement) and getattr(element.key, "evaluated_value", None) == key:
                return element.value
    return None
