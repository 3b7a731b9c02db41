"""What the interpreter recorded at one line, in words."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.records.actions import Act, Action, Decorates, Method, Reads, Sets, SetsItem
from accel_advisor.records.facts import DeviceName, Facts
from accel_advisor.records.loaders import LoaderCall
from accel_advisor.records.loops import Loop
from accel_advisor.records.operations import Operation
from accel_advisor.records.transfers import ModuleCall, Transfer
from accel_advisor.syntax.line_breaks import in_one_line

LineRecord = LoaderCall | Transfer | Loop | ModuleCall | Operation | DeviceName
_LONGEST = 60
_ACTS = {
    Act.ADDS: "an addition to something that autograd follows",
    Act.AUGMENTS: "changes a value in place, as `+=` does",
    Act.COMPUTES_UNARRIVED: "the host computes with what is still being copied to it",
    Act.ELAPSED: "the time between two readings of the clock",
    Act.EXITS_BY_DEVICE: "a test of a kind of device, after which nothing else runs",
    Act.FORMATS: "a tensor becomes a part of a string",
    Act.INDEXES_BY_MASK: "a tensor is indexed with a mask",
    Act.INDEXES_BY_NUMBER: "a tensor is used as a number, for an index or the end of a slice",
    Act.MIXES_PLACES: "an operator between tensors in different places",
    Act.READS_FIRST: "reads a tensor without dimensions, as torch did until 0.4",
    Act.SAVES_STATE: "saves the state of a module",
    Act.SETS_MODULE_ATTRIBUTE: "sets an attribute of a module",
    Act.SETS_TENSOR_ITEM: "sets items of a tensor",
    Act.TAKES_FIRST_BATCH: "takes the first batch of a loader, which begins again",
    Act.TRUTH: "the truth of a tensor decides what happens next",
}


def records_at(facts: Facts, row: int) -> list[LineRecord]:
    """The records whose code stands on a line of the document; of a loop, whose head does."""
    found: list[LineRecord] = []
    kinds = (facts.loaders, facts.loops, facts.transfers, facts.module_calls, facts.operations, facts.devices)
    for record in (record for kind in kinds for record in kind):
        if isinstance(record, LoaderCall) and not record.basis.proven and record.opaque:
            continue  # it is known by its use, and no call of it is in sight
        if isinstance(record, Operation) and record.what is Act.GOES_OVER:
            continue  # the loop is a record of its own
        if record.document is facts.document and _stands_on(facts, record.node, row):
            found.append(record)
    return found


def described(facts: Facts, record: LineRecord) -> str:
    """A record in words: what it is, and what is and is not known of it."""
    code = in_one_line(facts.document.code(_head(record.node)), _LONGEST)
    return f"`{code}`: {', '.join(_known(facts, record))}"


def _known(facts: Facts, record: LineRecord) -> Iterator[str]:
    match record:
        case LoaderCall():
            yield "a loader" if record.basis.proven else "taken for a loader by its use"
            yield _workers(record)
            yield "its batches are pinned" if record.pins else "not known to pin its batches"
            lines = sorted({facts.document.span(one.node).start.row for one in record.loops if _own(facts, one)})
            yield f"its batches are taken in line {', '.join(map(str, lines))}" if lines else "no loop is seen over it"
        case Loop():
            yield "a loop that trains" if record.backward else "a loop"
            named = [one.label for one in record.loaders if isinstance(one, LoaderCall)]
            yield f"over {', '.join(dict.fromkeys(named))}" if named else _rows(record)
        case Transfer():
            yield "a copy"
            kinds = record.kinds
            yield (
                "to a device that is not known"
                if "unknown" in kinds or not kinds
                else f"to {' or '.join(sorted(kinds))}"
            )
            named = [one.loader.label for one in record.contexts if isinstance(one.loader, LoaderCall)]
            yield f"of batches of {', '.join(dict.fromkeys(named))}" if named else "not of a batch of a known loader"
            yield "which waits" if record.waits else "which is not known to wait"
        case ModuleCall():
            yield "a loss" if record.loss else "a call of a module"
            if any(one.on_accelerator for one in record.contexts):
                yield "on an accelerator"
            elif record.contexts and all(one.on_host for one in record.contexts):
                yield "on the host"
            else:
                yield "on a device that is not known"
        case Operation():
            yield _done(record.what)
        case DeviceName():
            yield f"a name of a device: {' or '.join(sorted(record.kinds))}"


def _done(what: Action) -> str:
    """What an operation does."""
    match what:
        case Act():
            return _ACTS[what]
        case Sets() | SetsItem():
            return f"sets `{what.full}`"
        case Reads():
            return f"reads `{what.full}`"
        case Decorates():
            return f"decorates with `{what.full}`"
        case Method(owner="?"):
            return f"a call of `{what.name}` of something that is not known"
    return f"a call of `{what.full}`"


def _workers(loader: LoaderCall) -> str:
    count = loader.default_count("num_workers")
    if count is None:
        return "its number of workers is not known"
    return f"{count} worker{'' if count == 1 else 's'}" if count else "no workers"


def _rows(loop: Loop) -> str:
    return "which counts" if loop.counts else "over something that is not known to be a loader"


def _own(facts: Facts, loop: Loop) -> bool:
    return loop.document is facts.document


def _head(node: cst.CSTNode) -> cst.CSTNode:
    return node.iter if isinstance(node, cst.For) else node.test if isinstance(node, cst.While) else node


def _stands_on(facts: Facts, node: cst.CSTNode, row: int) -> bool:
    start, end = facts.document.span(node).start, facts.document.span(_head(node)).end
    return start.row <= row <= end.row
