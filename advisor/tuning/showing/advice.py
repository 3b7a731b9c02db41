"""What a measured share of the loader's time gives reason for, with the most that it could bring. Pure code."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from accel_advisor.source.program_lines import line_at
from accel_advisor.tuning.probe.channel.wire import COLLATE, DATA_SET, Block, Frame, Settings, Stack
from accel_advisor.tuning.search.headroom import HEADROOM
from accel_advisor.tuning.wording.figures import percent, times

_SHARE = 0.15
"""A part with less is skipped."""
_LEAST_WAIT = 0.03
"""Where the loop waits for a smaller share of its time than this, no advice pays."""
_ONE_BY_ONE = 30e-6
"""Seconds of the data set for a sample, below which calling it costs more than what it does."""
_FEW = 8
"""Samples in a batch up to which it makes no difference whether they are taken one by one."""
_DECODERS = (
    "PIL.ImageFile.",
    "PIL.Image.open",
    "imageio",
    "torchvision.io.",
    "torchaudio",
    "soundfile",
    "librosa.",
    "av.",
)
_DECODING = ("cv2.imread", "cv2.imdecode")
_AUGMENTERS = ("torchvision.transforms.", "albumentations.", "kornia.", "monai.transforms.", "torchio.transforms.")
_CONTAINER = re.compile(r"Compose|Random(Apply|Choice|Order)|OneOf|SomeOf|Sequential")
_BEFORE_A_BATCH = re.compile(r"resize|crop|to_?tensor|to_?image|load|lambda", re.IGNORECASE)
"""Parts of the names of transforms that make samples of one size, or tensors at all: a batch needs them before."""


def advise(
    settings: Settings, block: Block, stacks: Sequence[Stack], seconds: dict[str, float], idle: float, device: str
) -> list[str]:
    """What a measured share gives reason for, the cheapest to follow first; nothing where the loop hardly waits.

    Args:
        stacks: where the fetching thread was found in ``block``.
        seconds: a batch's time by stage.
        idle: share of the fetching in which its thread neither computed nor waited for a core.
        device: the kind of device that trains, such as ``cuda``.
    """
    if block.wait < _LEAST_WAIT * block.seconds:
        return []
    fetch, path = seconds[DATA_SET] + seconds[COLLATE], math.fsum(seconds.values())
    alone = not any(_serves_batches(frame) for stack in stacks for frame in stack.frames)
    found = []

    def say(part: float, whole: float, words: str) -> None:
        most = at_most(block, settings.num_workers, part)
        if whole and part / whole >= _SHARE and most >= HEADROOM:
            found.append(
                f"{percent(part / whole)} of {words}; without it the loop would run at most {times(most)} as fast"
            )

    decoding = _spent(stacks, seconds, is_decoding)
    say(decoding, fetch, "the fetching is decoding: a faster decoder, or data stored at the size that is used")
    waiting = "the fetching waits for storage, a network or a lock: larger files that are read in sequence"
    say(idle * fetch, fetch, f"{waiting}, or `__getitems__` for a whole batch at once" if alone else waiting)
    if device != "cpu":
        augmenting = _spent(stacks, seconds, is_augmentation)
        say(augmenting, fetch, "the fetching is augmentation that the device could do to whole batches while it waits")
    samples = block.samples / block.batches
    each = seconds[DATA_SET] / samples
    if alone and samples > _FEW and each < _ONE_BY_ONE:
        taking = f"a batch's way is taking {samples:.0f} samples one by one, at {1e6 * fetch / samples:.2g} µs each"
        say(fetch, path, f"{taking}: `__getitems__` that indexes once for the whole batch, and nothing left to collate")
    else:
        say(seconds[COLLATE], fetch, "the fetching is the collate function: samples that are tensors already")
    say(seconds["hand-over"], path, "a batch's way is the hand-over from the workers: fewer bytes, or tensors alone")
    return found


def at_most(block: Block, workers: int, seconds: float) -> float:
    """How many times as fast the loop could run at most without a part that costs a batch ``seconds``: workers share
    it among them, and the loop saves no more than it waits."""
    step = block.seconds / block.batches
    saved = min(seconds / max(workers, 1), block.wait / block.batches)
    return step / max(step - saved, 1e-9)


def expression(frame: Frame) -> str:
    """What stands in the source at a frame's place; empty where it is longer than a line, or not known."""
    if frame.column <= 0 or frame.row != frame.end_row:
        return ""
    return line_at(frame.filename, frame.row)[frame.column - 1 : frame.end_column - 1].strip()


def is_decoding(stack: Stack) -> bool:
    """Whether a thread was found decoding an image, a film or a sound."""
    named = any(frame.function.startswith(_DECODERS) for frame in stack.frames)
    return named or (bool(stack.frames) and expression(stack.frames[-1]).startswith(_DECODING))


def is_augmentation(stack: Stack) -> bool:
    """Whether a thread was found in a transform that could as well be done to a whole batch, on the device."""
    names = [frame.function for frame in stack.frames if frame.function.startswith(_AUGMENTERS)]
    own = [name for name in names if not _CONTAINER.search(name)]
    return bool(own) and not any(map(_BEFORE_A_BATCH.search, own)) and not is_decoding(stack)


def _spent(stacks: Sequence[Stack], seconds: dict[str, float], counts: Callable[[Stack], bool]) -> float:
    """Seconds a batch in stacks that count."""
    total = 0.0
    for task in (DATA_SET, COLLATE):
        seen = [stack for stack in stacks if stack.task == task]
        whole = math.fsum(stack.seconds for stack in seen)
        part = math.fsum(stack.seconds for stack in seen if counts(stack))
        total += seconds[task] * part / whole if whole else 0.0
    return total


def _serves_batches(frame: Frame) -> bool:
    """Whether a data set answers for several samples at once: a stream, or one with `__getitems__` of its own."""
    if frame.function.startswith("torch.utils.data."):
        return "_IterableDatasetFetcher" in frame.function
    return frame.function.endswith(".__getitems__")
