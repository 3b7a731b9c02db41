"""The loader that trains, as the script builds it once more in a run with a knob turned."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from accel_advisor.tuning.probe.channel.wire import Site
from accel_advisor.tuning.probe.turning.compared_training import ComparedTraining, sites_of

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional arguments behind the data set, and arguments by name."""


def rebuild(
    torch: Any,
    training: ComparedTraining,
    before: Callable[[Arguments], Arguments | None] = lambda arguments: arguments,
    after: Callable[[Any], None] = lambda loader: None,
) -> list[tuple[Site, ...]]:
    """Changes the loader that trains whenever the script builds it; where it does not, the knob is not in force.

    Args:
        before: the arguments to build it with, from the script's; None where they leave no choice.
        after: called with the loader.

    Returns:
        the stacks that built it, one for each time; grows as the script runs on.
    """
    kind = torch.utils.data.DataLoader
    build = kind.__init__
    found: list[tuple[Site, ...]] = []

    @functools.wraps(build)
    def __init__(loader: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        sites = sites_of(sys._getframe(1))
        changed = before((args, kwargs)) if training.is_loader(sites) else None
        args, kwargs = changed or (args, kwargs)
        build(loader, dataset, *args, **kwargs)
        if changed is not None:
            after(loader)
            found.append(sites)

    kind.__init__ = __init__
    training.check(
        lambda: "" if found else training.own or "the loader that trains was not built again in the same place"
    )
    return found
