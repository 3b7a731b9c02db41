"""How figures and names are spelled for people, in the terminal and on a page."""

from __future__ import annotations

import math
import unicodedata
from typing import Protocol

from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.search.settings import DEFAULT_PREFETCH, prefetch

_WIDE = math.log(1.5)
_KEPT = "\n\t"


class Estimate(Protocol):
    """A ratio with the ends of its interval, None where they are open."""

    @property
    def ratio(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def visible(text: str) -> str:
    """``text`` with everything spelled out that would not be seen or would reorder what is: control characters, marks
    of direction, halves of surrogate pairs. Names of files may hold them, and so may a record from elsewhere."""
    return "".join(one if one in _KEPT or not _unseen(one) else one.encode("unicode_escape").decode() for one in text)


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co")


def interval_text(found: Estimate) -> str:
    """A ratio with its interval, for people: ``2.41x (2.30-2.52)``; without the interval where it is open or says
    nothing."""
    if not says(found) or found.low is None or found.high is None:
        return f"about {found.ratio:.2g}x"
    return f"{found.ratio:.2f}x ({found.low:.2f}-{found.high:.2f})"


def says(found: Estimate) -> bool:
    """Whether an interval is closed and narrow enough to say something."""
    return bool(found.low) and found.high is not None and math.log(found.high / (found.low or 1)) / 2 <= _WIDE


def rate_text(rate: float | None) -> str:
    """Samples a second, for people; empty where there is none."""
    return "" if rate is None else f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def seconds_text(seconds: float) -> str:
    """A time for people: ``48.1 ms``, ``3.2 s``."""
    if seconds >= 100:
        return f"{seconds:,.0f} s"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms" if seconds >= 1e-4 else "0 ms"


def joules_text(energy: float) -> str:
    """Energy for people: ``12.5 J``, ``34.1 mJ``."""
    return f"{rate_text(energy)} J" if energy >= 0.1 else f"{rate_text(1e3 * energy)} mJ"


def times(ratio: float) -> str:
    """A ratio for people: ``2.7 times``, ``1.04 times``, ``12 times``."""
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times" if ratio >= 1.3 else f"{ratio:.2f} times"


def percent(share: float) -> str:
    """A share in whole per cent: ``63 %``."""
    return f"{100 * share:.0f} %"


def gibibytes(size: float) -> str:
    """A size in bytes: ``1.5 GiB``."""
    return f"{size / (1 << 30):.1f} GiB"


def share_text(share: float) -> str:
    """A share in per cent: ``63 %``, ``2.1 %``."""
    return (f"{share:.0%}" if share >= 0.1 else f"{share:.1%}").replace("%", " %")


def label(settings: Settings) -> str:
    """Settings in few words: ``4 workers, persistent``."""
    count = settings.num_workers
    parts = ["no workers" if count == 0 else "1 worker" if count == 1 else f"{count} workers"]
    if count and prefetch(settings) != DEFAULT_PREFETCH:
        parts.append(f"prefetch {prefetch(settings)}")
    names = {"persistent_workers": "persistent", "pin_memory": "pinned", "non_blocking": "non-blocking"}
    parts += [name for knob, name in names.items() if getattr(settings, knob)]
    return ", ".join(parts)
