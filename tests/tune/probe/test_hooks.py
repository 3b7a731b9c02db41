"""Which calls of Tensor.to leave open whether the copy blocks: only those may be told that it does not."""

from __future__ import annotations

from typing import Any

import pytest

from accel_advisor.tune.probe.hooks import _leaves_host

torch = pytest.importorskip("torch")
THERE, HERE = torch.ones(1, device="meta"), torch.ones(1)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "left_open"),
    [
        ("to", (torch.float16,), {}, False),
        ("to", (torch.float16, True), {}, False),
        ("to", ("cpu",), {}, False),
        ("to", (HERE,), {}, False),
        ("to", (), {"dtype": torch.float16}, False),
        ("to", ("cuda", torch.float16, False), {}, False),
        ("to", (THERE, False), {}, False),
        ("cuda", (0, False), {}, False),
        ("to", ("cuda",), {}, True),
        ("to", (torch.device("cuda", 1), torch.float16), {}, True),
        ("to", (torch.float16,), {"device": "cuda"}, True),
        ("to", (THERE,), {}, True),
        ("to", (), {"other": THERE}, True),
        ("cuda", (), {}, True),
        ("cuda", (1,), {}, True),
    ],
)
def test_what_a_call_leaves_open(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], left_open: bool) -> None:
    assert _leaves_host(torch, name, args, kwargs) is left_open
