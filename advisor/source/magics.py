"""What IPython understands beyond Python, blanked out of a notebook's cell, so that what is left can be parsed."""

from __future__ import annotations

import re
from collections.abc import Callable

from accel_advisor.syntax.line_breaks import NEWLINE

PYTHON_CELLS = frozenset({"capture", "debug", "ipytest", "memit", "notify", "prun", "time", "timeit", "wandb"})
"""Cell magics whose body is Python that runs in the notebook itself."""
FOREIGN_CELLS = frozenset({"bash", "fs", "html", "javascript", "latex", "md", "r", "scala", "sh", "sql"})
"""What makes a whole cell another language in services that write it with one percent sign."""

_FIRST = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*[ \t]*(?P<percent>%{1,2})(?P<name>\w*)")
_ESCAPED = re.compile(
    r"[%!?,;/]"
    # automagic runs these without a sign; two words side by side are no Python
    r"|(?:pip3?|conda|mamba|apt|apt-get|git|wget|cd|ls|mkdir|cp|mv|rm|cat|unzip)[ \t]+"
    r"(?:[\w~$]|-\w|/\w|\.\.?(?=[/\s]|\Z))"
)
_TIMED = re.compile(r"%time[ \t]+(?![ \t%!]|(?:async|class|def|for|if|try|while|with)\b)")
_PYTHON_CELL = re.compile(rf"%%(?:{'|'.join(sorted(PYTHON_CELLS))})\b")
_MAGIC_LINE = re.compile(r"(?:\\(?:\r\n|[\r\n])|[^\r\n])*")
_INDENT = re.compile(r"[ \t]*")
_NOT_NEWLINE = re.compile(r"[^\r\n]")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|"(?:[^"\\\r\n]|\\(?:\r\n|.))*"?'
    r"|'''(?:[^\\]|\\.)*?(?:'''|\Z)|'(?:[^'\\\r\n]|\\(?:\r\n|.))*'?"
    r"|\#[^\r\n]*|\\(?:\r\n|[\r\n])"
    r"|(?P<opening>[(\[{])|(?P<closing>[)\]}])|(?P<newline>\r\n|[\r\n])"
    r"|(?P<help>\?{1,2}(?=[ \t;]*(?:\#[^\r\n]*)?(?:[\r\n]|\Z)))"
    r"|(?<==)[ \t]*(?P<assigned>[!%])(?=[^\r\n])",
    re.DOTALL,
)


def masked(text: str) -> str:
    """A cell's text with what is IPython's own blanked out: as long as before, with the same lines.

    A magic, shell or help line becomes the expression ``0``; what is assigned from one (``files = !ls``), a name that
    nothing binds; a cell in another language becomes empty.
    """
    if is_foreign(text):
        return blank(text)
    return replaced(text, lambda magic: blank(magic, "0"), lambda magic: blank(magic, "_0"))


def is_foreign(text: str) -> bool:
    """Whether a magic takes the whole cell, which is no Python that runs in the notebook itself."""
    first = _FIRST.match(text)
    return first is not None and (
        first["name"] in FOREIGN_CELLS or (first["percent"] == "%%" and first["name"] not in PYTHON_CELLS)
    )


def replaced(text: str, statement: Callable[[str], str], assigned: Callable[[str], str]) -> str:
    """A cell's text with other words in the place of what is IPython's own. What only times Python is left out.

    Args:
        statement: the words for a statement, such as ``!ls`` or ``model?``, with the newline that ends it.
        assigned: those for what is assigned from one, such as ``!ls`` in ``files = !ls``, likewise.
    """
    parts: list[str] = []
    at = 0
    while at < len(text):
        line, length = _statement(text, at, statement, assigned)
        parts.append(line)
        at += length
    return "".join(parts)


def blank(text: str, head: str = "") -> str:
    """``head`` and spaces in the place of a text, whose newlines stay."""
    return head + _NOT_NEWLINE.sub(" ", text[len(head) :])


def _statement(text: str, at: int, statement: Callable[[str], str], assigned: Callable[[str], str]) -> tuple[str, int]:
    """The lines of the statement that begins at ``at``, with what is IPython's own replaced, and their length."""
    indented = _INDENT.match(text, at)
    start = indented.end() if indented else at
    if _ESCAPED.match(text, start):
        end = _magic_end(text, start)
        timed = _TIMED.match(text, start)
        if timed:  # what is timed binds names
            return f"{text[at:start]}{'0':{timed.end() - start - 1}};{text[timed.end() : end]}", end - at
        if _PYTHON_CELL.match(text, start):
            return text[at:start] + blank(text[start:end], "0"), end - at
        return text[at:start] + statement(text[start:end]), end - at
    depth = 0
    for token in _TOKEN.finditer(text, start):
        match token.lastgroup:
            case "opening":
                depth += 1
            case "closing":
                depth -= 1
            case "newline" if depth <= 0:
                return text[at : token.end()], token.end() - at
            case "help" if depth <= 0:
                end = _magic_end(text, token.start())
                return text[at:start] + statement(text[start:end]), end - at
            case "assigned" if depth <= 0:
                begin = token.start("assigned")
                end = _magic_end(text, begin)
                return text[at:begin] + assigned(text[begin:end]), end - at
    return text[at:], len(text) - at


def _magic_end(text: str, start: int) -> int:
    """Where a magic line ends, its newline included: only a backslash carries it on."""
    line = _MAGIC_LINE.match(text, start)
    end = line.end() if line else start
    newline = NEWLINE.match(text, end)
    return newline.end() if newline else end
