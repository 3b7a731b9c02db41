"""Comments that stand in a column stay in it, as far as there is room."""

from __future__ import annotations

import pytest

from accel_advisor.editing.comment_columns import columns_kept
from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document


def after(source: str, *insertions: tuple[str, str], name: str = "train.py") -> str:
    """What becomes of a program in which text is put behind other text."""
    document = Document.from_bytes(name, source.encode())
    ends = [(document.text.index(old) + len(old), new) for old, new in insertions]
    edits = [document.edit(end, end, new) for end, new in ends]
    return apply_edits(document.text, [*edits, *columns_kept(document, edits)])


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("x = f(1)        # what\n", "x = f(1, b=2)   # what\n"),
        ("x = f(1)      # what\n", "x = f(1, b=2)  # what\n"),
        ("x = f(1)   # what\n", "x = f(1, b=2)  # what\n"),
        ("if y:\n    x = f(1)         # what\n", "if y:\n    x = f(1, b=2)    # what\n"),
        ("x = 'ä' + f(1)         # what\n", "x = 'ä' + f(1, b=2)    # what\n"),
    ],
)
def test_the_white_space_in_front_of_it_gives_way(before: str, wanted: str) -> None:
    assert after(before, ("f(1", ", b=2")) == wanted


@pytest.mark.parametrize(
    "before",
    [
        "x = f(1)  # what\n",
        "x = f(1) # what\n",
        "x = f(1)\n",
        "x = f(1) + '      # none'\n",
        "x = (f(1),       # what\n     2)\n",
    ],
)
def test_elsewhere_nothing_does(before: str) -> None:
    assert after(before, ("f(1", ", b=2")) == before.replace("f(1", "f(1, b=2")


def test_what_two_edits_add_counts_together() -> None:
    source = "x, y = f(1), g(1)          # what\n"
    assert after(source, ("f(1", ", b=2"), ("g(1", ", b=2")) == "x, y = f(1, b=2), g(1, b=2)  # what\n"
    assert after("x = f(1)        # what\n", ("f(1", ",\n      b=2")) == "x = f(1,\n      b=2)        # what\n"
