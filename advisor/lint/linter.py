"""Files -> documents -> facts -> rules -> suppressions -> findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from accel_advisor.config import Config, project_root
from accel_advisor.finding import Edit, Finding, Related, Severity
from accel_advisor.lint import garbage_collection
from accel_advisor.lint.report import Program, Report, Result
from accel_advisor.lint.tool_findings import broken_cells, internal_error, not_python, tool_finding, unreadable
from accel_advisor.project.discovery import Found, is_generated, mentions_accelerators
from accel_advisor.project.import_graph import programs
from accel_advisor.selection import INTERNAL_ERROR, NOT_ANALYSED, SYNTAX_ERROR, TOOL_CODES, UNUSED_SUPPRESSION
from accel_advisor.source.document import Document, DocumentError, python_bytes
from accel_advisor.source.suppressions import Suppressions

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from accel_advisor.lint.cache import Cache
    from accel_advisor.project.requirements import Declared
    from accel_advisor.rule import Rule

_BUDGET = garbage_collection.Budget(1_000_000)
Place = TypeVar("Place", Edit, Related)

POOL_BYTES = 400_000
"""Source that one process goes through in less time than a second one takes to start."""


def lint(
    files: Sequence[Found],
    config: Config,
    *,
    jobs: int = 1,
    cache: Cache | None = None,
    sources: Mapping[str, bytes] | None = None,
) -> Report:
    """Lints files.

    Args:
        files: what :class:`~accel_advisor.project.discovery.Discoverer` found.
        config: which rules run, and what is shown.
        jobs: processes at most; more than one is started only where there is enough to do.
        cache: what is known from earlier runs.
        sources: bytes by filename that stand instead of what is on disk.

    Raises:
        SelectorError: a selector of the configuration means no rule.
    """
    report = Report()
    contents: dict[str, bytes] = {}
    for one in files:
        try:
            raw = sources[one.filename] if sources and one.filename in sources else Path(one.filename).read_bytes()
        except FileNotFoundError:  # it vanished after it was found
            continue
        except OSError as error:
            report.findings.append(unreadable(one.filename, f"cannot be read: {error.strerror or error}"))
            report.checked += 1
            continue
        if not one.named and is_generated(raw):
            continue
        report.checked += 1
        if mentions_accelerators(raw):
            contents[one.filename] = raw
    checker = Checker(config)
    todo: list[Program] = []
    for program in _programs(contents, config):
        known = cache.get(program.filenames, contents) if cache else None
        if known is None:
            todo.append(program)
        else:
            report.programs.append(known.program)
            report.findings += known.findings
    if todo or (not report.programs and (config.selection.narrowed or config.selection.extend_select)):
        _ = checker.on  # tells a wrong selector; what the cache knows was asked for in the same words before
        report.failures = checker.failures
    for result in _check(checker, todo, contents, sources or {}, jobs):
        report.programs.append(result.program)
        report.findings += result.findings
        if cache and not report.failures:
            cache.put(result, contents)
    report.findings = sorted(
        (one for one in report.findings if one.severity.rank >= config.min_severity.rank), key=lambda one: one.sort_key
    )
    report.sources = {one.filename: contents[one.filename] for one in report.findings if one.filename in contents}
    return report


class Checker:
    """Runs the rules that a configuration selects over programs. It can be pickled; rules are loaded when needed."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._targets: dict[Path, Declared] = {}

    def __reduce__(self) -> tuple[type[Checker], tuple[Config]]:
        return Checker, (self.config,)

    @cached_property
    def known(self) -> dict[str, str]:
        """Names by code, the tool's own among them."""
        return known_codes()

    @cached_property
    def on(self) -> frozenset[str]:
        """The codes that are on.

        Raises:
            SelectorError: a selector of the configuration means no rule.
        """
        from accel_advisor.rule import registry

        _ = self._per_file_ignores  # a wrong selector is told even where no file matches
        defaults = [code for code, rule in registry().items() if rule.enabled]
        return self.config.selection.resolve(self.known, defaults, lenient=bool(self.failures))

    @property
    def failures(self) -> tuple[str, ...]:
        """What there is to say about rules that cannot be loaded."""
        from accel_advisor.rule import registry

        return tuple(registry().failures)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that run."""
        from accel_advisor.rule import registry

        return tuple(rule for code, rule in registry().items() if code in self.on)

    def check(self, program: Program, contents: Mapping[str, bytes], sources: Mapping[str, bytes]) -> Result:
        """Everything that is to be said about a program.

        Args:
            contents: the bytes of its files.
            sources: bytes by filename of other files, which stand instead of what is on disk.
        """
        with garbage_collection.paused():
            result = self._check(program, contents, sources)
        _BUDGET.spend(sum(len(contents[filename]) for filename in program.filenames))
        return result

    def _check(self, program: Program, contents: Mapping[str, bytes], sources: Mapping[str, bytes]) -> Result:
        findings: list[Finding] = []
        documents: list[Document] = []
        for filename in program.filenames:
            try:
                document = Document.from_bytes(filename, contents[filename])
                _ = document.tree
            except DocumentError as error:
                findings.append(not_python(filename, contents[filename], error))
            else:
                documents.append(document)
                findings += broken_cells(document)
        others = [
            Document.from_bytes(filename, raw)
            for filename, raw in sources.items()
            if filename not in program.filenames and _parses(filename, raw)
        ]
        found, consulted = self._run(documents, others) if documents and self.rules else ([], frozenset[str]())
        by_file: dict[str, list[Finding]] = {document.filename: [] for document in documents}
        for one in found:
            if one.filename in by_file:
                by_file[one.filename].append(one)
        for document in documents:
            findings += self._silenced(document, by_file[document.filename])
        return Result(Program(program.filenames, consulted), tuple(one for one in findings if one.code in self.on))

    def _declared(self, root: Path) -> Declared:
        """What a project runs on: what the configuration says, then what the files in its root say."""
        if root not in self._targets:
            from accel_advisor.project.requirements import declared

            found = declared(root)
            self._targets[root] = replace(found, target=self.config.target.over(found.target))
        return self._targets[root]

    def _run(self, documents: Sequence[Document], others: Sequence[Document]) -> tuple[list[Finding], frozenset[str]]:
        from accel_advisor.analysis.project import analyze

        root = project_root(Path(documents[0].filename), self.config)
        names = {os.path.realpath(one.filename): one.filename for one in (*documents, *others)}
        findings: list[Finding] = []
        try:
            analysis = analyze([*documents, *others], root, self._declared(root))
        except Exception as error:
            if len(documents) > 1:
                # One file that cannot be understood must not hide what there is to say about the others.
                parts = [self._run([document], others) for document in documents]
                return [one for part in parts for one in part[0]], frozenset().union(*(part[1] for part in parts))
            return [internal_error(documents[0].filename, "the analysis", error)], frozenset()
        for filename, sentence in analysis.failures.items():
            findings.append(tool_finding(filename, NOT_ANALYSED, f"This file {sentence}.", Severity.INFO))
        consulted: set[str] = set()
        for facts in analysis.facts.values():
            consulted |= facts.consulted
            for rule in self.rules:
                try:
                    for one in rule.check(facts):
                        findings.append(_renamed(one, names))  # noqa: PERF401 -- what came before an error is kept
                except DocumentError as error:
                    findings.append(unreadable(facts.document.filename, str(error), error.row, error.column))
                    break
                except Exception as error:
                    findings.append(internal_error(facts.document.filename, f"rule {rule.code} ({rule.name})", error))
        return findings, frozenset(consulted)

    def _silenced(self, document: Document, findings: Iterable[Finding]) -> list[Finding]:
        """Findings that no comment, configuration or ``if debug:`` silences, and comments that silence nothing."""
        from accel_advisor.source.debug_branches import debug_branches

        off = self.off_in(document.filename)
        suppressions = Suppressions(document)
        found = [one for one in findings if one.code not in off]
        idle = debug_branches(document) if found else []
        kept = suppressions.apply(
            one for one in found if not any(start <= one.span.start.offset < end for start, end in idle)
        )
        if any(one.code in (INTERNAL_ERROR[0], NOT_ANALYSED[0], SYNTAX_ERROR[0]) for one in kept):
            return kept
        if UNUSED_SUPPRESSION[0] not in off:
            complete = not self.config.selection.narrowed and not off
            ran = self.on - off
            kept += suppressions.unused(self.known, ran, complete=complete, code=UNUSED_SUPPRESSION)
        return kept

    def off_in(self, filename: str) -> frozenset[str]:
        """What ``per-file-ignores`` switches off in a file."""
        off: frozenset[str] = frozenset()
        if self._per_file_ignores:
            relative = os.path.relpath(os.path.abspath(filename), self.config.root).replace(os.sep, "/")
            for spec, outside, codes in self._per_file_ignores:
                if spec.match_file(relative) != outside:
                    off |= codes
        return off

    @cached_property
    def _per_file_ignores(self) -> list[tuple[GitIgnoreSpec, bool, frozenset[str]]]:
        """Patterns, whether each means the files that it does not match, and the codes that are off there."""
        if not self.config.per_file_ignores:
            return []
        from pathspec import GitIgnoreSpec

        found = []
        lenient = bool(self.failures)
        for pattern, selectors in self.config.per_file_ignores:
            spec = GitIgnoreSpec.from_lines([pattern.removeprefix("!").removeprefix("./")])
            codes = [one.codes(self.known, lenient=lenient) for one in selectors]
            found.append((spec, pattern.startswith("!"), frozenset().union(*codes)))
        return found


def known_codes() -> dict[str, str]:
    """Names by code of every rule and of the tool's own codes."""
    from accel_advisor.rule import registry

    return {**TOOL_CODES, **{code: rule.name for code, rule in registry().items()}}


def _programs(contents: Mapping[str, bytes], config: Config) -> list[Program]:
    by_root: dict[Path, dict[str, bytes]] = {}
    for filename, raw in contents.items():
        by_root.setdefault(project_root(Path(filename), config), {})[filename] = python_bytes(filename, raw)
    return [Program(tuple(group)) for root, files in by_root.items() for group in programs(files, str(root))]


def _check(
    checker: Checker, todo: Sequence[Program], contents: Mapping[str, bytes], sources: Mapping[str, bytes], jobs: int
) -> Iterable[Result]:
    size = sum(len(contents[filename]) for program in todo for filename in program.filenames)
    jobs = min(jobs, len(todo), size // POOL_BYTES)
    if jobs <= 1:
        for program in todo:
            yield checker.check(program, contents, sources)
        return
    from accel_advisor.lint.pool import pooled

    yield from pooled(checker.check, todo, contents, sources, jobs)


def _parses(filename: str, raw: bytes) -> bool:
    try:
        _ = Document.from_bytes(filename, raw).tree
    except DocumentError:
        return False
    return True


def _renamed(finding: Finding, names: Mapping[str, str]) -> Finding:
    """A finding whose edits and related places name files as the user does."""
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(_renamed_place(edit, names) for edit in fix.edits))
    return replace(finding, fix=fix, related=tuple(_renamed_place(one, names) for one in finding.related))


def _renamed_place(place: Place, names: Mapping[str, str]) -> Place:
    absolute = os.path.realpath(place.filename)
    name = names.get(absolute)
    if name is None:
        relative = os.path.relpath(absolute)
        name = absolute if relative.startswith(os.pardir) else relative
    return place if name == place.filename else replace(place, filename=name)
