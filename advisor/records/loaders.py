"""The records of loaders, of the ways in which they are built, and of the loops that take their batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.editing.edits import add_keyword
from accel_advisor.records.call_graph import CallSite
from accel_advisor.records.dataset_facts import DatasetFacts, IssueKind, Veto, VetoKind, WorkerIssue
from accel_advisor.records.given import Given
from accel_advisor.records.loops import Loop
from accel_advisor.records.operations import Argument
from accel_advisor.records.transfers import Transfer
from accel_advisor.records.written_call import WrittenCall
from accel_advisor.tables.known_datasets import DATASET_LENGTHS
from accel_advisor.tables.loader_libraries import TORCH_LOADER
from accel_advisor.values.evidence import PROVEN, Evidence
from accel_advisor.values.places import union_of
from accel_advisor.values.tensors import BatchSource
from accel_advisor.values.values import (
    ABSENT,
    Configured,
    Constant,
    Loader,
    Opaque,
    Origin,
    Tensor,
    Unknown,
    Value,
    join_all,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.finding import Edit
    from accel_advisor.source.document import Document
    from accel_advisor.tables.loader_libraries import Constructor
    from accel_advisor.values.values import Filed, Mapping


@dataclass(eq=False, slots=True)
class LoaderContext:
    """How a loader is built when its call is reached in one particular way.

    Attributes:
        arguments: by DataLoader's own argument names.
        open: whether it may get arguments that are not known (``*args``, an unresolved ``**kw``).
        mappings: the dicts that were splatted into the call.
        files: the files, or the parts of files, that were.
        chain: the calls that led here, outermost first.
        loops: the loops that it is built in, outermost first.
        repeats: whether nothing that the call reads changes from one pass of the innermost loop to the next.
        untaken: whether it stands in a branch that is not taken there, by what the function is given.
    """

    arguments: dict[str, Argument]
    open: bool
    mappings: tuple[Mapping, ...]
    chain: tuple[CallSite, ...]
    loops: tuple[Loop, ...] = ()
    repeats: bool = False
    files: tuple[Filed, ...] = ()
    untaken: bool = False


@dataclass(eq=False, slots=True)
class LoaderCall(BatchSource, WrittenCall):
    """A call that builds a DataLoader, or a loader of another library.

    Attributes:
        node: the call. Where none is in sight (``opaque``, and ``basis`` not proven), it stands nowhere in the source:
            what it calls is the expression that is iterated.
        name: what the loader is called in the source, or the callee where it has no name.
        contexts: one for each way in which the call is reached.
        loops: where its batches are taken.
        passes: those of the loops that go over all of its batches.
        around: the loops around those in every turn of which a pass begins.
        now_and_then: the loops around those of which one turn in so many begins a pass.
        renewed: the loops that take its batches one by one and begin another pass where they are used up.
        transfers: moves of its batches to a device.
        moved_by: the framework that moves its batches, if one does.
        mutated: the loops that change a batch in place while it is on the host; None where the loop is not known.
        refilled: those that put parts of a batch which they copied to a GPU in the place of these parts.
        viewed: whether a batch on the host is reached as an array, through which it may be changed.
        rewritten: the program may put other tensors into a batch, or move one in place.
        dataset: what its samples cost and contain.
        issues: what goes wrong in its workers.
        opaque: its arguments are not those of the call (a subclass with an ``__init__`` of its own).
        feeds_gpu: whether a document that builds, iterates or moves it shows that an accelerator is meant.
        batches: what its collate function, if it is one of the project, makes of samples.
        basis: what shows that it is a loader.
        varies: whether the call may build something else, so that it is never rewritten.
    """

    document: Document
    node: cst.Call
    constructor: Constructor
    name: str = ""
    contexts: list[LoaderContext] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    passes: list[Loop] = field(default_factory=list)
    around: list[Loop] = field(default_factory=list)
    now_and_then: list[Loop] = field(default_factory=list)
    renewed: list[Loop] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    moved_by: str | None = None
    mutated: set[Loop | None] = field(default_factory=set)
    refilled: set[Loop] = field(default_factory=set)
    viewed: bool = False
    rewritten: bool = False
    dataset: DatasetFacts | None = None
    issues: tuple[WorkerIssue, ...] = ()
    opaque: bool = False
    feeds_gpu: bool = False
    batches: tuple[Value, ...] = ()
    basis: Evidence = PROVEN
    varies: bool = False

    def get(self, name: str) -> Value:
        """What is known of an argument over all contexts; :data:`ABSENT` where no context gives it; Unknown where a
        context may give it unseen."""
        if self.opaque or not self.contexts:
            return Unknown()
        values: list[Value] = []
        for context in self.contexts:
            argument = context.arguments.get(name)
            if argument is not None:
                values.append(argument.value)
            else:
                values.append(Unknown() if context.open else ABSENT)
        return join_all(values)

    def each(self, name: str) -> tuple[Value, ...]:
        """All that an argument is known to be in some context, however many there are."""
        given = [context.arguments[name].value for context in self.contexts if name in context.arguments]
        return tuple(dict.fromkeys(one for value in given for one in options_of(value))) if not self.opaque else ()

    def given(self, name: str) -> Given:
        """What rules may know of an argument over all contexts; absent where no context gives it, unknown where one may
        give it unseen."""
        return Given(self.get(name))

    def certain_vetoes(self, kind: VetoKind) -> Iterator[tuple[Veto, Document, cst.CSTNode]]:
        """What of this kind in its data set is seen to go wrong with workers, and where that is decided."""
        for veto in self.dataset.vetoes if self.dataset is not None else ():
            if veto.kind is kind and veto.certain and veto.document is not None and veto.node is not None:
                yield veto, veto.document, veto.node

    def suffers(self, kind: IssueKind) -> bool:
        """Whether something of this kind goes wrong with what its workers run, or would run."""
        return any(issue.kind is kind for issue in self.issues)

    @property
    def of_torch(self) -> bool:
        """Whether it is ``torch.utils.data.DataLoader`` itself, and no other loader."""
        return self.constructor.name == TORCH_LOADER

    @property
    def without_workers(self) -> bool:
        """Whether it certainly has no worker processes: ``num_workers`` is absent or a literal 0."""
        given = options_of(self.get("num_workers"))
        zero = [isinstance(one, Constant) and type(one.value) is int and one.value == 0 for one in given]
        return all(
            is_zero or (one == ABSENT and self.constructor.default_workers == 0)
            for one, is_zero in zip(given, zero, strict=True)
        )

    @property
    def fixed_workers(self) -> int | None:
        """The smallest number of workers that it can have, where literals decide it; None where they do not."""
        counts: list[int] = []
        for one in options_of(self.get("num_workers")):
            if not isinstance(one, Constant) or type(one.value) is not int:
                return None
            counts.append(one.value)
        return min(counts)

    @property
    def initializes_nothing(self) -> bool:
        """Whether it certainly has no ``worker_init_fn``, which might correct what is wrong with the data set."""
        given = options_of(self.get("worker_init_fn"))
        return all(one == ABSENT or (isinstance(one, Constant) and one.value is None) for one in given)

    @property
    def epoch_loops(self) -> list[Loop]:
        """Loops over numbers that it is not built in, and in which all of its batches are taken again and again."""
        return self._counting(self.around)

    @property
    def periodic_loops(self) -> list[Loop]:
        """Loops over numbers that it is not built in, and in which all of its batches are taken once in so many
        turns."""
        return self._counting(self.now_and_then)

    def _counting(self, loops: list[Loop]) -> list[Loop]:
        built = [loop for context in self.contexts for loop in context.loops]
        return [outer for outer in loops if outer.counts and self not in outer.loaders and outer not in built]

    @property
    def label(self) -> str:
        """What a message calls it: the user's name for it, or the callee."""
        return self.name or f"{self.document.code(self.node.func)}(...)"

    @property
    def pins(self) -> bool:
        """Whether it pins its batches: by a literal, or by an expression that was written to that end."""
        known = self.get("pin_memory")
        if isinstance(known, Constant):
            return known.value is True
        return isinstance(known, Opaque) and known.name.endswith("is_available")

    @property
    def pins_if_asked(self) -> bool:
        """Whether it pins its batches only where an option or a setting asks for it."""
        known = self.given("pin_memory")
        return known.configured and known.default.is_literal(False)

    @property
    def serves_memory(self) -> bool:
        """Whether it only takes samples out of memory, in the main process, where nothing is gained by pinning: so its
        data set says, or so graphs are kept."""
        dataset = self.dataset
        if not self.without_workers or dataset is None:
            return False
        return dataset.cost == "memory" or (self.constructor.name.startswith("torch_geometric.") and not dataset.reason)

    @property
    def may_gain_by_pinning(self) -> bool:
        """Whether something can pin its batches beside the program: it has workers, or would gain by them. A data set
        that nothing is known of may gain where the program itself copies what it gives: so it gives tensors."""
        if not self.without_workers or self.dataset is None:
            return True
        if self.serves_memory or self.dataset.vetoes:
            return False
        return bool(self.dataset.reason) or not self.moved_by

    @property
    def trains(self) -> bool:
        """Whether the model learns from its batches."""
        return any(loop.backward for loop in self.loops)

    @property
    def works(self) -> bool:
        """Whether a loop computes with its batches: trains on them, or calls a model on them."""
        return any(loop.backward or loop.calls_model for loop in self.loops)

    @property
    def ends_ragged(self) -> bool:
        """Whether its last batch may have fewer samples than the others: it keeps what remains, and is not known to
        divide evenly."""
        keeps = self.gives("drop_last", None) or self.gives("drop_last", False)
        batches = self.gives("batch_sampler", None) and self.get("batch_size") not in (ABSENT, Constant(None))
        single = any(isinstance(one, Constant) and one.value in (1, None) for one in options_of(self.get("batch_size")))
        streams = self.dataset is not None and self.dataset.iterable
        return keeps and batches and not single and not streams and self.last_batch != 0

    @property
    def batches_of_a_pass(self) -> int | None:
        """The batches of one pass, unless another batch size is configured; None where their number is not known."""
        size, length = self.default_count("batch_size"), _length_of(self.get("dataset"))
        return -(-length // size) if size and length is not None else None

    @property
    def last_batch(self) -> int | None:
        """The samples that remain for its last batch, unless another batch size is configured; None where their
        number is not known."""
        size, length = self.default_count("batch_size"), _length_of(self.get("dataset"))
        if not size or length is None or not self.gives("sampler", None):
            return None
        return length % size

    @property
    def destination_kinds(self) -> frozenset[str]:
        """All kinds of device that its batches are moved to."""
        contexts = [context for transfer in self.transfers for context in transfer.contexts]
        return union_of(kinds for context in contexts if context.loader is self for kinds in context.destination)

    @property
    def plain_samples(self) -> bool:
        """Whether its batches are known to be containers of plain tensors."""
        plain = self.dataset is not None and self.dataset.plain
        return plain and (self.gives("collate_fn", None) or self.get("collate_fn") == Constant(None))

    def gives(self, name: str, value: object) -> bool:
        """Whether every context gives an argument this literal value; None stands for an argument that is absent."""
        known = self.get(name)
        if value is None:
            return known == ABSENT
        return all(Given(one).is_literal(value) for one in options_of(known))

    def default_count(self, name: str) -> int | None:
        """An integer argument as it is unless another is configured: a literal, or the default of an option; None
        where it is not known. What the constructor itself defaults to where ``num_workers`` is absent."""
        known = self.get(name)
        if known == ABSENT:
            return self.constructor.default_workers if name == "num_workers" else None
        defaults = [one.default if isinstance(one, Configured) else one for one in options_of(known)]
        each = [one for value in defaults for one in options_of(value)]
        counts = [one.value for one in each if isinstance(one, Constant) and isinstance(one.value, int)]
        return max(counts) if counts else None

    def origins(self, name: str) -> list[Origin]:
        """The places where the literal values of an argument stand."""
        found: list[Origin] = []
        for value in options_of(self.get(name)):
            inner = value.default if isinstance(value, Configured) else value
            if isinstance(inner, Constant) and inner.origin is not None:
                found.append(inner.origin)
        return found

    def keyword_edits(self, name: str, expression: str) -> tuple[Edit, ...] | None:
        """The edits that give the call one more keyword; None where it splats arguments or may build something else."""
        return None if self.varies else add_keyword(self.document, self.node, name, expression)


def loader_of(what: Given | Value | BatchSource | None) -> LoaderCall | None:
    """The loader that a value is, or whose batch, or part of one, it is; None for other values."""
    if isinstance(what, Given):
        what = what.source
    elif isinstance(what, (Loader, Tensor)):
        what = what.call if isinstance(what, Loader) else what.loader
    return what if isinstance(what, LoaderCall) else None


def labels_of(loaders: Iterable[LoaderCall]) -> str:
    """What a message calls several loaders: "`a`, `b` and `c`"."""
    labels = list(dict.fromkeys(f"`{loader.label}`" for loader in loaders))
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def loaders_in(loop: Loop) -> list[LoaderCall]:
    """The loaders whose batches a loop takes, in the order in which they were met."""
    return [one for one in loop.loaders if isinstance(one, LoaderCall)]


def _length_of(dataset: Value) -> int | None:
    """How many samples a data set of a library has."""
    if not isinstance(dataset, Opaque):
        return None
    if dataset.name == "torch.utils.data.TensorDataset":
        born = next((one.born for one in dataset.arguments if isinstance(one, Tensor)), None)
        return born.length if born is not None else None
    train = dict(dataset.keywords).get("train", dataset.arguments[1] if len(dataset.arguments) > 1 else Constant(True))
    if dataset.name in DATASET_LENGTHS and isinstance(train, Constant):
        return DATASET_LENGTHS[dataset.name][not train.value]
    return None
