"""The outcome as a record; ``docs/json.md`` says what each key means."""

from __future__ import annotations

import math
import os
import platform
from dataclasses import replace
from pathlib import Path

from accel_advisor import __version__
from accel_advisor.finding import Edit, Location
from accel_advisor.machine.gpus import Sample
from accel_advisor.machine.machine import Accelerator, Machine
from accel_advisor.source.program_lines import place_of, row_for_people
from accel_advisor.tuning.applying.project_code import display_name, own_frame
from accel_advisor.tuning.nodes.node_facts import ranks_of
from accel_advisor.tuning.nodes.node_messages import NodeFacts
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, LoaderInfo, Settings
from accel_advisor.tuning.record.device_schema import DeviceUse, EnergyRecord
from accel_advisor.tuning.record.device_use import spans, use
from accel_advisor.tuning.record.energy_use import OF_BLOCK, OF_SETTINGS, energy, joules
from accel_advisor.tuning.record.outcome import Outcome, Row
from accel_advisor.tuning.record.schema import (
    SCHEMA,
    BlockRecord,
    Choice,
    EditRecord,
    EpochStart,
    LoaderRecord,
    MachineRecord,
    NodeRecord,
    Parts,
    Place,
    Record,
    Spot,
    TriedRecord,
)
from accel_advisor.tuning.record.turns_record import ends_of, fixes_record, ratio_of, turns_record, verification_of
from accel_advisor.tuning.record.turns_schema import Ratio
from accel_advisor.tuning.search.purposes import Purpose, words
from accel_advisor.tuning.search.statistics import Interval
from accel_advisor.tuning.trial.timeline import Served
from accel_advisor.tuning.wording.diagnosis_text import diagnosis_text
from accel_advisor.tuning.wording.kept_text import kept_text
from accel_advisor.tuning.wording.other_work_text import kept_beside


def recorded(outcome: Outcome) -> Record:
    """The outcome as a record, the trained loader first."""
    diagnosis, found = outcome.diagnosis, outcome.recommendation
    shares = diagnosis.shares if diagnosis else None
    return Record(
        schema=SCHEMA,
        version=__version__,
        began=outcome.began,
        script=outcome.script,
        args=outcome.args,
        machine=_machine(outcome.machine, outcome.accelerators) if outcome.machine else None,
        device=outcome.device,
        torch=outcome.torch,
        sentence=diagnosis_text(diagnosis) if diagnosis else outcome.sentence or None,
        loaders=tuple(_loader(outcome, info, trained=number == 0) for number, info in enumerate(outcome.loaders)),
        shares=Parts(*(round(getattr(shares, name), 6) if shares else None for name in _PARTS)),
        ceilings={name: ratio_of(one) for name, one in (diagnosis or outcome).ceilings.items()},
        epoch_start=EpochStart(diagnosis.epoch_start, diagnosis.epoch_share) if diagnosis else None,
        tried=tuple(_row(row, outcome) for row in outcome.rows),
        kept=_kept(outcome),
        crowding=ratio_of(diagnosis.crowding) if diagnosis and diagnosis.crowding else None,
        use=outcome.use,
        verdict=outcome.verdict.value if outcome.verdict is not None else None,
        diff=found.rewrite.diff if found else "",
        built=_built(outcome),
        name=(found.name or None) if found else None,
        origin=(found.origin or None) if found else None,
        refusals=tuple(found.refusals) if found else (),
        notes=tuple(outcome.notes),
        contained=_names(outcome.contained, outcome.root),
        leaked=_names(outcome.leaked, outcome.root),
        interrupted=outcome.interrupted,
        applied=outcome.verified is True,
        verified=outcome.verified,
        verification=verification_of(outcome.verification),
        changed=tuple(display_name(path, outcome.root) for path in found.rewrite.after) if found else (),
        seconds=round(outcome.seconds, 3),
        budget=outcome.budget,
        blocks=_blocks(outcome),
        samples=_samples(outcome),
        explained=outcome.explained,
        turns=turns_record(outcome.turns, outcome.root) if outcome.turns is not None else None,
        prices=outcome.prices,
        fixes=fixes_record(outcome.fixes, outcome.root) if outcome.fixes is not None else None,
        loop=outcome.loop,
        other_work=None if outcome.taken is None else round(outcome.taken, 3),
        nodes=tuple(_node(number, one) for number, one in enumerate(outcome.nodes)),
        energy=_energy(outcome),
    )


def _kept(outcome: Outcome) -> str | None:
    if outcome.kept is None:
        return None
    return kept_beside(outcome.kept, kept_text(outcome.kept), outcome.other_work)


_PARTS = ("wait", "transfer", "compute", "host")


def _node(number: int, facts: NodeFacts) -> NodeRecord:
    return NodeRecord(facts.name, ranks_of(number, facts), facts.cores, facts.memory, facts.shared_memory)


def _loader(outcome: Outcome, info: LoaderInfo, *, trained: bool) -> LoaderRecord:
    frame = own_frame(info.stack, outcome.root)
    site = _place(outcome, frame.filename, frame.row) if frame else None
    found = outcome.recommendation
    baseline = _choice(info.settings, outcome.baseline_rate if trained else None, outcome.baseline_interval)
    known = LoaderRecord(site, info.role, info.dataset, info.batch_size, info.length, baseline)
    if not trained:
        return known
    if found is None:
        return replace(known, recommended=baseline, gain=Ratio(1.0, 1.0, 1.0))
    return replace(
        known,
        recommended=_choice(found.settings, outcome.recommended_rate, outcome.recommended_interval),
        gain=ratio_of(found.gain),
        pairs=found.gain.pairs,
        edits=tuple(_edit(edit, outcome.root) for edit in found.edits),
    )


def _choice(settings: Settings, rate: float | None, interval: Interval | None) -> Choice:
    low, high = ends_of(interval) if rate is not None else (None, None)
    return Choice(settings, rate, low, high)


def _built(outcome: Outcome) -> Place | None:
    """The call that builds the loader: as the static side sees it, else where the probe saw it."""
    found = outcome.recommendation
    if found is not None and found.row:
        return _place(outcome, found.filename, found.row)
    frame = own_frame(outcome.loaders[0].stack, outcome.root)
    return _place(outcome, frame.filename, frame.row) if frame else None


def _place(outcome: Outcome, filename: str, row: int) -> Place:
    """A line of a file as it was when it was measured."""
    found = outcome.recommendation
    content = found.rewrite.before.get(Path(os.path.realpath(filename))) if found is not None else None
    cell, line = row_for_people(filename, row, content)
    return Place(display_name(filename, outcome.root), line, cell)


def _names(paths: tuple[str, ...], root: Path) -> tuple[str, ...]:
    return tuple(display_name(path, root) if Path(path).is_absolute() else path for path in paths)


def _edit(edit: Edit, root: Path) -> EditRecord:
    filename, cell = display_name(root / edit.filename, root), edit.span.start.cell
    return EditRecord(
        filename, edit.content, _spot(edit.span.start), _spot(edit.span.end), cell.number if cell else None
    )


def _spot(location: Location) -> Spot:
    return Spot(place_of(location)[1], location.column)


def _row(row: Row, outcome: Outcome) -> TriedRecord:
    low, high = ends_of(row.interval)
    return TriedRecord(
        row.settings,
        row.rate,
        ratio_of(row.against) if row.against else None,
        row.blocks,
        row.failed or None,
        low,
        high,
        step=_step(row.measured),
        worker_bytes=max((block.worker_bytes for block in row.measured), default=0) or None,
        cores=_cores([one for one in outcome.timeline if one.block is not None and one.block in row.measured]),
        device=_device(outcome, row.measured, OF_SETTINGS),
    )


def _device(outcome: Outcome, blocks: tuple[Block, ...], least: float) -> DeviceUse | None:
    found = use(outcome.samples, spans(blocks))
    return replace(found, joules=joules(outcome.samples, blocks, least)) if found is not None else None


def _energy(outcome: Outcome) -> EnergyRecord | None:
    if not outcome.rows:
        return None
    now, found = outcome.rows[0].measured, outcome.recommendation
    if found is None:
        return energy(outcome.samples, now, (), (), outcome.cards)
    then = [block for row in outcome.rows if row.settings == found.settings for block in row.measured]
    return energy(outcome.samples, now, then, outcome.pairs, outcome.cards)


def _cores(served: list[Served]) -> float | None:
    """Cores that were kept busy on average; the start of workers and the warm-up count, too."""
    known = [(one.cores, one.seconds) for one in served if one.cores is not None]
    seconds = math.fsum(span for _, span in known)
    return round(math.fsum(cores * span for cores, span in known) / seconds, 3) if seconds else None


def _step(blocks: tuple[Block, ...]) -> Parts | None:
    """Mean seconds of a batch by part, in the steady state."""
    batches = sum(block.batches for block in blocks)
    if not batches:
        return None
    return Parts(*(math.fsum(getattr(block, name) for block in blocks) / batches for name in _PARTS))


def _blocks(outcome: Outcome) -> tuple[BlockRecord, ...]:
    numbers = {row.settings: number for number, row in enumerate(outcome.rows)}
    found = outcome.recommendation
    changed = found.settings if found is not None else None
    return tuple(_block(_named(served, changed), numbers, outcome) for served in outcome.timeline)


def _named(served: Served, changed: Settings | None) -> Served:
    """What the new source has of its own are the settings that were recommended."""
    return replace(served, what=changed) if served.purpose is Purpose.NEW_SOURCE and changed is not None else served


def _block(served: Served, numbers: dict[Settings, int], outcome: Outcome) -> BlockRecord:
    what = served.what if isinstance(served.what, str) else "candidate"
    tried = 0 if what == BASELINE else numbers.get(served.what) if isinstance(served.what, Settings) else None
    began, seconds, block = round(served.began, 4), round(served.seconds, 4), served.block
    purpose = words(served.purpose, served.what)
    if block is None:
        return BlockRecord(what, tried, purpose, began, seconds, served.reason or None)
    return BlockRecord(
        what,
        tried,
        purpose,
        began,
        seconds,
        rate=block.rate,
        batches=block.batches,
        measured=block.seconds,
        step=_step((block,)),
        pool_seconds=block.pool_seconds,
        warm_batches=block.warm_batches,
        worker_bytes=block.worker_bytes or None,
        cores=None if served.cores is None else round(served.cores, 3),
        device=_device(outcome, (block,), OF_BLOCK),
    )


def _samples(outcome: Outcome) -> tuple[Sample, ...]:
    """Those of the run itself, in its own time."""
    found = (replace(one, at=round(one.at - outcome.clock, 3)) for one in outcome.samples)
    return tuple(one for one in found if one.at >= 0)


def _machine(machine: Machine, devices: tuple[Accelerator, ...]) -> MachineRecord:
    return MachineRecord(
        fingerprint=machine.fingerprint(devices),
        system=platform.system(),
        architecture=platform.machine(),
        processor=machine.processor,
        python=platform.python_version(),
        logical_cores=machine.logical_cores,
        cores=machine.cores,
        memory=machine.memory_total,
        shared_memory=machine.shared_memory_total,
        devices=devices,
    )
