"""Where the nodes of a tree stand in the text that it was parsed from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from libcst._nodes.internal import CodegenState

from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from types import TracebackType

    import libcst as cst


class Positions:
    """Character offsets of the nodes of a tree, without the parentheses around them.

    libcst's own code generator runs with a state that counts characters: a third of the time of a parse for a whole
    file, where the metadata providers take several times one (they copy the tree first). So it runs only over the
    statements of the module that hold what is asked for; where such a statement begins is where its code is found.

    Args:
        tree: what was parsed.
        text: what it was parsed from.
    """

    def __init__(self, tree: cst.Module, text: str) -> None:
        self._tree = tree
        self._text = text
        self._found: dict[int, tuple[int, int]] = {}
        self._generated: dict[int, _Counting] = {}
        self._starts: list[int] = []

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node begins and ends.

        Raises:
            ValueError: the tree does not give the text back, so that no place in it would be right.
            KeyError: the node is not of this tree, or is the module itself.
        """
        if id(node) not in self._found:
            homes = [self._homes[id(node)]] if id(node) in self._homes else range(len(self._tree.body))
            for home in homes:
                self._place(home)
                if id(node) in self._found:
                    break
            else:
                raise KeyError(node)
        return self._found[id(node)]

    @cached_property
    def _homes(self) -> dict[int, int]:
        """The number of the statement that each expression and statement stands in."""
        return {id(one): index for index, part in enumerate(self._tree.body) for one in descendants(part)}

    def _place(self, index: int) -> None:
        counting = self._counting(index)
        start = self._start(index, counting.code)
        for node, (first, last) in counting.found.items():
            self._found[node] = (start + first, start + last)

    def _start(self, index: int, code: str) -> int:
        """Where a statement begins: at the one line at which its code stands, or behind all statements before it."""
        places = islice(self._lines_that_begin(code), 2)
        first, second = next(places, None), next(places, None)
        if first is None:
            raise ValueError("the tree does not give the text back")
        if second is None:
            return first
        if not self._starts:
            header = _Counting(self._tree)
            for line in self._tree.header:
                line._codegen(header)
            self._starts.append(header.position)
        while len(self._starts) <= index:
            before = len(self._starts) - 1
            self._starts.append(self._starts[before] + self._counting(before).position)
        if not self._text.startswith(code, self._starts[index]):
            raise ValueError("the tree does not give the text back")
        return self._starts[index]

    def _lines_that_begin(self, code: str) -> Iterator[int]:
        place = self._text.find(code)
        while place >= 0:
            if place == 0 or self._text[place - 1] in "\r\n":
                yield place
            place = self._text.find(code, place + 1)

    def _counting(self, index: int) -> _Counting:
        known = self._generated.get(index)
        if known is None:
            known = self._generated[index] = _Counting(self._tree)
            self._tree.body[index]._codegen(known)
            if index == len(self._tree.body) - 1 and not self._tree.has_trailing_newline and not self._tree.footer:
                known.tokens.pop()
        return known


class _Counting(CodegenState):
    """A state of the code generator that knows how many characters came before."""

    def __init__(self, tree: cst.Module) -> None:
        super().__init__(default_indent=tree.default_indent, default_newline=tree.default_newline)
        self.position = 0
        self.found: dict[int, tuple[int, int]] = {}
        self._opened: list[int] = []

    @property
    def code(self) -> str:
        """What was generated."""
        return "".join(self.tokens)

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
