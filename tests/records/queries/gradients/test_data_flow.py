"""Which bindings a reading sees, silent about what a name held before."""

from __future__ import annotations

import libcst as cst
import pytest

from accel_advisor.records.queries.gradients.data_flow import DataFlow
from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants


def seen(body: str) -> set[str]:
    """The calls whose results the argument of ``use`` may be, in a function with this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    tree = cst.parse_module(f"def f(given):\n{lines}")
    flow = DataFlow(next(descendants(tree, cst.FunctionDef)))
    call = next(one for one in flow.calls if dotted(one.func) == "use")
    found: set[str] = set()
    for one in flow.reaching(call.args[0].value):
        found |= {tree.code_for_node(value) for value in one.values} or {"nothing known"}
    return found


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("x = a()\nuse(x)", {"a()"}),
        ("x = a()\nx = b()\nuse(x)", {"b()"}),
        ("x = a()\nuse(x)\nx = b()", {"a()"}),
        ("x = a()\nif given:\n    x = b()\nuse(x)", {"a()", "b()"}),
        ("if given:\n    x = a()\nelse:\n    x = b()\n    use(x)", {"b()"}),
        ("if given:\n    x = a()\n    x = b()\nuse(x)", {"b()"}),
        ("if given:\n    x = a()\n    if x:\n        x = b()\nuse(x)", {"a()", "b()"}),
        ("x = a()\nfor _ in given:\n    use(x)\n    x = b()", {"a()", "b()"}),
        ("for _ in given:\n    x = a()\n    use(x)\n    x = b()", {"a()"}),
        ("x = a()\nx += b()\nuse(x)", {"a()", "b()"}),
        ("x = []\nx.append(a())\nuse(x)", {"[]", "a()"}),
        ("x = {}\nx['a'] = a()\nuse(x)", {"{}", "a()"}),
        ("x, y = a(), b()\nuse(x)", {"a()"}),
        ("x, y = a()\nuse(y)", {"a()"}),
        ("for x in a():\n    use(x)", {"a()"}),
        ("x = a()\nx.detach_()\nuse(x)", {"nothing known"}),
        ("self.x = a()\nself.y = b()\nuse(self.x)", {"a()"}),
        ("x = a()\nwith b() as x:\n    use(x)", {"b()"}),
        ("x = a()\n[use(x) for x in b()]", {"b()"}),
        ("use(x := a())\n", set()),
        ("use(given)", {"nothing known"}),
    ],
)
def test_reaching(body: str, wanted: set[str]) -> None:
    assert seen(body) == wanted


def test_names_of_inner_functions_are_captured() -> None:
    tree = cst.parse_module(
        "def f():\n    x = a()\n    y = b()\n    def g():\n        return x\n    return lambda: y\n"
    )
    flow = DataFlow(next(descendants(tree, cst.FunctionDef)))
    assert {"x", "y"} <= flow.captured
    assert [dotted(one.func) for one in flow.calls] == ["a", "b"]
