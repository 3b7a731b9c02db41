"""Which rules run: selectors by code, name or prefix, resolved against the rules that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SYNTAX_ERROR = ("ACC001", "syntax-error")
UNUSED_SUPPRESSION = ("ACC002", "unused-suppression")
INTERNAL_ERROR = ("ACC003", "internal-error")
NOT_ANALYSED = ("ACC004", "file-not-analysed")
TOOL_CODES: Mapping[str, str] = dict((SYNTAX_ERROR, UNUSED_SUPPRESSION, INTERNAL_ERROR, NOT_ANALYSED))
"""Codes of the tool itself, with their names: they come from no rule and are always on unless ignored."""


class SelectorError(ValueError):
    """A selector that means no rule; the message is one sentence that says where it stands."""


@dataclass(frozen=True, slots=True)
class Selector:
    """What a person wrote to mean one rule or several.

    Attributes:
        text: a code, a prefix of codes (``ACC1``, ``ACC``), a rule's name, or ``ALL``.
        where: the option or the file and key that it comes from.
    """

    text: str
    where: str

    def codes(self, known: Mapping[str, str], *, lenient: bool = False) -> frozenset[str]:
        """The codes that it means.

        Args:
            known: names by code.
            lenient: let it mean none.

        Raises:
            SelectorError: it means none.
        """
        text = self.text.strip()
        if text == "ALL":
            return frozenset(known)
        found = frozenset(
            code for code, name in known.items() if name == text or (text and code.startswith(text.upper()))
        )
        if not found and not lenient:
            import difflib

            close = difflib.get_close_matches(text, [*known, *known.values()], n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "`accel-advisor rule --all` lists them"
            raise SelectorError(f"{self.where}: no rule is called '{text}'; {hint}")
        return found


def selectors(texts: Iterable[str], where: str) -> tuple[Selector, ...]:
    """Selectors of one origin; an item may hold several, separated by commas."""
    return tuple(Selector(part.strip(), where) for text in texts for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules run.

    Attributes:
        select: what runs instead of the defaults, or None for the defaults.
        extend_select: what runs besides.
        ignore: what does not run. Where both an ignore and a select mean a rule, the more exact one wins (a code or
            name before a prefix, a longer prefix before a shorter one), and the ignore at a tie.
    """

    select: tuple[Selector, ...] | None = None
    extend_select: tuple[Selector, ...] = ()
    ignore: tuple[Selector, ...] = ()

    def resolve(self, known: Mapping[str, str], defaults: Iterable[str], *, lenient: bool = False) -> frozenset[str]:
        """The codes that are on.

        Args:
            known: names by code, the tool's own codes among them.
            defaults: the codes that are on when nothing was selected.
            lenient: skip a selector that means no rule: rules are missing that it may mean.

        Raises:
            SelectorError: a selector means no rule.
        """
        weight: dict[str, int] = {} if self.select is not None else dict.fromkeys([*defaults, *TOOL_CODES], 0)
        if self.select is not None:
            weight.update(dict.fromkeys(TOOL_CODES, 0))
        for selector in (*(self.select or ()), *self.extend_select):
            for code in selector.codes(known, lenient=lenient):
                weight[code] = max(weight.get(code, 0), _exactness(selector, code, known))
        for selector in self.ignore:
            for code in selector.codes(known, lenient=lenient):
                if weight.get(code, -1) <= _exactness(selector, code, known):
                    weight.pop(code, None)
        return frozenset(weight)

    def named(self, known: Mapping[str, str]) -> frozenset[str]:
        """The codes that are selected by themselves, by code or name."""
        chosen = [one.text for one in (*(self.select or ()), *self.extend_select)]
        return frozenset(code for code, name in known.items() if name in chosen or code in map(str.upper, chosen))

    @property
    def narrowed(self) -> bool:
        """Whether rules that are on by default may be off."""
        return self.select is not None or bool(self.ignore)


def _exactness(selector: Selector, code: str, known: Mapping[str, str]) -> int:
    text = selector.text
    if text == "ALL":
        return 0
    return len(code) if text == known[code] else len(text)
