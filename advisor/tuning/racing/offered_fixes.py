"""The fixes that lint offers for the code of a training loop, and in which order they are raced."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from accel_advisor.config import Config
from accel_advisor.configurations import Configurations
from accel_advisor.editing.fixer import plan
from accel_advisor.finding import Applicability, Confidence, Finding, Severity
from accel_advisor.linting.joining import joined
from accel_advisor.linting.linter import lint
from accel_advisor.linting.ruleset import known_codes
from accel_advisor.project.discovery import Found
from accel_advisor.selection import selectors
from accel_advisor.source.program_lines import named_line, place_of
from accel_advisor.tuning.applying.project_code import display_name, is_own_code
from accel_advisor.tuning.pricing.line_prices import priced
from accel_advisor.tuning.probe.channel.wire import Block, Frame
from accel_advisor.tuning.racing.reached_code import ReachedCode, files_of

MOST_UNSAFE = 8
"""Unsafe fixes that are raced, unless rules are named: each starts the script several times."""
WHERE = "--knobs fixes"


@dataclass(frozen=True, slots=True)
class OfferedFixes:
    """What is to be raced.

    Attributes:
        safe: findings whose fixes are safe, and can be made together.
        alone: those that are raced by themselves, several where they are one remark.
        sources: the files as they were linted, by name.
        elsewhere: how many fixes are for code that was not seen to run.
        left_out: fixes that are not raced for another reason, each in words.
    """

    safe: tuple[Finding, ...]
    alone: tuple[tuple[Finding, ...], ...]
    sources: Mapping[str, bytes]
    elsewhere: int = 0
    left_out: tuple[str, ...] = ()


def codes_of(rules: Sequence[str]) -> frozenset[str]:
    """The codes of rules that were named.

    Raises:
        SelectorError: one of them is none.
    """
    known = known_codes()
    return frozenset[str]().union(*(one.codes(known) for one in selectors(rules, WHERE)))


def offered(block: Block, loader: Sequence[Frame], rules: Sequence[str], root: Path, *, device: str) -> OfferedFixes:
    """What lint offers for the code of a loop that was watched, the costliest lines first.

    Args:
        loader: the stack that built the loader that trains.
        rules: those whose fixes are wanted; none for all that are configured.
        device: the kind of device that trains.

    Raises:
        ConfigError: a configuration of one of the files cannot be used.
        SelectorError: a selector means no rule.
    """
    assert block.lines is not None
    named = codes_of(rules)
    configurations = Configurations(partial(_with, rules))
    names = [name for name in files_of(block.lines, loader) if is_own_code(name) and _below(name, root)]
    report = lint([Found(name, named=True) for name in names], configurations)
    with_fix = [
        one
        for one in report.findings
        if one.fix is not None
        and one.fix.applicability is not Applicability.DISPLAY
        and (one.code in named if named else configurations.shows(one))
        and all(_below(edit.filename, root) for edit in one.fix.edits)
    ]
    reached = ReachedCode(block.lines, loader, report.sources)
    running = [one for one in with_fix if reached.holds(one)]
    left_out = [
        f"{_place(one, root)} is about what is computed, not about speed"
        for one in running
        if one.severity is Severity.ERROR
    ]
    raced = [one for one in running if one.severity is not Severity.ERROR]
    safe, overlapping = plan(raced, {Applicability.SAFE})
    alone = _together([*overlapping, *joined(one for one in raced if has_fix(one, Applicability.UNSAFE))])
    alone = _dearest_first(alone, block, root, device)
    if not rules:
        left_out += [
            f"{_place(one[0], root)} is one more than {MOST_UNSAFE}: --knobs fixes:{one[0].code} races it"
            for one in alone[MOST_UNSAFE:]
        ]
        alone = alone[:MOST_UNSAFE]
    return OfferedFixes(
        tuple(safe), tuple(alone), report.sources, len(with_fix) - len(running), tuple(dict.fromkeys(left_out))
    )


def _with(rules: Sequence[str], config: Config) -> Config:
    """A configuration by which findings of these rules are shown, too."""
    if not rules:
        return config
    return config.changed(
        extend_select=selectors(rules, WHERE), min_severity=Severity.INFO, min_confidence=Confidence.EVIDENT
    )


def has_fix(finding: Finding, applicability: Applicability) -> bool:
    """Whether a finding has a fix of this kind."""
    return finding.fix is not None and finding.fix.applicability is applicability


def _below(filename: str, root: Path) -> bool:
    return Path(os.path.realpath(filename)).is_relative_to(root.resolve())


def _place(finding: Finding, root: Path) -> str:
    return f"{finding.code} {display_name(finding.filename, root)}:{named_line(*place_of(finding.span.start))}"


def _together(findings: Iterable[Finding]) -> list[tuple[Finding, ...]]:
    """Those of one rule on one line are one remark."""
    found: dict[tuple[str, str, int], tuple[Finding, ...]] = {}
    for one in findings:
        key = one.code, one.filename, one.span.start.row
        found[key] = (*found.get(key, ()), one)
    return list(found.values())


def _dearest_first(
    fixes: Collection[tuple[Finding, ...]], block: Block, root: Path, device: str
) -> list[tuple[Finding, ...]]:
    """Those first that act from elsewhere, which have no price, then by what their lines take of a step."""
    prices = priced(block, [one for fix in fixes for one in fix], root, device=device)
    shares = {
        (one.code, one.filename, one.cell, one.row): one.price.share
        for one in (prices.findings if prices is not None else ())
    }
    return sorted(
        fixes,
        key=lambda fix: (
            -shares.get((fix[0].code, display_name(fix[0].filename, root), *place_of(fix[0].span.start)), 1.0)
        ),
    )
