"""What can be done about a finding: its fix, a comment that silences it, and all safe fixes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from accel_advisor.finding import Applicability, Edit, Finding
from accel_advisor.server.open_files import OpenFile
from accel_advisor.server.protocol_findings import SOURCE, Translator

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"
KINDS = [types.CodeActionKind.QuickFix, FIX_ALL]


def wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a client asks for a kind of action: for it, for one that it is part of, or for all."""
    names = [one.value if isinstance(one, types.CodeActionKind) else one for one in only or ()]
    return only is None or any(kind == one or kind.startswith(f"{one}.") or not one for one in names)


def quick_fixes(
    finding: Finding,
    silencing: Sequence[Edit],
    diagnostics: Sequence[types.Diagnostic],
    translator: Translator,
) -> Iterator[types.CodeAction]:
    """The fix of a finding, and the comment that silences it.

    Args:
        silencing: the edits of that comment.
        diagnostics: those that the client shows there.
    """
    own = [one for one in diagnostics if one.code == finding.code and one.message == finding.message]
    fix = finding.fix
    if fix is not None and fix.applicability is not Applicability.DISPLAY:
        edit = translator.workspace_edit(fix.edits)
        safe = fix.applicability is Applicability.SAFE
        title = fix.title if safe else f"{fix.title} (unsafe: may change what a run does)"
        if edit is not None:
            yield types.CodeAction(
                f"{finding.code}: {title}",
                types.CodeActionKind.QuickFix,
                own or None,
                is_preferred=safe or None,
                edit=edit,
            )
    edit = translator.workspace_edit(silencing) if silencing else None
    if edit is not None:
        yield types.CodeAction(
            f"{finding.code}: silence {finding.name} with a comment",
            types.CodeActionKind.QuickFix,
            own or None,
            edit=edit,
        )


def fix_all(file: OpenFile) -> types.CodeAction:
    """The action for all safe fixes of a file, without its edit."""
    return types.CodeAction("accel-advisor: make all safe fixes", FIX_ALL, data={"fixAll": file.uri})


def fix_all_edit(after: dict[str, str], translator: Translator) -> types.WorkspaceEdit | None:
    """The edit that brings about new texts; None where it changes nothing, or a notebook that is not open.

    Args:
        after: new texts by path.
    """
    found: dict[str, list[types.TextEdit]] = {}
    for path, text in after.items():
        pairs = translator.texts(path, text)
        if pairs is None:
            return None
        for uri, before, new in pairs:
            if before != new:
                found[uri] = [translator.replacing(before, new)]
    return translator.of_texts(found) if found else None
