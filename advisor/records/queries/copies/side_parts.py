"""What of a batch is copied: the samples themselves, or only what is said of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.syntax.shapes import dotted
from accel_advisor.syntax.walking import descendants

if TYPE_CHECKING:
    from accel_advisor.records.loaders import LoaderCall
    from accel_advisor.records.transfers import Transfer


def only_side_parts_go(loader: LoaderCall) -> bool:
    """Whether what is copied of a loader's batches is nowhere their first element, but only what stands behind it, as
    labels do, which are small: the samples are made again on the host, and what the loader pins of them is lost. Where
    nothing reads the first element, as a number or the name of a file, the samples stand behind it."""
    copied = [(one, context.path) for one in loader.transfers for context in one.contexts if context.loader is loader]
    behind = all(path and type(path[0]) is int and path[0] > 0 for _, path in copied)
    return bool(copied) and behind and not any(_stands_behind_nothing(one) for one, _ in copied)


def _stands_behind_nothing(transfer: Transfer) -> bool:
    """Whether what is copied is bound with others, the first of which nothing reads."""
    return dotted(transfer.receiver) in transfer.document.once(_behind_nothing)


def _behind_nothing(tree: cst.Module) -> frozenset[str]:
    """The names that a loop or an assignment binds behind one that nothing in the same function reads."""
    found: set[str] = set()
    for scope in (tree, *descendants(tree, cst.FunctionDef)):
        targets: list[cst.CSTNode] = [one.target for one in descendants(scope, cst.For)]
        targets += [one.target for one in descendants(scope, cst.AssignTarget)]
        bound = Counter(one.value for target in targets for one in descendants(target, cst.Name))
        mentioned = Counter(one.value for one in descendants(scope, cst.Name))
        for together in (one for target in targets for one in descendants(target, cst.Tuple)):
            first, *others = [dotted(one.value) for one in together.elements] or [""]
            if bound[first] == mentioned[first]:
                found.update(others)
    return frozenset(found)
