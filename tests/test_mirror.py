"""The tests mirror the code: those of a file are found by its name, in the folder of its room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from accel_advisor.rule import registry

from .conftest import LONGEST

TESTS = Path(__file__).parent
ROOT = TESTS.parent
WHOLE = {
    "test_architecture.py": "both stories of docs/architecture.md",
    "test_external_links.py": "ci/external_links.py",
    "test_floors.py": "the imports of all rooms",
    "test_generated_programs.py": "linting and fixing, from the text to the fixed file",
    "test_house.py": "what the README, the hooks and the Makefile promise",
    "test_mirror.py": "the tests themselves",
    "test_pipelines.py": "action.yml and ci/gitlab.yml, run as a runner runs them",
    "test_pre_commit.py": ".pre-commit-hooks.yaml, by the real pre-commit",
    "test_release.py": "what a release is made of: its version, its archives, what they bring",
    "test_one_file_each.py": "what CONTRIBUTING says of new rules, libraries, knobs and formats",
    "test_page_commands.py": "the commands on the pages of the README and of docs/",
    "test_page_trials.py": "those of them that need a trial, or what one left",
    "test_site.py": "the pages of docs/",
    "test_public_api.py": "what other programs may import, and docs/library.md",
    "test_rule_pages.py": "every rule's page, from its example to its fix",
    "linting/test_one_answer.py": "configurations, the project index, the cache and the linter: one answer for a file",
    "output/test_schemas.py": "all formats that have a schema, held against it",
    "rules/idioms/test_batches.py": "batches as people hand them on, from the text to what several rules say",
    "rules/idioms/test_devices.py": "devices as people spell them, the same",
    "rules/idioms/test_evaluations.py": "evaluations, loaders that are built again and DataParallel, the same",
    "rules/idioms/test_fixtures.py": "the scripts of fixtures/, and all rules",
    "rules/idioms/test_loops.py": "loops of training as people write them, from the text to what several rules say",
    "rules/idioms/test_models.py": "models and losses of all makes, the same",
    "rules/idioms/test_older_torch.py": "programs that were never brought to a newer torch, the same",
    "rules/idioms/test_several_files.py": "programs of several files, the same",
    "snippets/test_snippets.py": "what the messages of rules recommend, run under torch",
}
"""Tests that are about several rooms at once, and what they are about."""


def files_of_tests() -> Iterator[Path]:
    """All but those of the rules: each of them has a file of its own."""
    for path in sorted(TESTS.rglob("test_*.py")):
        inner = path.relative_to(TESTS)
        if inner.parts[0] != "rules" and inner.as_posix() not in WHOLE:
            yield inner


def room_of(inner: Path) -> Path:
    """The folder whose files the tests in a folder are about."""
    if inner.parts[0] == "benchmarks":
        return ROOT / inner.parent
    return ROOT / "advisor" / inner.parent


@pytest.mark.parametrize("inner", list(files_of_tests()), ids=str)
def test_a_file_of_tests_names_the_file_that_it_is_about(inner: Path) -> None:
    """``test_trial.py`` and, where that would be long, ``test_trial_ranks.py`` are about ``trial.py``."""
    named = inner.stem.removeprefix("test_")
    there = {path.stem for path in room_of(inner).iterdir() if path.suffix == ".py" or path.is_dir()}
    assert any(f"{named}_".startswith(f"{one}_") for one in there), f"no file of {room_of(inner)} is called {named}"


def test_the_files_that_are_begun_first_are_there() -> None:
    assert [name for name in LONGEST if not (TESTS / name).is_file()] == []
    assert len(set(LONGEST)) == len(LONGEST)


def test_each_rule_has_a_file_of_tests_and_each_file_of_tests_a_rule() -> None:
    """The parts of a long file of tests stand beside it: ``test_blocking_copy_evidence.py``."""
    rules = {path.relative_to(ROOT / "rules").as_posix() for path in (ROOT / "rules").glob("*/[!_]*.py")}
    files = [path for path in (TESTS / "rules").glob("*/test_*.py") if path.relative_to(TESTS).as_posix() not in WHOLE]
    tested = {path.relative_to(TESTS / "rules").as_posix() for path in files}
    wanted = {name.replace("/", "/test_") for name in rules}
    assert wanted <= tested
    parts = {name for name in tested - wanted if not any(name.startswith(f"{one[:-3]}_") for one in wanted)}
    assert not parts


@pytest.mark.parametrize("code", registry())
def test_a_file_of_tests_begins_with_its_rule(code: str) -> None:
    rule = registry()[code]
    theme, name = type(rule).__module__.split(".")[-2:]
    text = (TESTS / "rules" / theme / f"test_{name}.py").read_text(encoding="utf-8")
    assert text.startswith(f'"""{code} {rule.name}')
    assert f'("{code}", ' in text or f"-> {code} " in text, "no test is about this rule"


def test_every_exception_is_one() -> None:
    for name in WHOLE:
        assert (TESTS / name).is_file(), name
