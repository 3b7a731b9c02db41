"""Copies that every batch makes again, makes twice, or makes one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import Act, Method, Within, calls
from accel_advisor.records.loaders import loader_of

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Transfer, TransferContext
    from accel_advisor.records.given import Birth
    from accel_advisor.records.operations import Operation


def copies_of_the_same(facts: Facts) -> Iterator[Transfer]:
    """The copies in a document that take the same tensor, which a name or attribute holds, to the GPU for every
    batch."""
    changed = _changed(facts) | facts.handed_over
    for transfer in facts.transfers:
        named = isinstance(transfer.receiver, (cst.Name, cst.Attribute))
        if not named or not transfer.contexts or _rebinds(transfer):
            continue
        if all(_repeats(one, changed) for one in transfer.contexts):
            yield transfer


def pinned_in_the_loop(facts: Facts) -> Iterator[cst.Call]:
    """The calls in a document that pin a loader's batch for the copy to the GPU which its own step waits for, the first
    of each loop."""
    pinned = {one.node for one in facts.operations_of(Method("Tensor", "pin_memory")) if _pins_a_batch(one)}
    seen: set[object] = set()
    for move in facts.transfers:
        source = move.receiver
        if not isinstance(source, cst.Call) or source not in pinned or move.contexts[0].loop in seen:
            continue
        if all(context.to_cuda for context in move.contexts) and not _is_for_the_next_step(facts, move):
            seen.add(move.contexts[0].loop)
            yield source


def joined_after_copying(facts: Facts) -> Iterator[tuple[Operation, Transfer]]:
    """The calls in a document that join tensors which a comprehension copies one by one, each with the copy."""
    copies: dict[cst.CSTNode, Transfer] = {one.node: one for one in facts.transfers}
    for operation in facts.operations_of(*calls("torch.stack", "torch.cat")):
        joined = operation.arguments[0].value if operation.arguments else None
        copy = copies.get(joined.elt) if isinstance(joined, (cst.ListComp, cst.GeneratorExp)) else None
        if copy is not None:
            yield operation, copy


def grown_by(operation: Operation) -> cst.BaseExpression | None:
    """What a call joins with something else and assigns again: ``x`` of ``x = torch.cat([x, y])``; None for others."""
    joined = operation.arguments[0].value if operation.arguments else None
    if not isinstance(joined, (cst.List, cst.Tuple)) or len(operation.targets) != 1 or len(joined.elements) < 2:
        return None
    target = operation.targets[0]
    return target if any(target.deep_equals(one.value) for one in joined.elements) else None


def _rebinds(transfer: Transfer) -> bool:
    """Whether the copy takes the place of what is copied, so that it is made once."""
    statement, copied = transfer.statement, transfer.receiver
    if not isinstance(statement, cst.Assign) or copied is None:
        return False
    return any(copied.deep_equals(one.target) for one in statement.targets)


def _changed(facts: Facts) -> set[Birth]:
    """Tensors that are written to after they were made."""
    found: set[Birth] = set()
    for operation in facts.operations_of(Act.SETS_TENSOR_ITEM, Act.AUGMENTS, Within("Tensor")):
        in_place = isinstance(operation.what, Method) and operation.what.name.endswith("_")
        if in_place or isinstance(operation.what, Act):
            births = (one.subject.born for one in operation.contexts if one.inner)
            found |= {born for born in births if born is not None}
    return found


def _repeats(context: TransferContext, changed: set[Birth]) -> bool:
    born, loop = context.moved.born, context.loop
    if born is None or context.moved.path or born in changed:
        return False
    if loop is None or context.guarded or not loop.repeats or loop in born.loops:
        return False
    return context.from_host and context.to_cuda


def _pins_a_batch(operation: Operation) -> bool:
    """Whether it pins a loader's plain batch, in the loop over the loader and under no stream. Without workers the
    main process pins, whoever asks for it, and what the loader has pinned is not pinned again."""
    for context in operation.contexts:
        loader = loader_of(context.subject)
        own = loader is not None and loader.plain_samples and context.subject.is_plain_tensor
        streams = any("tream" in one.made_by for one in context.regions)
        late = loader is not None and not loader.pins and not loader.without_workers
        if not own or not late or context.loop is None or streams:
            return False
    return bool(operation.contexts)


def _is_for_the_next_step(facts: Facts, move: Transfer) -> bool:
    """Whether a pass uses what the pass before has copied, so that the copy has a whole step's time."""
    if not isinstance(move.statement, cst.Assign):
        return False
    targets = [one.target for one in move.statement.targets]
    parts = [part.value for one in targets if isinstance(one, cst.Tuple) for part in one.elements]
    held = [facts.document.code(one) for one in (*targets, *parts)]
    loops = [context.loop for context in move.contexts if context.loop is not None]
    here = [loop for loop in loops if loop.holds(facts.document, move.node)]
    return any(loop.carries(holder) for loop in here for holder in held)
