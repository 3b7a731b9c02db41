"""What a client asks: actions, pages and figures, always about the texts as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from lsprotocol import types

from accel_advisor.finding import Edit, Finding
from accel_advisor.library.engine import Checked
from accel_advisor.server.advisor_server import TUNE, AdvisorServer, page_of
from accel_advisor.server.code_actions import FIX_ALL, KINDS, fix_all, fix_all_edit, quick_fixes, wanted
from accel_advisor.server.measured_figures import lines_of
from accel_advisor.server.protocol_findings import overlapping
from accel_advisor.server.running_trials import record_of


async def code_action(ls: AdvisorServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The fixes of the findings on some lines, the comments that silence them, and all safe fixes of the file."""
    file = ls.workspaces.of(params.text_document.uri)
    if file is None:
        return []
    only = params.context.only
    findings = await ls.findings(file)
    found: list[types.CodeAction] = []
    if file.checked is not None and wanted(types.CodeActionKind.QuickFix.value, only):
        here = types.Location(params.text_document.uri, params.range)
        meant = list(overlapping(findings, here, ls.translator))
        silencing = await ls.checking.run(partial(_silencing, file.checked, meant))
        if file.checked_at != ls.workspaces.changes:  # these would be edits of another text
            return await code_action(ls, params)
        for one, edits in zip(meant, silencing, strict=True):
            found += quick_fixes(one, edits, params.context.diagnostics, ls.translator)
    if wanted(FIX_ALL, only) and any(one.fix and one.fix.applicability.value == "safe" for one in findings):
        action = fix_all(file)
        found.append(action if _resolves(ls) else await resolve(ls, action))
    return found


async def resolve(ls: AdvisorServer, params: types.CodeAction) -> types.CodeAction:
    """The edit of the action for all safe fixes, as the texts are now."""
    uri = params.data.get("fixAll") if isinstance(params.data, dict) else None
    file = ls.workspaces.of(uri) if uri else None
    if file is not None:
        before = -1
        after: dict[str, str] = {}
        while before != ls.workspaces.changes:  # else it would be an edit of another text
            before = ls.workspaces.changes
            after = await ls.checking.run(partial(file.engine.fixed, file.path))
        params.edit = fix_all_edit(after, ls.translator)
    return params


async def hover(ls: AdvisorServer, params: types.HoverParams) -> types.Hover | None:
    """The pages of the rules that say something of a place."""
    file = ls.workspaces.of(params.text_document.uri)
    if file is None:
        return None
    here = types.Location(params.text_document.uri, types.Range(params.position, params.position))
    pages = {
        one.code: page
        for one in await ls.findings(file)
        if _inside(ls, one, here) and (page := page_of(one.code)) is not None
    }
    if not pages:
        return None
    text = "\n\n---\n\n".join(page.markdown() for page in pages.values())
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


async def code_lens(ls: AdvisorServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """What a trial measured of the loaders and loops of a file, and the command that measures them."""
    file = ls.workspaces.of(params.text_document.uri)
    if file is None or not await ls.checking.current(file) or file.checked is None:
        return []
    folder = ls.workspaces.folder(file.path)
    named = [*folder.settings.trials, str(record_of(file.path, folder.path))]
    measured = ls.trials.of(file.path, folder.path, named)
    lines: dict[int, tuple[types.Range, str]] = {}
    for landmark, figures in lines_of(file.checked.landmarks, measured):
        at = ls.translator.location(landmark.filename, landmark.span)
        if at is not None and at.uri == params.text_document.uri:
            row = at.range.start.line  # a loop may build its loader in the same line
            place, before = lines.get(row, (types.Range(at.range.start, at.range.start), ""))
            lines[row] = place, before or figures
    found: list[types.CodeLens] = []
    for place, figures in lines.values():
        if figures:
            found.append(types.CodeLens(place, types.Command(figures, "")))
        command = types.Command("measure this training: accel-advisor tune", TUNE, arguments=[file.path])
        found.append(types.CodeLens(place, command))
    return found


def _silencing(checked: Checked, findings: Iterable[Finding]) -> list[list[Edit]]:
    return [checked.silencing(one) for one in findings]


def _inside(ls: AdvisorServer, finding: Finding, here: types.Location) -> bool:
    at = ls.translator.location(finding.filename, finding.span)
    if at is None or at.uri != here.uri:
        return False
    start, end, position = at.range.start, at.range.end, here.range.start
    return (start.line, start.character) <= (position.line, position.character) <= (end.line, end.character)


def _resolves(ls: AdvisorServer) -> bool:
    """Whether the client asks for the edit of an action once it is chosen."""
    text = ls.client_capabilities.text_document
    action = text.code_action if text is not None else None
    return bool(action and action.resolve_support and "edit" in action.resolve_support.properties)


ANSWERS: Mapping[str, tuple[Callable[..., Any], Any]] = {
    types.TEXT_DOCUMENT_CODE_ACTION: (
        code_action,
        types.CodeActionOptions(code_action_kinds=KINDS, resolve_provider=True),
    ),
    types.CODE_ACTION_RESOLVE: (resolve, None),
    types.TEXT_DOCUMENT_HOVER: (hover, None),
    types.TEXT_DOCUMENT_CODE_LENS: (code_lens, None),
}
