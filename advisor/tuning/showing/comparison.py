"""Two runs side by side, in the terminal: before and after a change of the code, or on two machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from accel_advisor.tuning.record.schema import Choice, Record
from accel_advisor.tuning.record.turns_schema import Ratio
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.wording.figures import interval_text, joules_text, rate_text, says, share_text, times, visible


@dataclass(frozen=True, slots=True)
class Line:
    """One property of every run, in words; ``number`` where it is to stand at the right."""

    name: str
    cells: tuple[str, ...]
    number: bool = True

    @property
    def differs(self) -> bool:
        """Whether the runs are not all the same in it."""
        return len(set(self.cells)) > 1


def standing(record: Record) -> Choice:
    """The settings that the script was left with."""
    choice = record.trained.recommended
    return choice if record.applied and choice is not None else record.trained.baseline


def lines(records: Sequence[Record]) -> tuple[Line, ...]:
    """What is compared, line by line."""
    found = [
        Line("script", tuple(" ".join([record.script, *record.args]) for record in records), number=False),
        Line("when", tuple(record.began.replace("T", " ").replace("+00:00", " UTC") for record in records)),
        Line("machine", tuple(_machine(record) for record in records), number=False),
        Line("torch", tuple(record.torch for record in records)),
        Line("settings now", tuple(describe(record.trained.baseline.settings) for record in records), number=False),
        Line("samples/s now", tuple(_rate(record.trained.baseline) for record in records)),
    ]
    energies = [record.energy for record in records]
    found.append(Line("J a sample now", tuple("" if one is None else joules_text(one.now) for one in energies)))
    for part in ("wait", "transfer", "compute", "host"):
        shares = [record.shares.known.get(part) for record in records]
        found.append(Line(part, tuple("" if share is None else share_text(share) for share in shares)))
    names = dict.fromkeys(name for record in records for name in record.ceilings)
    for name in names:
        ceilings = [record.ceilings.get(name) for record in records]
        found.append(Line(f"ceiling, {name}", tuple("" if one is None else interval_text(one) for one in ceilings)))
    found += [
        Line("recommended", tuple(_recommended(record) for record in records), number=False),
        Line("samples/s then", tuple(_rate(record.trained.recommended) if _wins(record) else "" for record in records)),
        Line(
            "J a sample then",
            tuple("" if one is None or one.recommended is None else joules_text(one.recommended) for one in energies),
        ),
        Line("gain", tuple(_gain(record) for record in records)),
    ]
    return tuple(line for line in found if any(line.cells))


def _wins(record: Record) -> bool:
    return record.kept is None and record.trained.recommended is not None


def _recommended(record: Record) -> str:
    choice = record.trained.recommended
    return describe(choice.settings) if choice is not None and _wins(record) else "as it is"


def _gain(record: Record) -> str:
    gain = record.trained.gain
    return interval_text(gain) if gain is not None and _wins(record) else ""


def _rate(choice: Choice | None) -> str:
    if choice is None or choice.rate is None:
        return ""
    if choice.low is None or choice.high is None:
        return rate_text(choice.rate)
    return f"{rate_text(choice.rate)} ({rate_text(choice.low)}-{rate_text(choice.high)})"


def _machine(record: Record) -> str:
    machine = record.machine
    if machine is None:
        return record.device
    devices = ", ".join(device.name for device in machine.devices) or "no accelerator"
    return f"{machine.processor or machine.architecture}, {machine.cores:g} cores, {devices}"


def ratio(first: Choice, second: Choice) -> Ratio | None:
    """How many times as fast the second one ran; None where a rate is not known. The runs are strangers to each other,
    so that their intervals add up, and a drift between them is not taken out."""
    if first.rate is None or second.rate is None:
        return None
    found = second.rate / first.rate
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Ratio(found, None, None)
    widths = [math.log(one.high / one.low) / 2 for one in (first, second) if one.low and one.high]
    reach = math.hypot(*widths)
    return Ratio(found, found * math.exp(-reach), found * math.exp(reach))


def verdict(records: Sequence[Record]) -> str:
    """The comparison in a sentence."""
    first, last = records[0], records[-1]
    found = ratio(standing(first), standing(last))
    if found is None:
        return "One of the runs came to no rate, so that there is nothing to compare."
    ends = f" ({found.low:.2f}-{found.high:.2f})" if found.low and found.high and says(found) else ""
    which = "The second run" if len(records) == 2 else "The last run"
    if not ends:
        return f"{which} reached about {found.ratio:.1f} times the rate of the first; the readings say no more."
    if found.low is not None and found.high is not None and found.low <= 1 <= found.high:
        return f"{which} reached {found.ratio:.2f} times the rate of the first{ends}: no difference beyond doubt."
    if found.ratio > 1:
        return f"{which} was {times(found.ratio)} as fast as the first{ends}."
    return f"{which} reached only {share_text(found.ratio)} of the rate of the first{ends}."


def caution(records: Sequence[Record]) -> str:
    """What must be known before the rates are compared; empty where nothing must."""
    scripts = {(record.script, record.args) for record in records}
    if len({record.script for record in records}) > 1:
        return "These are different scripts."
    if len(scripts) > 1:
        return "The script ran with different arguments."
    machines = {record.machine.fingerprint if record.machine else "" for record in records}
    return "These are different machines." if len(machines) > 1 else ""


def print_comparison(records: Sequence[Record], names: Sequence[str], console: Console) -> None:
    """Prints the sentence, then the table."""
    console.print(Text(verdict(records), style="bold"))
    if caution(records):
        console.print(Text(caution(records), style="yellow"))
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in names:
        table.add_column(Text(visible(name)), overflow="fold")
    for line in lines(records):
        table.add_row(line.name, *(Text(visible(cell)) for cell in line.cells), style="" if line.differs else "dim")
    console.print(table)
