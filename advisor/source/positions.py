"""Where the nodes of a tree stand in the text that it was parsed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from libcst._nodes.internal import CodegenState

if TYPE_CHECKING:
    from types import TracebackType

    import libcst as cst


class Positions:
    """Character offsets of the nodes of a tree, without the parentheses around them.

    libcst's own code generator runs with a state that counts characters, one statement of the module after the other
    and no further than it is asked for: a third of the time of a parse for a whole file, where the metadata providers
    take several times one (they copy the tree first).

    Args:
        tree: what was parsed.
        text: what it was parsed from.
    """

    def __init__(self, tree: cst.Module, text: str) -> None:
        self._text = text
        self._state = _Counting(default_indent=tree.default_indent, default_newline=tree.default_newline)
        self._todo: Iterator[Sequence[cst.CSTNode]] = iter((tree.header, *((one,) for one in tree.body)))

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node begins and ends.

        Raises:
            ValueError: the tree does not give the text back, so that no place in it would be right.
            KeyError: the node is not of this tree, or is the module itself.
        """
        found = self._state.found
        while id(node) not in found:
            part = next(self._todo, None)
            if part is None:
                raise KeyError(node)
            self._generate(part)
        return found[id(node)]

    def _generate(self, part: Sequence[cst.CSTNode]) -> None:
        state = self._state
        start = state.position
        for one in part:
            one._codegen(state)
        code = "".join(state.tokens)
        state.tokens.clear()
        # where the text does not end in a newline, the last statement has one too many
        same = self._text.startswith(code, start) or code.removesuffix(state.default_newline) == self._text[start:]
        if not same:
            raise ValueError("the tree does not give the text back")


class _Counting(CodegenState):
    """A state of the code generator that knows how many characters came before."""

    def __init__(self, *, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self.position = 0
        self.found: dict[int, tuple[int, int]] = {}
        self._opened: list[int] = []

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.position += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.tokens.append(token)
            self.position += len(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._opened.append(self.position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._opened.pop()
        if id(node) not in self.found:
            self.found[id(node)] = (start, self.position)

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Recording:
        # a context manager that is made of a generator takes as long as the code that is generated in it
        return _Recording(self, node, start_node, end_node)


class _Recording:
    """Notes where the code that is generated inside of it stands."""

    __slots__ = ("_end_node", "_node", "_start", "_start_node", "_state")

    def __init__(
        self, state: _Counting, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self._state = state
        self._node = node
        self._start_node = start_node
        self._end_node = end_node

    def __enter__(self) -> None:
        self._start = self._state.position

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        found = self._state.found
        start = self._start if self._start_node is None else found[id(self._start_node)][0]
        end = self._state.position if self._end_node is None else found[id(self._end_node)][1]
        found[id(self._node)] = (start, end)
