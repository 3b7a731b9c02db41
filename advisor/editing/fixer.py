"""Findings -> edits -> new text: what may be applied together, what it looks like as a diff, and writing it safely."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from accel_advisor.finding import Applicability, Edit, Finding
from accel_advisor.source.document import Document, Part


class EditConflictError(ValueError):
    """Two edits cannot both be made, or one lies outside the text."""


def apply_edits(text: str, edits: Iterable[Edit], start: int = 0, stop: int | None = None) -> str:
    """``text`` after edits of one file, all of which refer to places in ``text`` as it is before any of them.

    Insertions at the same offset are made in the order given, before a replacement that starts there. An edit that
    is given twice is made once.

    Args:
        start, stop: the part of the text that is wanted, and that the edits lie in.

    Raises:
        EditConflictError: two edits overlap, one lies outside the text, or they name different files.
    """
    ordered = sorted(dict.fromkeys(edits), key=_place)
    filenames = {edit.filename for edit in ordered}
    if len(filenames) > 1:
        raise EditConflictError(f"edits of several files: {', '.join(sorted(filenames))}")
    parts: list[str] = []
    stop = len(text) if stop is None else stop
    position = start
    for edit in ordered:
        begin, end = edit.span.start.offset, edit.span.end.offset
        if not start <= begin <= end <= stop:
            raise EditConflictError(
                f"{edit.filename}: an edit of {begin}:{end} lies outside the {stop - start} characters from {start}"
            )
        if begin < position:
            raise EditConflictError(f"{edit.filename}:{edit.span.start}: two edits overlap")
        parts += [text[position:begin], edit.content]
        position = end
    parts.append(text[position:stop])
    return "".join(parts)


def edited(document: Document, edits: Iterable[Edit]) -> bytes:
    """The bytes of a document after edits: of a notebook, those cells are rewritten that edits lie in.

    Raises:
        EditConflictError: two edits overlap, or one reaches beyond its cell.
        UnicodeEncodeError: new text does not fit the file's encoding.
    """
    left = list(edits)
    texts: list[str] = []
    for part in document.parts:
        own = [edit for edit in left if part.start <= edit.span.start.offset <= part.end]
        left = [edit for edit in left if edit not in own]
        texts.append(_edited_part(document, part, own))
    if left:
        raise EditConflictError(f"{document.filename}: an edit at {left[0].span.start} lies outside of the text")
    return document.encode_parts(texts)


def edited_python(document: Document, edits: Iterable[Edit]) -> tuple[bytes, Document]:
    """As :func:`edited`, with the document that comes out of it, which is Python as far as the old one is.

    Raises:
        EditConflictError, UnicodeEncodeError: as :func:`edited`.
        DocumentError: it would no longer parse.
    """
    content = edited(document, edits)
    after = Document.from_bytes(document.filename, content)
    _ = after.tree
    known = {cell.number for cell, _ in document.broken_cells}
    for cell, error in after.broken_cells:
        if cell.number not in known:
            raise error
    return content, after


def _edited_part(document: Document, part: Part, edits: Sequence[Edit]) -> str:
    """New text of one part. Where its last line goes, newline and all, the one before it becomes the last."""
    separated = part.cell is not None
    stop = part.end + separated
    text = apply_edits(document.text, edits, part.start, stop)
    return text.removesuffix("\n") if separated else text


def plan(findings: Iterable[Finding], allow: Collection[Applicability]) -> tuple[list[Finding], list[Finding]]:
    """Chooses the fixes that can be made together.

    Findings are taken in the order of their places; one whose fix overlaps a fix that was taken before is left for a
    next pass, whole: edits of a fix are made together or not at all. Equal edits of two fixes do not overlap, and
    neither do insertions at the same place.

    Args:
        findings: of any number of files.
        allow: which fixes may be chosen.

    Returns:
        The findings whose fixes were chosen, and those that were skipped because they overlap.
    """
    chosen: list[Finding] = []
    skipped: list[Finding] = []
    taken: dict[str, list[Edit]] = {}
    for finding in sorted(findings, key=lambda one: one.sort_key):
        fix = finding.fix
        if fix is None or fix.applicability not in allow or fix.applicability is Applicability.DISPLAY:
            continue
        if any(_overlap(edit, other) for edit in fix.edits for other in taken.get(edit.filename, ())):
            skipped.append(finding)
            continue
        chosen.append(finding)
        for edit in fix.edits:
            taken.setdefault(edit.filename, []).append(edit)
    return chosen, skipped


def edits_by_file(findings: Iterable[Finding]) -> dict[str, list[Edit]]:
    """The edits of the findings' fixes, grouped by the file that they change."""
    grouped: dict[str, list[Edit]] = {}
    for finding in findings:
        if finding.fix is not None:
            for edit in finding.fix.edits:
                grouped.setdefault(edit.filename, []).append(edit)
    return grouped


def diff(filename: str, before: Document, after: Document) -> str:
    """The unified diffs of a document's parts: that of a file, or those of the notebook's cells that change."""
    diffs: list[str] = []
    for old, new in zip(before.parts, after.parts, strict=True):
        texts = before.text[old.start : old.end], after.text[new.start : new.end]
        if old.cell is None:
            diffs.append(unified_diff(filename, *texts))
        else:  # a cell's last line has no newline, which needs no notice
            diffs.append(unified_diff(f"{filename}:cell {old.cell}", *(f"{text}\n" for text in texts)))
    return "".join(diffs)


def unified_diff(filename: str, before: str, after: str) -> str:
    """A unified diff with three lines of context; empty where nothing changes.

    Args:
        filename: what both sides are called; forward slashes, relative where the caller has it so.
    """
    name = filename.lstrip("/")
    import difflib

    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def write_atomically(path: str | Path, content: bytes) -> None:
    """Replaces a file's content in one step: a reader sees the old bytes or the new ones, never half of them.

    A symbolic link stays one and its target is replaced; permissions stay, and so does the owner where the system
    lets us. A file that does not exist is created. What is no regular file, such as a pipe or `/dev/null`, is written
    to, and stays what it is.

    Raises:
        OSError: the folder cannot be written to; its ``filename`` is ``path``.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as device:
            device.write(content)
        return
    target = Path(os.path.realpath(path))
    try:
        with _beside(target, content) as temporary:
            os.replace(temporary, target)
    except OSError as error:  # it names the file beside, or none
        raise OSError(error.errno, error.strerror, str(path)) from error


def rehearse_writing(path: str | Path) -> None:
    """Does all that :func:`write_atomically` would do to give a file its present content again, but for the last step:
    permissions tell root nothing, and nobody of a file system that is read-only or full, or of a file that is
    immutable.

    Raises:
        OSError: it could not be written.
    """
    target = Path(os.path.realpath(path))
    with _beside(target, target.read_bytes() if target.exists() else b""):
        pass
    try:
        os.close(os.open(target, os.O_RDWR))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EACCES):  # one that may not be written may be replaced
            raise


@contextlib.contextmanager
def _beside(target: Path, content: bytes) -> Iterator[str]:
    """A file in the folder of ``target``, with its owner and permissions, that could take its place; it is removed in
    the end where it has not."""
    import tempfile

    try:
        old = target.stat()
    except FileNotFoundError:
        old = None
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if old is not None:
            if hasattr(os, "chown"):
                with contextlib.suppress(PermissionError):  # another owner's file in a folder that we may write
                    os.chown(temporary, old.st_uid, old.st_gid)
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def write_all(contents: Mapping[str, bytes], expected: Mapping[str, bytes] | None = None) -> None:
    """Writes several files that belong together; where one cannot be written, those before it get their old bytes
    back.

    Args:
        contents: the new bytes by filename.
        expected: the bytes that the new ones were made from; a file that holds others by now is not written.

    Raises:
        OSError: one could not be written; none is changed then.
    """
    written: dict[str, bytes] = {}
    try:
        for filename, content in contents.items():
            before = Path(filename).read_bytes()
            if expected is not None and before != expected.get(filename, before):
                raise OSError(errno.EBUSY, "it was changed meanwhile", filename)
            write_atomically(filename, content)
            written[filename] = before
    except OSError:
        for filename, before in written.items():
            write_atomically(filename, before)
        raise


def _place(edit: Edit) -> tuple[int, bool]:
    return edit.span.start.offset, edit.span.end.offset > edit.span.start.offset


def _overlap(one: Edit, other: Edit) -> bool:
    if one == other:
        return False
    start, end = one.span.start.offset, one.span.end.offset
    first, last = other.span.start.offset, other.span.end.offset
    if start == end:
        return first < start < last
    if first == last:
        return start < first < end
    return start < last and first < end


def _lines(text: str) -> Sequence[str]:
    """Lines as a diff sees them: only a line feed ends one, so that a carriage return shows as part of the line."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
