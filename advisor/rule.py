"""What a rule is, and which rules there are."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from accel_advisor.editing.argument_fixes import drop_argument, pass_argument
from accel_advisor.editing.comment_columns import columns_kept
from accel_advisor.editing.edits import (
    add_keyword,
    decorate,
    indentation_at,
    insert_after,
    insert_statement,
    make_on_device,
    may_stand_twice,
    remove_call,
    remove_statement,
    replace_keyword,
    replace_node,
    takes_method,
)
from accel_advisor.editing.unused_imports import imports_left_over
from accel_advisor.editing.wrapping import newline_of
from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Related, Severity, StepWait
from accel_advisor.plugins import entry_points
from accel_advisor.records.queries.old_torch import breaks_with, knows
from accel_advisor.selection import TOOL_CODES
from accel_advisor.values.evidence import PROVEN, Evidence

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import libcst as cst

    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts
    from accel_advisor.source.document import Document

Node: TypeAlias = "cst.CSTNode"
"""A piece of the source. A rule hands it on, keeps it, and asks :meth:`Document.code` for its text; what it is like, a
record says."""
_WITHOUT_OLD_PYTHON = (1, 5)
"""The torch that first ran on no Python 2."""
_BROKEN = re.compile(r"(?<=[(\[{])\s*\n\s*|,?\s*\n\s*(?=[)\]}])|\s*\n\s*(?=\.)")
"""Where code of several lines has white space, and a comma, that it would not have on one."""
_COMMENT = re.compile(r"[ \t]+#[^\n`'\"]*(?=\n)")
"""A comment at the end of a line of code that goes on, unless it may be a part of a text."""

__all__ = [
    "Node",
    "Registry",
    "Rule",
    "add_keyword",
    "also_at",
    "decorate",
    "drop_argument",
    "indentation_at",
    "insert_after",
    "insert_statement",
    "make_on_device",
    "may_stand_twice",
    "newline_of",
    "pass_argument",
    "registry",
    "remove_call",
    "remove_statement",
    "replace_keyword",
    "replace_node",
    "takes_method",
]


class Rule(ABC):
    """Reads Facts and yields Findings. One file, one class, one code; no state, no tree walking.

    A rule imports this module (which offers the makers of edits and fixes, too), :mod:`accel_advisor.finding` and the
    records under :mod:`accel_advisor.records`; nothing else but Python's own library.

    The docstring of a rule is its documentation. Its headings are fixed: What it does, Why it costs time, Example,
    Use instead, When to ignore it, Fix safety, References.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    enabled: ClassVar[bool] = True
    """Whether the rule runs when nothing was selected; the others are opt-in."""
    frequency: ClassVar[Frequency] = Frequency.STEP
    """How often a run pays for what the rule finds."""
    knob: ClassVar[str | None] = None
    """The setting of a trial that measures what this rule can only suspect."""

    @abstractmethod
    def check(self, facts: Facts) -> Iterator[Finding]:
        """Everything that this rule has to say about one document."""

    def finding(
        self,
        facts: Facts,
        node: cst.CSTNode,
        claim: str,
        remedy: str,
        *,
        severity: Severity | None = None,
        frequency: Frequency | None = None,
        fix: Fix | None = None,
        related: Iterable[Related] = (),
        basis: Evidence = PROVEN,
        since: Version | None = None,
        package: str = "torch",
        before: str = "",
        lately: bool = False,
        minor: bool = False,
        aside: bool = False,
        group: str = "",
        wait: StepWait | None = None,
    ) -> Finding:
        """A finding of this rule at ``node``, with the rule's own severity and frequency unless others are given, and
        what it rests on.

        Args:
            claim: the object in the user's own names, and the consequence; no full stop.
            remedy: what to do, in a few words; it follows the claim after a semicolon.
            since: the version of ``package`` that the remedy came with. Where the project says that it may run with an
                older one, the remedy names the version, and the fix is not safe; the finding is minor where its README
                installs one of an older major version, other than of torch. Where it rules that version out, the
                program breaks with it, or the file is written for a Python that it never ran on, the remedy says so,
                there is no fix, and the finding is minor.
            before: what does the same with an older version than ``since``: the remedy, and no reason for a minor
                finding, where that one is ruled out.
            lately: whether ``since`` is so new that a project which names no version may well run with an older one:
                the remedy names it, and the fix is not safe, there as well.
            minor: whether only those want to know it who ask for it (``--minor``) or select this rule by itself.
            aside: whether it is worth less than others of the rule, and so is shown as one more place of the nearest of
                them; a minor one only where there is one in its file.
            group: findings of this rule in one file that share it, and are as severe, are shown as one.
            wait: the wait of a step that it is about; those of one loop in a file are shown as one, whatever rules
                report them.
        """
        document = facts.document
        if since is not None:
            torch = package == "torch"
            ancient = document.outdated is not None and torch and since >= _WITHOUT_OLD_PYTHON
            breaks = torch and breaks_with(facts, since)
            barred = ancient or breaks or facts.target.rules_out(package, since)
            sure = facts.target.starts_at(package, since)
            older = sure is False or (lately and sure is None)
            if barred and before:
                remedy, fix = before, None
            elif barred or (older and not (torch and knows(facts, since))):
                what = "file is too old for" if ancient else "program is too old for" if breaks else "project rules out"
                why = f", which this {what}"
                remedy = f"{remedy} ({package} {since[0]}.{since[1]} or later{why if barred else ''})"
                fix = fix.at_most(Applicability.UNSAFE) if fix is not None and not barred else None
                used = facts.target.used_with(package)
                minor |= barred or (not torch and used is not None and used[0] < since[0])
        if fix is not None:
            others = partial(_other_texts, facts)
            more = *imports_left_over(document, fix.edits, others), *columns_kept(document, fix.edits)
            fix = replace(fix, edits=(*fix.edits, *more))
        claim, advice = _on_one_line(claim), _on_one_line(remedy)
        return Finding(
            code=self.code,
            name=self.name,
            message=f"{claim}; {advice}",
            severity=severity or self.severity,
            filename=document.filename,
            span=document.span(node),
            fix=fix,
            related=tuple(related),
            confidence=basis.confidence,
            frequency=frequency or self.frequency,
            minor=minor,
            aside=aside,
            group=group,
            wait=wait,
            advice=advice,
        )


def _other_texts(facts: Facts) -> Iterator[str]:
    """The texts of the other files of a document's program."""
    return (one.document.text for one in facts.program if one.document is not facts.document)


def _on_one_line(message: str) -> str:
    """A message whose quoted code may go over several lines, as it would stand on one."""
    return " ".join(_BROKEN.sub("", _COMMENT.sub("", message)).split())


def also_at(document: Document, node: cst.CSTNode, message: str) -> Related:
    """Another place that a finding is about, with what is found there."""
    return Related(document.filename, document.span(node), message)


class Registry(dict[str, Rule]):
    """Every rule by its code.

    Attributes:
        failures: sentences about rules that could not be loaded, each of which names the module or the entry point.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[str] = []
        self._names = set(TOOL_CODES.values())

    def add(self, member: object) -> None:
        """Adds a rule.

        Raises:
            TypeError: it is no rule, or lacks something that a rule must have.
            ValueError: its code or name is taken.
        """
        if not inspect.isclass(member) or not issubclass(member, Rule):
            raise TypeError(f"{member!r} is no class derived from accel_advisor.rule.Rule")
        rule = member()
        if not isinstance(rule.severity, Severity) or not all(isinstance(one, str) for one in (rule.code, rule.name)):
            raise TypeError(f"{member.__qualname__} needs a code and a name, which are strings, and a severity")
        if rule.code in self or rule.code in TOOL_CODES or rule.name in self._names:
            raise ValueError(f"another rule is called {rule.code} or {rule.name} already")
        self[rule.code] = rule
        self._names.add(rule.name)


@cache
def registry() -> Registry:
    """Every rule, in the order of codes: this package's own, and those of other packages that name a Rule class under
    the entry point ``accel_advisor.rules``. One that cannot be loaded costs itself only."""
    loaded = Registry()
    for where, load in (*_own_modules(), *_entry_points()):
        try:
            for member in load():
                loaded.add(member)
        except (Exception, SystemExit) as error:  # whatever the code of another package does when it is imported
            loaded.failures.append(f"{where} cannot be loaded, so it did not run: {type(error).__name__}: {error}")
    found = Registry()
    found.update(sorted(loaded.items()))
    found.failures = loaded.failures
    return found


Source = tuple[str, Callable[[], Iterable[object]]]
"""What holds rules, in words, and what loads them."""


def _own_modules() -> Iterator[Source]:
    from accel_advisor import rules

    for module in pkgutil.walk_packages(rules.__path__, rules.__name__ + ".", onerror=lambda name: None):
        yield f"the rule module {module.name}", partial(_rules_in, module.name)


def _rules_in(name: str) -> list[object]:
    module = importlib.import_module(name)
    return [
        member
        for member in vars(module).values()
        if inspect.isclass(member) and member.__module__ == module.__name__ and issubclass(member, Rule)
    ]


def _entry_points() -> Iterator[Source]:
    for point in entry_points():
        yield f"the rule '{point.name}' of another package ({point.value})", partial(_named_by, point)


def _named_by(point: EntryPoint) -> list[object]:
    return [point.load()]
