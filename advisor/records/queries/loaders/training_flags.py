"""Loaders for evaluations that are set as those of a training are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, calls
from accel_advisor.records.queries.loaders.reopened_files import OPENS
from accel_advisor.records.queries.waits.host_work import comes_into
from accel_advisor.syntax.shapes import names_read_in, words_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.values import Instance, options_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, LoaderCall, Loop
    from accel_advisor.records.operations import OperationContext

_EVALUATES = frozenset("eval evaluate evaluation val valid validate validation test testing".split())
_HOOKS = frozenset({"val_dataloader", "test_dataloader", "predict_dataloader"})
_SHOWS = re.compile(
    r"save_?image|make_?grid|add_images?|im(?:show|save|write)|save_?img|visuali[sz]|plot|savefig|draw|Image$|show",
    re.IGNORECASE,
)
"""What shows some of the samples, for which a shuffled pass takes others each time."""
_SIZED = re.compile(r"batch_?size|^bsz?$|init_?(?:hidden|state)|CUDAGraph|^compile$", re.IGNORECASE)
"""What needs batches of one size."""


@dataclass(frozen=True, slots=True)
class TrainingFlags:
    """A loader for evaluations that shuffles, or leaves out the last samples.

    Attributes:
        loops: the loops that evaluate a model on its batches; none where a framework does.
        shuffles, drops: what it does.
    """

    loader: LoaderCall
    loops: tuple[Loop, ...]
    shuffles: bool
    drops: bool


def evaluations_with_training_flags(facts: Facts) -> Iterator[TrainingFlags]:
    """The loaders of a document on whose batches a model is evaluated in whole passes, and nothing else is done, that
    shuffle what is in one file, or drop the last batch; none whose batches a model makes the data of a training of."""
    for loader in facts.loaders:
        shuffles, drops = loader.gives("shuffle", True), loader.gives("drop_last", True) and _loses_some(loader)
        if not (shuffles or drops) or not loader.constructor.advises or loader.trains or loader.renewed:
            continue
        loops = _evaluating(facts, loader)
        if not (loops or _is_made_for_evaluations(facts, loader)):
            continue
        if any(one.subject.source is loader for one in _glances(facts)) or _feeds_a_training(facts, loops):
            continue
        shuffles = shuffles and not any(_reads(loop, _SHOWS) for loop in loops)
        drops = drops and not any(_reads(loop, _SIZED) for loop in loops)
        shuffles = shuffles and (drops or _is_in_one_file(facts, loader))
        if shuffles or drops:
            yield TrainingFlags(loader, loops, shuffles, drops)


def _glances(facts: Facts) -> Iterator[OperationContext]:
    """Where a program takes single batches to look at."""
    for operation in facts.program.operations_of(Act.TAKES_FIRST_BATCH):
        yield from operation.contexts


def _feeds_a_training(facts: Facts, loops: tuple[Loop, ...]) -> bool:
    """Whether what models make of the batches becomes the data of a loader from which something learns, perhaps in the
    order in which it came."""
    learned = frozenset(id(one.node) for each in facts.program for one in each.loaders if one.trains)
    return any(comes_into(facts, one, learned) for one in loops)


def _loses_some(loader: LoaderCall) -> bool:
    """Whether a last batch may be smaller than the others, as all are that have more than one sample."""
    size = loader.given("batch_size").default
    return not size.absent and not size.is_literal(1) and loader.last_batch != 0


def _is_in_one_file(facts: Facts, loader: LoaderCall) -> bool:
    """Whether the class of a data set opens a file that holds many samples, for which their order matters."""
    known = loader.dataset.value if loader.dataset is not None else None
    classes = [
        cls for one in (options_of(known) if known else ()) if isinstance(one, Instance) for cls in one.cls.lineage()
    ]
    opened = [one.node for one in facts.program.operations_of(*calls(*OPENS))]
    made = (call for cls in classes for call in descendants(cls.node, cst.Call)) if opened else ()
    return any(call is one for call in made for one in opened)


def _evaluating(facts: Facts, loader: LoaderCall) -> tuple[Loop, ...]:
    """The loops that take a loader's batches, where all of them evaluate a model, in whole passes; none where one does
    anything else."""
    passes = tuple(loader.passes)
    for one in loader.loops:
        beside = one not in passes and not any(one.is_within(each) for each in passes)
        if beside or one.backward or (one in passes and not _evaluates(facts, one, loader)):
            return ()
    return passes


def _evaluates(facts: Facts, loop: Loop, loader: LoaderCall) -> bool:
    """Whether a loop takes all batches, and calls a model that is in evaluation mode, or does so by the name of its
    function or of what it goes over."""
    if loop.may_be_short:
        return False
    called = facts.program.calls_in.get(loop, ())
    if any(one.evaluating for call, one in called if not call.loss):
        return True
    words = words_of(loader.name) | (words_of(loop.functions[-1]) if loop.functions else frozenset())
    calls = loop.calls_model or any(one.calls_model and one.is_within(loop) for one in loader.loops)
    return calls and not words.isdisjoint(_EVALUATES) and "train" not in words


def _is_made_for_evaluations(facts: Facts, loader: LoaderCall) -> bool:
    """Whether a framework asks for a loader when it evaluates."""
    if not facts.frameworks or loader.loops:
        return False
    hooks = (one for one in descendants(facts.document.tree, cst.FunctionDef) if one.name.value in _HOOKS)
    return any(loader.node is call for hook in hooks for call in descendants(hook.body, cst.Call))


def _reads(loop: Loop, words: re.Pattern[str]) -> bool:
    """Whether a loop reads a name that one of these words is part of."""
    names = (name.rpartition(".")[2] for name in names_read_in(loop.node))
    return any(words.search(name) for name in names)
