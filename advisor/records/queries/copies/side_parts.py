"""What of a batch is copied: the samples themselves, or only what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accel_advisor.records.loaders import LoaderCall


def only_side_parts_go(loader: LoaderCall) -> bool:
    """Whether what is copied of a loader's batches is nowhere their first element, but only what stands behind it, as
    labels do, which are small: the samples are made again on the host, and what the loader pins of them is lost."""
    paths = [context.path for one in loader.transfers for context in one.contexts if context.loader is loader]
    return bool(paths) and all(path and type(path[0]) is int and path[0] > 0 for path in paths)
