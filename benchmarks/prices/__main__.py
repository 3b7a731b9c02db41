"""Planted costs at lines that lint reports, against the prices that a trial gives them.

    python -m benchmarks.prices --json benchmarks/results/prices.json

Every case is a real trial of ``loop.py``, which times its planted statement itself: the truth is what it took in the
steps that were sampled. What it took before and after, while nothing was sampled, tells what sampling changes. Exits
with 1 where a price is off by more than two points and a fifth of the truth, or where fewer than nine in ten intervals
hold the truth.

``--short`` adds steps of a millisecond: the share of a step that samples give to waiting for data, against the block's
own clock. With ``--runs 0`` nothing else is measured, and of a record nothing else changes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import struct
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from accel_advisor.tuning.pricing.line_prices import priced
from accel_advisor.tuning.pricing.linted_files import findings_in
from accel_advisor.tuning.pricing.sampled_shares import Shares
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, Measure
from accel_advisor.tuning.record.schema import FindingPrice
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.trial.trial import Trial
from benchmarks.recording import keep, machine

KINDS = ("sync", "copy", "save", "window", "numpy")
SHARES = (0.01, 0.03, 0.1, 0.3)
POINTS, PART, COVERED = 0.02, 0.2, 0.9
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Step:
    """When a step ended, what it took, and what of that was planted, in seconds."""

    ended: float
    seconds: float
    planted: float


@dataclass(frozen=True)
class Case:
    """One price. Shares of a step: ``truth`` in the block that was sampled, ``quiet`` where nothing was; ``slower`` are
    the steps that were sampled than the others, by this share. What a wait would save follows from the plan: a step
    would be as long as the device works, or as long as the host does without the wait."""

    kind: str
    wanted: float
    truth: float
    quiet: float
    share: float
    low: float
    high: float
    samples: int
    slower: float
    saves: float | None = None
    saves_truth: float | None = None

    @property
    def near(self) -> bool:
        """Whether the price is the truth's, as near as is asked for; of a wait also what it would save."""
        near = _near(self.share, self.truth)
        return near and (self.saves is None or self.saves_truth is None or _near(self.saves, self.saves_truth))

    @property
    def covered(self) -> bool:
        """Whether the interval holds the truth of the steps that were sampled."""
        return self.low <= self.truth <= self.high


def _near(found: float, truth: float) -> bool:
    return abs(found - truth) <= max(POINTS, PART * truth)


class Steps:
    """Listens to what the loop says of its steps."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._steps: list[Step] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            self._steps.append(Step(*struct.unpack("3d", self._socket.recv(64))))

    def of(self, *blocks: Block) -> list[Step]:
        """The steps within some blocks."""
        spans = [(block.began, block.began + block.seconds) for block in blocks]
        return [
            one for one in list(self._steps) if any(a < one.ended - one.seconds and one.ended <= b for a, b in spans)
        ]


def case(kind: str, wanted: float, seconds: float) -> Case:
    """One trial."""
    steps = Steps()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "site-packages"
        library.mkdir()
        shutil.copy(HERE / "loop.py", folder / "loop.py")
        shutil.copy(HERE.parent / "attribution" / "devices.py", library / "devices.py")
        (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
        os.environ["PYTHONPATH"] = str(library)
        command = Command(folder / "loop.py", None, (kind, str(wanted), str(steps.port)), folder)
        with Trial(command, deadline=time.monotonic() + 240) as trial:
            ready = trial.start()
            before = trial.measure(Measure(BASELINE, min_seconds=seconds / 2))
            sampled = trial.measure(Measure(BASELINE, min_seconds=seconds, lines=True))
            after = trial.measure(Measure(BASELINE, min_seconds=seconds / 2))
            trial.stop()
        assert sampled.lines is not None
        found = priced(sampled, findings_in(sampled.lines), folder, device=ready.device)
        assert found is not None
        finding = _planted(found.findings, kind)
    quiet, within = steps.of(before, after), steps.of(sampled)
    price, saves = finding.price, None
    if kind == "sync":
        step = _mean(within, "seconds")
        wait = _mean(within, "planted")
        saves = min(wait, step - DEVICE_SECONDS) / step
    return Case(
        kind,
        wanted,
        _share(within),
        _share(quiet),
        price.share,
        price.low,
        price.high,
        found.samples,
        _mean(within, "seconds") / _mean(quiet, "seconds") - 1,
        price.saves,
        saves,
    )


DEVICE_SECONDS = 0.02
"""That the pretended device works in a step, as ``loop.py`` has it."""


@dataclass(frozen=True)
class Short:
    """Short steps: how many, their seconds, and the shares of them that they wait for data, by the clock of the block
    and by samples, with how many of these there are."""

    steps: int
    seconds: float
    clock: float
    sampled: float
    low: float
    high: float
    samples: int


def short(seconds: float) -> Short:
    """One trial of ``short.py``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(HERE / "short.py", folder / "short.py")
        (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
        with Trial(Command(folder / "short.py", None, (), folder), deadline=time.monotonic() + 240) as trial:
            trial.start()
            block = trial.measure(Measure(BASELINE, min_seconds=seconds, lines=True))
            trial.stop()
    assert block.lines is not None
    shares = Shares(block.lines)
    price = shares.price(shares.where(lambda stack: stack.fetching is not None))
    clock, step = block.wait / block.seconds, block.seconds / block.batches
    return Short(block.batches, step, clock, price.share, price.low, price.high, shares.count)


def _planted(findings: tuple[FindingPrice, ...], kind: str) -> FindingPrice:
    lines = (HERE / "loop.py").read_text().splitlines()
    return next(one for one in findings if lines[one.row - 1].endswith(f"# planted: {kind}"))


def _share(steps: list[Step]) -> float:
    return sum(one.planted for one in steps) / sum(one.seconds for one in steps)


def _mean_difference(cases: list[Case]) -> float:
    """By how much shares differ where samples are taken, and where none are."""
    return sum(one.truth - one.quiet for one in cases) / len(cases)


def _mean(steps: list[Step], name: str) -> float:
    return float(sum(getattr(one, name) for one in steps) / len(steps))


def main() -> int:
    """Runs, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2, help="of each case")
    parser.add_argument("--seconds", type=float, default=7.0, help="of the block that is sampled")
    parser.add_argument("--only", choices=KINDS, help="one kind of cost")
    parser.add_argument("--json", type=Path, help="where to record the result")
    parser.add_argument("--short", type=int, default=0, metavar="RUNS", help="of steps of a millisecond, besides")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    shorts = [short(options.seconds) for _ in range(options.short)]
    for each in shorts:
        said = f"short   clock {each.clock:6.2%} found {each.sampled:6.2%} ({each.low:.2%}-{each.high:.2%})"
        print(f"{said} of {each.samples}, steps of {each.seconds * 1e3:.2f} ms", flush=True)
    cases: list[Case] = []
    loads: list[float] = []
    for _ in range(options.runs):
        for kind in (options.only,) if options.only else KINDS:
            for wanted in SHARES:
                loads.append(os.getloadavg()[0])
                one = case(kind, wanted, options.seconds)
                cases.append(one)
                said = f"{kind:7} truth {one.truth:6.2%} found {one.share:6.2%}"
                said += (
                    f" ({one.low:.2%}-{one.high:.2%}) of {one.samples}, else {one.quiet:.2%}, steps {one.slower:+.1%}"
                )
                if one.saves is not None and one.saves_truth is not None:
                    said += f", saves {one.saves:.2%} of {one.saves_truth:.2%}"
                print(f"{said}{'' if one.near else '  OFF'}{'' if one.covered else '  NOT COVERED'}", flush=True)
    near, covered = sum(one.near for one in cases), sum(one.covered for one in cases)
    print(f"{near} of {len(cases)} near the truth, {covered} intervals hold it")
    if options.json is not None:
        record = json.loads(options.json.read_text()) if options.json.exists() else {}
        if cases:
            record |= {
                "machine": machine(),
                "load": {"least": min(loads), "mean": round(sum(loads) / len(loads), 2), "most": max(loads)},
                "near": near,
                "covered": covered,
                "mean difference to steps that were not sampled": round(_mean_difference(cases), 4),
                "cases": [{**asdict(one), "near": one.near, "covered": one.covered} for one in cases],
            }
        if shorts:
            record["short"] = {"machine": machine(), "load": load, "runs": [asdict(one) for one in shorts]}
        keep(options.json, record)
    return int(near < len(cases) or covered < COVERED * len(cases))


if __name__ == "__main__":
    raise SystemExit(main())
