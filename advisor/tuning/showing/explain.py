"""Where the loader spends its time: from what the probe saw of it at work to stages and functions. Pure code."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from accel_advisor.source.program_lines import row_for_people
from accel_advisor.tuning.applying.project_code import display_name, is_own_code
from accel_advisor.tuning.probe.channel.wire import COLLATE, DATA_SET, Block, Frame, Settings, Stack
from accel_advisor.tuning.record.place_text import place_text
from accel_advisor.tuning.record.schema import Explanation, FunctionTime, StageTime
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.showing.advice import advise, at_most, expression
from accel_advisor.tuning.wording.figures import percent, times

STARVED = 1 / 3
"""A loop that waits for more of its time than this has more to gain from its data than from its settings."""
LEAST_SHARE = 0.01
"""A function with less of the fetching thread's time is not named."""
_MOST_FUNCTIONS = 8
_Z_975 = 1.959964
_LIBRARIES = re.compile(r"^.*/((site|dist)-packages|lib/python3\.\d+)/")
"""Where the file of a library begins to say which one it is of."""
_PLUMBING = ("torch.utils.data.", "torch.nn.modules.module.", "torchvision.datasets.", "__mp_main__", "contextlib.")

Key = tuple[str, str, str, int, str]
"""Stage, the user's own function, its file and row, and the library's function that it called, if any."""


def explain(settings: Settings, block: Block, root: Path, device: str = "cpu") -> Explanation | None:
    """What one watched block shows of a loader under ``settings`` that feeds a ``device``; None where nothing was
    seen."""
    watched = block.watched
    if watched is None or not watched.passages:
        return None
    count = len(watched.passages)

    def mean(name: str) -> float:
        return math.fsum(getattr(passage, name) for passage in watched.passages) / count

    seconds = {DATA_SET: mean("data_set"), COLLATE: mean("collate"), "hand-over": mean("hand_over"), "pin": mean("pin")}
    total = math.fsum(seconds.values()) or 1.0
    stages = tuple(StageTime(name, one, one / total) for name, one in seconds.items())
    functions = _functions(watched.stacks, seconds, root)
    fetch = seconds[DATA_SET] + seconds[COLLATE]
    idle = min(mean("idle") / fetch, 1.0) if fetch else 0.0
    advice = advise(settings, block, watched.stacks, seconds, idle, device)
    return Explanation(settings, count, idle, stages, functions, tuple(advice), _next(settings, block, functions))


def _next(settings: Settings, block: Block, functions: Sequence[FunctionTime]) -> str:
    """What to do about a loop that waits a lot: the costliest function, and what halving it gives; else empty."""
    waits = block.wait / block.seconds
    if waits <= STARVED or not functions:
        return ""
    costliest = functions[0]
    most = at_most(block, settings.num_workers, costliest.seconds / 2)
    return (
        f"with {describe(settings)} {percent(waits)} of each step waits for data: {costliest.function} "
        f"({place_text(costliest)}) takes {percent(costliest.share)} of the fetching; in half of its time "
        f"the loop would run at most {times(most)} as fast"
    )


def wilson(share: float, samples: float) -> tuple[float, float]:
    """The 95 % interval of a share that was seen in ``samples`` samples, which may be a fraction."""
    if samples <= 0:
        return 0.0, 1.0
    weight = _Z_975 * _Z_975 / samples
    middle = (share + weight / 2) / (1 + weight)
    half = _Z_975 / (1 + weight) * math.sqrt(share * (1 - share) / samples + weight / (4 * samples))
    return max(0.0, middle - half), min(1.0, middle + half)


def _functions(stacks: Sequence[Stack], seconds: dict[str, float], root: Path) -> tuple[FunctionTime, ...]:
    """The costly functions, each with its share of the fetching thread's time, the costliest first."""
    fetch = seconds[DATA_SET] + seconds[COLLATE]
    times: dict[Key, float] = defaultdict(float)
    innermost: dict[Key, dict[Frame, float]] = defaultdict(lambda: defaultdict(float))
    sums: dict[str, list[float]] = {DATA_SET: [0.0, 0.0], COLLATE: [0.0, 0.0]}

    owned = cache(is_own_code)
    for stack in stacks:
        sums[stack.task][0] += stack.seconds
        sums[stack.task][1] += stack.squares
        if stack.frames:
            key = _key(stack.task, stack.frames, owned)
            times[key] += stack.seconds
            innermost[key][stack.frames[-1]] += stack.seconds
    found = []
    for key, time in times.items():
        task, own, filename, row, called = key
        within, samples = time / sums[task][0], sums[task][0] ** 2 / sums[task][1]
        part = seconds[task] / fetch if fetch else 0.0
        low, high = wilson(within, samples)
        cell, line = row_for_people(filename, row)
        last = max(innermost[key], key=innermost[key].__getitem__)
        found.append(
            FunctionTime(
                stage=task,
                function=_short(own or called),
                filename=_LIBRARIES.sub("", display_name(filename, root)),
                row=line,
                calls=_calls(own, called, last),
                share=within * part,
                low=low * part,
                high=high * part,
                seconds=within * seconds[task],
                cell=cell,
            )
        )
    found.sort(key=lambda one: -one.share)
    return tuple(one for one in found if one.share >= LEAST_SHARE)[:_MOST_FUNCTIONS]


def _key(task: str, frames: Sequence[Frame], owned: Callable[[str], bool]) -> Key:
    for number in range(len(frames) - 1, -1, -1):
        frame = frames[number]
        if owned(frame.filename):
            called = frames[number + 1].function if number + 1 < len(frames) else ""
            return task, frame.function, frame.filename, frame.row, called
    first = next((one for one in frames if not one.function.startswith(_PLUMBING)), frames[-1])
    return task, "", first.filename, first.row, first.function


def _calls(own: str, called: str, last: Frame) -> str:
    """What the time is spent in below the named function: a library's function, or the expression in the source."""
    if called and (not own or called != last.function):
        return _short(last.function) if last.function != called or own else ""
    if called:
        return _short(called)
    return expression(last)


def _short(name: str) -> str:
    return name.removeprefix("__main__.").removeprefix("__mp_main__.").replace(".<locals>", "")
