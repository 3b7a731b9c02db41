"""Races the fixes that lint offers for training scripts of public repositories, and checks those that are recommended
in five more runs of old against new.

    python benchmarks/fixes_raced/run.py --checkouts FOLDER --json benchmarks/results/fixes_raced.json

Every script runs in a fresh copy of its repository, with data that is made for it. A record is written after each, and
one that is there is gone on with. No further race or check of a script begins after ``--limit`` seconds, nor a further
script after ``--seconds``. Exits with 1 where a recommended fix does not pay in each of its five runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

WILD = Path(__file__).resolve().parents[1] / "wild"
sys.path.insert(0, str(WILD))
sys.path.insert(0, str(WILD.parents[1]))

import data  # noqa: E402 -- of benchmarks/wild

from accel_advisor.machine.machine import inspect_machine  # noqa: E402
from accel_advisor.tuning.knobs.raced_fixes import RacedFix  # noqa: E402
from accel_advisor.tuning.knobs.whole_runs import AS_IT_IS, WholeRuns  # noqa: E402
from accel_advisor.tuning.racing.fix_races import FixRaces  # noqa: E402
from accel_advisor.tuning.record.turns_record import fixes_record  # noqa: E402
from accel_advisor.tuning.search.paired_runs import ORDER  # noqa: E402
from accel_advisor.tuning.search.statistics import gain  # noqa: E402
from accel_advisor.tuning.showing.race_text import fix_sentence  # noqa: E402
from accel_advisor.tuning.target.command import Command  # noqa: E402
from accel_advisor.tuning.trial.session import Session  # noqa: E402
from accel_advisor.tuning.trial.trial_errors import TrialError  # noqa: E402
from benchmarks.recording import keep, machine  # noqa: E402

RUNS = 5
"""Runs of old against new that a recommended fix is checked in."""
EXAMPLES, TUTORIAL, GAN = "pytorch/examples", "yunjey/pytorch-tutorial", "eriklindernoren/PyTorch-GAN"


@dataclass(frozen=True)
class Script:
    """A script of a repository."""

    repository: str
    path: str
    fixture: data.Fixture
    rules: tuple[str, ...] = ()
    """Those whose fixes are raced; none for all that are on by default."""

    @property
    def name(self) -> str:
        """Of its record."""
        return " ".join((f"{self.repository}/{self.path}", *self.rules))


SHARED = data.mnist("data")
TUTORIAL_DATA = data.mnist("tutorials/data")
GAN_DATA = data.mnist("data/mnist")
BY_DEFAULT = (
    Script(TUTORIAL, "tutorials/01-basics/feedforward_neural_network/main.py", TUTORIAL_DATA),
    Script(GAN, "implementations/gan/gan.py", GAN_DATA),
    Script(EXAMPLES, "vae/main.py", SHARED),
    Script(TUTORIAL, "tutorials/03-advanced/variational_autoencoder/main.py", TUTORIAL_DATA),
    Script(TUTORIAL, "tutorials/03-advanced/generative_adversarial_network/main.py", TUTORIAL_DATA),
    Script(TUTORIAL, "tutorials/02-intermediate/convolutional_neural_network/main.py", TUTORIAL_DATA),
    Script(EXAMPLES, "mnist_rnn/main.py", SHARED),
    Script(EXAMPLES, "mnist/main.py", SHARED),
    Script(TUTORIAL, "tutorials/02-intermediate/bidirectional_recurrent_neural_network/main.py", TUTORIAL_DATA),
    Script(GAN, "implementations/wgan/wgan.py", GAN_DATA),
)
FUSED = (
    *(one for one in BY_DEFAULT if one.repository == TUTORIAL),
    *(
        Script(GAN, f"implementations/{name}/{name}.py", GAN_DATA)
        for name in ("gan", "cgan", "lsgan", "softmax_gan", "sgan")
    ),
)
"""What trains with Adam: a fused one is offered without a GPU, too."""
SCRIPTS = (*BY_DEFAULT, *(replace(one, rules=("ACC415",)) for one in FUSED))


def main() -> int:
    """Races on the scripts that were asked for, one at a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkouts", type=Path, nargs="+", required=True, help="folders with checkouts owner+name")
    parser.add_argument("--block", type=float, default=0.5, help="seconds of a block")
    parser.add_argument("--only", default="", help="regular expression that the scripts' names must contain")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds of a script, and of its checks")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no further script begins")
    parser.add_argument("--again", action="store_true", help="race scripts of the record once more")
    parser.add_argument("--json", type=Path, help="file for the results, which is gone on with")
    options = parser.parse_args()
    record: dict[str, Any] = {"scripts": []}
    if options.json is not None and options.json.exists() and not options.again:
        record = json.loads(options.json.read_text(encoding="utf-8"))
    results, began = {one["script"]: one for one in record["scripts"]}, time.monotonic()
    for script in SCRIPTS:
        name = script.name
        if name in results or not re.search(options.only, name) or time.monotonic() - began > options.seconds:
            continue
        with tempfile.TemporaryDirectory(prefix="raced-") as scratch:
            results[name] = raced(script, options, Path(scratch).resolve())
        show(results[name])
        record = {"machine": machine(), "block": options.block, "limit": options.limit}
        record["scripts"] = list(results.values())
        keep(options.json, record)
    verdicts = Counter(one["verdict"] for result in results.values() for one in result["raced"])
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()) or "no fix was raced")
    checked = [one for result in results.values() for one in result["checked"]]
    print(f"{sum(one['pays'] for one in checked)} of {len(checked)} recommended fixes pay in {RUNS} of {RUNS} runs")
    return int(not all(one["pays"] for one in checked))


class TimeUpError(TrialError):
    """The time of a script is over."""


def raced(script: Script, options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """What became of the fixes for one script, and of those that were recommended in more runs."""
    checkout = next(
        path for folder in options.checkouts if (path := folder / script.repository.replace("/", "+")).is_dir()
    )
    root = scratch / "copy"
    shutil.copytree(checkout, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    script.fixture(root)
    path = root / script.path
    result: dict[str, Any] = {
        "script": script.name,
        "digest": hashlib.sha256(path.read_bytes()).hexdigest()[:12],
        "load": list(os.getloadavg()),
    }
    began, memory = time.monotonic(), inspect_machine().memory_total
    command = Command(path, None, (), path.parent)
    checked: list[dict[str, Any]] = []
    unchecked: list[str] = []

    def say(words: str) -> None:
        if time.monotonic() - began > options.limit:
            raise TimeUpError(f"not begun within {options.limit:.0f} s: {words}")

    stand_ins = os.pathsep.join(filter(None, (str(WILD / "environment"), os.environ.get("PYTHONPATH"))))
    with (
        patch.dict(os.environ, PYTHONPATH=stand_ins),
        Session(command, deadline=math.inf, start_timeout=300.0, restarts=1) as session,
    ):
        races = FixRaces(session, root=root, rules=script.rules, memory=memory, block=options.block, say=say)
        try:
            found = races.run(safe=False, unsafe=False)
        except TrialError as error:
            result["failed"] = error.sentence
            found = races.result
        record = fixes_record(found, root)
        for one, shown in zip(found.raced, record.raced, strict=True):
            if one.pays and time.monotonic() - began > 2 * options.limit:
                unchecked.append(shown.where)
            elif one.pays:
                runs = WholeRuns(session, memory=memory, block=options.block)
                checked.append({"fix": shown.where, **checks(runs, one)})
    return {
        **result,
        "raced": [{"sentence": fix_sentence(one), **asdict(one)} for one in record.raced],
        "elsewhere": record.elsewhere,
        "left_out": record.left_out,
        "checked": checked,
        "unchecked": unchecked,
        "seconds": round(time.monotonic() - began, 1),
    }


def checks(runs: WholeRuns, fix: RacedFix) -> dict[str, Any]:
    """Old against new in runs that the race had no part in: how many times as fast the new source was in each.

    A run is a process of the old source and one of the new, block by block in turns: what the machine does meanwhile
    is the same for both.
    """
    sides = {False: (AS_IT_IS, fix.rewrite.before), True: (AS_IT_IS, fix.rewrite.after)}
    gains = []
    for pair in islice(cycle(ORDER), RUNS):
        runs.renew()
        ran = runs.side_by_side(pair, sides)
        gains.append(gain(ran[False].times, ran[True].times))
    return {
        "ratios": [round(one.ratio, 3) for one in gains],
        "intervals": [[round(one.low, 3), round(one.high, 3)] for one in gains],
        "pays": all(one.ratio > 1 for one in gains),
    }


def show(result: dict[str, Any]) -> None:
    """One script for the terminal."""
    print(f"{result['seconds']:6.1f} s  {result['script']} (load {result['load'][0]:.1f})", result.get("failed", ""))
    for one in result["raced"]:
        print(f"          {one['sentence']}")
    for one in result["checked"]:
        print(f"          five runs, {one['fix']}: {one['ratios']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
