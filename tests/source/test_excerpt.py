"""What of a script other files know: what it calls and changes, and not what it says to itself."""

from __future__ import annotations

import pytest

from accel_advisor.source.excerpt import excerpt

SCRIPT = '''\
"""What it does."""
import torch
from library import build

WORKERS = 4
TITLE = "a run"


def main(count):
    """Runs it."""
    # in order
    print("begins", TITLE)
    for batch in build(count, workers=WORKERS):
        print("a batch")


main(3)
'''
LEFT = """\
import torch
from library import build
WORKERS = 4
def main(count):
    for batch in build(count, workers=WORKERS):
        pass
main(3)
"""


def left(text: str) -> str:
    lines = excerpt(text.encode()).raw.decode().splitlines()
    return "".join(f"{line}\n" for line in lines if line.strip())


def test_what_calls_and_what_is_read_is_left_in_its_place() -> None:
    assert left(SCRIPT) == LEFT
    whole, part = SCRIPT.splitlines(), excerpt(SCRIPT.encode()).raw.decode().splitlines()
    assert len(whole) == len(part)
    assert all(line in ("", "        pass", known) for line, known in zip(part, whole, strict=True))


@pytest.mark.parametrize(
    ("old", "new", "placed"),
    [
        ('"a run"', '"another run"', True),
        ("main(3)\n", "main(3)\n\nedited = 1\nedited += 2\n", True),
        ("# in order", "# in any order", True),
        ("WORKERS = 4\n", "# of the loader\nWORKERS = 4\n", False),
        ('print("begins", TITLE)', 'print("begins", 3 * len(TITLE))', True),
        ('        print("a batch")', '        print("a batch")\n        print("more")', False),
    ],
)
def test_what_a_script_says_to_itself_changes_nothing(old: str, new: str, placed: bool) -> None:
    before, after = excerpt(SCRIPT.encode()), excerpt(SCRIPT.replace(old, new).encode())
    assert old in SCRIPT
    assert before.digest == after.digest
    assert before.lines == after.lines
    assert (before.placed == after.placed) is placed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WORKERS = 4", "WORKERS = 5"),
        ("main(3)", "main(4)"),
        ('print("a batch")', "print(batch)"),
        ('print("a batch")', "print(build(TITLE))"),
        ('TITLE = "a run"', "TITLE = build.__name__"),
        ('"a run"', '"a run"; build(1)'),
        ("# in order", "torch.set_grad_enabled(False)"),
        ("main(3)", "for WORKERS in range(3):\n    main(3)"),
        ("main(3)", "print(globals())\nmain(3)"),
        ("main(3)", "def print(text):\n    build(text)\nmain(3)"),
    ],
)
def test_what_a_script_does_with_others_changes_it(old: str, new: str) -> None:
    assert old in SCRIPT
    assert excerpt(SCRIPT.encode()).digest != excerpt(SCRIPT.replace(old, new).encode()).digest


def test_where_names_may_be_read_by_their_text_all_statements_are_left() -> None:
    assert "TITLE = " in left(SCRIPT + "eval(input())\n")
    assert "TITLE = " not in left(SCRIPT + "print(vars(main))\n").replace("begins", "")


@pytest.mark.parametrize("text", ["def broken(:\n", "print 'x'\n# why\n", "# coding: latin-1\nx = 1\n", "", "\0"])
def test_what_cannot_be_parsed_is_left_whole(text: str) -> None:
    assert excerpt(text.encode()).raw.decode() == text


def test_texts_keep_their_blank_lines() -> None:
    text = 'build("""a\n\n# b\n""")\n'
    assert excerpt(text.encode()).raw.decode() == text
    assert excerpt(text.encode()).digest != excerpt(text.replace("\n\n", "\n").encode()).digest
