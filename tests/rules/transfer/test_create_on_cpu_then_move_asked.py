"""ACC205 in branches of a forward pass that only evaluations ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

PROGRAM = (
    IMPORTS
    + """
class Net(nn.Module):
    def forward(self, x, {}):
        if {}:
            return x + made(x)
        return x
def made(x):
    return torch.zeros(x.size(0), x.size(1), x.size(2), x.size(3)).cuda()
"""
)
BRANCHES = {
    "a test": (("test_emb=False", "test_emb"), ("wide_emb=False", "wide_emb")),
    "not the other branch": (("test_emb=False", "test_emb"), ("test_emb=False", "not test_emb")),
    "an option alone": (("test_emb=False", "test_emb"), ("test_emb=False", "x.size(0) == test_emb")),
    "off by default": (("test_emb=False", "test_emb"), ("test_emb=True", "test_emb")),
    "a validation": (("is_val=False", "is_val"), ("is_valued=False", "is_valued")),
    "inference": (("inferOnly=False", "inferOnly"), ("inferno=False", "inferno")),
    "no targets": (("targets=None", "targets is None"), ("targets=None", "targets is not None")),
    "no targets unless they are given": (("gt_boxes=None", "gt_boxes is None"), ("gt_boxes", "gt_boxes is None")),
    "none of targets": (("labels=None", "labels is None"), ("mask=None", "mask is None")),
}


@pytest.mark.parametrize("case", BRANCHES)
def test_minor_where_an_evaluation_asks(case: str, tmp_path: Path) -> None:
    asked, always = (PROGRAM.format(*one) for one in BRANCHES[case])
    assert _findings(asked, tmp_path / "asked") == [(True, "info")]
    assert _findings(always, tmp_path / "always") == [(False, "warning")]


def test_minor_in_the_other_branch_of_targets(tmp_path: Path) -> None:
    source = PROGRAM.format("targets=None", "targets is not None").replace(
        "x + made(x)\n        return x", "x\n        else:\n            return made(x)"
    )
    assert _findings(source, tmp_path / "without") == [(True, "info")]
    assert _findings(source.replace("is not None", "is None"), tmp_path / "with") == [(False, "warning")]


def test_shown_where_a_training_comes_there_too(tmp_path: Path) -> None:
    source = PROGRAM.format("test_emb=False", "test_emb")
    assert _findings(source, tmp_path / "asked") == [(True, "info")]
    both = source.replace("        return x\ndef", "        return x * made(x)\ndef")
    assert _findings(both, tmp_path / "both") == [(False, "warning")]


def _findings(source: str, folder: Path) -> list[tuple[bool, str]]:
    folder.mkdir()
    return [(one.minor, one.severity.value) for one in findings_of("ACC205", source, folder)]
