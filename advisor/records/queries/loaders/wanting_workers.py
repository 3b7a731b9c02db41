"""Loaders that would gain by worker processes, and can have them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Call, calls
from accel_advisor.records.dataset_facts import IssueKind
from accel_advisor.records.queries.loaders.drawn_ahead import draws_ahead
from accel_advisor.records.queries.loaders.start_method import loop_that_workers_run, start_methods
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall

FALLBACK = 4
"""Workers that a fix writes where nothing was measured; `accel-advisor tune` finds the number for a machine."""
FEW = 8
"""Samples of a batch that one worker may well have ready in time."""

_TUNED = ("persistent_workers", "prefetch_factor")
"""What stands beside a number of workers that was measured: a machine may have no cores for more."""
_WORKERS = re.compile(r"--(?:num|n|nb|loader|data|dataloader)?[-_]?(?:loader|data)?[-_]?workers", re.IGNORECASE)
"""Options that say how many workers a loader has."""

_POOLS = (AnyCall("Pool"), Call("joblib.Parallel"))
"""What runs functions in processes that may have no children of their own, of whatever context it is a method."""
_STARTERS = calls("multiprocessing.Process", "torch.multiprocessing.Process", "torch.multiprocessing.spawn")
"""What starts processes that may not either, where they are daemons."""

_MATTERS = re.compile(
    r"worker|process|debug|pickl|fork|spawn|thread|deadlock|\bhang|crash|freez|windows|jupyter|notebook|memory|\bshm\b",
    re.IGNORECASE,
)
_TO_TOOLS = re.compile(r"(?:noqa|type|pylint|mypy|pyright|ruff|fmt|isort|nosec|pragma)\b\s*(?:[:=]|$)", re.IGNORECASE)
_CODE = (ast.Call, ast.Assign, ast.Attribute, ast.Constant, ast.keyword, ast.Import, ast.ImportFrom, ast.Return)


@dataclass(frozen=True, slots=True)
class FewWorkers:
    """A loader with one worker or two.

    Attributes:
        workers: how many.
        decided_by: the option that decides it; empty where none does.
        unused: the option that the program has for it, and does not give to the loader; empty where it has none.
    """

    loader: LoaderCall
    workers: int
    decided_by: str
    unused: str


def loaders_wanting_workers(facts: Facts) -> Iterator[LoaderCall]:
    """The loaders of a document whose samples take work, which the main process does, while an accelerator waits:
    without ``num_workers``, or with a 0 that nobody explained, or with an option that is 0 unless it is given; of
    several with one option the first. Where samples take little, a step that draws the next batch while the GPU
    computes has it in time."""
    options: set[str] = set()
    for loader in facts.loaders:
        if not loader.constructor.advises or loader.constructor.default_workers != 0:
            continue
        given = loader.given("num_workers")
        zero = loader.gives("num_workers", 0) or given.default.is_literal(0)
        if not given.absent and (not zero or _is_deliberate(loader) or given.decided_by in options):
            continue
        if loader.dataset is not None and loader.dataset.cost != "costly" and draws_ahead(facts, loader):
            continue
        if loader.feeds_gpu and (loader.works or loader.moved_by) and _works_in_workers(facts, loader):
            options |= {given.decided_by} - {""}
            yield loader


def loaders_with_few_workers(facts: Facts) -> Iterator[FewWorkers]:
    """The loaders of a document from which a model learns, or on whose batches it is evaluated, and whose batches one
    worker, as the program says or an option does unless it is given, makes of samples that are read or decoded, or two,
    as the program says, of samples that are decoded; of several with one option the first."""
    options: set[str] = set()
    for loader in facts.loaders:
        given, batch, dataset = loader.given("num_workers"), loader.given("batch_size").default, loader.dataset
        trains = any(loop.backward for loop in loader.passes)
        works = trains or any(loop.calls_model for loop in loader.passes)
        if not loader.constructor.advises or dataset is None or dataset.cost != "costly" or not works:
            continue
        one = loader.gives("num_workers", 1) or given.default.is_literal(1)
        two = loader.gives("num_workers", 2) and dataset.decodes and not any(each.open for each in loader.contexts)
        two = two and not any(not loader.given(name).absent for name in _TUNED)
        least = 2 * FEW if two else FEW
        small = (trains or two) and (batch.absent or (isinstance(batch.literal, int) and batch.literal < least))
        if not (one or two) or small or _is_deliberate(loader) or given.decided_by in options:
            continue
        if loader.feeds_gpu and _works_in_workers(facts, loader):
            options |= {given.decided_by} - {""}
            yield FewWorkers(loader, 1 if one else 2, given.decided_by, "" if given.configured else _option(facts))


def _option(facts: Facts) -> str:
    """The option of the command line by which a program lets its user choose a number of workers."""
    for document in (one.document for one in facts.program if "add_argument" in one.document.text):
        for call in descendants(document.tree, cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value == "add_argument":
                names = [str(arg.value.raw_value) for arg in call.args if isinstance(arg.value, cst.SimpleString)]
                found = [name for name in names if _WORKERS.fullmatch(name)]
                if found:
                    return found[0]
    return ""


def _works_in_workers(facts: Facts, loader: LoaderCall) -> bool:
    """Whether workers would take work off the main process, and break nothing."""
    dataset = loader.dataset
    if dataset is None or not dataset.reason or dataset.cost == "memory":
        return False
    if dataset.vetoes or dataset.on_device or dataset.changes or loader.suffers(IssueKind.DEVICE):
        return False
    return not _has_childless_processes(facts) and not _would_not_start(facts, loader)


def _has_childless_processes(facts: Facts) -> bool:
    """Whether the program works in processes that may not start workers."""
    started, pools = facts.program.operations_of(*_STARTERS), facts.program.operations_of(*_POOLS)
    daemons = any(not one.gives("daemon", False) and not one.lacks("daemon") for one in started)
    return daemons or not all(one.gives("backend", "threading") or one.gives("prefer", "threads") for one in pools)


def _would_not_start(facts: Facts, loader: LoaderCall) -> bool:
    """Whether workers begin with an import of the script, somewhere, and could not be started for a loader so."""
    if not start_methods(facts, loader).fresh:
        return False
    if facts.document.notebook is not None or loader.suffers(IssueKind.UNPICKLABLE):
        return True  # what the cells of a notebook define cannot be imported
    return loop_that_workers_run(facts, loader) is not None


def _is_deliberate(loader: LoaderCall) -> bool:
    """Whether an explicit zero was thought about: a comment stands on its line, or one above speaks of the matter."""
    here = loader.document.span(loader.node).start.row
    rows = [(one.document, one.document.span(one.node).start.row) for one in loader.origins("num_workers")]
    if any(_explains(document.comment_beside(row)) for document, row in rows):
        return True
    above = [document.comment_above(row) for document, row in (*rows, (loader.document, here))]
    return any(_MATTERS.search(comment) and _explains(comment) for comment in above)


def _explains(comment: str) -> bool:
    """Whether a comment is prose: no code that was commented out, and no word to a tool."""
    text = comment.lstrip("#").strip().rstrip(",")
    return bool(text) and not _TO_TOOLS.match(text) and not _is_code(text)


def _is_code(text: str) -> bool:
    for source in (text, f"call({text})"):
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        parts = [part for part in ast.walk(tree) if isinstance(part, _CODE)]
        if len(parts) > (source != text):
            return True
    return False
