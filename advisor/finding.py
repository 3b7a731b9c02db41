"""What all parts exchange: findings, fixes, edits and the places they stand in.

Plain frozen data without syntax-tree nodes, so that a finding can cross a process border, be cached and be
printed without the document that it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters: ``error`` crashes or computes the wrong thing, ``warning`` is a real slowdown
    or leak, ``info`` is an opportunity that does not fail a run by default.

    Example:
        >>> from accel_advisor import Severity, lint
        >>> [one.code for one in lint("train.py").findings if one.severity is Severity.INFO]
        ['ACC201', 'ACC208']
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for ``info``, 1 for ``warning``, 2 for ``error``: larger matters more."""
        return ("info", "warning", "error").index(self.value)


class Applicability(StrEnum):
    """What a fix may do: ``safe`` leaves behaviour the same on every machine that the code supports, ``unsafe`` is
    written only when asked for, ``display`` is shown and never written.

    Example:
        >>> from accel_advisor import Applicability, lint
        >>> fixes = [one.fix for one in lint("train.py").findings if one.fix is not None]
        >>> [one.title for one in fixes if one.applicability is Applicability.SAFE]
        ['Pass `non_blocking=True`']
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"

    @property
    def rank(self) -> int:
        """0 for ``display``, 1 for ``unsafe``, 2 for ``safe``: larger is surer."""
        return ("display", "unsafe", "safe").index(self.value)


class Confidence(StrEnum):
    """How a finding is known: ``proven`` by the code, or ``evident`` to a reader who knows the field.

    Example:
        >>> from accel_advisor import Confidence, lint
        >>> [one.code for one in lint("train.py", min_confidence=Confidence.PROVEN).findings]
        ['ACC201', 'ACC208']
    """

    PROVEN = "proven"
    EVIDENT = "evident"

    @property
    def rank(self) -> int:
        """0 for ``evident``, 1 for ``proven``: larger is surer."""
        return int(self is Confidence.PROVEN)


class Frequency(StrEnum):
    """How often a run pays for what a finding is about: at each ``step`` of a loop over batches, once an ``epoch``, or
    ``once`` or now and then, such as at startup."""

    STEP = "step"
    EPOCH = "epoch"
    ONCE = "once"

    @property
    def rank(self) -> int:
        """0 for ``once``, 1 for ``epoch``, 2 for ``step``: larger costs more."""
        return ("once", "epoch", "step").index(self.value)


@dataclass(frozen=True, slots=True)
class CellPlace:
    """Where a place of a notebook's program is found.

    Attributes:
        number: the cell, counted from 1 among all cells.
        row: line within the cell, counted from 1.
        file_row, file_column: where the .ipynb file has it.
    """

    number: int
    row: int
    file_row: int
    file_column: int


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a document's text.

    Attributes:
        offset: characters (code points) from the start of the text.
        row: line, counted from 1; in a notebook, of the program that its cells are together.
        column: characters from the start of the line, counted from 1.
        cell: the same place for those who have the notebook before them.
    """

    offset: int
    row: int
    column: int
    cell: CellPlace | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """``4:7``, in a notebook ``cell 3:4:7``."""
        return f"cell {self.cell.number}:{self.cell.row}:{self.column}" if self.cell else f"{self.row}:{self.column}"

    @property
    def line(self) -> str:
        """The line in words."""
        return f"line {self.cell.row} of cell {self.cell.number}" if self.cell else f"line {self.row}"

    @property
    def in_file(self) -> tuple[int, int]:
        """Row and column in the file as it is on disk."""
        return (self.cell.file_row, self.cell.file_column) if self.cell else (self.row, self.column)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open stretch of a document's text: ``start`` belongs to it, ``end`` does not."""

    start: Location
    end: Location


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the text of ``span`` in ``filename`` by ``content``; an empty span inserts.

    Attributes:
        filename: the file, as the user named it.
        span: a half-open stretch; its ends count characters from the start of the text (``offset``, from 0) and rows
            and columns from 1.
        content: what stands there afterwards.

    Example:
        >>> from accel_advisor import lint
        >>> fix = lint("train.py", select="ACC201").findings[0].fix
        >>> [(one.span.start.row, one.span.start.column, one.content) for one in fix.edits]
        [(13, 34, ', non_blocking=True')]
    """

    filename: str
    span: Span
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together: all of them are made or none.

    Attributes:
        title: what the fix does, in the imperative, without a full stop.
        edits: non-overlapping edits, in no particular order; never empty. One that is given twice is kept once.
        applicability: whether they may be written.
        workers: the worker processes that it gives to each loader; None where it changes nothing of them.

    Example:
        >>> from accel_advisor import lint
        >>> fix = lint("train.py", select="ACC201").findings[0].fix
        >>> fix.title, fix.applicability.value, len(fix.edits)
        ('Pass `non_blocking=True`', 'safe', 1)
    """

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    workers: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edits", tuple(dict.fromkeys(self.edits)))

    def at_most(self, limit: Applicability) -> Fix:
        """This fix, no surer than ``limit``."""
        return self if self.applicability.rank <= limit.rank else replace(self, applicability=limit)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding is about.

    Attributes:
        code: the rule that reports this place, where that is another one than the finding's.
    """

    filename: str
    span: Span
    message: str
    code: str = ""


class Pause(StrEnum):
    """Why the host waits for the device in a step: it ``reads`` what was computed there, ``copies`` a batch there,
    ``fills`` on its own side what is then copied there, or asks to be told when everything is done (``synchronizes``).
    """

    READS = "reads"
    COPIES = "copies"
    FILLS = "fills"
    SYNCHRONIZES = "synchronizes"

    @property
    def rank(self) -> int:
        """3 for ``reads`` down to 0 for ``synchronizes``: larger says more about a step that waits for several."""
        return ("synchronizes", "fills", "copies", "reads").index(self.value)


@dataclass(frozen=True, slots=True)
class StepWait:
    """A wait of the host for the device in each step of a loop. Those of one loop are one remark: the host runs ahead
    of the device only where none of them is left.

    Attributes:
        loop: which loop: its file and place, or those of a ``forward`` that no loop is seen to call.
    """

    loop: str
    pause: Pause


@dataclass(frozen=True, slots=True)
class Price:
    """The share of a training step that a place takes, as a trial measured it on one machine.

    Attributes:
        share: of the time of the loop's own thread, from 0 to 1.
        low, high: the ends of its 95 % interval.
        waits: ``data`` or ``device`` where that thread waits for it there, else empty.
        saves: the share that a step would be shorter by if the thread did not wait for the device there; None where it
            does not.
    """

    share: float
    low: float
    high: float
    waits: str = ""
    saves: float | None = None

    @property
    def measurable(self) -> bool:
        """Whether it can be told from nothing."""
        return self.share >= LEAST_PRICE and self.low > 0

    @property
    def figures(self) -> str:
        """It with its interval, such as ``11 % (9-13)``."""
        decimals = _decimals(self.share)
        return f"{per_cent(self.share)} ({100 * self.low:.{decimals}f}-{100 * self.high:.{decimals}f})"

    @property
    def words(self) -> str:
        """It in words, such as ``the host waits here 11 % (9-13) of each step``."""
        if not self.measurable:
            most = per_cent(max(self.high, LEAST_PRICE))
            return f"costs nothing that could be measured (less than {most} of each step)"
        said = f"{_TAKES.get(self.waits, _TAKES[''])} {self.figures} of each step"
        if self.saves is None:
            return said
        if self.saves < LEAST_PRICE:
            return f"{said}, for work of the device that would have to be waited for anyway"
        shorter = f"without the wait a step would be {per_cent(self.saves)} shorter"
        return f"{said}; {shorter}, the rest is work of the device"


LEAST_PRICE = 0.005
"""A place that takes less of a step costs nothing that could be told from the noise."""
_TAKES = {"": "takes", "data": "waits for data here", "device": "the host waits here"}


def per_cent(share: float) -> str:
    """A share for people: ``11 %``, ``1.3 %``."""
    return f"{100 * share:.{_decimals(share)}f} %"


def _decimals(share: float) -> int:
    return 0 if share >= 0.05 else 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule has to say about one place.

    Attributes:
        code: the rule's code, such as ``ACC101``.
        name: the rule's kebab-case name.
        message: one sentence: the object in the user's own names, the consequence, the remedy.
        severity: see :class:`Severity`.
        filename: the document, as the user named it.
        span: where it stands.
        fix: how to fix it, or None.
        related: other places that it mentions.
        confidence: see :class:`Confidence`.
        frequency: see :class:`Frequency`.
        minor: whether it is true, and of so little consequence that only those see it who ask for it (``--minor``).
        aside: whether it is worth less than others of its rule, so that it is shown as one more place of the nearest of
            them, and by itself only where there is none. A minor one is reported beside others of its file.
        group: what it shares with other findings of its rule in the file that are the same remark; empty for nothing.
        wait: the wait of a step that it is about; None where it is about something else.
        price: what a trial measured of it; None where none did.
        advice: the part of the message that says what to do; empty where the tool speaks of itself.

    Example:
        >>> from accel_advisor import lint
        >>> finding = lint("train.py", select="ACC208").findings[0]
        >>> finding.name, str(finding.span.start), finding.frequency.value
        ('host-sync-every-step', '16:14', 'step')
    """

    code: str
    name: str
    message: str
    severity: Severity
    filename: str
    span: Span
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    confidence: Confidence = Confidence.PROVEN
    frequency: Frequency = Frequency.STEP
    minor: bool = False
    aside: bool = False
    group: str = ""
    wait: StepWait | None = None
    price: Price | None = None
    advice: str = ""

    @property
    def remedy(self) -> str:
        """What to do about it, in a few words: the title of its fix, or else what its message asks for. What is put
        together of several rules' findings may have the fix of another one."""
        whole = any(place.code for place in self.related)
        return self.fix.title if self.fix is not None and not (whole and self.advice) else self.advice or self.message

    @property
    def sort_key(self) -> tuple[str, int, str]:
        """Orders findings by file, place and code."""
        return (self.filename, self.span.start.offset, self.code)
