"""What mkdocs builds besides the pages that are written by hand: a page for each rule, the options of each command, and
what other files of the repository say, with links that lead to the pages made of them."""

from __future__ import annotations

import difflib
import json
import posixpath
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accel_advisor.cli import cli
from accel_advisor.rule import registry
from accel_advisor.rule_page import CODE, RulePage, rule_page
from accel_advisor.tool_pages import TOOL_PAGES

sys.path.insert(0, str(Path(__file__).parent))  # mkdocs loads this file by its path

from reference_pages import reference

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
_THEMES = {
    "0": "The tool about itself",
    "1": "Loaders and their workers",
    "2": "Copies, and waits for the GPU",
    "3": "Devices",
    "4": "Precision, evaluation and the training step",
    "5": "Several GPUs",
    "6": "Frameworks",
}
"""What the rules of a hundred are about."""
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^()\s:#]+)(#[^()\s]*)?\)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"(?<![\w/.])docs/([\w-]+\.md)\b")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    from mkdocs.structure.files import File

    for place, text in generated().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads the links of a page that is written by hand to the pages of the site."""
    place = page.file.src_uri
    return markdown if page.file.generated_by else for_site(markdown, f"docs/{place}", place)


def generated() -> dict[str, str]:
    """The pages that are made, by their place in the site."""
    pages = [*TOOL_PAGES.values(), *(rule_page(one) for one in registry().values())]
    found = {"rules/index.md": _rules(sorted(pages, key=lambda one: one.code)), "reference/commands.md": _commands()}
    found |= {f"rules/{page.code}.md": _rule(page) for page in pages}
    found |= reference()
    for source, place in _taken().items():
        found[place] = for_site((ROOT / source).read_text(encoding="utf-8"), source, place)
    return found


def _taken() -> dict[str, str]:
    """The files of the repository that become pages, each with its place in the site."""
    figures = sorted((ROOT / "benchmarks").glob("*/README.md"))
    taken = {f"benchmarks/{one.parent.name}/README.md": f"evidence/{one.parent.name}.md" for one in figures}
    return taken | {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def for_site(text: str, source: str, place: str) -> str:
    """A text whose links between files of the repository lead to pages; what has no page is named instead.

    Args:
        source: where the text stands in the repository.
        place: where its page stands in the site.
    """
    taken = _taken()

    def led(match: re.Match[str]) -> str:
        image, label, target, anchor = match.groups(default="")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        page = taken.get(file, file.removeprefix("docs/") if file.startswith("docs/") else "")
        if not page and (ROOT / file).exists():
            return f"{label} (`{file}`)" if label.strip("`") != file else f"`{file}`"
        if not page:
            return match[0]
        return f"{image}[{label}]({posixpath.relpath(page, posixpath.dirname(place) or '.')}{anchor})"

    kept: list[str] = []
    end = 0
    for fence in _FENCED.finditer(text):
        kept += [_LINK.sub(led, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*kept, _LINK.sub(led, text[end:])])


def _rules(pages: list[RulePage]) -> str:
    parts = ["# Rules"]
    for hundred, pages_of_it in groupby(pages, key=lambda one: one.code[3]):
        rows = [f"| [{one.code} {one.name}]({one.code}.md) | {one.summary} | {_marks(one)} |" for one in pages_of_it]
        parts.append("\n".join([f"## {_THEMES[hundred]}\n", "| rule | what it finds | |", "|---|---|---|", *rows]))
    parts.append("*fix*: `--fix` can mend it. *opt-in*: it runs only where it is selected.")
    return "\n\n".join(parts) + "\n"


def _marks(page: RulePage) -> str:
    marks = {page.severity: True, "fix": page.has_fix, "opt-in": not page.enabled}
    return ", ".join(mark for mark, holds in marks.items() if holds)


def _rule(page: RulePage) -> str:
    """The page of a rule, with what its fix changes in the example as a diff."""
    standing = f"Severity: {page.severity}. {'On' if page.enabled else 'Off'} by default."
    parts = [f"# {page.name} ({page.code})", page.summary, standing]
    for heading, body in page.sections.items():
        if heading == "Use instead" and page.has_fix:
            parts += ["## What the fix changes", f"```diff\n{_diff(page.sections['Example'], body)}\n```"]
        else:
            parts += [f"## {heading}", f"```python\n{body}\n```" if heading in CODE else with_links(body)]
        if heading.startswith("Why it costs") and (rows := _measured(page.code)):
            head = "| on one NVIDIA H200 | step without | times as long (95 %) |\n|---|--:|--:|"
            parts += ["\n".join([head, *rows]), "[How it was measured](../costs.md)."]
    parts.append(f"`accel-advisor rule {page.code}` shows this page; `--ignore {page.code}` leaves the rule out.")
    return "\n\n".join(parts) + "\n"


def _measured(code: str) -> list[str]:
    """What was measured of the habits that a rule speaks of: a row for each."""
    groups = json.loads((ROOT / "benchmarks" / "results" / "habits.json").read_text(encoding="utf-8"))["groups"]
    habits = [one for group in groups.values() for one in group.get("habits", ()) if one["code"] == code]
    return [
        f"| {one['habit']} | {one['without']:.1f} ms | {one['ratio']:.2f} ({one['low']:.2f} to {one['high']:.2f}) |"
        for one in habits
    ]


def with_links(prose: str) -> str:
    """The text of a rule, which a terminal shows as well, with links to the pages of ``docs/`` that it names."""

    def led(match: re.Match[str]) -> str:
        return f"[{match[0]}](../{match[1]})" if (ROOT / match[0]).exists() else match[0]

    return _NAMED.sub(led, prose)


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", n=99, lineterm="")
    return "\n".join(list(lines)[3:])


def _commands() -> str:
    parts = ["# Commands and options", "What each command says of itself with `--help`."]
    context = click.Context(cli, info_name="accel-advisor", terminal_width=100, **cli.context_settings)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        own = click.Context(command, context, info_name=name, terminal_width=100, max_content_width=100)
        if not command.hidden:
            parts.append(f"## accel-advisor {name}\n\n```text\n{command.get_help(own)}\n```")
    parts.append("Which exit status means what: [exit status](exit-status.md).")
    return "\n\n".join(parts) + "\n"
