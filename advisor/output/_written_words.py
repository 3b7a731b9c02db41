"""What unsafe fixes wrote, in words: it may change what a run does, and a follow-up of another fix was never shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accel_advisor.finding import Applicability, Finding


def written_lines(fixed: Iterable[Finding], cores: int) -> Iterator[str]:
    """A heading and a line for each unsafe fix that was made; nothing where there was none.

    Args:
        cores: that this process may use.
    """
    unsafe = [one for one in fixed if one.fix is not None and one.fix.applicability is Applicability.UNSAFE]
    if not unsafe:
        return
    from accel_advisor.rule import registry

    knobs = [one for one in unsafe if (rule := registry().get(one.code)) is not None and rule.knob is not None]
    yield "Written, and it may change what a run does:"
    for one in unsafe:
        assert one.fix is not None
        few = one.fix.workers is not None and one.fix.workers > cores
        here = f"; this machine has {cores} usable core{'' if cores == 1 else 's'}" if few else ""
        yield f"  {one.filename}:{one.span.start.row}: {one.fix.title} ({one.code}){here}"
    if knobs:
        yield f"  `accel-advisor tune {knobs[0].filename}` measures what is best on this machine."
