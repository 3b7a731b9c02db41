"""The records that rules read: what one document means for an accelerator."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from .catalog import PARALLEL_WRAPPERS
from .edits import add_keyword
from .operations import Argument, Operation
from .places import Place
from .values import ABSENT, Configured, Constant, Opaque, Origin, Unknown, Value, join_all, options_of

if TYPE_CHECKING:
    from ..finding import Edit
    from ..source.document import Document
    from .catalog import Constructor
    from .datasets import DatasetFacts
    from .scope import Scope
    from .values import Mapping
    from .worker_code import WorkerIssue


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call that the interpreter went through on its way to another."""

    document: Document
    node: cst.Call


@dataclass(eq=False, slots=True)
class LoaderContext:
    """How a loader is built when its call is reached in one particular way.

    Attributes:
        arguments: by DataLoader's own argument names.
        open: whether it may get arguments that are not known (``*args``, an unresolved ``**kw``).
        mappings: the dicts that were splatted into the call.
        chain: the calls that led here, outermost first.
        loops: the loops that it is built in, outermost first.
        repeats: whether nothing that the call reads changes from one pass of the innermost loop to the next.
    """

    arguments: dict[str, Argument]
    open: bool
    mappings: tuple[Mapping, ...]
    chain: tuple[CallSite, ...]
    loops: tuple[Loop, ...] = ()
    repeats: bool = False


@dataclass(eq=False, slots=True)
class Loop:
    """A loop that the interpreter went through.

    Attributes:
        node: the ``for`` or ``while`` statement, or the comprehension.
        loaders: the loaders whose batches it takes.
        backward: whether ``backward()`` or an optimizer's ``step()`` happens in it.
        calls_model: whether a module, or something that may be one, is called on its batches.
        graphs: whether a model is called on its batches while autograd records, and graph_free: while it may not.
        function: the innermost function that it stands in; None at the top of a module.
        functions: names of the functions that it was reached through, outermost first.
        counts: whether it goes over numbers (``while``, ``range``), as a loop over epochs does, more than once.
    """

    document: Document
    node: cst.CSTNode
    functions: tuple[str, ...]
    parent: Loop | None = None
    counts: bool = False
    loaders: list[LoaderCall] = field(default_factory=list)
    backward: bool = False
    calls_model: bool = False
    graphs: bool = False
    graph_free: bool = False
    function: cst.CSTNode | None = None


@dataclass(eq=False, slots=True)
class LoaderCall:
    """A call that builds a DataLoader or one of its kin.

    Attributes:
        name: what the loader is called in the source, or the callee where it has no name.
        contexts: one for each way in which the call is reached.
        loops: where its batches are taken.
        passes: those of the loops that go over all of its batches.
        transfers: moves of its batches to a device.
        moved_by: the framework that moves its batches, if one does.
        mutated: whether the loop changes a batch in place while it is on the host.
        dataset: what its samples cost and contain.
        issues: what goes wrong in its workers.
        opaque: its arguments are not those of the call (a subclass with an ``__init__`` of its own).
        evidence: whether a document that builds, iterates or moves it shows that an accelerator is meant.
    """

    document: Document
    node: cst.Call
    constructor: Constructor
    name: str = ""
    contexts: list[LoaderContext] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    passes: list[Loop] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    moved_by: str | None = None
    mutated: bool = False
    dataset: DatasetFacts | None = None
    issues: tuple[WorkerIssue, ...] = ()
    opaque: bool = False
    evidence: bool = False

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
        """Whether it certainly has no ``worker_init_fn``, which might mend what is wrong with the data set."""
        given = options_of(self.get("worker_init_fn"))
        return all(one == ABSENT or (isinstance(one, Constant) and one.value is None) for one in given)

    @property
    def epoch_loops(self) -> list[Loop]:
        """Loops over numbers that it is not built in, and in which all of its batches are taken again and again."""
        built = [loop for context in self.contexts for loop in context.loops]
        found: dict[Loop, None] = {}
        for loop in self.passes:
            outer = loop.parent
            while outer is not None:
                if outer.counts and self not in outer.loaders and outer not in built:
                    found[outer] = None
                outer = outer.parent
        return list(found)

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
    def trains(self) -> bool:
        """Whether the model learns from its batches."""
        return any(loop.backward for loop in self.loops)

    @property
    def works(self) -> bool:
        """Whether a loop computes with its batches: trains on them, or calls a model on them."""
        return any(loop.backward or loop.calls_model for loop in self.loops)

    @property
    def destination_kinds(self) -> frozenset[str]:
        """All kinds of device that its batches are moved to."""
        contexts = [context for transfer in self.transfers for context in transfer.contexts]
        return _union(kinds for context in contexts if context.loader is self for kinds in context.destination)

    @property
    def plain_samples(self) -> bool:
        """Whether its batches are known to be containers of plain tensors (rules.md 0.4)."""
        plain = self.dataset is not None and self.dataset.plain
        return plain and (self.gives("collate_fn", None) or self.get("collate_fn") == Constant(None))

    def gives(self, name: str, value: object) -> bool:
        """Whether every context gives an argument this literal value; None stands for an argument that is absent."""
        known = self.get(name)
        if value is None:
            return known == ABSENT
        return all(
            isinstance(one, Constant) and type(one.value) is type(value) and one.value == value
            for one in options_of(known)
        )

    def default_count(self, name: str) -> int | None:
        """An integer argument as it is when nobody configures another: a literal, or the default of an option; None
        where it is not known. What the constructor itself defaults to where ``num_workers`` is absent."""
        known = self.get(name)
        if known == ABSENT:
            return self.constructor.default_workers if name == "num_workers" else None
        if isinstance(known, Configured):
            known = known.default
        counts = [one.value for one in options_of(known) if isinstance(one, Constant) and isinstance(one.value, int)]
        return max(counts) if counts else None

    def origins(self, name: str) -> list[Origin]:
        """The places where the literal values of an argument stand."""
        found: list[Origin] = []
        for value in options_of(self.get(name)):
            inner = value.default if isinstance(value, Configured) else value
            if isinstance(inner, Constant) and inner.origin is not None:
                found.append(inner.origin)
        return found

    def keyword_edit(self, name: str, expression: str) -> Edit | None:
        """The edit that gives the call one more keyword; None where it splats arguments."""
        return add_keyword(self.document, self.node, name, expression)


@dataclass(frozen=True, slots=True)
class TransferContext:
    """A transfer as it happens when reached in one particular way.

    Attributes:
        source: where the object lived before.
        destination: the device kinds that it goes to; empty where the call moves nothing.
        loader: whose batch it is, and path: which element of it.
        proven: whether the receiver is certainly a plain tensor.
        loop: the innermost loop over a loader that it happens in.
        receiver: what is moved.
        target: the value of the device expression.
        casts: whether the call changes the dtype too.
        functions: names of the project's functions around it, outermost first.
    """

    source: Place
    destination: Place
    loader: LoaderCall | None
    path: tuple[object, ...]
    proven: bool
    loop: Loop | None
    receiver: Value
    target: Value
    casts: bool
    functions: tuple[str, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        """All kinds of device that it goes to."""
        return _union(self.destination)


@dataclass(eq=False, slots=True)
class Transfer:
    """A call that moves a tensor or module between devices.

    Attributes:
        method: ``to``, ``cuda``, ``type``...
        device: the device expression, where there is one.
        non_blocking: the value of the argument; ABSENT where it is not given.
        discarded: the result is not used (the call is a statement by itself).
        framework: the framework whose class the call stands in, if any.
        statement: the statement that the call stands in.
    """

    document: Document
    node: cst.Call
    method: str
    device: cst.BaseExpression | None
    non_blocking: Value
    discarded: bool
    framework: str | None
    statement: cst.CSTNode
    contexts: list[TransferContext] = field(default_factory=list)

    @property
    def kinds(self) -> frozenset[str]:
        """All kinds of device that it moves something to."""
        return _union(context.kinds for context in self.contexts)

    @property
    def waits(self) -> bool:
        """Whether it certainly is not asynchronous: ``non_blocking`` is not given."""
        return self.non_blocking == ABSENT

    def keyword_edit(self, name: str, expression: str) -> Edit | None:
        """The edit that gives the call one more keyword; None where it splats arguments."""
        return add_keyword(self.document, self.node, name, expression)


@dataclass(frozen=True, slots=True)
class ArgumentPlace:
    """An argument of a module's call, and where it lives."""

    node: cst.BaseExpression
    value: Value


@dataclass(frozen=True, slots=True)
class ModuleCallContext:
    """A module's call as it happens when reached in one particular way: where it lives, what it is given, whether
    ``eval()`` put it in evaluation mode before, and the context managers and decorators around it."""

    module: Value
    place: Place
    escaped: bool
    wrapper: str | None
    arguments: tuple[ArgumentPlace, ...]
    loop: Loop | None
    evaluating: bool = False
    around: tuple[Value, ...] = ()


@dataclass(eq=False, slots=True)
class ModuleCall:
    """A call of an ``nn.Module``, or of a loss in ``torch.nn.functional``, on tensors."""

    document: Document
    node: cst.Call
    loss: bool
    framework: str | None
    contexts: list[ModuleCallContext] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class DeviceName:
    """A name that was bound to a device which can be an accelerator."""

    document: Document
    node: cst.BaseExpression
    """The target of the assignment."""
    name: str
    kinds: frozenset[str]
    scope: Scope


@dataclass(eq=False, slots=True)
class Facts:
    """What one document means for an accelerator.

    Attributes:
        loaders, transfers, loops, module_calls: in the order in which they were met.
        operations: what the program does with libraries, in the order in which it was met.
        devices: names bound to a device that can be an accelerator.
        placed: whether anything in the program is, or may be, put on an accelerator.
        trains: whether any loop of the program runs ``backward`` and an optimizer.
        frameworks: those that the program uses (``lightning``, ``accelerate``...).
        evidence: whether this document, or one that calls into it, shows that a CUDA device is meant (rules.md 0.2).
        torch_name: what ``import torch`` is called at the top of this document; None where it is not imported so.
        reflects: whether names may be read by their text (``globals()``, ``eval``).
        consulted: other files of the project that were read to find this out.
        torch_version: the oldest torch that the project supports; None where it does not say.
        program: the facts of this document, of those that it imports, and of those that import it with theirs.
        least_python: the oldest Python that the project says it supports, as (major, minor), if it says so.
    """

    document: Document
    loaders: list[LoaderCall] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    module_calls: list[ModuleCall] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    devices: list[DeviceName] = field(default_factory=list)
    placed: bool = False
    trains: bool = False
    frameworks: frozenset[str] = frozenset()
    evidence: bool = False
    torch_name: str | None = None
    reflects: bool = False
    consulted: frozenset[str] = frozenset()
    torch_version: tuple[int, int] | None = None
    program: tuple[Facts, ...] = ()
    least_python: tuple[int, int] | None = None

    @property
    def trains_in_parallel(self) -> bool:
        """Whether the program itself, and no framework, wraps a model for training in several processes."""
        wrapped = self.does(*PARALLEL_WRAPPERS)
        return wrapped and self.does("torch.distributed.init_process_group") and not self.frameworks

    def does(self, *names: str) -> bool:
        """Whether any document of the program has an operation of one of these names; a name that begins with a dot
        stands for a method of any receiver."""
        return any(
            operation.name == name or (name[0] == "." and operation.name.endswith(name))
            for facts in self.program
            for operation in facts.operations
            for name in names
        )

    def named(self, names: Iterable[str]) -> list[Operation]:
        """The operations of this document that have one of these names."""
        wanted = frozenset(names)
        return [operation for operation in self.operations if operation.name in wanted]

    def supports(self, version: tuple[int, int]) -> bool:
        """Whether the project can rely on what came with a version of torch; yes where it does not say."""
        return self.torch_version is None or self.torch_version >= version

    def reads(self, name: str) -> bool:
        """Whether a name is used anywhere in the document beyond being bound: as a token, or inside a string."""
        tokens = list(tokenize.generate_tokens(io.StringIO(self.document.text).readline))
        word = re.compile(rf"\b{re.escape(name)}\b")
        uses = 0
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.type == tokenize.STRING and word.search(token.string):
                return True
            if token.type == tokenize.NAME and token.string == name:
                uses += before is None or before.string != "."
        return uses > sum(device.name == name for device in self.devices)


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset(kind for kinds in sets for kind in kinds)
