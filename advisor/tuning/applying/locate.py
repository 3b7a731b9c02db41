"""From the stack that built a loader at run time to its call in the source, and to the edits of its settings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import libcst as cst

from accel_advisor.analysis.project import analyze
from accel_advisor.finding import Edit
from accel_advisor.project.discovery import Discoverer, Patterns
from accel_advisor.project.project_index import ProjectIndex
from accel_advisor.records.actions import Within, calls
from accel_advisor.records.facts import Facts, LoaderCall, LoaderContext
from accel_advisor.source.document import Document
from accel_advisor.source.parsing import DocumentError
from accel_advisor.source.program_lines import line_name
from accel_advisor.tables.loader_libraries import SETTINGS
from accel_advisor.tuning.applying.origins import KnobPlan, Setting, plan_knob
from accel_advisor.tuning.applying.project_code import own_frames
from accel_advisor.tuning.probe.channel.wire import Frame


@dataclass(frozen=True, slots=True)
class EditPlan:
    """How to bring wanted settings about in the source.

    Attributes:
        filename, row: the call that builds the loader, in the user's own code.
        name: what the source calls the loader.
        edits: what to change, possibly in several files; none where one of the loader's own arguments cannot be edited,
            since the others may depend on it.
        origin: where the settings are decided, in words.
        refusals: for each setting that cannot be edited, why, and what to do by hand; a sentence each.
    """

    filename: str
    row: int
    name: str
    edits: tuple[Edit, ...]
    origin: str
    refusals: tuple[str, ...]


DEFAULTS: dict[str, Setting] = {
    "num_workers": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "pin_memory": False,
    "non_blocking": False,
}
"""What DataLoader (and a transfer) does where an argument is not given."""


def plan_edits(
    stack: Sequence[Frame],
    wanted: Mapping[str, Setting],
    *,
    root: Path,
    argv: tuple[str, ...] = (),
    current: Mapping[str, Setting] | None = None,
) -> EditPlan:
    """The edits that give the loader that ``stack`` built the wanted settings, each where its value is decided.

    Args:
        stack: the frames that built the loader, outermost first, library frames included.
        wanted: settings under DataLoader's argument names, ``non_blocking`` for the transfers of its batches.
        root: the project's root; files outside it, and installed packages, are never edited.
        argv: the script's command line arguments.
        current: the settings that were measured; DataLoader's defaults where they are not given.

    Raises:
        DocumentError: a file of the user's own in the stack cannot be read or parsed.
    """
    own = own_frames(stack, root)
    if not own:
        return EditPlan("", 0, "", (), "", ("the loader is built by a library, out of reach of the script's source",))
    found = _locate(own, root)
    if found is None:
        last = own[-1]
        refusal = f"no call that builds a loader was recognised in {last.filename}:{line_name(last.filename, last.row)}"
        return EditPlan(last.filename, last.row, "", (), "", (refusal,))
    loader, callers = found
    return _plan(loader, callers, wanted, {**DEFAULTS, **(current or {})}, argv)


def loader_of(stack: Sequence[Frame], *, root: Path) -> LoaderCall | None:
    """What the source says about the loader that ``stack`` built; None where its call is not recognised.

    Raises:
        DocumentError: a file of the user's own in the stack cannot be read or parsed.
    """
    found = _locate(own_frames(stack, root), root)
    return found[0] if found is not None else None


def call_at(frame: Frame, root: Path, package: str) -> tuple[Document, cst.Call] | None:
    """The call of something of a package that a frame was executing; None where it is not recognised.

    Raises:
        DocumentError: the frame's file cannot be read or parsed.
    """
    document = Document.read(frame.filename)
    _ = document.tree
    facts = analyze([document], root, callers=_callers([document], root)).facts.get(frame.filename)
    for operation in facts.operations_of(Within(package)) if facts is not None else ():
        node = operation.node
        if isinstance(node, cst.Call) and is_at(document, node, frame):
            return document, node
    return None


def _locate(own: list[Frame], root: Path) -> tuple[LoaderCall, list[Frame]] | None:
    """The loader that the innermost of these frames built, and the frames that led to its call."""
    documents = {name: Document.read(name) for name in dict.fromkeys(frame.filename for frame in own)}
    for document in documents.values():
        _ = document.tree
    facts = analyze(list(documents.values()), root, callers=_callers(documents.values(), root)).facts
    for index in range(len(own) - 1, -1, -1):
        frame = own[index]
        loader = _loader_at(facts.get(frame.filename), documents[frame.filename], frame)
        if loader is not None:
            return loader, own[:index]
    settings = _settings(list(facts.values()))
    return (settings, []) if settings is not None else None


def _callers(documents: Iterable[Document], root: Path) -> list[str]:
    """The files of the project that import one of the documents: they may call into it with values that matter."""
    top = os.path.realpath(root)
    index = ProjectIndex(top, Discoverer(lambda _: Patterns(Path(top))).walk(top, []))
    return index.importers(document.path for document in documents)


def _settings(everything: list[Facts]) -> LoaderCall | None:
    """The one call that gives a framework the settings of the loader that it builds by itself."""
    found = [operation for facts in everything for operation in facts.operations_of(*calls(*SETTINGS))]
    call = found[0] if len(found) == 1 else None
    if call is None or len(call.contexts) != 1 or not isinstance(call.node, cst.Call):
        return None
    constructor, context = SETTINGS[call.what.full], call.contexts[0]
    given = {
        key.removeprefix(constructor.prefix): argument
        for key, argument in context.arguments
        if isinstance(key, str) and key.startswith(constructor.prefix)
    }
    mappings = {one.mapping: None for _, one in context.arguments if one.mapping is not None}
    built = LoaderContext(given, context.open, tuple(mappings), ())
    return LoaderCall(call.document, call.node, constructor, contexts=[built])


def _loader_at(facts: Facts | None, document: Document, frame: Frame) -> LoaderCall | None:
    if facts is None:
        return None
    found = [loader for loader in facts.loaders if is_at(document, loader.node, frame)]
    return found[0] if len(found) == 1 else None


def is_at(document: Document, node: cst.CSTNode, frame: Frame) -> bool:
    """Whether a frame was executing this call.

    CPython gives the end of a call exactly; its start may be the line of the attribute where the callee is dotted.
    """
    span = document.span(node)
    if frame.end_row and frame.end_column:
        return (span.end.row, span.end.column) == (frame.end_row, frame.end_column)
    return span.start.row <= frame.row <= span.end.row


def _plan(
    loader: LoaderCall,
    callers: list[Frame],
    wanted: Mapping[str, Setting],
    current: Mapping[str, Setting],
    argv: tuple[str, ...],
) -> EditPlan:
    document = loader.document
    row = document.span(loader.node).start.row
    where = f"{document.filename}:{line_name(document.filename, row)}"
    context = _context(loader, callers)
    plans: dict[str, KnobPlan] = {}
    settled = True
    for knob, value in sorted(wanted.items(), key=lambda item: item[0] != "num_workers"):
        if knob == "non_blocking":
            plan = _transfers(loader, bool(value))
        elif context is None:
            plan = KnobPlan(
                refusal=f"`{loader.label}` ({where}) is built in several ways, and which one was "
                f"measured is not known; set {knob} to {value!r} by hand"
            )
        else:
            plan = plan_knob(loader, context, knob, value, current.get(knob), argv, settled=settled)
            if knob == "num_workers":
                settled = _settles(loader, plan)
        plans[knob] = plan
    refusals = [plan.refusal for plan in plans.values() if plan.refusal]
    if any(plan.refusal for knob, plan in plans.items() if knob != "non_blocking"):
        refusals += [
            f"set {knob} to {wanted[knob]!r} together with that: {plan.words}"
            for knob, plan in plans.items()
            if plan.edits
        ]
        plans = {}
    edits = tuple(edit for plan in plans.values() for edit in plan.edits)
    words = dict.fromkeys(plan.words for plan in plans.values() if plan.edits)
    return EditPlan(document.filename, row, loader.label, edits, ", ".join(words), tuple(refusals))


def _settles(loader: LoaderCall, plan: KnobPlan) -> bool:
    """Whether an edit of ``num_workers`` stands in the loader's own call."""
    span = loader.document.span(loader.node)
    return any(
        edit.filename == loader.document.filename and span.start <= edit.span.start < span.end for edit in plan.edits
    )


def _context(loader: LoaderCall, callers: list[Frame]) -> LoaderContext | None:
    """The way in which the loader was built: the one whose chain of calls is that of the stack."""
    if loader.opaque:
        return None
    if len(loader.contexts) == 1:
        return loader.contexts[0]
    scored = [(_score(context, callers), context) for context in loader.contexts]
    best = max((score for score, _ in scored), default=0)
    fitting = [context for score, context in scored if score == best]
    return fitting[-1] if best > 0 or len(fitting) == 1 else None


def _score(context: LoaderContext, callers: list[Frame]) -> int:
    """How many of the calls that led to the loader, innermost first, the stack confirms; -1 where it contradicts."""
    score = 0
    for site, frame in zip(reversed(context.chain), reversed(callers), strict=False):
        same = Path(site.document.filename).resolve() == Path(frame.filename).resolve()
        if not same or not is_at(site.document, site.node, frame):
            return -1 if score == 0 else score
        score += 1
    return score


def _transfers(loader: LoaderCall, wanted: bool) -> KnobPlan:
    """Makes the copies of a loader's batches asynchronous, each at its call."""
    if not wanted:
        return KnobPlan()
    waiting = [one for one in loader.transfers if one.waits and one.method in ("to", "cuda")]
    given = [edits for one in waiting if (edits := one.keyword_edits("non_blocking", "True")) is not None]
    if not waiting or len(given) < len(waiting):
        return KnobPlan(
            refusal=f"the copies of the batches of `{loader.label}` to the device were not all found; "
            f"pass non_blocking=True to them by hand"
        )
    lines = ", ".join(one.document.span(one.node).start.line for one in waiting)
    return KnobPlan(tuple(chain.from_iterable(given)), f"the copies in {lines}")


__all__ = ["DocumentError", "EditPlan", "plan_edits"]
