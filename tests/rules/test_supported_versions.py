"""Rules recommend nothing that the versions which a project pins do not have, and say what they need beside older ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.rule import registry
from accel_advisor.rule_page import rule_page

from .checks import check_since


@pytest.mark.parametrize(
    ("code", "package", "since"),
    [
        ("ACC419", "torch", (1, 5)),
        ("ACC506", "torch", (1, 7)),
        ("ACC507", "torch", (1, 11)),
        ("ACC604", "transformers", (4, 36)),
        ("ACC606", "transformers", (4, 41)),
        ("ACC608", "accelerate", (0, 30)),
    ],
)
def test_the_example_of_a_page(code: str, package: str, since: tuple[int, int], tmp_path: Path) -> None:
    check_since(code, rule_page(registry()[code]).example, since, tmp_path, package=package)
