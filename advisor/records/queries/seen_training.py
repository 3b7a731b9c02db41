"""What is seen of the training in a file: the places that a trial measures, and more where all rules are silent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import calls
from accel_advisor.records.loaders import loaders_in
from accel_advisor.sights import Gap, Landmark, NotKnown, Seen, SeenLoader, Sight
from accel_advisor.syntax.line_breaks import in_one_line
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.frameworks import FRAMEWORK_CALLS, FRAMEWORK_CLASSES

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.loops import Loop
    from accel_advisor.records.transfers import Transfer
    from accel_advisor.source.document import Document

_TRAINERS = calls(*FRAMEWORK_CALLS, *FRAMEWORK_CLASSES)
LONGEST_CODE = 40


def seen_training(facts: Facts) -> Seen | None:
    """What is seen of the training in a document; None where neither a loop of it nor a framework trains."""
    if not any(loop.backward for loop in facts.loops) and not facts.operations_of(*_TRAINERS):
        return None
    taken = [one for loop in facts.loops for one in loaders_in(loop)]
    # one that nothing in sight builds has no call to point at
    loaders = [one for one in dict.fromkeys([*facts.loaders, *taken]) if one.basis.proven]
    copies = [one for one in facts.transfers if _copies_batches(one)]
    waiting = sum(one.waits for one in copies)
    return Seen(
        facts.document.filename,
        tuple(_loader(facts, one) for one in loaders),
        asynchronous=len(copies) - waiting,
        waiting=waiting,
        moved_by=tuple(sorted({one.moved_by for one in loaders if one.moved_by} | facts.own_frameworks)),
        gaps=(*_batches(facts), *_devices(facts, copies)),
    )


def landmarks(facts: Facts) -> Iterator[Landmark]:
    """The calls of a document that build loaders, and its loops whose own passes train."""
    document = facts.document
    for loader in dict.fromkeys(facts.loaders):
        if loader.basis.proven and loader.document is document:
            yield Landmark(Sight.LOADER, document.filename, document.span(loader.node), loader.name)
    for loop in facts.loops:
        if loop.learns and isinstance(loop.node, cst.For) and loop.document is document:
            yield Landmark(Sight.LOOP, document.filename, document.span(loop.node))


def _loader(facts: Facts, loader: LoaderCall) -> SeenLoader:
    pins = True if loader.pins else None
    if loader.gives("pin_memory", None) or loader.gives("pin_memory", False):
        pins = False
    kind = loader.constructor.name.rpartition(".")[2]
    return SeenLoader(kind, _line(facts, loader.document, loader.node), pins, loader.default_count("num_workers"))


def _copies_batches(transfer: Transfer) -> bool:
    """Whether it moves tensors, in a loop or batches of a loader, to a device that may be an accelerator."""
    return any(
        context.kinds != {"cpu"}
        and (context.loader is not None or (context.loop is not None and context.moved.is_tensor))
        for context in transfer.contexts
    )


def _batches(facts: Facts) -> Iterator[NotKnown]:
    """The training loops over something that is not known to be a loader."""
    for loop in facts.loops:
        if isinstance(loop.node, cst.For) and _trains_on_unknown(loop):
            yield NotKnown(Gap.BATCHES, _line(facts, loop.document, loop.node), _code(facts.document, loop.node.iter))


def _trains_on_unknown(loop: Loop) -> bool:
    loaders = [loader for one in (loop, *loop.outer) for loader in loaders_in(one)]
    return loop.backward and not loop.counts and not any(one.basis.proven for one in loaders)


def _devices(facts: Facts, copies: list[Transfer]) -> Iterator[NotKnown]:
    """The devices of copies that may be anything, each once."""
    named: set[str] = set()
    for one in copies:
        if one.device is not None and all("unknown" in context.kinds for context in one.contexts):
            code = _code(facts.document, one.device)
            if code not in named:
                named.add(code)
                yield NotKnown(Gap.DEVICE, _line(facts, one.document, one.node), _bound(one.document, one.device))


def _bound(document: Document, device: cst.BaseExpression) -> str:
    """The code of a device; of a name, how it is bound last before it is used."""
    name, at = document.code(device), document.span(device).start
    bound = [
        one
        for one in descendants(document.tree, cst.Assign)
        if any(document.code(target.target) == name for target in one.targets) and document.span(one).start < at
    ]
    return _code(document, bound[-1] if bound else device)


def _line(facts: Facts, document: Document, node: cst.CSTNode) -> str:
    line = document.span(node).start.line
    return line if document is facts.document else f"{line} of {document.filename}"


def _code(document: Document, node: cst.CSTNode) -> str:
    return in_one_line(document.code(node), LONGEST_CODE)
