"""What the options of ``lint`` change in a configuration."""

from __future__ import annotations

import click

from accel_advisor.project.target import Target, Versions, platforms, versions
from accel_advisor.selection import Selector, selectors


def chosen(texts: tuple[str, ...], option: str) -> tuple[Selector, ...]:
    """The selectors that an option gives.

    Raises:
        UsageError: one of its texts names no rule.
    """
    for text in texts:
        if not text.strip(" ,"):
            raise click.UsageError(f"{option}: '{text}' names no rule")
    return selectors(texts, option)


def per_file(texts: tuple[str, ...]) -> tuple[tuple[str, tuple[Selector, ...]], ...]:
    """What ``--per-file-ignores`` switches off: patterns with selectors.

    Raises:
        UsageError: a text is no pattern with a rule.
    """
    option = "--per-file-ignores"
    found = []
    for text in texts:
        pattern, _, rules = text.rpartition(":")
        if not pattern.strip():
            raise click.UsageError(f"{option}: '{text}' is not PATTERN:RULE, such as 'scripts/*.py:ACC102'")
        found.append((pattern.strip(), chosen((rules,), option)))
    return tuple(found)


def supported(torch_version: str | None, python_version: str | None, platform: tuple[str, ...]) -> Target:
    """What the options say that the code runs on.

    Raises:
        UsageError: a version or a platform is none.
    """
    option = "--torch-version"
    try:
        torch = versions(torch_version) if torch_version is not None else Versions()
        option = "--python-version"
        python = versions(python_version) if python_version is not None else Versions()
        option = "--platform"
        return Target(python, torch, platforms(part.strip() for one in platform for part in one.split(",")))
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from error
