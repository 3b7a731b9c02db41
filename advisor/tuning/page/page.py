"""A record as one HTML file. What comes from the outside, such as names, lines of code and messages, is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from accel_advisor import __version__
from accel_advisor.tuning.page import charts, history_charts, machine_use
from accel_advisor.tuning.page.line_costs import line_costs
from accel_advisor.tuning.page.loader_stages import ways
from accel_advisor.tuning.probe.channel.wire import BASELINE
from accel_advisor.tuning.record.schema import BlockRecord, Record
from accel_advisor.tuning.search.settings import describe
from accel_advisor.tuning.showing import comparison
from accel_advisor.tuning.showing.energy_text import energy_text
from accel_advisor.tuning.showing.race_text import raced_ending
from accel_advisor.tuning.showing.summary import applying, built, turned, verdict
from accel_advisor.tuning.wording.figures import (
    gibibytes,
    interval_text,
    joules_text,
    label,
    rate_text,
    seconds_text,
    share_text,
    visible,
)

if TYPE_CHECKING:
    from jinja2 import Environment

    from accel_advisor.tuning.record.history import History

MISSING = (
    "jinja2, which writes the page, is not installed here: install accel-advisor with its extra [report], in a clone "
    "of it with `pip install '.[report]'`"
)


def available() -> bool:
    """Whether pages can be written."""
    return find_spec("jinja2") is not None


@dataclass(frozen=True, slots=True)
class _Counted:
    """What went into the figures."""

    blocks: int
    batches: int
    seconds: str


def trial_page(record: Record) -> str:
    """The page of one run.

    Raises:
        ImportError: jinja2 is not installed.
    """
    return _environment().get_template("trial.html.j2").render(trial_view(record))


def comparison_page(records: Sequence[Record], names: Sequence[str]) -> str:
    """The page of several runs side by side, with a name for each.

    Raises:
        ImportError: jinja2 is not installed.
    """
    view = {
        "records": tuple(records),
        "names": tuple(names),
        "verdict": comparison.verdict(records),
        "caution": comparison.caution(records),
        "lines": comparison.lines(records),
        "steps": charts.compared_bars(records, names),
        "rates": charts.compared_rates(records, names),
        "version": __version__,
    }
    return _environment().get_template("comparison.html.j2").render(view)


def history_page(history: History) -> str:
    """The page of a history.

    Raises:
        ImportError: jinja2 is not installed.
    """
    view = {
        "courses": history_charts.courses(history),
        "headline": history_charts.headline(history),
        "runs": len(history.entries),
        "version": __version__,
    }
    return _environment().get_template("history.html.j2").render(view)


def trial_view(record: Record) -> dict[str, Any]:
    """What the template of a run is given."""
    counted = [block for block in record.blocks if block.batches and block.measured]
    return {
        "record": record,
        "answer": charts.answer(record),
        "day": day(record.began),
        "place": place(record),
        "again": applying(record),
        "verdict": verdict(record, record.verification) if record.verification else "",
        "where": built(record),
        "turned": turned(record.turns) if record.turns else "",
        "raced": raced_ending(record.fixes) if record.fixes else "",
        "steps": charts.step_bars(record),
        "costs": line_costs(record),
        "ways": ways(record),
        "bars": charts.throughput(record),
        "lanes": charts.timeline(record),
        "busy": machine_use.busy_over_time(record),
        "use": machine_use.device_use(record),
        "energy": energy_text(record.energy) if record.energy is not None else "",
        "loads": {
            "Device busy": machine_use.device_busy(record),
            "Memory in use on the device": machine_use.device_memory(record),
            "Cores kept busy": machine_use.cores(record),
            "Memory of the workers": machine_use.memory(record),
        },
        "counted": _Counted(
            len(counted),
            sum(block.batches or 0 for block in counted),
            seconds_text(sum(block.measured or 0.0 for block in counted)),
        )
        if counted
        else None,
        "served": lambda block: _served(record, block),
    }


def day(began: str) -> str:
    """A time of a record for people, in UTC; empty where it has none."""
    if not began:
        return ""
    moment = datetime.fromisoformat(began)
    moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def place(record: Record) -> str:
    """The machine in few words."""
    machine = record.machine
    if machine is None:
        return ""
    cores = f"{machine.cores:g} cores"
    return ", ".join([cores, *(device.name for device in machine.devices)] if machine.devices else [cores, "no GPU"])


def _served(record: Record, block: BlockRecord) -> str:
    if block.what == BASELINE:
        return "the script as it is"
    if block.what in charts.CEILINGS:
        return charts.CEILINGS[block.what]
    return block.what if block.tried is None else label(record.tried[block.tried].settings)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = files(__package__) / "templates"
    environment = Environment(
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        finalize=_finished,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        describe=describe,
        interval_text=interval_text,
        rate_text=rate_text,
        share_text=share_text,
        gibibytes=gibibytes,
        joules_text=joules_text,
        legend=charts.legend,
    )
    return environment


def _finished(value: Any) -> Any:
    """What a template is about to write: nothing for None, and text with all that is unseen in it spelled out."""
    if value is None:
        return ""
    return visible(value) if type(value) is str else value
