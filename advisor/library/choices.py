"""What a caller asks of a lint beside what the configuration of each file says, and what of its findings is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import TypeVar

from accel_advisor.config import Config
from accel_advisor.configurations import Configurations
from accel_advisor.finding import Confidence, Finding, Severity
from accel_advisor.linting.adoption import Held
from accel_advisor.linting.report import Report
from accel_advisor.selection import selectors

_Kind = TypeVar("_Kind", bound=Enum)


def choices(
    select: str | Iterable[str] | None = None,
    extend_select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    min_severity: Severity | str | None = None,
    min_confidence: Confidence | str | None = None,
) -> Callable[[Config], Config]:
    """What changes a configuration as the words of a caller ask for. A text of selectors may hold several, separated by
    commas.

    Args:
        select: the only rules that run; None for those of the configuration.
        extend_select: rules that run besides.
        ignore: rules that do not run.
        min_severity, min_confidence: what is shown at least; None for what the configuration says.

    Raises:
        ValueError: a severity or confidence is none; one sentence.
    """
    return partial(
        Config.changed,
        select=None if select is None else selectors(_listed(select), "select"),
        extend_select=selectors(_listed(extend_select), "extend_select"),
        ignore=selectors(_listed(ignore), "ignore"),
        min_severity=_one_of(Severity, min_severity, "min_severity"),
        min_confidence=_one_of(Confidence, min_confidence, "min_confidence"),
    )


def _listed(selectors: str | Iterable[str]) -> Iterable[str]:
    return [selectors] if isinstance(selectors, str) else selectors


def _one_of(kind: type[_Kind], value: _Kind | str | None, where: str) -> _Kind | None:
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{where}: {value!r} is none of {', '.join(str(one.value) for one in kind)}") from None


def shown(report: Report, configurations: Configurations) -> list[Finding]:
    """The findings that are severe and sure enough, and that no baseline holds.

    Raises:
        ConfigError: a baseline cannot be read.
    """
    if any(one.baseline for one in configurations.known):
        return Held.configured(configurations).new(report)
    return [one for one in report.findings if configurations.shows(one)]
