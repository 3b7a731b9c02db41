"""Imports go with the last use that an edit takes out, and stay where anything else may need them."""

from __future__ import annotations

import pytest

from accel_advisor.editing.fixer import apply_edits
from accel_advisor.editing.unused_imports import imports_left_over
from accel_advisor.source.document import Document

BODY = "\n\ndef step():\n    gc.collect()\n    return torch.zeros(1)\n"


def after(source: str, old: str = "    gc.collect()\n", new: str = "", name: str = "train.py", *others: str) -> str:
    """What becomes of a program whose text is edited."""
    document = Document.from_bytes(name, source.encode())
    start = document.text.index(old)
    edit = document.edit(start, start + len(old), new)
    return apply_edits(document.text, [edit, *imports_left_over(document, [edit], lambda: others)])


GOES = {
    "a statement": ("import gc\nimport torch\n", "import torch\n"),
    "with the newline of its file": ("import os\r\nimport gc\r\nimport torch\r\n", "import os\r\nimport torch\r\n"),
    "between empty lines": ("import os\n\nimport gc\n\nimport torch\n", "import os\n\nimport torch\n"),
    "at the top": ("import gc\n\nimport torch\n", "import torch\n"),
    "one of several": ("import gc, torch\n", "import torch\n"),
    "the last of several": ("import torch, gc\n", "import torch\n"),
    "one line of several": (
        "import torch\nfrom x import (\n    gc,\n    y,\n)\n",
        "import torch\nfrom x import (\n    y,\n)\n",
    ),
    "the last line of several": (
        "import torch\nfrom x import (\n    y,\n    gc,\n)\n",
        "import torch\nfrom x import (\n    y,\n)\n",
    ),
    "under another name": ("import torch\nimport garbage as gc\n", "import torch\n"),
    "of the same name in a sentence": (
        "import gc\nimport torch\nprint('the gc runs')\n",
        "import torch\nprint('the gc runs')\n",
    ),
}
STAYS = {
    "used elsewhere": "import gc\nimport torch\ngc.disable()\n",
    "used as an attribute": "import gc\nimport torch\ntorch.gc.x()\n",
    "named by __all__": "import gc\nimport torch\n__all__ = ['gc']\n",
    "named by an annotation": "import gc\nimport torch\ndef f(x: 'gc.X'): ...\n",
    "in a branch": "import torch\ntry:\n    import gc\nexcept ImportError:\n    gc = None\n",
    "with a comment": "import gc  # noqa: F401\nimport torch\n",
    "beside another statement": "import gc; import torch\n",
    "bound again": "import gc\nimport torch\nfor gc in ():\n    pass\n",
}


@pytest.mark.parametrize("case", GOES)
def test_goes(case: str) -> None:
    before, wanted = GOES[case]
    newline = "\r\n" if "\r" in before else "\n"
    body, old = (text.replace("\n", newline) for text in (BODY, "    gc.collect()\n"))
    assert after(before + body, old) == wanted + body.replace(old, "")


@pytest.mark.parametrize("case", STAYS)
def test_stays(case: str) -> None:
    source = STAYS[case] + BODY
    assert after(source) == source.replace("    gc.collect()\n", "")


def test_stays_where_the_new_text_needs_it() -> None:
    source = "import gc\nimport torch\n" + BODY
    assert after(source, new="    gc.freeze()\n") == source.replace("collect", "freeze")
    assert after(source, "gc.collect()", "torch.gc()") == "import torch\n" + BODY.replace("gc.collect()", "torch.gc()")


def test_stays_where_a_package_hands_it_on() -> None:
    source = "import gc\nimport torch\n" + BODY
    assert after(source, name="__init__.py").startswith("import gc\n")


@pytest.mark.parametrize(
    ("other", "stays"),
    [
        ("from train import *\n", True),
        ("from project.train import step, gc\n", True),
        ("import train\ntrain.gc.collect()\n", True),
        ("from train import step\n", False),
        ("import train\ntrain.step()\nimport gc\n", False),
    ],
)
def test_another_file_may_take_it(other: str, stays: bool) -> None:
    source = "import gc\nimport torch\n" + BODY
    assert after(source, "    gc.collect()\n", "", "train.py", other).startswith("import gc\n") is stays


def test_what_was_unused_before_is_none_of_its_business() -> None:
    source = "import gc\nimport torch\ndef step():\n    return 1  # gc\n"
    assert after(source, "1  # gc", "2") == source.replace("1  # gc", "2")
