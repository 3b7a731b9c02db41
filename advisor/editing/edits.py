"""Edits made from syntax nodes and kept as text, so that everything around them survives to the letter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import libcst as cst

from accel_advisor.editing.wrapping import line_break, newline_of
from accel_advisor.finding import Edit
from accel_advisor.source.document import Document
from accel_advisor.syntax.line_breaks import BLANK, NEWLINE
from accel_advisor.syntax.walking import descendants

_STRING = re.compile(r"\"([\w.:]*)\"")
_COMMA = re.compile(r"(?:[ \t\r\n\f\\]|\#[^\r\n]*+)*+,")
"""The comma behind an argument or entry, and what stands in front of it."""


def _line_around(document: Document, offset: int) -> tuple[int, int]:
    """Where the line of ``offset`` starts, and where it ends in front of its newline."""
    row = document.location(offset).row
    start = document.offset(row, 1)
    return start, start + len(document.line(row))


def _begins_line(document: Document, offset: int) -> bool:
    """Whether nothing but white space stands in front of ``offset`` on its line."""
    return not document.text[_line_around(document, offset)[0] : offset].strip()


def indentation_at(document: Document, offset: int) -> str:
    """The white space that the line of ``offset`` starts with."""
    line = document.line(document.location(offset).row)
    return line[: len(line) - len(line.lstrip())]


def add_keyword(
    document: Document, call: cst.Call, name: str, expression: str, less: int = 0
) -> tuple[Edit, ...] | None:
    """The edits that give a call one more keyword argument, laid out like the arguments it has; a line that would be
    longer than the document's lines are is broken as the document breaks its own.

    The edits for two keywords of one call compose where it has an argument. None where the call splats ``*args`` or
    ``**kw``: the keyword might be among them already, and Python raises TypeError for one that is given twice.

    Args:
        less: how many characters right behind the call another edit takes out.
    """
    if any(arg.star for arg in call.args):
        return None
    keyword = f"{name}={_quoted(document, expression)}"
    if not call.args:
        # the parenthesis is replaced with it, so that two of these clash and are made one after the other
        end = document.span(call).end.offset
        broken = line_break(document, call, len(keyword), less)
        return document.edit(end - 1, end, f"{keyword})"), *(broken.edits if broken else ())
    last = call.args[-1]
    broken = line_break(document, call, len(keyword) + 2, less)
    if broken is not None:
        end = document.span(last).end.offset
        return document.edit(end, end, f"{broken.separator}{keyword}"), *broken.edits
    return (_append(document, call, call.args, keyword),)


def _quoted(document: Document, expression: str) -> str:
    """An expression, quoted as the document quotes where it is a string."""
    found = _STRING.fullmatch(expression)
    return f"{document.quote}{found[1]}{document.quote}" if found else expression


def add_before_splat(document: Document, call: cst.Call, name: str, expression: str) -> Edit | None:
    """The edit that gives a call one more keyword in front of its ``**kw``.

    Only for callers who know that the dict holds no such key. None where the call has no ``**``, or a ``*``.
    """
    splats = [arg for arg in call.args if arg.star]
    if not splats or any(arg.star == "*" for arg in splats):
        return None
    start = document.span(splats[0]).start.offset
    own_line = _begins_line(document, start)
    separator = f",{newline_of(document)}{indentation_at(document, start)}" if own_line else ", "
    return document.edit(start, start, f"{name}={_quoted(document, expression)}{separator}")


def add_entry(document: Document, display: cst.CSTNode | None, name: str, expression: str) -> tuple[Edit, ...] | None:
    """The edits that give a dict display, or a ``dict(...)`` call, one more entry; None for anything else."""
    if isinstance(display, cst.Call):
        return add_keyword(document, display, name, expression)
    if not isinstance(display, cst.Dict):
        return None
    quote = '"'
    for element in display.elements:
        if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
            quote = element.key.quote[-1]
    entry = f"{quote}{name}{quote}: {expression}"
    end = document.span(display).end.offset - 1
    if not display.elements:
        return (document.edit(end, end, entry),)
    return (_append(document, display, display.elements, entry),)


def _append(document: Document, around: cst.CSTNode, items: Sequence[cst.CSTNode], content: str) -> Edit:
    """The edit that puts one more item behind the last that a call or dict has."""
    text = document.text
    start, end = document.span(items[-1]).start.offset, document.span(items[-1]).end.offset
    # with several on the line above, the last one has its own only because there was no room
    packed = len(items) > 2 and not _begins_line(document, document.span(items[-2]).start.offset)
    own_line = not packed and _begins_line(document, start)
    newline = newline_of(document)
    indent = indentation_at(document, start)
    comma = _COMMA.match(text, end)
    if comma is not None:
        _, stop = _line_around(document, comma.end())
        if stop >= document.span(around).end.offset - 1:
            return document.edit(comma.end(), comma.end(), f" {content},")
        return document.edit(stop, stop, f"{newline}{indent}{content},")
    broken = own_line or _is_too_long(document, document.span(around).start.offset, end, f", {content}")
    separator = f",{newline}{indentation_at(document, end)}" if broken else _comma(document, items)
    return document.edit(end, end, separator + content)


def _comma(document: Document, items: Sequence[cst.CSTNode]) -> str:
    """What stands between items on one line: a comma, without a space where none of them has one behind it."""
    spans = [document.span(one) for one in items]
    between = {document.text[one.end.offset : following.start.offset] for one, following in pairwise(spans)}
    return "," if between == {","} else ", "


def _is_too_long(document: Document, start: int, end: int, content: str) -> bool:
    """Whether the last of several lines of items, which begin at ``start`` and end at ``end``, would be longer than the
    document's lines are, with more in it."""
    begin, stop = _line_around(document, end)
    behind = document.text[end:stop].partition("#")[0].rstrip()
    return begin > start and len(document.text[begin:end] + content + behind) > document.width


def remove_argument(document: Document, call: cst.Call, arg: cst.Arg) -> Edit:
    """The edit that takes one argument out of a call, with the comma and the white space that belong to it."""
    index = call.args.index(arg)
    span = document.span(arg)
    if index:
        # what separates it from the argument before goes with it; a comma behind the last one stays
        before = document.span(call.args[index - 1])
        return document.edit(before.end.offset, span.end.offset, "")
    if len(call.args) > 1:
        return document.edit(span.start.offset, document.span(call.args[1]).start.offset, "")
    closing = document.span(call).end.offset - 1
    return document.edit(span.start.offset, closing, "")


def replace_node(document: Document, node: cst.CSTNode, content: str) -> Edit:
    """The edit that puts other text in the place of a node; parentheses around the node stay."""
    span = document.span(node)
    return document.edit(span.start.offset, span.end.offset, content)


def replace_keyword(document: Document, call: cst.Call, name: str, content: str) -> Edit:
    """The edit that puts other text in the place of an argument that a call gives by this name, the name with it."""
    return replace_node(document, next(one for one in call.args if one.keyword and one.keyword.value == name), content)


def make_on_device(document: Document, made: cst.Call, move: cst.Call, device: str) -> tuple[Edit, ...] | None:
    """The edits that turn ``torch.zeros(3).to(device)``, the call ``move`` on the result of the call ``made``, into
    ``torch.zeros(3, device=device)``; None where that cannot be, or where the move is given more than a device."""
    start, end = document.span(made).end.offset, document.span(move).end.offset
    if len(move.args) > 1:
        return None
    edits = add_keyword(document, made, "device", device, less=end - start)
    if edits is None:
        return None
    inside = _inside_of_long(document, made, move, device)
    return inside or (*edits, document.edit(start, end, ""))


def _inside_of_long(document: Document, made: cst.Call, move: cst.Call, device: str) -> tuple[Edit, ...]:
    """The edits where the call of a move goes over several lines because one has no room, which it leaves to the
    arguments of the one line that it is called on; none where there is room, or more than a comma would have to be
    known."""
    first, last = document.span(made), document.span(move)
    if not made.args or not first.start.row == first.end.row < last.end.row:
        return ()
    head, tail = document.line(first.end.row), document.line(last.end.row)
    keyword = f", device={_quoted(document, device)}"
    inner = document.span(made.args[0]).start.offset, document.span(made.args[-1]).end.offset
    begin, end = (document.offset(one.row, 1) for one in (first.end, last.end))
    kept = len(head[: first.end.offset - begin]) + len(tail[last.end.offset - end :].partition("#")[0].rstrip())
    if kept + len(keyword) <= document.width or inner[1] != first.end.offset - 1:
        return ()
    indent, newline = indentation_at(document, first.start.offset), newline_of(document)
    below = newline + indentation_at(document, document.offset(first.end.row + 1, 1))
    return (
        document.edit(inner[0], inner[0], below),
        document.edit(inner[1], last.end.offset, f"{keyword}{newline}{indent})"),
    )


def insert_after(document: Document, node: cst.CSTNode, content: str) -> Edit:
    """The edit that puts text right behind a node."""
    end = document.span(node).end.offset
    return document.edit(end, end, content)


def may_stand_twice(expression: cst.CSTNode) -> bool:
    """Whether an expression is a name or an attribute, which code may repeat, or assign to."""
    return isinstance(expression, (cst.Name, cst.Attribute))


def takes_method(expression: cst.CSTNode) -> bool:
    """Whether a method can be called on an expression as it stands, without brackets around it."""
    return isinstance(expression, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))


def decorate(document: Document, function: cst.FunctionDef, decorator: str) -> Edit:
    """The edit that gives a function one more decorator, such as ``@torch.no_grad()``, behind those that it has."""
    start = document.span(function).start.offset
    lead = newline_of(document) + indentation_at(document, start)
    if function.decorators:
        return insert_after(document, function.decorators[-1], lead + decorator)
    return document.edit(start, start, decorator + lead)


def insert_statement(document: Document, body: cst.BaseSuite | None, statement: str) -> Edit | None:
    """The edit that makes ``statement`` the first of an indented body; None where there is none, or it stands on
    its header's line."""
    if not isinstance(body, cst.IndentedBlock) or not body.body:
        return None
    start = document.span(body.body[0]).start.offset
    return document.edit(start, start, f"{statement}{newline_of(document)}{indentation_at(document, start)}")


def remove_statement(document: Document, statement: cst.CSTNode, body: cst.BaseSuite | None) -> Edit | None:
    """The edit that takes a statement that is alone on its line out of ``body``, line and all, with the comment right
    above it where nothing follows that the comment could be about, too; None where it stands elsewhere, shares its
    line, or is all that the body has."""
    lines = body.body if isinstance(body, cst.IndentedBlock) else ()
    alone = [isinstance(one, cst.SimpleStatementLine) and list(one.body) == [statement] for one in lines]
    if len(lines) < 2 or not any(alone):
        return None
    span = document.span(statement)
    _, end = _line_around(document, span.end.offset)
    rest = document.text[span.end.offset : end].strip()
    if rest and not rest.startswith("#"):
        return None
    newline = NEWLINE.match(document.text, end)
    end = newline.end() if newline else end
    after = BLANK.match(document.text, end)
    row = span.start.row - (_comments_above(document, span.start.row) if after is not None or alone[-1] else 0)
    if after is not None and (alone[0] or not document.line(row - 1).strip()):
        end = after.end()  # of the empty lines above and below, one is enough; none below the head of a block
    return document.edit(document.offset(row, 1), end, "")


def remove_call(document: Document, call: cst.CSTNode) -> Edit | None:
    """The same for a statement that is one call, wherever it stands."""
    for block in descendants(document.tree, cst.IndentedBlock):
        for line in block.body if isinstance(block, cst.IndentedBlock) else ():
            small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
            if len(small) == 1 and isinstance(small[0], cst.Expr) and small[0].value is call:
                return remove_statement(document, small[0], block)
    return None


def _comments_above(document: Document, row: int) -> int:
    """How many lines right above a line are comments that are indented as it is."""
    count, indent = 0, indentation_at(document, document.offset(row, 1))
    while count < row - 1:
        line = document.line(row - count - 1)
        if not line.lstrip().startswith("#") or line[: len(line) - len(line.lstrip())] != indent:
            break
        count += 1
    return count
