"""What a project runs on: platforms, and the versions of Python and torch that it supports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

Version = tuple[int, int]
"""Major and minor: what a rule asks about never depends on more."""
Platform = Literal["linux", "macos", "windows"]

PLATFORMS: tuple[Platform, ...] = ("linux", "macos", "windows")
ALL_PLATFORMS = "all"
_LOCAL = re.compile(r"(?<=\d)\+[A-Za-z0-9.]+")
"""The part of a version that says how it was built: ``2.0.1+cu118``. PEP 440 has it behind ``==`` only."""


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions; None stands for a bound that is not stated.

    Attributes:
        oldest: the first one that is supported.
        below: the first one that is no longer supported.
        newest: the last one that is named as supported. A bound such as ``<4`` names none: it only rules out others.
    """

    oldest: Version | None = None
    below: Version | None = None
    newest: Version | None = None

    def all_from(self, version: Version) -> bool | None:
        """Whether all of them are as new as ``version``; None where that is not known."""
        if (self.oldest is not None and self.oldest < version) or (self.below is not None and self.below <= version):
            return False
        return True if self.oldest is not None else None

    def reach(self, version: Version) -> bool | None:
        """Whether one of them is as new as ``version``; None where that is not known."""
        if self.below is not None and self.below <= version:
            return False
        named = max((one for one in (self.oldest, self.newest) if one is not None), default=None)
        return True if named is not None and named >= version else None

    @property
    def onwards(self) -> Versions:
        """These and all later ones, where they are but one minor version: what is known to work, and no bound."""
        single = self.oldest is not None and self.below == (self.oldest[0], self.oldest[1] + 1)
        return replace(self, below=None, newest=self.oldest) if single else self

    def before(self, version: Version) -> Versions:
        """Those of them that are older than ``version``; all of them where none is, since that is no such bound."""
        if self.oldest is not None and version <= self.oldest:
            return self
        return replace(self, below=version if self.below is None else min(self.below, version))

    def joined(self, other: Versions) -> Versions:
        """What either of two statements allows; one that names no oldest version takes nothing away from the other."""
        oldest = [one for one in (self.oldest, other.oldest) if one is not None]
        newest = [one for one in (self.newest, other.newest) if one is not None]
        below = None if self.below is None or other.below is None else max(self.below, other.below)
        return Versions(min(oldest, default=None), below, max(newest, default=None))

    def __str__(self) -> str:
        bounds = (
            f">={_dotted(self.oldest)}" if self.oldest else "",
            f"<{_dotted(self.below)}" if self.below else "",
        )
        return ",".join(one for one in bounds if one)


@dataclass(frozen=True, slots=True)
class Target:
    """What a project runs on, as far as it says so.

    Attributes:
        python, torch: the versions that it supports.
        platforms: those that it names; empty where it names none.
        libraries: of other libraries, by name, the versions that it supports.
        advised: by name, the versions that it is known to be used with: those that its README tells readers to
            install. They count where nothing else is said of a package.
    """

    python: Versions = Versions()
    torch: Versions = Versions()
    platforms: frozenset[Platform] = frozenset()
    libraries: tuple[tuple[str, Versions], ...] = ()
    advised: tuple[tuple[str, Versions], ...] = ()

    def over(self, other: Target) -> Target:
        """This target and, for what it does not say, another."""
        return Target(
            self.python if self.python != Versions() else other.python,
            self.torch if self.torch != Versions() else other.torch,
            self.platforms or other.platforms,
            _over(self.libraries, other.libraries),
            _over(self.advised, other.advised),
        )

    def supported(self, package: str) -> Versions:
        """The versions of torch, or of another library, that it supports."""
        return self.torch if package == "torch" else dict(self.libraries).get(package, Versions())

    def rules_out(self, package: str, version: Version) -> bool:
        """Whether it never runs with this version of a package or a later one: a pin or an upper bound says so."""
        below = self._stated(package).below
        return below is not None and below <= version

    def allows_before(self, package: str, version: Version) -> bool:
        """Whether it says that it may run with a version of a package before this one."""
        return self.starts_at(package, version) is False

    def starts_at(self, package: str, version: Version) -> bool | None:
        """Whether it says, if only in a README, that it runs with a version of a package or later ones only."""
        return self._stated(package).all_from(version)

    def runs_on(self, platform: Platform) -> bool:
        """Whether the project runs, or may run, on a platform."""
        return not self.platforms or platform in self.platforms

    def used_with(self, package: str) -> Version | None:
        """The version of a package that its README names as the one it was used with, the last of several."""
        return dict(self.advised).get(package, Versions()).newest

    def _stated(self, package: str) -> Versions:
        supported = self.supported(package)
        advised = dict(self.advised).get(package, Versions())
        if supported == Versions():
            return advised
        if supported.oldest is None and advised.reach(supported.below or (0, 0)) is not True:
            return replace(supported, oldest=advised.oldest)
        return supported

    @property
    def has_cuda(self) -> bool:
        """Whether it may ever meet a CUDA device: macOS has none."""
        return self.platforms != {"macos"}


def versions(text: str) -> Versions:
    """What a person wrote: ``2.4`` (the oldest one), or a range in the notation of PEP 440 such as ``>=1.8,<2``.

    Raises:
        ValueError: it is neither; the message is a clause that says so.
    """
    stripped = text.strip()
    bare = re.fullmatch(r"(\d+)\.(\d+)(?:\.\d+)*", stripped)
    found = Versions(oldest=(int(bare[1]), int(bare[2]))) if bare else specified(stripped)
    if found is None or found == Versions():
        raise ValueError(f"'{text}' is neither a version such as 2.4 nor a range such as '>=2.1,<3'")
    if found.oldest is not None and found.below is not None and found.below <= found.oldest:
        raise ValueError(f"'{text}' allows no version")
    return found


def specified(text: str) -> Versions | None:
    """A range in the notation of PEP 440; None where it is none. Empty text is a range without bounds."""
    if not text.strip():
        return Versions()
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    public = _LOCAL.sub("", text)
    try:
        ranges = [_bounds(one.operator, one.version) for one in SpecifierSet(public)]
    except (InvalidSpecifier, InvalidVersion):
        return None
    return reduce(_both, ranges, Versions())


def platforms(texts: Iterable[str]) -> frozenset[Platform]:
    """Platforms by their names, or all of them.

    Raises:
        ValueError: one is no platform; the message is a clause that says so.
    """
    found: set[Platform] = set()
    for text in texts:
        if text == ALL_PLATFORMS:
            found.update(PLATFORMS)
        elif text in PLATFORMS:
            found.add(text)
        else:
            raise ValueError(f"'{text}' is none of {', '.join((*PLATFORMS, ALL_PLATFORMS))}")
    return frozenset(found)


def _over(
    ours: tuple[tuple[str, Versions], ...], theirs: tuple[tuple[str, Versions], ...]
) -> tuple[tuple[str, Versions], ...]:
    known = dict(theirs) | {name: one for name, one in ours if one != Versions()}
    return tuple(sorted(known.items()))


def _bounds(operator: str, text: str) -> Versions:
    """One clause. What excludes single versions, or compares text, bounds nothing."""
    from packaging.version import Version as Parsed

    if operator in ("!=", "==="):
        return Versions()
    parsed = Parsed(text.removesuffix(".*"))
    at: Version = (parsed.major, parsed.minor)
    after: Version = (at[0], at[1] + 1)
    match operator:
        case ">=":
            return Versions(oldest=at)
        case ">":
            return Versions(oldest=at)  # >2.0 lets 2.0.1 pass
        case "<":
            return Versions(below=at if not any(parsed.release[2:]) else after)
        case "<=":
            return Versions(below=after)
        case "~=":
            return Versions(oldest=at, below=(at[0] + 1, 0) if len(parsed.release) == 2 else after)
        case _:  # ==
            wide = text.endswith(".*") and len(parsed.release) == 1
            return Versions(oldest=at, below=(at[0] + 1, 0) if wide else after)


def _both(one: Versions, other: Versions) -> Versions:
    oldest = [bound.oldest for bound in (one, other) if bound.oldest is not None]
    below = [bound.below for bound in (one, other) if bound.below is not None]
    return Versions(max(oldest, default=None), min(below, default=None))


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
