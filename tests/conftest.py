"""What the tests share: the command line in this process, and rules that come from another package."""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from accel_advisor.cli import main
from accel_advisor.rule import registry
from accel_advisor.tuning.record.record_file import read_record
from accel_advisor.tuning.record.schema import Record

from .in_memory import PLACES, folder_in_memory

# Threads of torch that turn while they wait take a core from the tests beside. Set before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Those that numpy starts with its import do so for a tenth of a second in each process, unless their patience is 2**4.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# How fast a machine is that has other work to do decides about no test.
settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")

numbers = itertools.count()
Install = Callable[[str], None]
NewFolder = Callable[[str], Path]


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]
RECORDED = Path(__file__).parents[1] / "docs" / "recorded" / "trial.json"
"""The record of a trial that the documentation shows."""
LONGEST = (
    "tuning/test_tuner.py",
    "tuning/plain/test_plain_story.py",
    "tuning/knobs/test_knob_trials.py",
    "tuning/trial/test_trial_hostile.py",
    "tuning/racing/test_fix_races.py",
    "tuning/test_follower.py",
    "tuning/test_tuner_taken_back.py",
    "tuning/trial/test_trial_killed.py",
    "tuning/trial/test_trial_shapes.py",
    "kernel/test_accel_magic_tune.py",
    "tuning/trial/test_trial_ranks.py",
    "tuning/plain/test_plain_story_loader_later.py",
    "test_pipelines.py",
    "tuning/trial/test_interrupts.py",
    "test_release.py",
    "server/test_language_server.py",
    "server/test_language_server_trials.py",
    "tuning/trial/test_session.py",
    "syntax/test_walking.py",
    "commands/test_tune_command.py",
    "tuning/trial/test_trial_surroundings.py",
    "test_page_trials.py",
    "test_page_commands.py",
    "kernel/test_accel_magic.py",
    "linting/test_one_answer.py",
    "snippets/test_snippets.py",
    "test_pre_commit.py",
    "tuning/trial/test_trial_new_source.py",
    "benchmarks/test_attribution.py",
    "tuning/search/test_statistics_false_wins.py",
    "test_public_api.py",
    "test_one_file_each.py",
    "syntax/test_light.py",
    "linting/test_linter_edited_callers.py",
    "linting/test_garbage_collection.py",
    "benchmarks/test_gpu.py",
    "test_flake8_plugin.py",
    "test_generated_programs.py",
    "benchmarks/test_overhead.py",
    "tuning/probe/test_hooks.py",
    "tuning/probe/knobs/test_training_knobs.py",
    "tuning/showing/test_progress.py",
    "tuning/search/test_search.py",
    "tuning/test_tuner_iterable.py",
    "benchmarks/test_server.py",
    "benchmarks/test_regret.py",
    "benchmarks/test_wild.py",
    "interpreter/test_interpreter_growth.py",
)
"""The files whose tests take a quarter of a minute and more, the longest first. `make test` begins with them, so that
what is left when the first process has nothing more to do is short."""


def pytest_configure() -> None:
    """Hears Ctrl-C although the shell that started the tests in the background has all of its children ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is collected is needed to the end: no garbage collection looks through it, meanwhile or afterwards."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What tests leave is mostly in use, too: to look through all of it as often as Python does by itself takes a third
    of the time of tests of rules."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """The process ends: no garbage collection looks through what is left."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder for temporary files for each process that runs tests: there is one trial at a time for each folder, and
    a second one is refused. Its name is short: torch puts a socket below it, whose whole name may have 107 bytes."""
    tmp_path_factory.getbasetemp()  # stays where pytest keeps those of the last runs
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="t") as folder:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="session")
def memory(request: pytest.FixtureRequest) -> Iterator[Path | None]:
    with folder_in_memory(request.session) as folder:
        yield folder


@pytest.fixture(scope="module", autouse=True)
def new_folder(
    request: pytest.FixtureRequest, memory: Path | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NewFolder]:
    """Makes folders for tests, in memory where they may be there, as are temporary files then. pytest's own fixture
    looks through all folders for a number, and moves a link to the newest one."""
    place = request.path.relative_to(Path(__file__).parent).as_posix()
    inside = memory is not None and place.startswith(PLACES)
    parent = memory if memory is not None and inside else tmp_path_factory.getbasetemp()

    def new(name: str) -> Path:
        plain = re.sub(r"\W", "_", name)[:30]
        folder = parent / f"{plain}{next(numbers)}"
        folder.mkdir(0o700)
        return folder

    with pytest.MonkeyPatch.context() as patch:
        if inside:
            patch.setenv("TMPDIR", str(memory))
            patch.setattr(tempfile, "tempdir", str(memory))
        yield new


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, new_folder: NewFolder) -> Path:
    """A folder of its own for each test."""
    return new_folder(request.node.name)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command line, in the working directory of the test."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*args: str) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main(list(args))
        out, err = capfd.readouterr()
        assert isinstance(left.value.code, int)
        assert "Traceback" not in err
        return Done(left.value.code, out, err)

    return run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory."""
    root = tmp_path / "project"
    root.mkdir()
    (root / ".git").mkdir()
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def install_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs rules as another package would: a distribution with an entry point for each class ``Rule...``."""
    site = tmp_path / "site"
    site.mkdir()

    def install(source: str) -> None:
        source = textwrap.dedent(source)
        classes = re.findall(r"^class (\w+)\(", source, re.MULTILINE)
        name = f"plugin_{next(numbers)}"
        (site / f"{name}.py").write_text(source, encoding="utf-8")
        information = site / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        points = "".join(f"{one} = {name}:{one}\n" for one in classes)
        (information / "entry_points.txt").write_text(f"[accel_advisor.rules]\n{points}")
        monkeypatch.syspath_prepend(site)
        registry.cache_clear()

    yield install
    registry.cache_clear()


@pytest.fixture(scope="session")
def record() -> Record:
    return read_record(RECORDED)
