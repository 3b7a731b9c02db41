"""Notebooks as JSON, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from accel_advisor.source.document import Document

SETUP = """\
%matplotlib inline
!pip install torch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
"""
LOADER = """\
data = TensorDataset(torch.randn(64, 3), torch.zeros(64, dtype=torch.long))
loader = DataLoader(data, batch_size=4, num_workers=2)
"""
TRAIN = """\
%%time
model = nn.Linear(3, 2).to("cuda")
for x, y in loader:
    x, y = x.to("cuda"), y.to("cuda")  # über
    nn.functional.cross_entropy(model(x), y).backward()"""


def code(source: str | Sequence[str], **keys: object) -> dict[str, Any]:
    """A code cell; the source as it is given."""
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": source, **keys}


def lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def notebook(*cells: object, metadata: object = None) -> dict[str, Any]:
    """A notebook whose first cell is text, so that the code begins in the second."""
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# import torch\n"]}
    return {"cells": [text, *cells], "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}


def training() -> dict[str, Any]:
    return notebook(*(code(lines(one)) for one in (SETUP, LOADER, TRAIN)))


def document(data: object) -> Document:
    return Document.from_bytes("train.ipynb", json.dumps(data).encode())


def sources(raw: bytes) -> list[str]:
    """The sources of the code cells, as any reader of JSON sees them."""
    cells = [cell for cell in json.loads(raw.decode("utf-8-sig"))["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in cells]


def without_sources(raw: bytes) -> object:
    data = json.loads(raw.decode("utf-8-sig"))
    return [data | {"cells": [{**cell, "source": None} for cell in data["cells"]]}]
