"""How a call is written, for rules, which read no syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accel_advisor.syntax.shapes import keywords_of

if TYPE_CHECKING:
    import libcst as cst


class WrittenCall:
    """A record of one call in the source.

    Attributes:
        node: the call.
    """

    __slots__ = ()
    node: cst.Call

    @property
    def callee(self) -> cst.BaseExpression:
        """What is called."""
        return self.node.func

    @property
    def keywords(self) -> dict[str, cst.BaseExpression]:
        """The expressions that it gives by name, by these names."""
        return keywords_of(self.node)

    @property
    def positional(self) -> tuple[cst.BaseExpression, ...]:
        """The expressions that it gives by their position, before the first ``*``."""
        plain: list[cst.BaseExpression] = []
        for one in self.node.args:
            if one.star:
                break
            if one.keyword is None:
                plain.append(one.value)
        return tuple(plain)

    @property
    def spreads(self) -> bool:
        """Whether it gives what a ``*`` or a ``**`` takes apart."""
        return any(one.star for one in self.node.args)

    @property
    def bare(self) -> bool:
        """Whether it gives nothing at all."""
        return not self.node.args
