"""The linter in memory: texts change, and what is found in them is known again after as little work as possible."""

from __future__ import annotations

import io
import math
import os
import threading
import time
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Applicability, Confidence, Edit, Finding, Severity
from accel_advisor.library.choices import choices, shown
from accel_advisor.library.kept_results import KeptResults
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.fix_loop import fix
from accel_advisor.linting.joining import joined
from accel_advisor.linting.linter import lint
from accel_advisor.linting.report import Report
from accel_advisor.project.discovery import SUFFIXES, Discoverer, may_hold_python
from accel_advisor.selection import TOOL_CODES
from accel_advisor.sights import Landmark
from accel_advisor.source.document import Document
from accel_advisor.source.ignore_comments import Form, Ignorer
from accel_advisor.source.parsing import DocumentError

_ONE_AT_A_TIME = threading.RLock()
"""Held while something is parsed or analysed: both change settings of the process."""
_Texts = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in one file.

    Attributes:
        findings: as the command line shows them: those that are one remark are one finding.
        places: the same, each place by itself.
        landmarks: the places that a trial measures.
        document: the text that they are about; None where it cannot be read.
    """

    findings: tuple[Finding, ...] = ()
    places: tuple[Finding, ...] = ()
    landmarks: tuple[Landmark, ...] = ()
    document: Document | None = None

    def silencing(self, finding: Finding) -> list[Edit]:
        """The edits that silence one of the findings with a comment, in each of its places; none where there is no room
        for one, or where the tool speaks of itself."""
        spans = {finding.span, *(one.span for one in finding.related if one.filename == finding.filename)}
        meant = [one for one in self.places if one.code == finding.code and one.span in spans]
        if self.document is None or finding.code in TOOL_CODES:
            return []
        with _ONE_AT_A_TIME:
            edits, left = Ignorer(self.document, Form.ACCEL).edits(meant)
        return [] if left else edits


class Engine:
    """The linter, kept in memory between edits. It finds what ``accel-advisor lint --force-exclude FILE`` finds when
    all texts are on disk as they were given; what changes on disk, configuration included, is seen with the next
    question.

    Trees of the files that were read last, the imports of each project and what was found in each of its programs are
    kept; all of it is bounded. Any thread may ask and change texts: an answer is about the texts as they are when its
    turn comes, and one is made at a time.

    Args:
        root: the folder that relative paths are relative to.
        select: the only rules that run: codes, names or prefixes, several as a list or separated by commas; None for
            what is configured.
        extend_select: rules that run besides.
        ignore: rules that do not run.
        min_severity: the least that is shown, such as ``"warning"``; None for what is configured.
        min_confidence: the same, ``"evident"`` or ``"proven"``.
        looks_every: seconds after which a question looks at the files of the project again; one before that may take
            them as they were seen last. A text that is given counts at once. By default every question looks.

    Raises:
        ValueError: a severity or confidence is none.

    Example:
        >>> from accel_advisor import Engine
        >>> engine = Engine()
        >>> engine.update("new.py", "import torch\\nloader = torch.utils.data.DataLoader(range(9), timeout=5)\\n")
        >>> [(one.code, one.span.start.row, one.severity.value) for one in engine.findings("new.py")]
        [('ACC104', 2, 'error')]
        >>> [text.splitlines()[1] for text in engine.fixed("new.py").values()]
        ['loader = torch.utils.data.DataLoader(range(9))']
        >>> engine.close("new.py")
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        select: str | Iterable[str] | None = None,
        extend_select: str | Iterable[str] = (),
        ignore: str | Iterable[str] = (),
        min_severity: Severity | str | None = None,
        min_confidence: Confidence | str | None = None,
        looks_every: float = 0.0,
    ) -> None:
        self.root = os.path.abspath(root)
        self._choices = choices(select, extend_select, ignore, min_severity, min_confidence)
        self._texts: dict[str, bytes] = {}
        self._changing = threading.Lock()
        self._kept = KeptResults()
        self._checker = Checker()
        self._looks_every = looks_every
        self._look_due = -math.inf
        self._configurations = Configurations(self._choices)

    def update(self, path: str | os.PathLike[str], text: str) -> None:
        """Lets a text stand instead of what a file holds, until it is closed. The file need not be there.

        Args:
            path: of a Python file, a program without a suffix, or a notebook.
            text: all of it; of a notebook, its JSON.

        Raises:
            ValueError: the file is none of them.
        """
        if not may_hold_python(os.fspath(path)):
            raise ValueError(f"{os.fspath(path)}: is neither a Python file nor a notebook ({', '.join(SUFFIXES)})")
        raw = encoded(text)
        with self._changing:
            self._texts[self._real(path)] = raw

    def close(self, path: str | os.PathLike[str]) -> None:
        """Lets what is on disk count again; nothing happens where it does."""
        with self._changing:
            self._texts.pop(self._real(path), None)

    def look_again(self) -> None:
        """Lets the next question look at files on disk, whenever they were seen last."""
        self._look_due = -math.inf

    def findings(self, path: str | os.PathLike[str]) -> list[Finding]:
        """What is found in a file, in the order of its places; nothing in one that is excluded, or not there.

        Raises:
            ConfigError: a configuration or a baseline cannot be used.
            SelectorError: a selector means no rule.
        """
        return list(self.check([path])[0].findings)

    def check(self, paths: Sequence[str | os.PathLike[str]]) -> list[Checked]:
        """What is found in each of several files, for the work of one look at their projects.

        Raises:
            ConfigError, SelectorError: as :meth:`findings`.
        """
        names = [self._absolute(path) for path in paths]
        with _ONE_AT_A_TIME:
            texts = self._present()
            configurations, report = self._linted(names, texts)
            found = shown(report, configurations)
            return [_checked(name, found, report, texts) for name in names]

    def fixed(self, path: str | os.PathLike[str], *, unsafe: bool = False) -> dict[str, str]:
        """The new texts, by absolute path, after every safe fix of a file was made, and those that they make possible.
        Nothing is written, and no text of this engine changes.

        Args:
            unsafe: make those that may change what a run does, too.

        Raises:
            ConfigError, SelectorError: as :meth:`findings`.
        """
        name = self._absolute(path)
        allow = {Applicability.SAFE, *([Applicability.UNSAFE] if unsafe else [])}
        with _ONE_AT_A_TIME:
            texts = self._present()
            configurations, report = self._linted([name], texts)
            outcome = fix(report, allow, partial(shown, configurations=configurations), texts)
        return {os.path.abspath(one): decoded(one, raw) for one, raw in outcome.after.items()}

    def _present(self) -> _Texts:
        with self._changing:
            return dict(self._texts)

    def _linted(self, names: Iterable[str], texts: _Texts) -> tuple[Configurations, Report]:
        if time.monotonic() >= self._look_due:
            self._look_due = time.monotonic() + self._looks_every
            self._configurations = Configurations(self._choices)
            self._kept.look_again()
            self._checker.look_again()
        configurations = self._configurations
        discoverer = Discoverer(configurations.patterns)
        files = [one for name in dict.fromkeys(names) if (one := discoverer.held(name)) is not None]
        for one in files:
            configurations.of(one.filename)
        return configurations, lint(files, configurations, memory=self._kept, sources=texts, checker=self._checker)

    def _absolute(self, path: str | os.PathLike[str]) -> str:
        return os.path.abspath(os.path.join(self.root, path))

    def _real(self, path: str | os.PathLike[str]) -> str:
        return os.path.realpath(os.path.join(self.root, path))


def _checked(name: str, found: Iterable[Finding], report: Report, texts: _Texts) -> Checked:
    findings = tuple(one for one in found if one.filename == name)
    landmarks = tuple(one for one in report.landmarks if one.filename == name)
    try:
        raw = texts.get(os.path.realpath(name))
        document = Document.read(name) if raw is None else Document.from_bytes(name, raw)
    except DocumentError:
        document = None
    return Checked(tuple(joined(findings)), findings, landmarks, document)


def encoded(text: str) -> bytes:
    """A text as it would be saved: in the encoding that it declares, as far as that has all of its characters."""
    raw = text.encode(errors="surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw if encoding.startswith("utf-8") else text.encode(encoding)
    except (SyntaxError, UnicodeEncodeError):
        return raw


def decoded(filename: str, raw: bytes) -> str:
    """The text that :func:`encoded` made bytes of: of a notebook, its JSON."""
    document = Document.from_bytes(filename, raw)
    return document.text if document.notebook is None else raw.decode()
