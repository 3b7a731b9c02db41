"""Puts what is said of pinned memory to the test: copies alone, and training, by size of batch and number of workers.

    python benchmarks/gpu/pinning.py            with a GPU: 75 s, writes benchmarks/results/pinning.json
    python benchmarks/gpu/pinning.py --quick    small, on whatever machine: proves that it runs, and records nothing

It needs torch and what accel-advisor depends on, and no network. Where accel-advisor is not installed, it is found
beside this file.
"""

from __future__ import annotations

import time

BEGAN = time.monotonic()
"""Before torch is imported, which takes seconds."""

import argparse  # noqa: E402
import faulthandler  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.gpu.surroundings import RESULTS, about, find_ourselves, keep, provenance, without_gpu  # noqa: E402

SECONDS = 75.0
END = 4.0
"""Seconds that are kept for the end: workers, the table, the interpreter."""
SAID = 200
"""Characters of a failure that are recorded."""
HANGS = 5.0
"""Seconds beyond the time after which the process ends itself, whatever it waits for."""
COPIES_SHARE = 0.2
"""Of the time, for the copies alone."""
SIZES = {1 << 18: 1.0, 4 << 20: 1.0, 64 << 20: 3.0}
"""Bytes of a batch, with the weight of its blocks, which are longer for larger ones."""
QUICK_SIZES = {1 << 14: 1.0, 1 << 18: 1.0}
WORKERS, QUICK_WORKERS = (0, 4, 12), (0, 2)
COPY_RATE = 8e9
"""Bytes a second that are assumed of copies where these could not be measured."""


class LateError(Exception):
    """The time is over in the middle of a part."""


def late(*_: object) -> None:
    """
    Raises:
        LateError: always.
    """
    raise LateError("the time was over before it was done")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Everything, within the time; what there is of it is written after each part."""
    from benchmarks.gpu.copies import PLAIN, Device, copies
    from benchmarks.gpu.pinned_training import QUICK, Comparison, Sizes, models, rows_of

    end = BEGAN + options.seconds - END
    signal.signal(signal.SIGALRM, late)
    faulthandler.dump_traceback_later(max(2 * HANGS, end + END + HANGS - time.monotonic()), exit=True)
    device = Device()
    found = about("cuda" if device.cuda else "cpu")
    found |= {"quick": options.quick, "copies": [], "training": [], "failed": {}}
    sizes = QUICK_SIZES if options.quick else SIZES
    amounts = QUICK if options.quick else Sizes()
    workers = QUICK_WORKERS if options.quick else WORKERS
    rates: dict[int, float] = {}

    def say(words: str) -> None:
        print(f"{time.monotonic() - BEGAN:5.1f} s  {words}", flush=True)
        found["seconds"] = round(time.monotonic() - BEGAN, 1)
        keep(options.json, found)

    def failed(part: str, error: Exception) -> None:
        found["failed"][part] = str(error).partition("\n")[0][:SAID] or type(error).__name__
        say(f"{part} failed: {found['failed'][part]}")

    try:
        signal.setitimer(signal.ITIMER_REAL, max(0.1, end + END / 2 - time.monotonic()), 1.0)  # again where it is lost
        say("begins")
        until = time.monotonic() + COPIES_SHARE * (end - time.monotonic())
        for number, size in enumerate(sizes):
            part = f"copies of {spelled(size)}"
            share = max(0.0, until - time.monotonic()) / (len(sizes) - number)
            try:
                one = copies(size, device, time.monotonic() + share)
            except (RuntimeError, OSError, ValueError, ArithmeticError) as error:
                failed(part, error)
                continue
            rates[size] = size / one["kinds"][PLAIN.name]["device"]
            found["copies"].append(one)
            say(f"{part}: pageable {rates[size] / 1e9:.2f} GB/s, {one['rounds']} rounds")
        rows = rows_of(amounts)
        left = sum(weight * len(workers) for weight in sizes.values())
        for size, weight in sizes.items():
            try:
                trained = models(size, size / rates.get(size, COPY_RATE), amounts, device)
            except (RuntimeError, OSError, ValueError) as error:
                failed(f"models for {spelled(size)}", error)
                left -= weight * len(workers)
                continue
            for count in workers:
                part = f"{spelled(size)}, {count} workers"
                comparison = Comparison(size, count, trained, rows, amounts, device)
                share = max(0.0, end - time.monotonic()) * weight / left
                left -= weight
                try:
                    comparison.run(time.monotonic() + share)
                except (RuntimeError, OSError, ValueError) as error:
                    failed(part, error)
                finally:
                    done = comparison.found()  # complete rounds are worth having, whatever ended the others
                    found["training"] += done
                say(f"{part}: " + (f"{done[0]['rounds']} rounds" if done else "nothing"))
    except LateError as error:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        found["failed"]["the rest"] = str(error)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    say("ends")
    return found


def spelled(size: int) -> str:
    """``64 MiB``"""
    return f"{size / (1 << 20):g} MiB"


def table(found: dict[str, Any]) -> str:
    """What a person reads, as Markdown: how long it takes with pageable batches, and how many times as fast it is with
    others, with the interval and what that does to the claim."""
    from benchmarks.gpu.claims import words
    from benchmarks.gpu.copies import KINDS, PLAIN

    others = [kind.name for kind in KINDS if kind is not PLAIN]
    lines = [
        f"{provenance(found)}." + (" A quick proof: its figures mean nothing." if found["quick"] else ""),
        "",
        f"| batch | what | {PLAIN.name} | {' | '.join(others)} |",
        f"|--:|---|--:|{'--:|' * len(others)}",
    ]
    for one in found["copies"]:
        kinds, head = one["kinds"], f"| {spelled(one['bytes'])} "
        plain, pinning = kinds[PLAIN.name], one["pinning"]
        on_device = [words(kinds[name]["transfer"]) for name in others]
        on_host = [milliseconds(kinds[name]["host"]) for name in others]
        first, *rest = (milliseconds(pinning[name]) for name in ("first", "in_step", "in_loader_thread"))
        lines += [
            f"{head}| copy, by the device | {milliseconds(plain['device'])} | {' | '.join(on_device)} |",
            f"{head}| copy, `.to()` holds the host | {milliseconds(plain['host'])} | {' | '.join(on_host)} |",
            f"{head}| pinning alone: {first} the first time, {rest[0]} in the step, {rest[1]} in a loader's thread |"
            + " |" * (1 + len(others)),
        ]
    for one in found["training"]:
        kinds = one["kinds"]
        what = f"training, {one['workers']} workers, step alone {milliseconds(one['step_alone'])}"
        cells = [words(kinds[name]["training"]) for name in others]
        lines.append(
            f"| {spelled(one['bytes'])} | {what} | {milliseconds(kinds[PLAIN.name]['step'])} | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """``1.23 ms``"""
    return f"{1000 * seconds:.3g} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small, for a proof; written only with --json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what to write; else the recorded result")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for everything, the import of torch included")
    options = parser.parse_args()
    if find_spec("torch") is None:
        print("torch is missing here, and it is what is timed", file=sys.stderr)
        return 2
    if without_gpu(quick=options.quick):
        return 2
    options.json = options.json or (None if options.quick else RESULTS / "pinning.json")
    with tempfile.TemporaryDirectory(prefix="gpu-benchmark-") as name:
        find_ourselves(Path(name))
        found = measure(options)
        print(f"\n{table(found)}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
