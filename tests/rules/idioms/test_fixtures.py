"""The whole scripts of `fixtures/`: what is healthy there is a trap for every rule, and the others have their finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check, findings_in

FIXTURES = Path(__file__).parents[3] / "fixtures"
HEALTHY = FIXTURES / "healthy" / "train.py"
ILL = {
    "the data on the host": (", device=device)\n    labels", ")\n    labels"),
    "the sum of the losses read at every step": ("total += loss.detach()", "total += loss.item()"),
    "the sum of the losses kept with its graph": ("total += loss.detach()", "total += loss"),
}


def test_no_rule_says_anything_of_the_healthy_script(tmp_path: Path) -> None:
    check(HEALTHY.read_text(encoding="utf-8"), tmp_path)


@pytest.mark.parametrize("case", ILL)
def test_each_thing_that_makes_it_healthy_counts(case: str, tmp_path: Path) -> None:
    source = HEALTHY.read_text(encoding="utf-8")
    good, bad = ILL[case]
    assert good in source
    assert findings_in(source.replace(good, bad), tmp_path)[1]


def test_what_only_makes_data_is_no_training(tmp_path: Path) -> None:
    check((FIXTURES / "demo" / "make_data.py").read_text(encoding="utf-8"), tmp_path)


@pytest.mark.parametrize("script", sorted(path.name for path in (FIXTURES / "origins").glob("*.py")))
def test_a_loader_without_workers_is_reported_wherever_its_number_is_decided(script: str, tmp_path: Path) -> None:
    _, found = findings_in((FIXTURES / "origins" / script).read_text(encoding="utf-8"), tmp_path)
    assert "ACC102" in {one.code for one in found}
