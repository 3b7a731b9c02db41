"""What holds for a program as a whole, written into the facts of each of its documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accel_advisor.analysis.layer_reading import LayerReader
from accel_advisor.datasets.description import describe_dataset
from accel_advisor.datasets.worker_code import worker_issues
from accel_advisor.records.facts import Facts, Program
from accel_advisor.records.layers import Layers
from accel_advisor.records.loaders import loader_of
from accel_advisor.tables.frameworks import LEAVES_BATCHES
from accel_advisor.tables.loader_libraries import DELIVERS_ON_DEVICE

if TYPE_CHECKING:
    from accel_advisor.interpreter.interpreter import Interpreter
    from accel_advisor.records.transfers import TransferContext


def assemble(machine: Interpreter, consulted: frozenset[str]) -> None:
    """Completes the facts of all documents once everything was interpreted.

    Args:
        consulted: other files of the project that were read.
    """
    recorder = machine.recorder
    operations = {key: one for (key, _), one in recorder.operations.items()}
    for transfer in recorder.transfers.values():
        built = [one for one in transfer.contexts if _is_built(one)]
        if built:  # what a name suggests counts where nothing is known
            transfer.contexts = built
    layers = Layers(LayerReader(machine).layers_of)
    for facts, program in _programs(list(recorder.facts.values()), recorder.imports):
        facts.layers, facts.program = layers, program
        facts.handed_over = frozenset(recorder.handed_over)
        facts.consulted = consulted
        for operation in facts.operations:
            operation.varies = id(operation.node) in recorder.varying
        for loader in facts.loaders:
            loader.varies = id(loader.node) in recorder.varying
            if loader.moved_by is not None and loader.moved_by in program.on_host:
                loader.moved_by = None
            # what was described along the way may have been written to since
            loader.dataset = describe_dataset(machine, loader.get("dataset"))
            loader.issues = worker_issues(machine, loader, recorder.transfers, operations)
            documents = [loader.document, *(loop.document for loop in loader.loops)]
            documents += [transfer.document for transfer in loader.transfers]
            documents += [site.document for context in loader.contexts for site in context.chain]
            loader.feeds_gpu = any(recorder.facts[one.filename].names_gpu for one in documents)
    for loader in recorder.evident_loaders:
        facts = recorder.facts[loader.document.filename]
        if loader.moved_by is None and (facts.frameworks - LEAVES_BATCHES or facts.packages & DELIVERS_ON_DEVICE):
            loader.moved_by = "a framework"  # perhaps: which one, and whether it was given this loader, is not known


def _is_built(context: TransferContext) -> bool:
    loader = loader_of(context.loader)
    return loader is not None and loader.basis.proven


def _programs(everything: list[Facts], imports: dict[str, set[str]]) -> Iterator[tuple[Facts, Program]]:
    """With each document the facts of what it imports, of what imports it, and of what that imports in turn."""
    importers: dict[str, set[str]] = {}
    for importer, imported in imports.items():
        for name in imported:
            importers.setdefault(name, set()).add(importer)
    programs: dict[frozenset[str], Program] = {}
    for facts in everything:
        related = frozenset(_reached(_reached({facts.document.path}, importers), imports))
        if related not in programs:
            programs[related] = Program(one for one in everything if one.document.path in related)
        yield facts, programs[related]


def _reached(start: set[str], edges: dict[str, set[str]]) -> set[str]:
    found, pending = set(start), set(start)
    while pending:
        new = edges.get(pending.pop(), set()) - found
        found |= new
        pending |= new
    return found
