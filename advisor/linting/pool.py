"""Programs checked in several processes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import get_context

from accel_advisor.finding import Severity
from accel_advisor.linting.report import Program, Result
from accel_advisor.linting.tool_findings import tool_finding
from accel_advisor.selection import INTERNAL_ERROR

Check = Callable[[Program, Mapping[str, bytes], Mapping[str, bytes]], Result]
"""Says everything about a program, from the bytes of its files and of others that stand instead of what is on disk."""


def pooled(
    check: Check, todo: Sequence[Program], contents: Mapping[str, bytes], sources: Mapping[str, bytes], jobs: int
) -> Iterable[Result]:
    """Results in the order of the programs; the largest are begun first, so that none is left alone at the end. Where
    a process dies, whatever was lost with it is tried again alone, so that one file on which the parser crashes costs
    its own program only. The processes collect garbage only now and then
    (:func:`accel_advisor.linting.garbage_collection.collect_now_and_then`)."""
    lost: list[Program] = []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=gc.disable) as pool:
        largest = sorted(range(len(todo)), key=lambda at: -_size(todo[at], contents))
        waiting = {at: _submit(pool, check, todo[at], contents, sources) for at in largest}
        for at, program in enumerate(todo):
            try:
                yield waiting.pop(at).result()
            except BrokenExecutor:
                lost.append(program)
    for program in lost:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                yield _submit(pool, check, program, contents, sources).result()
            except BrokenExecutor:
                message = "Internal error: the process that analysed this file died; please report it."
                yield Result(
                    program,
                    tuple(tool_finding(one, INTERNAL_ERROR, message, Severity.ERROR) for one in program.filenames),
                )


def _size(program: Program, contents: Mapping[str, bytes]) -> int:
    return sum(len(contents.get(filename, b"")) for filename in program.filenames)


def _submit(
    pool: ProcessPoolExecutor,
    check: Check,
    program: Program,
    contents: Mapping[str, bytes],
    sources: Mapping[str, bytes],
) -> Future[Result]:
    own = {name: contents[name] for name in program.filenames if name in contents}
    try:
        return pool.submit(check, program, own, dict(sources))
    except BrokenExecutor as error:  # it broke while there was still something to hand over
        failed: Future[Result] = Future()
        failed.set_exception(error)
        return failed
