"""What a rule is, and which rules there are."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, ClassVar

from .finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    import libcst as cst

    from .semantics.facts import Facts


class Rule(ABC):
    """Reads Facts and yields Findings. One file, one class, one code; no state, no tree walking.

    The docstring of a rule is its documentation. Its headings are fixed: What it does, Why it costs time, Example,
    Use instead, When to ignore it, Fix safety, References.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    enabled: ClassVar[bool] = True
    """Whether the rule runs when nothing was selected; the others are opt-in."""
    knob: ClassVar[str | None] = None
    """The setting of a trial that measures what this rule can only suspect."""

    @abstractmethod
    def check(self, facts: Facts) -> Iterator[Finding]:
        """Everything that this rule has to say about one document."""

    def finding(
        self,
        facts: Facts,
        node: cst.CSTNode,
        message: str,
        *,
        severity: Severity | None = None,
        fix: Fix | None = None,
        related: Iterable[Related] = (),
    ) -> Finding:
        """A finding of this rule at ``node``, with the rule's own severity unless another is given."""
        document = facts.document
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            severity=severity or self.severity,
            filename=document.filename,
            span=document.span(node),
            fix=fix,
            related=tuple(related),
        )


@cache
def registry() -> dict[str, Rule]:
    """Every rule by its code, in the order of codes: this package's own, then those of other packages that name a
    Rule class under the entry point ``accel_advisor.rules``.

    Raises:
        ValueError: two rules share a code or a name.
    """
    from . import rules

    classes: list[type[Rule]] = []
    for module in pkgutil.walk_packages(rules.__path__, rules.__name__ + "."):
        loaded = importlib.import_module(module.name)
        classes.extend(
            member
            for member in vars(loaded).values()
            if inspect.isclass(member) and issubclass(member, Rule) and member.__module__ == loaded.__name__
        )
    classes += [point.load() for point in entry_points(group="accel_advisor.rules")]
    found: dict[str, Rule] = {}
    names: dict[str, str] = {}
    for member in sorted(classes, key=lambda rule: rule.code):
        if member.code in found or member.name in names:
            raise ValueError(f"two rules are called {member.code} ({member.name})")
        found[member.code] = member()
        names[member.name] = member.code
    return found
