"""The page of a rule: its docstring, parsed.

The form of a rule's docstring: a first line that says in one sentence what is wrong, then headings at the margin, each
alone on its line and in this order, each with a body that is indented by four spaces::

    What it does
        Prose. A blank line ends a paragraph; a line that begins with "- " begins an item of a list.

    Why it costs time
        Prose. A rule about a crash or a wrong result says here what happens.

    Example
        # The whole body is one Python file, taken as it stands: no fence, no "::". It must trigger this rule
        # and no other one.
        loader = DataLoader(dataset)

    Use instead
        # One Python file as well, in which no rule finds anything. Where the rule has a fix, it is exactly what the
        # fix makes of the Example.
        loader = DataLoader(dataset, num_workers=4)

    When to ignore it
        Prose.

    Fix safety
        Prose. Present exactly where the rule makes fixes.

    References
        - Title: https://address

"Fix safety" and "References" may be left out, the others may not.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.rule import Rule

HEADINGS = (
    "What it does",
    "Why it costs time",
    "Example",
    "Use instead",
    "When to ignore it",
    "Fix safety",
    "References",
)
OPTIONAL = frozenset({"Fix safety", "References"})
CODE = frozenset({"Example", "Use instead"})

_ADDRESS = re.compile(r"https?://\S+")


class RulePageError(ValueError):
    """A rule's docstring does not have the form of a page; the message names the rule and what is wrong."""


@dataclass(frozen=True, slots=True)
class RulePage:
    """A rule's documentation.

    Attributes:
        summary: the first line.
        sections: the text under each heading, dedented, in the order of :data:`HEADINGS`.
    """

    code: str
    name: str
    severity: str
    enabled: bool
    summary: str
    sections: Mapping[str, str]

    @property
    def example(self) -> str:
        """A Python file that triggers the rule."""
        return self.sections["Example"] + "\n"

    @property
    def use_instead(self) -> str:
        """A Python file that does not."""
        return self.sections["Use instead"] + "\n"

    @property
    def has_fix(self) -> bool:
        """Whether the rule makes fixes."""
        return "Fix safety" in self.sections

    @property
    def url(self) -> str | None:
        """The first address under References."""
        found = _ADDRESS.search(self.sections.get("References", ""))
        return found.group().rstrip(".,)>") if found else None

    def markdown(self) -> str:
        """The page as Markdown, code in fences."""
        parts = [f"# {self.name} ({self.code})", self.summary, self._standing()]
        for heading, body in self.sections.items():
            parts.append(f"## {heading}")
            parts.append(f"```python\n{body}\n```" if heading in CODE else body)
        return "\n\n".join(parts) + "\n"

    def _standing(self) -> str:
        standing = "On by default." if self.enabled else "Off by default: select it to have it."
        fix = "Has a fix." if self.has_fix else "Has no fix."
        silenced = f"`# accel: ignore[{self.code}]` at the end of a line silences it."
        return f"Severity: {self.severity}. {standing} {fix} {silenced}"


def rule_page(rule: Rule | type[Rule]) -> RulePage:
    """The page of a rule.

    Raises:
        RulePageError: the docstring does not have the form that this module describes.
    """
    member = rule if inspect.isclass(rule) else type(rule)
    where = f"{rule.code} ({member.__module__}.{member.__qualname__})"
    if not member.__doc__:
        raise RulePageError(f"{where} has no docstring")
    lines = inspect.cleandoc(member.__doc__).splitlines()
    summary: list[str] = []
    bodies: dict[str, list[str]] = {}
    body = summary
    for line in lines:
        if line in HEADINGS:
            if line in bodies:
                raise RulePageError(f"{where}: the heading '{line}' stands twice")
            body = bodies[line] = []
        elif bodies and line and not line.startswith("    "):
            raise RulePageError(f"{where}: '{line}' is neither a heading nor indented by four spaces")
        else:
            body.append(line)
    missing = [heading for heading in HEADINGS if heading not in bodies and heading not in OPTIONAL]
    if missing:
        raise RulePageError(f"{where}: the heading '{missing[0]}' is missing")
    if list(bodies) != [heading for heading in HEADINGS if heading in bodies]:
        raise RulePageError(f"{where}: the headings must stand in this order: {', '.join(HEADINGS)}")
    sections = {heading: textwrap.dedent("\n".join(text)).strip("\n") for heading, text in bodies.items()}
    empty = [heading for heading, text in sections.items() if not text]
    if empty:
        raise RulePageError(f"{where}: nothing stands under '{empty[0]}'")
    first = " ".join(line.strip() for line in summary).strip()
    if not first:
        raise RulePageError(f"{where}: the first line is empty")
    return RulePage(rule.code, rule.name, rule.severity.value, rule.enabled, first, sections)
