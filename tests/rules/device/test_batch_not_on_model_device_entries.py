"""ACC302 and ACC101 where the entries of a dict are moved one by one, under keys that are not known; silent cases
first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import PHOTOS

PROGRAM = (
    PHOTOS
    + """
model = nn.Conv2d(3, 3, 3).cuda()
loader = DataLoader(photos, num_workers=2)
def step(**inputs):
    for key in inputs:
        inputs[key] = inputs[key].cuda()
    model(inputs["image"]).sum().backward()
for image, label in loader:
    step(image=image, label=label)
"""
)
WAYS = {
    "as keywords": ("step(image", "step(image"),
    "as a dict": ("step(image=image, label=label)", "step(**{'image': image, 'label': label})"),
    "in a dict": ("def step(**inputs)", "def step(inputs)"),
    "item by item": (
        "for key in inputs:\n        inputs[key] = inputs[key].cuda()",
        "for key, value in inputs.items():\n        inputs[key] = value.cuda()",
    ),
}


def test_entries_under_numbers_are_entries(tmp_path: Path) -> None:
    program = PROGRAM.replace("def step(**inputs)", "def step(inputs)").replace('inputs["image"]', "inputs[0]")
    program = program.replace("step(image=image, label=label)", "step({0: image, 1: label})")
    assert findings_of("ACC302", program, tmp_path) == []
    (forgotten,) = findings_of("ACC302", program.replace(".cuda()\n    model", ".float()\n    model"), tmp_path)
    assert "`inputs[0]`" in forgotten.message


@pytest.mark.parametrize("way", WAYS)
def test_entries_that_a_loop_moves_are_moved(way: str, tmp_path: Path) -> None:
    program = PROGRAM.replace(*WAYS[way])
    if way == "in a dict":
        program = program.replace("step(image=image, label=label)", "step({'image': image, 'label': label})")
    assert findings_of("ACC302", program, tmp_path) == []
    (found,) = findings_of("ACC101", program, tmp_path)
    assert ".cuda()` in line" in found.message
    (forgotten,) = findings_of("ACC302", program.replace(".cuda()\n    model", ".float()\n    model"), tmp_path)
    assert '`inputs["image"]`' in forgotten.message
