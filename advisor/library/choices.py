"""What a caller asks of a lint beside what the configuration of each file says, and what of its findings is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from accel_advisor.config import Config
from accel_advisor.configurations import Configurations
from accel_advisor.finding import Confidence, Finding, Severity
from accel_advisor.linting.adoption import Held
from accel_advisor.linting.report import Report
from accel_advisor.selection import Selector, selectors


@dataclass(frozen=True, slots=True)
class Choices:
    """What is asked for, in the words of the command line.

    Attributes:
        select: the only rules that run; None for those of the configuration.
        extend_select: rules that run besides.
        ignore: rules that do not run.
        min_severity, min_confidence: what is shown at least; None for what the configuration says.
    """

    select: tuple[Selector, ...] | None = None
    extend_select: tuple[Selector, ...] = ()
    ignore: tuple[Selector, ...] = ()
    min_severity: Severity | None = None
    min_confidence: Confidence | None = None

    @classmethod
    def of(
        cls,
        select: Iterable[str] | None = None,
        extend_select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        min_severity: Severity | str | None = None,
        min_confidence: Confidence | str | None = None,
    ) -> Choices:
        """Reads words.

        Raises:
            ValueError: a severity or confidence is none.
        """
        return cls(
            None if select is None else selectors(select, "select"),
            selectors(extend_select, "extend_select"),
            selectors(ignore, "ignore"),
            None if min_severity is None else Severity(min_severity),
            None if min_confidence is None else Confidence(min_confidence),
        )

    def change(self, config: Config) -> Config:
        """A configuration as it is changed by what is asked for."""
        return config.changed(
            select=self.select,
            extend_select=self.extend_select,
            ignore=self.ignore,
            min_severity=self.min_severity,
            min_confidence=self.min_confidence,
        )


def shown(report: Report, configurations: Configurations) -> list[Finding]:
    """The findings that are severe and sure enough, and that no baseline holds.

    Raises:
        ConfigError: a baseline cannot be read.
    """
    if any(one.baseline for one in configurations.known):
        return Held.configured(configurations).new(report)
    return [one for one in report.findings if configurations.shows(one)]
