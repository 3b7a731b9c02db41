"""``accel-advisor rule``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from accel_advisor.commands.rule_completion import complete_rules

if TYPE_CHECKING:
    from accel_advisor.rule_page import RulePage


@click.command(short_help="Show the page of a rule.")
@click.argument("which", metavar="[CODE|NAME]", required=False, shell_complete=complete_rules)
@click.option("--all", "show_all", is_flag=True, help="List every rule.")
@click.option("--output-format", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
def rule(which: str | None, show_all: bool, output_format: str) -> int:
    """Show what a rule finds, why it costs time, and what to write instead."""
    from accel_advisor.rule import registry
    from accel_advisor.rule_page import rule_page
    from accel_advisor.selection import Selector, SelectorError
    from accel_advisor.tool_pages import TOOL_PAGES

    if show_all == (which is not None):
        raise click.UsageError("name one rule by its code or name, or say --all")
    rules = registry()
    for failure in rules.failures:
        click.echo(f"Error: {failure}", err=True)
    if show_all:
        pages = [*TOOL_PAGES.values(), *(rule_page(one) for one in rules.values())]
    else:
        assert which is not None
        names = {
            **{code: page.name for code, page in TOOL_PAGES.items()},
            **{one.code: one.name for one in rules.values()},
        }
        codes = Selector(which, "rule").codes(names)
        if len(codes) > 1 and which.upper() not in codes:
            raise SelectorError(f"rule: '{which}' means {len(codes)} rules: {', '.join(sorted(codes))}")
        code = which.upper() if which.upper() in codes else next(iter(codes))
        pages = [TOOL_PAGES[code] if code in TOOL_PAGES else rule_page(rules[code])]
    if output_format == "json":
        click.echo(json.dumps([_plain(page) for page in pages], indent=2, ensure_ascii=False))
    elif output_format == "markdown":
        click.echo("\n".join(page.markdown() for page in pages), nl=False)
    elif show_all:
        _table(pages)
    else:
        _page(pages[0])
    return 2 if rules.failures else 0


def _page(page: RulePage) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(highlight=False)
    if console.is_terminal:
        console.print(Markdown(page.markdown(), code_theme="ansi_dark"))
    else:
        click.echo(page.markdown(), nl=False)


def _table(pages: list[RulePage]) -> None:
    width = max((len(page.name) for page in pages), default=0)
    for page in pages:
        marks = "".join((" fix" if page.has_fix else "", "" if page.enabled else " opt-in"))
        click.echo(f"{page.code}  {page.name:{width}}  {page.severity:7}{marks}".rstrip())


def _plain(page: RulePage) -> dict[str, object]:
    return {
        "code": page.code,
        "name": page.name,
        "summary": page.summary,
        "severity": page.severity,
        "enabled": page.enabled,
        "fix": page.has_fix,
        "sections": dict(page.sections),
    }
