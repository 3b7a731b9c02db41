"""How the linter is scored on labelled code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.rule import registry
from benchmarks.recall import __main__ as command
from benchmarks.recall.labels import (
    RULES,
    Contested,
    Label,
    Score,
    Tree,
    blob_of,
    is_met,
    read_contested,
    read_labels,
    read_trees,
    scored,
    spots,
    uncontested,
)

LOST = "import torch\n\nx = torch.zeros(8)\nx.to('cuda')\nprint(x)\n"


def label(line: int, expect: str, rule: str = "discarded-transfer", *, hard: bool = False) -> Label:
    return Label("owner/name", "train.py", line, rule, expect, hard, "")


def test_labels_stand_in_files_whose_content_is_recorded() -> None:
    trees = {one.repository: one for one in read_trees()}
    labels = read_labels()
    assert len(labels) == len(set(labels)) == 1578
    for one in labels:
        assert one.path in trees[one.repository].files
        assert one.rule in RULES
        assert one.expect in ("must", "must_not", "either")
        assert one.line > 0


def test_labels_are_answered_by_rules_that_exist() -> None:
    names = {one.name for one in registry().values()}
    assert frozenset().union(*RULES.values()) <= names


@pytest.mark.parametrize(("line", "met"), [(2, False), (3, True), (4, True), (5, True), (6, False)])
def test_what_must_be_reported_is_met_a_line_beside_it(line: int, met: bool) -> None:
    reports = {("train.py", "discarded-to-result"): [(4, 4)]}
    assert is_met(label(line, "must"), reports) is met


@pytest.mark.parametrize(("line", "met"), [(3, False), (4, True), (5, False)])
def test_what_must_not_be_reported_is_broken_at_its_line_only(line: int, met: bool) -> None:
    reports = {("train.py", "discarded-to-result"): [(4, 9)]}
    assert is_met(label(line, "must_not"), reports) is met


@pytest.mark.parametrize(("last", "met"), [(14, True), (30, False)])
def test_a_whole_loop_is_no_place(last: int, met: bool) -> None:
    reports = {("train.py", "host-sync-every-step"): [(4, last)]}
    assert is_met(label(10, "must", "sync-in-hot-loop"), reports) is met


def test_reports_of_other_rules_and_files_meet_nothing() -> None:
    reports = {("train.py", "model-not-moved"): [(4, 4)], ("other.py", "discarded-to-result"): [(4, 4)]}
    assert not is_met(label(4, "must"), reports)


def test_scores_count_each_label_once() -> None:
    labels = [
        label(4, "must", hard=True),
        label(9, "must"),
        label(4, "must_not"),
        label(8, "must_not"),
        label(4, "either"),
    ]
    scores, failed = scored(labels, {("train.py", "discarded-to-result"): [(4, 4)]})
    score = scores["discarded-transfer"]
    assert (score.met, score.missed, score.wrong, score.quiet) == (1, 1, 1, 1)
    assert score.precision == score.recall == 0.5
    assert score.hard == {True: 1, False: 0}
    assert failed == [labels[1], labels[2]]


def test_what_is_contested_is_a_label_that_is_scored_with_a_reason() -> None:
    contested, labels = read_contested(), {one[:4]: one for one in read_labels() if one.expect != "either"}
    assert 0 < len(contested) == len({one[:4] for one in contested}) <= 15
    assert all(one[:4] in labels and one.why for one in contested)


def test_labels_at_other_lines_and_of_other_rules_are_uncontested() -> None:
    labels = [label(4, "must"), label(5, "must"), label(4, "must", "data-parallel")]
    one = Contested("owner/name", "train.py", 4, "discarded-transfer", "a reason")
    assert uncontested(labels, [one]) == labels[1:]
    assert uncontested(labels, []) == labels


def test_without_reports_there_is_no_precision_and_without_labels_no_recall() -> None:
    assert Score(missed=2).precision is None
    assert Score(missed=2).recall == 0
    assert Score(wrong=2).recall is None


def test_the_linter_is_scored_on_files_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "owner+name"
    root.mkdir()
    (root / "train.py").write_text(LOST)
    tree = Tree("owner/name", "abc", {"train.py": blob_of(root / "train.py")})
    monkeypatch.setattr(command, "read_trees", lambda: [tree])
    monkeypatch.setattr(command, "read_labels", lambda: [label(4, "must"), label(3, "must_not")])
    command.score(tmp_path, missed=True, recorded=False)
    printed = capsys.readouterr()
    assert "| discarded-transfer | 1.000 | 1.000 | 1 | 0 | 0 | 0 of 0 |" in printed.out
    assert "| **core** | 1.000 | 1.000 | 1 | 0 | 0 | 0 of 0 |" in printed.out
    assert not printed.err


def test_a_checkout_of_another_commit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "owner+name"
    root.mkdir()
    (root / "train.py").write_text(LOST)
    monkeypatch.setattr(command, "read_trees", lambda: [Tree("owner/name", "abc", {"train.py": "0" * 40})])
    with pytest.raises(SystemExit, match=r"train\.py is not the labelled file; check out abc"):
        command.score(tmp_path, missed=False, recorded=False)


def test_the_page_shows_what_was_recorded() -> None:
    kept = json.loads(command.RESULTS.read_text(encoding="utf-8"))
    page = (command.HERE / "README.md").read_text(encoding="utf-8")
    assert f"accel-advisor at {kept['commit']}" in page
    for name, one in (("core", kept["scores"]["core"]), ("all", kept["scores"]["all"])):
        assert f"| **{name}** | {one['precision']:.3f} | {one['recall']:.3f} |" in page


def test_a_finding_is_about_its_related_places_too() -> None:
    place = {"filename": "train.py", "location": {"row": 3}, "end_location": {"row": 5}}
    related = [{"filename": "test.py", "location": {"row": 9}}]
    assert spots({**place, "related": related}) == [("train.py", (3, 5)), ("test.py", (9, 9))]
