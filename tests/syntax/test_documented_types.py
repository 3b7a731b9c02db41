"""The types that docstrings give to parameters."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.syntax.documented_types import documented_types


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("Args:\n    x (Tensor): the input\n    n (int, optional): how many", {"x": "Tensor", "n": "int"}),
        ("Args:\n    boxes (Tensor[N, 4]): corners", {"boxes": "Tensor"}),
        ("Args:\n    x (:class:`~torch.Tensor` of shape (3,)): the input", {}),
        ("Args:\n    x (:class:`~torch.Tensor`): the input", {"x": "torch.Tensor"}),
        ("Parameters\n----------\nloader : DataLoader\n    of batches", {"loader": "DataLoader"}),
        ("Parameters\n----------\nx : torch.Tensor, optional", {"x": "torch.Tensor"}),
        (":type x: torch.Tensor\n:param n: how many", {"x": "torch.Tensor"}),
        (":param torch.Tensor x: the input", {"x": "torch.Tensor"}),
        ("Args:\n    x (Tensor or list): the input", {}),
        ("Args:\n    x (List[Tensor]): the input", {"x": "List"}),
        ("Parameters\n----------\nx : Tensor or None", {}),
        ("Calls f(x): what it gives is lost.", {}),
        ("x: Tensor", {}),
    ],
)
def test_types_are_read_as_they_are_written(text: str, types: dict[str, str]) -> None:
    for head in ("def f(x):", "class C:"):
        body = "".join(f"    {line}\n" for line in f'r"""Does it.\n\n{text}\n"""'.splitlines())
        (node,) = cst.parse_module(f"{head}\n{body}").body
        assert isinstance(node, (cst.FunctionDef, cst.ClassDef))
        assert documented_types(node) == types


def test_nothing_is_read_where_there_is_no_docstring() -> None:
    for text in ("def f(x): return x", "def f(x):\n    x\n    'x (Tensor): y'", "def f(x):\n    x = 'x (Tensor): y'"):
        (node,) = cst.parse_module(text).body
        assert isinstance(node, cst.FunctionDef)
        assert documented_types(node) == {}
