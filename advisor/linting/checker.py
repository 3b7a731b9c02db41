"""A program -> documents -> facts -> rules -> suppressions -> findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from accel_advisor.analysis.stack_room import with_room
from accel_advisor.config import Config
from accel_advisor.finding import Finding, Severity
from accel_advisor.linting import garbage_collection
from accel_advisor.linting.report import Program, Result
from accel_advisor.linting.ruleset import Ruleset
from accel_advisor.linting.tool_findings import broken_cells, internal_error, not_python, tool_finding, unreadable
from accel_advisor.selection import INTERNAL_ERROR, NOT_ANALYSED, SYNTAX_ERROR, UNUSED_SUPPRESSION
from accel_advisor.sights import Landmark, Seen
from accel_advisor.source.document import Document
from accel_advisor.source.excerpt import excerpt
from accel_advisor.source.parsing import DocumentError
from accel_advisor.source.suppressions import Suppressions

if TYPE_CHECKING:
    from accel_advisor.analysis.module_finder import ModuleFinder
    from accel_advisor.analysis.project import Analysis
    from accel_advisor.analysis.unused_code import UnusedCode
    from accel_advisor.project.requirements import Declared, Requirements
    from accel_advisor.records.facts import Facts


class Checker:
    """Runs over programs the rules that the configuration of each file selects. It can be pickled."""

    def __init__(self) -> None:
        self._rulesets: dict[Config, Ruleset] = {}
        self._requirements: Requirements | None = None
        self._finders: dict[str, ModuleFinder] = {}

    def __reduce__(self) -> tuple[type[Checker], tuple[()]]:
        return Checker, ()

    def look_again(self) -> None:
        """Forgets what projects declare that they run on, and where their modules stand: files may have changed since
        another program was checked."""
        self._requirements = None
        self._finders.clear()

    def ruleset(self, config: Config) -> Ruleset:
        """The rules that a configuration selects."""
        return self._rulesets.setdefault(config, Ruleset(config))

    def understood(self, facts: Facts) -> None:
        """Told what is known of each document before its rules run."""

    def finished(self, analysis: Analysis) -> None:
        """Told when they have run. A subclass that keeps what is known must not take it apart."""
        analysis.take_apart()

    def check(self, program: Program, contents: Mapping[str, bytes], sources: Mapping[str, bytes]) -> Result:
        """Everything that is to be said about a program.

        Args:
            contents: the bytes of its files; one without any is left out.
            sources: bytes by filename, which stand instead of what is on disk.
        """
        with garbage_collection.paused():
            result = with_room(self._check, program, contents, sources)
        garbage_collection.collect_now_and_then()
        return result

    def _check(self, program: Program, contents: Mapping[str, bytes], sources: Mapping[str, bytes]) -> Result:
        findings: list[Finding] = []
        documents: list[Document] = []
        for filename in program.filenames:
            if filename not in contents:
                continue
            try:
                document = _document(filename, contents[filename], excerpted=filename in program.scripts)
                _ = document.tree
            except DocumentError as error:
                if filename not in program.callers:
                    findings.append(not_python(filename, contents[filename], error))
            else:
                documents.append(document)
                if filename not in program.callers:
                    findings += broken_cells(document)
                    if document.outdated is not None:
                        findings.append(not_python(filename, contents[filename], document.outdated, read=True))
        unsaved = {os.path.realpath(filename): raw for filename, raw in sources.items()}
        rulesets = {
            filename: self.ruleset(config) for filename, config in zip(program.filenames, program.configs, strict=True)
        }
        found = self._run(Path(program.root), documents, unsaved, rulesets, program.callers)
        own = [document for document in documents if document.filename not in program.callers]
        by_file: dict[str, list[Finding]] = {document.filename: [] for document in own}
        if found.failed is not None and own:
            what = f"the analysis of {len(documents)} files together, in place of which each was read by itself,"
            findings.append(internal_error(own[0].filename, what, found.failed))
        for one in found.findings:
            if one.filename in by_file:
                by_file[one.filename].append(one)
        outdated = {document.filename for document in own if document.outdated is not None}
        for filename in outdated:  # no edit makes it Python, and none is made in what is not
            by_file[filename] = [replace(one, fix=None) for one in by_file[filename]]
        for document in own:
            findings += _silenced(document, by_file[document.filename], rulesets[document.filename])
        shown = tuple(one for one in findings if one.code in rulesets[one.filename].on)
        spoken = {one.filename for one in findings if not one.minor}
        silent = tuple(one for one in found.seen if one.filename in by_file and one.filename not in spoken)
        landmarks = tuple(one for one in found.landmarks if one.filename in by_file)
        placed = tuple(
            (one.filename, excerpt(contents[one.filename]).placed)
            for one in documents
            if one.placed and one.filename in program.scripts
        )
        return Result(replace(program, consulted=found.consulted, placed=placed), shown, silent, landmarks)

    def _declared(self, document: Document, root: Path, config: Config) -> Declared:
        """What a script runs on: what its configuration says, then what the files around it up to the root say."""
        if self._requirements is None:
            from accel_advisor.project.requirements import Requirements

            self._requirements = Requirements()
        found = self._requirements.of(Path(document.path).parent, root)
        return replace(found, target=config.target.over(found.target))

    def _finder(self, root: Path, unsaved: Mapping[str, bytes]) -> ModuleFinder | None:
        """What finds the modules of a project; None where texts stand instead of what is on disk."""
        if unsaved:
            return None
        from accel_advisor.analysis.module_finder import ModuleFinder

        real = os.path.realpath(root)
        return self._finders.setdefault(real, ModuleFinder(real))

    def _run(
        self,
        root: Path,
        documents: Sequence[Document],
        unsaved: Mapping[str, bytes],
        rulesets: Mapping[str, Ruleset],
        callers: frozenset[str],
    ) -> _Found:
        found = _Found()
        if not any(rulesets[one.filename].rules for one in documents):
            return found
        from accel_advisor.analysis.project import analyze
        from accel_advisor.analysis.unused_code import UnusedCode

        known = {one.filename: self._declared(one, root, rulesets[one.filename].config) for one in documents}
        try:
            analysis = analyze(documents, root, known, unsaved=unsaved, finder=self._finder(root, unsaved))
        except Exception as error:
            if len(documents) > 1:
                # One file that cannot be understood must not hide what there is to say about the others.
                for document in documents:
                    found.take(self._run(root, [document], unsaved, rulesets, callers))
                if not any(one.code == INTERNAL_ERROR[0] for one in found.findings):
                    found.failed = error
            else:
                found.findings.append(internal_error(documents[0].filename, "the analysis", error))
            return found
        found.consulted = analysis.consulted
        for filename, sentence in analysis.failures.items():
            found.findings.append(tool_finding(filename, NOT_ANALYSED, f"This file {sentence}.", Severity.INFO))
        unused = UnusedCode(analysis.documents, str(root), unsaved)
        for filename, facts in analysis.facts.items():
            self.understood(facts)
            if filename not in callers:
                found.take(_judged(facts, rulesets[filename], unused))
        found.consulted |= unused.consulted
        self.finished(analysis)
        return found


@dataclass(slots=True)
class _Found:
    """What rules have to say, what is seen where they are silent, what a trial measures, and which files were read to
    find it out."""

    findings: list[Finding] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    landmarks: list[Landmark] = field(default_factory=list)
    consulted: frozenset[str] = frozenset()
    failed: Exception | None = None
    """What kept files from being understood together, where each of them could be by itself."""

    def take(self, other: _Found) -> None:
        self.findings += other.findings
        self.seen += other.seen
        self.landmarks += other.landmarks
        self.consulted |= other.consulted


def _document(filename: str, raw: bytes, *, excerpted: bool) -> Document:
    if not excerpted:
        return Document.from_bytes(filename, raw)
    part = excerpt(raw)
    document = Document.from_bytes(filename, part.raw)
    document.lines = part.lines
    return document


def _judged(facts: Facts, ruleset: Ruleset, unused: UnusedCode) -> _Found:
    """What the rules say about a document; where all of those that are on by default are silent, what is seen there."""
    from accel_advisor.records.queries.seen_training import landmarks, seen_training

    found = _Found()
    filename = facts.document.filename
    for rule in ruleset.rules:
        try:
            for one in unused.set_aside(facts, rule.check(facts)):
                found.findings.append(one)
        except DocumentError as error:
            found.findings.append(unreadable(filename, str(error), error.row, error.column, syntax=error.syntax))
            break
        except Exception as error:
            found.findings.append(internal_error(filename, f"rule {rule.code} ({rule.name})", error))
    try:
        found.landmarks += landmarks(facts)
    except DocumentError:  # a place that is not known is none to go to
        found.landmarks = []
    narrowed = ruleset.config.selection.narrowed or ruleset.off_in(filename)
    if narrowed or not all(one.minor for one in found.findings):
        return found
    try:
        seen = seen_training(facts)
    except Exception as error:
        found.findings.append(internal_error(filename, "the summary of the training", error))
    else:
        found.seen += [seen] if seen is not None else []
    return found


def _silenced(document: Document, findings: Iterable[Finding], ruleset: Ruleset) -> list[Finding]:
    """Findings that no comment, configuration, ``if debug:`` or ``if False:`` silences, and comments that silence
    nothing. None is minor for those who select its rule, nor beside others that are not."""
    from accel_advisor.source.idle_branches import idle_branches

    off = ruleset.off_in(document.filename)
    suppressions = Suppressions(document, ruleset.known)
    found = [one for one in findings if one.code not in off]
    idle = idle_branches(document) if found else []
    kept = suppressions.apply(
        one for one in found if not any(start <= one.span.start.offset < end for start, end in idle)
    )
    weighty = {one.code for one in kept if not one.minor}
    waiting = {one.wait.loop for one in kept if one.wait is not None and not one.minor}
    asked = [
        one.code in ruleset.named
        or (one.aside and one.code in weighty)
        or (one.wait is not None and one.wait.loop in waiting)
        for one in kept
    ]
    kept = [replace(one, minor=False) if shown else one for one, shown in zip(kept, asked, strict=True)]
    if any(one.code in (INTERNAL_ERROR[0], NOT_ANALYSED[0], SYNTAX_ERROR[0]) for one in kept):
        return kept
    if UNUSED_SUPPRESSION[0] not in off:
        complete = not ruleset.config.selection.narrowed and not off
        kept += suppressions.unused(ruleset.known, ruleset.on - off, complete=complete, code=UNUSED_SUPPRESSION)
    return kept
