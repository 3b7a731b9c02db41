"""Codes and names of rules, as a shell completes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def complete_rules(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The codes that what is typed begins, and the names where it begins no code; of a list, its last item."""
    from click.shell_completion import CompletionItem

    from accel_advisor.rule import registry
    from accel_advisor.selection import TOOL_CODES

    before, comma, last = incomplete.rpartition(",")
    known = {**TOOL_CODES, **{rule.code: rule.name for rule in registry().values()}}
    codes = [CompletionItem(f"{before}{comma}{code}", help=name) for code, name in known.items()]
    names = [CompletionItem(f"{before}{comma}{name}", help=code) for code, name in known.items()]
    start = f"{before}{comma}{last}"
    found = [one for one in codes if one.value.lower().startswith(start.lower())]
    return [*found, *(one for one in names if one.value.startswith(start))]
