"""What samples cost that a data set of a library makes with the transform that it is given."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.records.dataset_facts import Cost, DatasetFacts
from accel_advisor.tables.known_datasets import SAMPLE_TRANSFORMS, TRANSFORMING_DATASETS
from accel_advisor.values.values import ABSENT, Constant, Opaque, Sequence, Value, options_of


def describe_transformed(value: Opaque) -> DatasetFacts | None:
    """What a data set of a library costs that runs a transform for each sample; None where it is not known to."""
    name = value.name.rpartition(".")[2]
    known = TRANSFORMING_DATASETS.get(value.name)
    if known is None:
        transforms = [one for given in (*value.arguments, *dict(value.keywords).values()) for one in steps_of(given)]
        if any(isinstance(one, Opaque) and one.name.startswith(SAMPLE_TRANSFORMS) for one in transforms):
            return DatasetFacts(value, "light", f"`{name}` is given a transform that prepares each sample")
        return None
    if known.keeps == "disk":
        return DatasetFacts(value, "costly", f"`{name}` reads what it keeps on disk for each sample")
    steps = list(steps_of(_argument(value, "transform", known.transform)))
    if known.keeps == "memory" and _keeps_all(value):
        if any(one.startswith("Rand") for one in map(_name, steps)):
            return DatasetFacts(value, "light", f"`{name}` runs its random transforms for each sample")
        return DatasetFacts(value)
    if not steps:
        return DatasetFacts(value)
    reads = any(one.startswith("Load") for one in map(_name, steps))
    cost: Cost = "costly" if reads else "light"
    words = "reads a file and runs all its transforms" if reads else "runs its transform"
    return DatasetFacts(value, cost, f"`{name}` {words} for each sample")


def _name(transform: Value) -> str:
    return transform.name.rpartition(".")[2] if isinstance(transform, Opaque) else ""


def _keeps_all(value: Opaque) -> bool:
    """Whether nothing says that a cache in memory holds only a part of the samples, or none."""
    rates = options_of(_argument(value, "cache_rate", None))
    return all(one == ABSENT or (isinstance(one, Constant) and one.value != 0) for one in rates)


def _argument(value: Opaque, name: str, position: int | None) -> Value:
    given = dict(value.keywords)
    if name in given:
        return given[name]
    return value.arguments[position] if position is not None and position < len(value.arguments) else ABSENT


def steps_of(transform: Value) -> Iterator[Value]:
    """The transforms that a transform is made of; itself where it is made of none."""
    for one in options_of(transform):
        if isinstance(one, Sequence):
            for item in one.items:
                yield from steps_of(item)
        elif isinstance(one, Opaque) and one.name.endswith((".Compose", ".OneOf", ".SomeOf", ".Sequential")):
            for given in one.arguments[:1]:
                yield from steps_of(given)
        elif one != ABSENT and not (isinstance(one, Constant) and one.value is None):
            yield one
