"""What lint says of the files that a loop was found in."""

from __future__ import annotations

from accel_advisor.configurations import Configurations
from accel_advisor.finding import Finding
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found
from accel_advisor.tuning.applying.project_code import is_own_code
from accel_advisor.tuning.probe.channel.wire import LoopSamples


def findings_in(samples: LoopSamples) -> list[Finding]:
    """What lint shows of all source files that ran, each place by itself, under absolute names.

    Raises:
        ConfigError: a configuration of one of them cannot be used.
        SelectorError: a selector of a configuration means no rule.
    """
    names = {name for name, _ in samples.ran} | {one.filename for stack in samples.stacks for one in stack.frames}
    configurations = Configurations()
    report = lint([Found(name, named=True) for name in sorted(names) if is_own_code(name)], configurations)
    return [one for one in report.findings if configurations.shows(one)]
