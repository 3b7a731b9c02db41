"""What to do about a training in float32, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.queries.autocast.array_reads import reads_arrays
from accel_advisor.records.queries.autocast.half_types import half_type_of
from accel_advisor.records.queries.autocast.replicas import classes_in
from accel_advisor.records.queries.models.autocast_hazards import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accel_advisor.project.target import Version
    from accel_advisor.records.facts import Facts
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.queries.models.full_precision import FullPrecision
    from accel_advisor.source.document import Document

_SINCE_IN_THREADS = (1, 7)
"""The version of torch since which the threads of DataParallel take from the call whether autocast is on, but never its
dtype: they use float16."""
_SINCE_ANYWHERE = (2, 4)
"""The one that brought ``torch.amp.custom_fwd``, before which it was one of ``torch.cuda.amp``."""
_MOST_NAMED = 2
_TRIED = ", and try it first with `accel-advisor tune --knobs autocast`, which compares the losses, too"
"""What to add where the trial turns exactly what is to be written."""


def remedy_of(facts: Facts, training: FullPrecision) -> tuple[str, Version]:
    """What lets a training compute in half precision, and the version of torch that it takes."""
    half, threads = half_type_of(facts), threads_of(facts, training)
    since, scaled = half.since, bool(half.scaler)
    if scaled and training.replicated and not threads:
        since = max(since, _SINCE_IN_THREADS)
    remedy = plain = f"compute the model and the loss under `{half.autocast}`"
    if threads:
        remedy = _in_threads(threads, half.autocast, old=scaled)
    if scaled:
        remedy += f", and scale the loss with a `{half.scaler}`{f', since {half.why}' if half.why else ''}"
    if training.twice is not None:
        remedy += ", but for the gradients that are a part of the loss"
    if training.outside:
        remedy += _decorated(facts, training)
    if training.kept:
        parts = dict.fromkeys(f"`{name_of(document, kept)}`" for document, kept in training.kept)
        remedy += f", and leave in float32 what half precision breaks: {', '.join(parts)}"
    if training.written:
        targets = dict.fromkeys(f"`{name_of(document, target)}`" for document, target in training.written)
        remedy += f", and cast what is written into {' and '.join([*targets][:_MOST_NAMED])}, as an index casts nothing"
    if not scaled:
        anywhere = bool(threads) and (bool(classes_in(threads)) or reads_arrays(facts))
        remedy += _before_numpy(training, anywhere=anywhere)
        names = dict.fromkeys(f"`{name}`" for _, name in training.moved)
        if names:
            remedy += f", and see that the steps of {' and '.join([*names][:_MOST_NAMED])} outlast its rounding"
    return remedy + _TRIED if remedy == plain and not scaled else remedy, since


def places_of(facts: Facts, training: FullPrecision) -> Iterator[tuple[Document, cst.CSTNode, str]]:
    """What else to look at in the text, and why."""
    scaled = bool(half_type_of(facts).scaler)
    for document, cls in training.outside:
        yield document, cls, "autocast is off in its backward pass, unless that is decorated"
    for document, target in training.written:
        yield document, target, "this raises for what autocast computes: cast it to the type of what it goes into"
    for one in () if scaled else training.arrays:
        yield one.document, one.node, "numpy cannot read bfloat16: `.float()` first"
    for one, name in () if scaled else training.moved:
        why = "moved by its gradient: bfloat16 rounds changes below 0.4 % of a value away"
        yield one.document, one.node, f"`{name}` is {why}"


def threads_of(facts: Facts, training: FullPrecision) -> tuple[Operation, ...]:
    """Where DataParallel makes threads that take too little from an autocast around the call."""
    return () if half_type_of(facts).scaler and facts.supports(_SINCE_IN_THREADS) else training.replicated


def what_stays(facts: Facts) -> str:
    """How a part of a program is left in float32."""
    return f"this, and what it is computed from, stays in float32, under `{half_type_of(facts).off}`"


def _decorated(facts: Facts, training: FullPrecision) -> str:
    """How the backward passes of the project's own functions compute as their forward passes do."""
    names = [*dict.fromkeys(f"`{name_of(document, cls)}`" for document, cls in training.outside)]
    named = f"{' and '.join(names[:_MOST_NAMED])}{' and others' if len(names) > _MOST_NAMED else ''}"
    of = "torch.cuda.amp" if facts.allows_before(_SINCE_ANYWHERE) else "torch.amp"
    device = "" if of == "torch.cuda.amp" else '(device_type="cuda")'
    ways = f"`@{of}.custom_fwd{device}` and its `backward` with `@{of}.custom_bwd{device}`"
    return f", and decorate the `forward` of {named} with {ways}, since autocast is off in backward passes"


def _in_threads(threads: tuple[Operation, ...], autocast: str, *, old: bool) -> str:
    names = classes_in(threads)
    lost = "nothing from one around the call" if old else "no dtype from one around the call and would use float16"
    why = f"since the threads of DataParallel take {lost}"
    if 0 < len(names) <= _MOST_NAMED:
        named = " and ".join(f"`{one}`" for one in names)
        return f"decorate the `forward` of {named} with `@{autocast}`, {why}, and compute the loss under it, too"
    rest = "the rest of the model and the loss"
    return f"compute the `forward` that DataParallel calls under `{autocast}`, {why}, and {rest} under it, too"


def _before_numpy(training: FullPrecision, *, anywhere: bool) -> str:
    """What to do where results are read as arrays; ``anywhere`` is whether other callers of a decorated ``forward`` may
    do so, of the program or of the project."""
    if not training.arrays:
        return ", and `.float()` wherever numpy reads what it returns" if anywhere else ""
    functions = [one.function for one in training.arrays]
    names = dict.fromkeys(f"`{one.name.value}`" for one in functions if isinstance(one, cst.FunctionDef))
    inside = f", as in {' and '.join([*names][:_MOST_NAMED])}," if names else ","
    return f", and call `.float()` before numpy reads the results{inside} since it has no bfloat16"
