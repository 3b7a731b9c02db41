"""What the options of ``lint`` change in a configuration."""

from __future__ import annotations

from dataclasses import replace

import click

from accel_advisor.config import Config
from accel_advisor.finding import Confidence, Severity
from accel_advisor.project.target import Target, Versions, platforms, versions
from accel_advisor.selection import Selection, Selector, selectors


def changed(
    config: Config,
    *,
    select: tuple[Selector, ...] | None,
    extend_select: tuple[Selector, ...],
    ignore: tuple[Selector, ...],
    per_file_ignores: tuple[tuple[str, tuple[Selector, ...]], ...],
    min_severity: Severity | None,
    min_confidence: Confidence | None,
    fail_on: Severity | None,
    target: Target,
) -> Config:
    """A configuration as the options change it."""
    old = config.selection
    return replace(
        config,
        selection=Selection(
            old.select if select is None else select,
            (old.extend_select if select is None else ()) + extend_select,
            old.ignore + ignore,
        ),
        per_file_ignores=config.per_file_ignores + per_file_ignores,
        min_severity=min_severity or config.min_severity,
        min_confidence=min_confidence or config.min_confidence,
        fail_on=fail_on or config.fail_on,
        target=target.over(config.target),
    )


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
