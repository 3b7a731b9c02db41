"""Settings -> edits at their Origins -> new files, all of them or none."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from accel_advisor.finding import Edit
from accel_advisor.tuning.applying.project_code import display_name
from accel_advisor.tuning.probe.channel.wire import Frame, Settings
from accel_advisor.tuning.search.settings import arguments, changed
from accel_advisor.tuning.search.statistics import Interval

if TYPE_CHECKING:
    from accel_advisor.source.document import Document


class RewriteError(Exception):
    """The edits cannot be made; the message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """New contents for files that belong together.

    Attributes:
        before, after: contents by absolute path.
        diff: unified, with paths relative to the project where they lie in it.
    """

    before: Mapping[Path, bytes] = field(default_factory=dict)
    after: Mapping[Path, bytes] = field(default_factory=dict)
    diff: str = ""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Settings that win, their gain, and how to bring them about.

    Attributes:
        settings: what is recommended.
        baseline: what the source has.
        gain: how many times as fast, from the last comparison.
        edits: in every file that they touch.
        rewrite: what the edits make of the files; empty where nothing can be edited.
        origin: in words, where the values are decided.
        refusals: what was not edited, why, and what to change by hand.
        name: what the source calls the loader; empty where it is not known.
        filename, row: the call that builds it; empty and 0 where it is not known.
    """

    settings: Settings
    baseline: Settings
    gain: Interval
    edits: tuple[Edit, ...] = ()
    rewrite: Rewrite = field(default_factory=Rewrite)
    origin: str = ""
    refusals: tuple[str, ...] = ()
    name: str = ""
    filename: str = ""
    row: int = 0

    @property
    def editable(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.rewrite.after)


def recommend(
    baseline: Settings,
    settings: Settings,
    gain: Interval,
    stack: tuple[Frame, ...],
    *,
    root: Path,
    argv: tuple[str, ...],
) -> Recommendation:
    """Plans the edits that turn ``baseline`` into ``settings`` for the loader that ``stack`` built."""
    from accel_advisor.source.parsing import DocumentError
    from accel_advisor.tuning.applying.locate import plan_edits

    try:
        plan = plan_edits(stack, changed(baseline, settings), root=root, argv=argv, current=arguments(baseline))
    except DocumentError as error:
        return Recommendation(settings, baseline, gain, refusals=(f"the source {error}",))
    edits, refusals, rewrite = plan.edits, plan.refusals, Rewrite()
    if edits:
        try:
            rewrite = rewritten(edits, root)
        except RewriteError as error:
            edits, refusals = (), (*refusals, str(error))
    return Recommendation(
        settings, baseline, gain, edits, rewrite, plan.origin, refusals, plan.name, plan.filename, plan.row
    )


def rewritten(edits: Sequence[Edit], root: Path) -> Rewrite:
    """What ``edits`` make of the files that they name; relative names lie in ``root``. Nothing is written.

    Raises:
        RewriteError: a file cannot be read, two edits collide, or the result is not Python.
    """
    from accel_advisor.editing.fixer import EditConflictError, diff, edited_python
    from accel_advisor.source.document import Document
    from accel_advisor.source.parsing import DocumentError

    grouped: dict[Path, list[Edit]] = {}
    for edit in edits:
        grouped.setdefault(Path(os.path.realpath(root / edit.filename)), []).append(edit)
    before, after, diffs = {}, {}, []
    for path, of_file in sorted(grouped.items()):
        name = display_name(path, root)
        try:
            document = Document.read(path)
        except DocumentError as error:
            raise RewriteError(f"{name} {error}") from error
        try:
            after[path], new = edited_python(document, of_file)
            _compile(new, str(path))
        except (EditConflictError, DocumentError, UnicodeEncodeError, SyntaxError, ValueError) as error:
            raise RewriteError(f"{name} cannot be edited: {error}") from error
        before[path] = document.encode_parts([document.text[part.start : part.end] for part in document.parts])
        diffs.append(diff(name, document, new))
    return Rewrite(before, after, "".join(diffs))


def _compile(document: Document, path: str) -> None:
    """Sees whether there is anything that only the compiler refuses, as a keyword that is given twice."""
    if document.notebook is None:
        compile(document.text, path, "exec", dont_inherit=True)
        return
    broken = {cell.number for cell, _ in document.broken_cells}
    for part in document.parts:
        if part.cell not in broken:
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            compile(document.python[part.start : part.end], path, "exec", flags, dont_inherit=True)
