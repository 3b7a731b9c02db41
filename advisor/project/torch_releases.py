"""Which torch comes with other packages that a project pins: they are built for one release of it, or of Python."""

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
FIRST_WITHOUT: dict[Version, Version] = {
    (3, 0): (1, 5), (3, 6): (1, 6), (3, 7): (1, 11), (3, 8): (2, 0), (3, 9): (2, 5), (3, 10): (2, 9)
}  # fmt: skip
"""By a Python that is too new for a project, the first torch that was built for no older one: 2.0 asks for 3.8. Source:
the wheels of torch on the Python Package Index."""
FIRST_BUILT: dict[str, dict[Version, Version]] = {
    "numpy": {(3, 7): (1, 14), (3, 8): (1, 17), (3, 9): (1, 19), (3, 10): (1, 21)},
    "scipy": {(3, 7): (1, 1), (3, 8): (1, 3), (3, 9): (1, 5), (3, 10): (1, 7)},
}
"""By package, the first release that was built for each Python; older ones do not compile there. Source: their wheels
on the Python Package Index."""
BESIDE_TORCH = COMPANIONS | TOOLKITS.keys() | FIRST_BUILT.keys() | {"python"}


def first_too_new(found: Iterable[tuple[str, Versions]], *, toolkits: bool) -> Version | None:
    """The first torch that packages beside it rule out by their versions, if they do; CUDA toolkits count where
    ``toolkits`` says so."""
    bounds = [_first_without(package, versions) for package, versions in found if toolkits or package not in TOOLKITS]
    return min((one for one in bounds if one is not None), default=None)


def _first_without(package: str, versions: Versions) -> Version | None:
    if package in TOOLKITS:
        return _of_toolkit(package, versions)
    if package in COMPANIONS:
        return _of_companion(package, versions.below)
    return _of_python(versions.below if package == "python" else _first_python_beyond(package, versions.below))


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


def _first_python_beyond(package: str, below: Version | None) -> Version | None:
    """The first Python that no release of a package before a bound was built for."""
    return min((one for one, first in FIRST_BUILT[package].items() if below and below <= first), default=None)


def _of_python(below: Version | None) -> Version | None:
    """The first torch that no Python before a bound runs."""
    return min((torch for python, torch in FIRST_WITHOUT.items() if below and below <= python), default=None)
