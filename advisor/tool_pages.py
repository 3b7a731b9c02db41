"""The pages of the tool's own codes, which come from no rule."""

from __future__ import annotations

from collections.abc import Mapping

from accel_advisor.finding import Severity
from accel_advisor.rule_page import RulePage
from accel_advisor.selection import INTERNAL_ERROR, NOT_ANALYSED, SYNTAX_ERROR, UNUSED_SUPPRESSION


def _page(code: tuple[str, str], severity: Severity, summary: str, sections: Mapping[str, str]) -> RulePage:
    return RulePage(code[0], code[1], severity.value, True, summary, sections)


_PAGES = (
    _page(
        SYNTAX_ERROR,
        Severity.ERROR,
        "A file cannot be read, decoded or parsed, so no rule looked at it.",
        {
            "What it does": "Names the place at which Python's own parser stops, or why the file cannot be read.\n"
            "A cell of a notebook that is not Python is left out, and reported as `info`. A file that was named is\n"
            "parsed whatever it holds; below a folder, one that does not mention torch is not looked at.",
            "When to ignore it": "A template that is no Python until it is filled in: name it under `exclude` in the\n"
            "configuration.",
        },
    ),
    _page(
        UNUSED_SUPPRESSION,
        Severity.WARNING,
        "A comment silences nothing, or is not spelled as one that does.",
        {
            "What it does": "Finds `# accel: ignore[...]` where nothing is reported, or that names no rule, and\n"
            "comments that are nearly right: `# accel: ignore ACC102` without brackets, `# accel: ignor[ACC102]`. One\n"
            "that names rules silences those and no others until it is spelled right.",
            "When to ignore it": "A comment that is needed on one version of torch only: ignore `ACC002` in that file\n"
            "with `per-file-ignores`.",
            "Fix safety": "Safe: only comments change. A comment goes, with its reason, or is written as it is read.",
        },
    ),
    _page(
        INTERNAL_ERROR,
        Severity.ERROR,
        "A rule or a fix failed; the others ran.",
        {
            "What it does": "Says which rule failed on which file, and where. Findings may be missing, so the exit\n"
            "status is 2. It is a bug: please report it, with the file if you may.",
            "When to ignore it": "Until it is mended, switch the rule off in that file with `per-file-ignores`.",
        },
    ),
    _page(
        NOT_ANALYSED,
        Severity.INFO,
        "A file is too large or nested too deeply to be understood.",
        {
            "What it does": "Says of a file that no rule looked at it, and why: following its values would take\n"
            "too long.",
            "When to ignore it": "A program wrote it: name it under `exclude` in the configuration, or write\n"
            "`@generated` at its top.",
        },
    ),
)
TOOL_PAGES: Mapping[str, RulePage] = {page.code: page for page in _PAGES}
"""By code."""
