"""Which torch comes with other packages that a project pins: they are built for one release of it."""

from __future__ import annotations

from collections.abc import Iterable

from accel_advisor.project.target import Version, Versions

TOOLKITS: dict[str, dict[Version, Version]] = {
    "cudatoolkit": {(9, 0): (1, 1), (9, 2): (1, 7), (10, 0): (1, 4), (10, 1): (1, 8), (10, 2): (1, 12)},
    "pytorch-cuda": {(11, 6): (1, 13), (11, 7): (2, 0)},
}
"""By conda's packages of the CUDA toolkit, the last torch that was built for each version of it, by the commands of
https://pytorch.org/get-started/previous-versions; for CUDA 10.0 there were wheels up to 1.4. Versions 11 of cudatoolkit
are left out, since conda-forge went on to build for them."""
COMPANIONS = frozenset({"torchvision", "torchaudio"})
"""Packages each release of which is compiled against one minor version of torch."""
BESIDE_TORCH = COMPANIONS | TOOLKITS.keys()


def first_too_new(found: Iterable[tuple[str, Versions]], *, toolkits: bool) -> Version | None:
    """The first torch that packages beside it rule out by their versions, if they do; CUDA toolkits count where
    ``toolkits`` says so."""
    bounds = [
        _of_toolkit(package, versions) if package in TOOLKITS else _of_companion(package, versions.below)
        for package, versions in found
        if toolkits or package not in TOOLKITS
    ]
    return min((one for one in bounds if one is not None), default=None)


def _of_toolkit(package: str, versions: Versions) -> Version | None:
    """A range names no toolkit that would be installed, so that only a pin counts."""
    if versions.oldest is None or versions.onwards == versions:
        return None
    last = TOOLKITS[package].get(versions.oldest)
    return (last[0], last[1] + 1) if last is not None else None


def _of_companion(package: str, below: Version | None) -> Version | None:
    """By the tables in https://github.com/pytorch/vision#installation and
    https://docs.pytorch.org/audio/stable/installation.html. Up to 0.3 torchvision asked for no newest torch, and from
    2.11 on torchaudio runs with every later one."""
    if below is None:
        return None
    major, minor = below
    if package == "torchaudio":
        if below < (1, 0):
            return (1, minor) if minor > 4 else None
        return max(below, (2, 0)) if below <= (2, 11) else None
    if major or minor < 5:
        return None
    return (1, minor - 1) if minor < 15 else (2, minor - 15)
