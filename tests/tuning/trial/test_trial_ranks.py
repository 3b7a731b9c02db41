"""Two ranks under torchrun, on gloo: in step whatever happens, and ended in words. The fixtures check that nothing of
them stays."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from accel_advisor.tuning.probe.channel.wire import BASELINE, NO_WAIT, Measure, Settings
from accel_advisor.tuning.search.straggler import Cause, straggler
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from accel_advisor.tuning.trial.trial_errors import CandidateError, ScriptFailed, TrialEnded

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or not torch.distributed.is_gloo_available(), reason="torch has no gloo"
)


def trial(project: Path, *args: str, sources: Mapping[Path, bytes] | None = None, script: str = "ddp.py") -> Trial:
    command = Command(Path(script), None, args, project, ranks=2)
    return Trial(command, deadline=time.monotonic() + 300, sources=sources)


def test_ranks_stay_in_step_where_one_is_slow_and_candidates_fail_on_it_until_one_kills_it(project: Path) -> None:
    with trial(project, "ddp", "fails in two workers, is killed with three") as running:
        (info,) = running.start().loaders
        assert (info.length, info.settings) == (16, Settings())
        old = running.measure(Measure(BASELINE, min_batches=8, min_seconds=0.2))
        late = straggler([old])
        assert late is not None
        assert (late.rank, late.ranks, late.cause) == (1, 2, Cause.WAITS)
        assert old.samples == 2 * 4 * old.batches
        assert old.wait + old.transfer + old.compute + old.host == pytest.approx(old.seconds)
        with pytest.raises(CandidateError, match=r"a sample that no worker can read.* \(on rank 1\)"):
            running.measure(Measure(Settings(2, 2), min_batches=8, min_seconds=0.2))
        for what in (NO_WAIT, Settings(1, 2), BASELINE):
            block = running.measure(Measure(what, min_batches=40, min_seconds=0.2))
            assert block.batches >= 40
            assert len(block.ranks) == 2
        with pytest.raises(TrialEnded, match=r"^rank 1 of the script was killed by SIGKILL while num_workers=3"):
            running.measure(Measure(Settings(3, 2), min_batches=8, min_seconds=0.1))
    assert running.contained == (str(project / "epoch.pt"),)


def test_a_sharded_model_whose_ranks_are_shown_another_source(project: Path) -> None:
    script = project / "ddp.py"
    new = script.read_bytes().replace(b"sampler=sampler)", b"sampler=sampler, num_workers=1)")
    with trial(project, "fsdp", "", sources={script: new}) as running:
        assert running.start().loaders[0].settings == Settings(1, 2)
        for what in (BASELINE, Settings(2, 2), NO_WAIT):
            assert running.measure(Measure(what, min_batches=8, min_seconds=0.1)).batches >= 8
        running.stop()
    assert running.contained == (str(project / "epoch.pt"),)


def test_a_rank_that_dies_at_the_start(project: Path) -> None:
    said = pytest.raises(ScriptFailed, match=r"^rank 1 of the script ended with exit status 3$")
    with trial(project, script="dies.py") as running, said:
        running.start()


def test_a_rank_that_raises_while_the_other_waits_for_it(project: Path) -> None:
    with trial(project, "ddp", "raises") as running:
        running.start()
        with pytest.raises(ScriptFailed, match=r"^rank 1 of the script failed .*ValueError: the loss is not a number"):
            running.measure(Measure(BASELINE, min_batches=200))
