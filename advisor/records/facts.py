"""The records that rules read: what one document means for an accelerator."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from accel_advisor.project.target import Target, Version
from accel_advisor.records.actions import AnyCall, Asked, Call, calls
from accel_advisor.records.call_graph import CallGraph, CallSite
from accel_advisor.records.inputs import Inputs
from accel_advisor.records.layers import Layers
from accel_advisor.records.loaders import LoaderCall, LoaderContext
from accel_advisor.records.loops import Loop
from accel_advisor.records.operations import Argument, Operation
from accel_advisor.records.transfers import ArgumentPlace, ModuleCall, ModuleCallContext, Transfer, TransferContext
from accel_advisor.syntax.imports import full_name, imported_names
from accel_advisor.syntax.shapes import dotted, last_name, mentioned_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.frameworks import FRAMEWORK_CLASSES, LIBRARIES, ON_HOST
from accel_advisor.tables.torch_functions import SETS_DEFAULT_DEVICE
from accel_advisor.tables.torch_modules import PARALLEL_WRAPPERS
from accel_advisor.values.places import union_of
from accel_advisor.values.values import Device, Module

if TYPE_CHECKING:
    from accel_advisor.source.document import Document
    from accel_advisor.values.scope import Scope
    from accel_advisor.values.values import Birth


__all__ = [
    "Argument",
    "ArgumentPlace",
    "CallSite",
    "DeviceName",
    "Facts",
    "LoaderCall",
    "LoaderContext",
    "Loop",
    "ModuleCall",
    "ModuleCallContext",
    "Operation",
    "Transfer",
    "TransferContext",
]

Found = TypeVar("Found")

_SHOWS = frozenset({"print", "info", "debug", "warning", "format", "str", "repr"})
"""Calls that do nothing but show what they are given."""


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
        own_frameworks: those that this document uses itself.
        names_gpu: whether this document shows that a CUDA device is meant.
        torch_name: what ``import torch`` is called at the top of this document; None where it is not imported so.
        reflects: whether names may be read by their text (``globals()``, ``eval``).
        consulted: other files of the project that were read to find this out.
        layers: what modules are made of.
        program: the facts of this document, of those that it imports, and of those that import it with theirs.
        inputs: what becomes of the inputs of each module.
        call_graph: which function of the project is called from where.
        target: what the project runs on, as far as it says so.
        packages: the packages that this document imports something of, by their own names.
        assigned: names of the attributes, of whatever it may be, that this document assigns, or something in them.
        handed_over: tensors that the program gives, in a loop, to functions that are not known and may change them.
    """

    document: Document
    loaders: list[LoaderCall] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    module_calls: list[ModuleCall] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    devices: list[DeviceName] = field(default_factory=list)
    own_frameworks: frozenset[str] = frozenset()
    names_gpu: bool = False
    torch_name: str | None = None
    reflects: bool = False
    consulted: frozenset[str] = frozenset()
    layers: Layers = field(init=False)
    program: Program = field(default_factory=lambda: Program())
    inputs: Inputs = field(default_factory=Inputs)
    call_graph: CallGraph = field(default_factory=CallGraph)
    target: Target = field(default_factory=Target)
    packages: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    handed_over: frozenset[Birth] = frozenset()
    _places: dict[Asked, list[int]] | None = field(default=None, init=False, repr=False)
    _found: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    @property
    def frameworks(self) -> frozenset[str]:
        """The frameworks that the program uses (``lightning``, ``accelerate``...)."""
        return self.program.frameworks

    @property
    def trains(self) -> bool:
        """Whether any loop of the program runs ``backward`` and an optimizer."""
        return self.program.trains

    @property
    def names_gpu_anywhere(self) -> bool:
        """Whether a document of the program shows that a CUDA device is meant."""
        return self.program.names_gpu

    @property
    def placed(self) -> bool:
        """Whether anything in the program is, or may be, put on an accelerator."""
        return self.program.placed

    @property
    def wraps_in_parallel(self) -> bool:
        """Whether the program wraps a model for training in several processes (DDP, FSDP...)."""
        return self.does(*calls(*PARALLEL_WRAPPERS))

    @property
    def trains_in_parallel(self) -> bool:
        """Whether the program itself, and no framework, wraps a model for training in several processes."""
        return (
            self.wraps_in_parallel and self.does(Call("torch.distributed.init_process_group")) and not self.frameworks
        )

    def derives_from(self, *bases: str) -> bool:
        """Whether a class of the program has one of these classes of libraries, by their full names, as a base."""
        return any(not one.document.once(_library_bases).isdisjoint(bases) for one in self.program)

    def names_device(self, kind: str) -> bool:
        """Whether a name anywhere in the program is bound to a device that can be of this kind."""
        return any(kind in device.kinds for one in self.program for device in one.devices)

    def is_used(self, definition: cst.FunctionDef | cst.ClassDef) -> bool:
        """Whether anything may use a function or class of this document: its name is read outside of it, or may be read
        by its text, or by another document."""
        name = definition.name.value
        outside = self.document.once(mentioned_in)[name] > mentioned_in(definition)[name]
        return outside or self.reflects or self.is_read_elsewhere(name)

    def is_read_elsewhere(self, name: str) -> bool:
        """Whether another document of the program imports a name, or all names, or reads it as an attribute of what
        may be this module."""
        others = [one.document for one in self.program if one.document is not self.document]
        return any(_may_read(other, self.document.filename, name) for other in others)

    def must_be_with_weights(self, argument: ArgumentPlace) -> bool:
        """Whether an argument of a module's call certainly meets the module's weights, unmoved."""
        return self.inputs.reaches_weights(argument.becomes)

    def moves_to_gpu(self, argument: ArgumentPlace) -> bool:
        """Whether the module whose input an argument becomes certainly combines its weights with what it moved to a
        GPU itself."""
        return self.inputs.must_be_on_gpu(argument.becomes)

    def does(self, *asked: Asked) -> bool:
        """Whether any document of the program does one of these. Asked when everything is known: by rules, not by the
        interpreter."""
        return not self.program.done.isdisjoint(asked)

    def once(self, find: Callable[[Facts], Found]) -> Found:
        """What a function finds in this document. It is called once, though each of the programs that the document is
        a part of may ask."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]  # type: ignore[return-value]

    def forget(self) -> None:
        """Forgets what was found, some of which knows these facts."""
        self._found.clear()

    def operations_of(self, *asked: Asked) -> list[Operation]:
        """The operations of this document that do one of these, in the order in which they were met."""
        places = self.places
        there = places.keys() & asked  # most rules ask for much that a document does not do
        return [self.operations[at] for at in sorted({at for one in there for at in places[one]})] if there else []

    @property
    def places(self) -> dict[Asked, list[int]]:
        """Where in :attr:`operations` each action, and what covers it, is found."""
        if self._places is None:
            self._places = {}
            for at, operation in enumerate(self.operations):
                for one in operation.what.answers:
                    self._places.setdefault(one, []).append(at)
        return self._places

    def device_kinds(self, module: Module) -> frozenset[str]:
        """All kinds of device that the program moves a module to, by itself and not as a part of another one."""
        contexts = [context for one in self.program for transfer in one.transfers for context in transfer.contexts]
        moves = ((one.receiver, one.kinds) for one in contexts)
        return union_of(kinds for moved, kinds in moves if isinstance(moved, Module) and moved.plain is module.plain)

    def supports(self, version: Version, package: str = "torch") -> bool:
        """Whether what came with a version of torch, or of another library, is worth saying: yes, unless a pin or an
        upper bound of the project rules that version out. It may allow older ones beside it."""
        return not self.target.rules_out(package, version)

    def allows_before(self, version: Version, package: str = "torch") -> bool:
        """Whether the project says that it may run with a version of torch, or of another library, before this one."""
        return self.target.allows_before(package, version)

    def needs(self, version: Version) -> bool:
        """Whether the project says that it runs with a version of torch or later ones only."""
        return self.target.torch.all_from(version) is True

    def reads(self, name: str, *, beyond_print: bool = False) -> bool:
        """Whether a name is used anywhere in the document beyond being bound, and ``beyond_print`` beyond being shown
        to the user: as a token, or inside a string or a notebook's magic."""
        python = self.document.python
        word = re.compile(rf"\b{re.escape(name)}\b")
        if len(word.findall(self.document.text)) > len(word.findall(python)):
            return True
        tokens = list(tokenize.generate_tokens(io.StringIO(python).readline))
        uses = 0
        calls: list[str] = []
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.string in ("(", ")") and token.type == tokenize.OP:
                calls = [*calls, before.string if before is not None else ""] if token.string == "(" else calls[:-1]
            shown = bool(calls) and beyond_print and _SHOWS.issuperset(calls)
            if token.type == tokenize.STRING and word.search(token.string) and not shown:
                return True
            if token.type == tokenize.NAME and token.string == name and not shown:
                uses += before is None or before.string != "."
        return uses > sum(device.name == name for device in self.devices)


def _may_read(document: Document, filename: str, name: str) -> bool:
    path = Path(filename)
    module = path.parent.name if path.stem == "__init__" else path.stem
    if not document.once(_imported_from).get(module, frozenset()).isdisjoint((name, "*")):
        return True
    for node in descendants(document.tree, cst.Attribute) if name in document.today else ():
        if node.attr.value == name:
            owners = dotted(node.value), full_name(document.imported, node.value)
            elsewhere = owners[1].partition(".")[0] in LIBRARIES  # `nn.SiLU` of torch, beside a module `nn.py`
            if not elsewhere and any(one.rpartition(".")[2] == module for one in owners):
                return True
    return False


def _imported_from(tree: cst.Module) -> dict[str, frozenset[str]]:
    """The names, or a star, that a text imports from each module, by the last part of that one's name."""
    found: dict[str, frozenset[str]] = {}
    for one in descendants(tree, cst.ImportFrom):
        names = ["*"] if isinstance(one.names, cst.ImportStar) else [dotted(each.name) for each in one.names]
        module = last_name(one.module)
        found[module] = found.get(module, frozenset()).union(names)
    return found


class Program(tuple[Facts, ...]):
    """The facts of several documents that belong together, with indexes that are made when everything is known."""

    @cached_property
    def _found(self) -> dict[object, object]:
        return {}

    def once(self, find: Callable[[Program], Found]) -> Found:
        """What a function finds in the program. It is called once for all of its documents: what each of them asked
        again would cost a large program the square of its size."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]  # type: ignore[return-value]

    def forget(self) -> None:
        """Forgets what was found, some of which knows the program."""
        self._found.clear()

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks that any of the documents uses."""
        return frozenset().union(*(facts.own_frameworks for facts in self))

    @cached_property
    def on_host(self) -> frozenset[str]:
        """Those of them that every call which sets them up keeps on the host."""
        kept: dict[str, set[bool]] = {}
        for facts in self:
            for operation in facts.operations_of(*calls(*(name for name, _, _ in ON_HOST))):
                stays = any(operation.what.full == name and operation.gives(key, value) for name, key, value in ON_HOST)
                kept.setdefault(FRAMEWORK_CLASSES[operation.what.full], set()).add(stays)
        return frozenset(framework for framework, answers in kept.items() if answers == {True})

    @cached_property
    def names_gpu(self) -> bool:
        """Whether any document shows that a CUDA device is meant."""
        return any(facts.names_gpu for facts in self)

    @cached_property
    def moves_somewhere(self) -> bool:
        """Whether anything is moved to a device of which nothing is known."""
        contexts = (context for facts in self for one in facts.transfers for context in one.contexts)
        return any("unknown" in context.kinds for context in contexts)

    @cached_property
    def trains(self) -> bool:
        """Whether any loop runs ``backward`` and an optimizer."""
        return any(loop.backward for facts in self for loop in facts.loops)

    @cached_property
    def first_training(self) -> Loop | None:
        """The first loop that trains, as :meth:`trainings_but` orders them."""
        return next(iter(self.trainings_but(())), None)

    def trainings_but(self, documents: Collection[Document]) -> list[Loop]:
        """The loops that train, but for those in some documents: those that take batches before others, of both those
        in which an optimizer takes steps before others, and of each in the order of files."""
        found = (loop for facts in self for loop in facts.loops if loop.learns and loop.document not in documents)
        return sorted(
            found,
            key=lambda one: (not one.loaders, not one.updates, one.document.filename, one.document.order(one.node)),
        )

    @cached_property
    def placed(self) -> bool:
        """Whether anything is, or may be, put on an accelerator."""
        if self.frameworks or not self.done.isdisjoint(calls(*SETS_DEFAULT_DEVICE)):
            return True
        contexts = (context for facts in self for one in facts.transfers for context in one.contexts)
        if any(kinds != {"cpu"} for context in contexts for kinds in context.destination):
            return True
        if any(not one.lacks("device_map") for one in self.operations_of(AnyCall("from_pretrained"))):
            return True
        made = (context.around for facts in self for one in facts.operations for context in one.contexts)
        return any(isinstance(one, Device) and one.kinds != {"cpu"} for around in made for one in around)

    @cached_property
    def done(self) -> frozenset[Asked]:
        """All that is done, and the patterns that cover it."""
        return frozenset().union(*(facts.places for facts in self))

    @cached_property
    def calls_in(self) -> dict[Loop, list[tuple[ModuleCall, ModuleCallContext]]]:
        """The calls of modules and losses in each loop: those for which it is the innermost over a loader, or the
        innermost of all."""
        found: dict[Loop, list[tuple[ModuleCall, ModuleCallContext]]] = {}
        for call in (call for facts in self for call in facts.module_calls):
            for context in call.contexts:
                for loop in dict.fromkeys((context.loop, context.inner)):
                    if loop is not None:
                        found.setdefault(loop, []).append((call, context))
        return found

    @cached_property
    def _homes(self) -> dict[int, Document]:
        return {id(one): each.document for each in self for one in descendants(each.document.tree, cst.FunctionDef)}

    def document_of(self, function: cst.CSTNode | None) -> Document | None:
        """The document that a function stands in; None for the top of a module, and for what is not a part of this."""
        return self._homes.get(id(function))

    def operations_of(self, *asked: Asked) -> tuple[Operation, ...]:
        """The operations of all documents that do one of these."""
        if asked not in self._found:
            self._found[asked] = tuple(operation for facts in self for operation in facts.operations_of(*asked))
        return self._found[asked]  # type: ignore[return-value]


def _library_bases(tree: cst.Module) -> frozenset[str]:
    """The full names of the bases of a text's classes, as far as its imports bind them."""
    bases = [
        base.value for one in descendants(tree, cst.ClassDef) if isinstance(one, cst.ClassDef) for base in one.bases
    ]
    imported = imported_names(tree) if bases else {}
    return frozenset(full_name(imported, base) for base in bases)
