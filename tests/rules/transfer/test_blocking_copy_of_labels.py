"""ACC201 and ACC101 where only the labels of a batch go to the GPU as they came, and where a copy seldom happens."""

from __future__ import annotations

from pathlib import Path

from ..checks import Pair, check_pair, findings_of
from ..programs import MODEL, PHOTOS

LABELS = (
    PHOTOS
    + MODEL
    + """
loader = DataLoader(photos, num_workers=2)
for x, y in loader:
    points = torch.from_numpy(np.asarray(x)).float()
    step(points.cuda(), y.cuda())
"""
)
GRAPH = (
    PHOTOS
    + MODEL
    + """
loader = DataLoader(photos, num_workers=2, pin_memory=True)
for i, (x, y) in enumerate(loader):
    if i == 0:
        draw(model, x.cuda())
    step(x.cuda(non_blocking=True), y.cuda(non_blocking=True))
"""
)


def test_minor_where_the_samples_are_made_anew(tmp_path: Path) -> None:
    for code in ("ACC101", "ACC201"):
        assert [one.minor for one in findings_of(code, LABELS, tmp_path)] == [True]


def test_worth_a_remark_where_the_samples_go_as_they_came(tmp_path: Path) -> None:
    whole = LABELS.replace("step(points.cuda()", "step(x.cuda()")
    for code in ("ACC101", "ACC201"):
        assert [one.minor for one in findings_of(code, whole, tmp_path)] == [False]


def test_silent_about_a_copy_in_the_first_pass(tmp_path: Path) -> None:
    check_pair("ACC201", Pair(GRAPH, "if i == 0:", "if True:"), tmp_path)
