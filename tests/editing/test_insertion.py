"""Where one more statement goes, and where it must not go."""

from textwrap import dedent

import pytest

from accel_advisor.editing.fixer import apply_edits
from accel_advisor.editing.insertion import after_imports, before_loop, free_name, torch_name, with_imports
from accel_advisor.source.document import Document


def document(source: str) -> Document:
    return Document.from_bytes("train.py", dedent(source).lstrip("\n").encode())


def row_of(found: Document) -> int:
    return next(row for row, line in enumerate(found.text.splitlines(), 1) if "# here" in line)


NOWHERE = {
    "bound in the loop that calls it, on one line": "for x in y: model = build(); model(x)  # here\n",
    "bound by the loop": "for model in models: model(x)  # here\n",
    "bound in the statement itself": "model = model(x)  # here\n",
    "shares its line": "pass; model(x)  # here\n",
}


@pytest.mark.parametrize("source", NOWHERE.values(), ids=NOWHERE)
def test_no_place_is_certain(source: str) -> None:
    found = document(source)
    assert before_loop(found, row_of(found), "model", "turn(model)") is None


LOOPS = {
    "the outermost loop": """
        model = build()
        |for epoch in range(3):
            for x in loader:
                model(x)  # here
        """,
    "within the loop that builds it": """
        for fold in folds:
            model = build()
            if model:
                |for x in loader:
                    model(x)  # here
        """,
    "a parameter": """
        def train(model):
            try:
                |while True:
                    with timer:
                        model(x)  # here
            finally:
                pass
        """,
    "a call without a loop": """
        model = build()
        if ready:
            pass
        elif True:
            |train(model)  # here
        """,
    "after code that is no ASCII": """
        model = "äöü"
        class A:
            def fit(self, model):
                match x:
                    case 1:
                        |for x in "ß": model(x)  # here
        """,
}


@pytest.mark.parametrize("marked", LOOPS.values(), ids=LOOPS)
def test_a_statement_goes_in_front_of_the_loop(marked: str) -> None:
    found = document(marked.replace("|", ""))
    edit = before_loop(found, row_of(found), "model", "turn(model)")
    assert edit is not None
    after = apply_edits(found.text, [edit])
    compile(after, "train.py", "exec")
    expected = document(marked).text
    place = expected.index("|")
    indentation = expected[:place].rpartition("\n")[2]
    assert after == expected.replace("|", f"turn(model)\n{indentation}")


def test_a_statement_goes_behind_the_imports() -> None:
    found = document(
        '''
        """A script."""
        import os
        from torch.utils.data import (
            DataLoader,
        )

        def main():
            import json
        '''
    )
    edit = after_imports(found, "turn()")
    assert edit is not None
    assert apply_edits(found.text, [edit]) == found.text.replace(")\n\ndef", ")\n\nturn()\n\ndef", 1)
    assert torch_name(found) is None


@pytest.mark.parametrize("source", ["print(1)\n", "import os", "def main():\n    import torch\n"])
def test_without_imports_at_the_top_there_is_no_place(source: str) -> None:
    assert after_imports(document(source), "turn()") is None


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import torch\n", "torch"),
        ("import torch as th\n", "th"),
        ("import torch.nn\n", "torch"),
        ("import torch.nn as nn\n", None),
        ("from torch import nn\n", None),
    ],
)
def test_the_name_of_torch(source: str, name: str | None) -> None:
    assert torch_name(document(source)) == name


UNCERTAIN = {
    "no import": "model(x)  # here\n",
    "the future alone": "from __future__ import annotations\nmodel(x)  # here\n",
    "behind the place": "model(x)  # here\nimport os\n",
    "shares its line": "x = 1; import os\nmodel(x)  # here\n",
}


@pytest.mark.parametrize("source", UNCERTAIN.values(), ids=UNCERTAIN)
def test_no_place_for_an_import_is_certain(source: str) -> None:
    found = document(source)
    assert with_imports(found, row_of(found), "functools") is None


def test_what_is_imported_is_not_imported_again() -> None:
    found = document("import functools\nimport torch as th\nmodel(x)  # here\n")
    assert with_imports(found, 3, "functools") == ()
    edits = with_imports(found, 3, "functools", "torch")
    assert edits is not None
    assert apply_edits(found.text, edits).startswith("import functools\nimport torch\nimport torch as th\n")


def test_a_name_is_free_where_nothing_has_it() -> None:
    found = document("import one\nfrom x import y as two\ndef three(four): five = 1\n")
    assert free_name(found, "one", "two", "three", "four", "five", "six") == "six"
    assert free_name(found, "one", "five") is None
