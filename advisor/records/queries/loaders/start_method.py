"""How worker processes are started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import libcst as cst

from accel_advisor.project.target import Target
from accel_advisor.records.actions import calls
from accel_advisor.syntax.shapes import main_guards
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import ABSENT, Constant, Opaque, Value

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall, Loop

StartMethod = Literal["fork", "spawn", "forkserver"]

_METHODS = ("fork", "spawn", "forkserver")
_SETTERS = calls("multiprocessing.set_start_method", "torch.multiprocessing.set_start_method")
_FORKSERVER_SINCE = (3, 14)
_WHERE = {"forkserver": " (from Python 3.14 on)", "spawn": " (outside of Linux)"}


@dataclass(frozen=True, slots=True)
class Starts:
    """How the workers of a loader are started, wherever the project runs.

    Attributes:
        methods: those that are used where the project says that it runs; empty where the program's choice is not known.
            A project that names no platform counts as one for Linux, and one that names no Python as one before 3.14.
        complete: whether the project or the program rules out all others.
    """

    methods: frozenset[StartMethod]
    complete: bool = True

    @property
    def forks(self) -> bool:
        """Whether workers are copies of the process, somewhere."""
        return "fork" in self.methods

    @property
    def fresh(self) -> str:
        """The methods that start a fresh interpreter, which imports the script and unpickles what a worker needs, as
        words, with where that is, if others are forked; empty where there are none."""
        where = _WHERE if self.forks else {}
        return " or ".join(f"{method}{where.get(method, '')}" for method in sorted(self.methods - {"fork"}))


def start_methods(facts: Facts, loader: LoaderCall) -> Starts:
    """How the workers of a loader are started: its own ``multiprocessing_context`` decides, then the program's
    ``set_start_method``, then the platform and the version of Python."""
    own = loader.get("multiprocessing_context")
    if own != ABSENT and not (isinstance(own, Constant) and own.value is None):
        return _chosen([own])
    chosen = [operation.get("method", 0) for operation in facts.program.operations_of(*_SETTERS)]
    return _chosen(chosen) if chosen else _defaults(facts.target)


def loop_that_workers_run(facts: Facts, loader: LoaderCall) -> Loop | None:
    """The first loop over a loader to which a worker that imports the script comes, too: at the top level of this
    document, or in a function that is called there, outside of ``if __name__ == "__main__":``."""
    document = facts.document
    guards = [document.span(one) for one in main_guards(document.tree)]
    called = _called_at_the_top(document.tree)
    for loop in loader.passes:
        if loop.document is not document:
            continue
        places = called.get(loop.functions[0], []) if loop.functions else [loop.node]
        starts = [document.span(one).start for one in places]
        if any(not any(span.start <= start < span.end for span in guards) for start in starts):
            return loop
    return None


def _called_at_the_top(module: cst.Module) -> dict[str, list[cst.CSTNode]]:
    """The calls of functions that a module makes when it is imported, by name."""
    found: dict[str, list[cst.CSTNode]] = {}
    for statement in module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            continue
        later = {id(call) for one in descendants(statement, cst.FunctionDef) for call in descendants(one, cst.Call)}
        for call in descendants(statement, cst.Call):
            if isinstance(call.func, cst.Name) and id(call) not in later:
                found.setdefault(call.func.value, []).append(call)
    return found


def _chosen(values: list[Value]) -> Starts:
    names = {_named(value) for value in values}
    known = names.pop() if len(names) == 1 else None
    return Starts(frozenset({known}) if known is not None else frozenset())


def _defaults(target: Target) -> Starts:
    methods: set[StartMethod] = set()
    if target.runs_on("linux"):
        if target.python.all_from(_FORKSERVER_SINCE) is not True:
            methods.add("fork")
        if target.python.reach(_FORKSERVER_SINCE):
            methods.add("forkserver")
    if target.platforms - {"linux"}:
        methods.add("spawn")
    python_is_known = "linux" not in target.platforms or target.python.reach(_FORKSERVER_SINCE) is not None
    return Starts(frozenset(methods), bool(target.platforms) and python_is_known)


def _named(value: Value) -> StartMethod | None:
    if isinstance(value, Opaque) and value.name.endswith("multiprocessing.get_context") and value.arguments:
        value = value.arguments[0]
    if isinstance(value, Constant) and value.value in _METHODS:
        return cast("StartMethod", value.value)
    return None
