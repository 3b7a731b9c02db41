"""Files -> programs -> findings: which files are understood together, what is known of them, and the rest checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from accel_advisor.config import Config, ConfigError
from accel_advisor.configurations import Configurations
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.report import Program, Report, Result
from accel_advisor.linting.ruleset import Ruleset, failures
from accel_advisor.linting.tool_findings import is_readable, unreadable
from accel_advisor.project.discovery import Found, is_generated, mentions_accelerators
from accel_advisor.project.import_graph import Group
from accel_advisor.project.project_index import ProjectIndex, digest_of
from accel_advisor.selection import SelectorError
from accel_advisor.source.excerpt import excerpt
from accel_advisor.source.shown_path import shown_path

POOL_BYTES = 400_000
"""Source that one process goes through in less time than a second one takes to start."""


class Known(Protocol):
    """What is known of one project from before."""

    @property
    def index(self) -> Any:
        """An earlier index, or its data; None where there is none."""

    @property
    def settled(self) -> bool:
        """Whether what is on disk is taken to be as that index saw it."""

    def keep_index(self, index: ProjectIndex) -> None:
        """Remembers its index."""

    def get(self, program: Program, digests: Iterable[str]) -> Result | None:
        """What is known of a program whose files have these digests."""

    def put(self, result: Result, digests: Iterable[str]) -> None:
        """Remembers what was found in a program whose files have these digests."""


class Memory(Protocol):
    """What is known of projects from before."""

    def of(self, root: str, contents: Mapping[str, bytes]) -> Known:
        """Of the project with a root, where these bytes by absolute path stand instead of what is on disk."""


def lint(
    files: Sequence[Found],
    configurations: Configurations,
    *,
    jobs: int = 1,
    memory: Memory | None = None,
    sources: Mapping[str, bytes] | None = None,
    checker: Checker | None = None,
) -> Report:
    """Lints files. What is found in a file depends on its project and on its configuration, and not on which other
    files are linted beside it; findings of every severity are reported. Files whose configuration cannot be used are
    left out, and the report says why among its failures.

    Args:
        files: what :class:`~accel_advisor.project.discovery.Discoverer` found.
        configurations: which rules run where.
        jobs: processes at most; more than one is started only where there is enough to do.
        memory: what is known from earlier runs.
        sources: bytes by filename that stand instead of what is on disk.
        checker: one that has checked other programs before.

    Raises:
        ConfigError, SelectorError: all files are left out for that.
    """
    report = Report()
    errors = [configurations.near(one.filename).error for one in files]
    usable = [one for one, error in zip(files, errors, strict=True) if error is None]
    wrong = dict.fromkeys(error for error in errors if error is not None)
    if not usable and configurations.errors:
        raise ConfigError(next(iter(wrong), configurations.errors[0]))
    unsaved = {os.path.realpath(name): raw for name, raw in (sources or {}).items()}
    contents, looked_at = _read(usable, unsaved, report)
    selected = configurations.known
    todo: list[Program] = []
    for root, paths in _by_root(contents, configurations).items():
        known = memory.of(root, unsaved) if memory else None
        index = ProjectIndex(
            root,
            configurations.files(root),
            unsaved,
            known.index if known else None,
            settled=known.settled if known else False,
            given_up=configurations.given_up(root),
        )
        left_out = index.left_out(looked_at)
        report.leave_out(left_out)
        paths = [path for path in paths if path not in left_out]
        for group in dict.fromkeys(index.program(path) for path in paths):
            program = _program(group, root, report.asked, configurations)
            result = known.get(program, index.digests(group)) if known else None
            if result is None or any(index.placed(os.path.realpath(one)) != at for one, at in result.program.placed):
                todo.append(program)
            else:
                report.take(result)
        if known:
            known.keep_index(index)
    unseen = _unseen(selected, report.programs, todo)
    for config in unseen:
        try:
            _ = Ruleset(config).on
        except SelectorError as error:
            configurations.refuse(config, error)
            if all(configurations.near(one.filename).error for one in files):
                raise
            return lint(files, configurations, jobs=jobs, memory=memory, sources=sources, checker=checker)
    missing = failures() if unseen else ()
    report.failures = (*wrong, *missing)
    shown = {shown_path(path): raw for path, raw in unsaved.items()}
    texts = {name: raw for one in todo for name in one.filenames if (raw := _bytes(name, contents, shown)) is not None}
    for result in _check(checker or Checker(), todo, texts, shown, jobs):
        report.take(result)
        if memory and not missing:
            program = result.program
            digests = [_digest(texts.get(name, b""), name in program.scripts) for name in program.filenames]
            memory.of(program.root, unsaved).put(result, digests)
    report.findings.sort(key=lambda one: one.sort_key)
    report.seen.sort(key=lambda one: one.filename)
    at = {name: path for path, name in report.asked.items()}
    report.sources = {one.filename: contents[at[one.filename]] for one in report.findings if one.filename in at}
    return report


def to_lint(files: Sequence[Found], configurations: Configurations) -> list[Found]:
    """The files of those that were found that a lint looks at, in their order: not what its owner gave up."""
    left: set[str] = set()
    for root in dict.fromkeys(configurations.root(os.path.dirname(os.path.realpath(one.filename))) for one in files):
        given_up = configurations.given_up(root)
        if given_up:
            left |= ProjectIndex(root, configurations.files(root), given_up=given_up).left_out(files).keys()
    return [one for one in files if os.path.realpath(one.filename) not in left]


def _read(files: Sequence[Found], unsaved: Mapping[str, bytes], report: Report) -> tuple[dict[str, bytes], list[Found]]:
    """The bytes of the files that were asked for and mention accelerators, by absolute path; of those that were named,
    also what cannot be parsed: "nothing found" would not be true of it. And all files that were looked at."""
    contents: dict[str, bytes] = {}
    looked_at: list[Found] = []
    for one in files:
        path = os.path.realpath(one.filename)
        try:
            raw = unsaved[path] if path in unsaved else Path(path).read_bytes()
        except FileNotFoundError:  # it vanished after it was found
            continue
        except OSError as error:
            report.findings.append(unreadable(one.filename, f"cannot be read: {error.strerror or error}"))
            report.checked += 1
            continue
        if not one.named and is_generated(raw):
            continue
        report.checked += 1
        looked_at.append(one)
        if mentions_accelerators(raw) or (one.named and not is_readable(one.filename, raw)):
            contents[path] = raw
            report.asked[path] = one.filename
    return contents, looked_at


def _by_root(paths: Iterable[str], configurations: Configurations) -> dict[str, list[str]]:
    """Files by the roots of their projects."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(configurations.root(os.path.dirname(path)), []).append(path)
    return found


def _program(group: Group, root: str, asked: Mapping[str, str], configurations: Configurations) -> Program:
    return Program(
        tuple(shown_path(path) for path in group.files),
        tuple(configurations.near(asked.get(path, path)) for path in group.files),
        root,
        callers=frozenset(shown_path(path) for path in group.callers),
        scripts=frozenset(shown_path(path) for path in group.scripts),
    )


def _unseen(selected: Iterable[Config], known: Iterable[Program], todo: Sequence[Program]) -> dict[Config, None]:
    """The configurations of which it is to be seen that every selector means a rule, for which rules are loaded. Of one
    under which something is known already it was seen: it was asked for in the same words before."""
    seen = {config for program in known for config in program.configs}
    wanted = {config: None for program in todo for config in program.configs}
    for config in selected:
        if config not in seen and (config.selection.narrowed or config.selection.extend_select):
            wanted[config] = None
    return wanted


def _digest(raw: bytes, of_excerpt: bool) -> str:
    return excerpt(raw).digest if of_excerpt else digest_of(raw)


def _bytes(filename: str, contents: Mapping[str, bytes], unsaved: Mapping[str, bytes]) -> bytes | None:
    """A file's bytes; None where it vanished or cannot be read."""
    raw = unsaved.get(filename, contents.get(os.path.realpath(filename)))
    try:
        return raw if raw is not None else Path(filename).read_bytes()
    except OSError:
        return None


def _check(
    checker: Checker,
    todo: Sequence[Program],
    contents: Mapping[str, bytes],
    sources: Mapping[str, bytes],
    jobs: int,
) -> Iterable[Result]:
    size = sum(len(contents.get(filename, b"")) for program in todo for filename in program.filenames)
    jobs = min(jobs, len(todo), size // POOL_BYTES)
    if jobs <= 1:
        for program in todo:
            yield checker.check(program, contents, sources)
        return
    from accel_advisor.linting.pool import pooled

    yield from pooled(checker.check, todo, contents, sources, jobs)
