"""What names mean that only imports bind."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.syntax.imports import full_name, imported_names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch", {"torch": "torch"}),
        ("import torch.cuda.amp", {"torch": "torch"}),
        ("import torch.cuda.amp as amp", {"amp": "torch.cuda.amp"}),
        (
            "from torch.cuda.amp import autocast as cast, GradScaler",
            {
                "cast": "torch.cuda.amp.autocast",
                "GradScaler": "torch.cuda.amp.GradScaler",
            },
        ),
        ("from . import amp\nfrom .amp import cast", {"amp": ".amp", "cast": ".amp.cast"}),
        ("from torch import *", {}),
        ("def run():\n    from torch import cat", {"cat": "torch.cat"}),
        ("import torch\nimport torch.nn", {"torch": "torch"}),
        ("from torch import cat\nfrom numpy import cat", {}),
        ("try:\n    from torch import cast\nexcept ImportError:\n    cast = None", {}),
        ("from torch import cast\ndef run(cast): pass", {}),
        ("from torch import cast\nfor one, (cast, _) in pairs: pass", {}),
        ("from torch import cast\nwith open(f) as cast: pass", {}),
        ("from torch import cast\ndef cast(): pass", {}),
        ("import torch\ntorch.cast = 1", {"torch": "torch"}),
    ],
)
def test_names(source: str, expected: dict[str, str]) -> None:
    assert imported_names(cst.parse_module(source)) == expected


def test_full_names() -> None:
    names = {"amp": "torch.cuda.amp"}
    assert full_name(names, cst.parse_expression("amp.autocast")) == "torch.cuda.amp.autocast"
    assert full_name(names, cst.parse_expression("amp")) == "torch.cuda.amp"
    assert full_name(names, cst.parse_expression("self.amp")) == ""
    assert full_name(names, cst.parse_expression("make().amp")) == ""
