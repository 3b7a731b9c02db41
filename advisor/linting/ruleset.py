"""The rules that a configuration selects, and where they run."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from accel_advisor.config import Config
from accel_advisor.selection import TOOL_CODES

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from accel_advisor.rule import Rule


class Ruleset:
    """What one configuration selects; rules are loaded when needed."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @cached_property
    def known(self) -> dict[str, str]:
        """Names by code, the tool's own among them."""
        return known_codes()

    @cached_property
    def on(self) -> frozenset[str]:
        """The codes that are on.

        Raises:
            SelectorError: a selector of the configuration means no rule.
        """
        from accel_advisor.rule import registry

        _ = self._per_file_ignores  # a wrong selector is reported even where no file matches
        defaults = [code for code, rule in registry().items() if rule.enabled]
        return self.config.selection.resolve(self.known, defaults, lenient=bool(failures()))

    @cached_property
    def named(self) -> frozenset[str]:
        """The codes that are selected one by one, and not only by a prefix that they share with others."""
        return self.config.selection.named(self.known)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that run."""
        from accel_advisor.rule import registry

        return tuple(rule for code, rule in registry().items() if code in self.on)

    def off_in(self, filename: str) -> frozenset[str]:
        """What ``per-file-ignores`` switches off in a file."""
        off: frozenset[str] = frozenset()
        if self._per_file_ignores:
            relative = os.path.relpath(os.path.abspath(filename), self.config.root).replace(os.sep, "/")
            for spec, outside, codes in self._per_file_ignores:
                if spec.match_file(relative) != outside:
                    off |= codes
        return off

    @cached_property
    def _per_file_ignores(self) -> list[tuple[GitIgnoreSpec, bool, frozenset[str]]]:
        """Patterns, whether each means the files that it does not match, and the codes that are off there."""
        if not self.config.per_file_ignores:
            return []
        from pathspec import GitIgnoreSpec

        found = []
        lenient = bool(failures())
        for pattern, selectors in self.config.per_file_ignores:
            spec = GitIgnoreSpec.from_lines([pattern.removeprefix("!").removeprefix("./")])
            codes = [one.codes(self.known, lenient=lenient) for one in selectors]
            found.append((spec, pattern.startswith("!"), frozenset().union(*codes)))
        return found


def failures() -> tuple[str, ...]:
    """What there is to say about rules that cannot be loaded."""
    from accel_advisor.rule import registry

    return tuple(registry().failures)


def known_codes() -> dict[str, str]:
    """Names by code of every rule and of the tool's own codes."""
    from accel_advisor.rule import registry

    return {**TOOL_CODES, **{code: rule.name for code, rule in registry().items()}}
