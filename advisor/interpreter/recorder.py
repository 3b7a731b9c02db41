"""Gathers what the interpreter sees into one record for each place in the source."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.interpreter.frames import CalledModules, Frame
from accel_advisor.interpreter.loader_batches import holds_host_batch, loaders_of
from accel_advisor.records.actions import Act, Action
from accel_advisor.records.call_graph import CallGraph
from accel_advisor.records.facts import (
    DeviceName,
    Facts,
    LoaderCall,
    Loop,
    ModuleCall,
    ModuleCallContext,
    Transfer,
    TransferContext,
)
from accel_advisor.records.inputs import Inputs
from accel_advisor.records.loaders import loader_of
from accel_advisor.records.loops import note_first, note_learning, note_step
from accel_advisor.records.operations import Argument, Operation, OperationContext
from accel_advisor.syntax.shapes import moves_itself, touches_devices
from accel_advisor.tables.frameworks import FRAMEWORK_CLASSES
from accel_advisor.tables.gpu_signs import names_gpu
from accel_advisor.tables.loader_libraries import CONSTRUCTORS, TORCH_LOADER, Constructor
from accel_advisor.values.values import (
    ABSENT,
    UNKNOWN,
    Birth,
    Choice,
    Class,
    Constant,
    Device,
    Instance,
    Loader,
    Module,
    Named,
    Qualified,
    SourceModule,
    Tensor,
    Value,
    join,
    options_of,
)

if TYPE_CHECKING:
    from accel_advisor.interpreter.arguments import Arguments
    from accel_advisor.source.document import Document
    from accel_advisor.values.evidence import Evidence
    from accel_advisor.values.scope import Scope

_OF_LIBRARIES = (Qualified, SourceModule, Class, Module, Tensor, Loader, Constant, Device)
"""What is certainly no object of a class of the project."""


class Recorder:
    """One run's records, by document and by node.

    Attributes:
        facts: the facts of each document that was interpreted, by its filename.
        inputs: what becomes of the inputs of each module.
        call_graph: which function is called from where.
        called: the modules that were called.
        written: attributes of data sets (or any instance) that code outside the class assigns, perhaps again and again.
        adjusted: attributes that it assigns once.
        changed: classes whose own methods assign attributes in a loop, after ``__init__``.
        asked: attributes of the objects of a class that code asks for by another name than ``self``; under None, those
            of what may be such an object.
        handed_over: tensors that were given, in a loop, to functions that are not known.
        samples: what data sets of the project give for an index.
        transfers, operations: what the program does, by the identity of the node.
        imports: the files of the project that a document imports, by its path.
        varying: the calls whose callee is not always the same function or class, by the identity of the node.
    """

    def __init__(self) -> None:
        self.facts: dict[str, Facts] = {}
        self.inputs = Inputs()
        self.call_graph = CallGraph()
        self.called = CalledModules()
        self.written: dict[Class, set[str]] = {}
        self.adjusted: dict[Class, set[str]] = {}
        self.changed: set[Class] = set()
        self.asked: dict[Class | None, set[str]] = {}
        self.handed_over: set[Birth] = set()
        self.samples: dict[Instance, Value] = {}
        self._loaders: dict[int, LoaderCall] = {}
        self._evident_loaders: dict[tuple[str, str], LoaderCall] = {}
        self.transfers: dict[int, Transfer] = {}
        self._loops: dict[int, Loop] = {}
        self._module_calls: dict[int, ModuleCall] = {}
        self.operations: dict[tuple[int, Action], Operation] = {}
        self._devices: dict[int, DeviceName] = {}
        self._evident_models: dict[cst.CSTNode, Module] = {}
        self._callees: dict[int, Value | None] = {}
        self.varying: set[int] = set()
        self.imports: dict[str, set[str]] = {}
        self._touching: dict[int, bool] = {}
        self._moving: dict[int, bool] = {}

    def begin(self, document: Document) -> None:
        """A document is about to be interpreted."""
        self.facts.setdefault(document.filename, Facts(document, inputs=self.inputs, call_graph=self.call_graph))

    def imported(self, document: Document, filename: str | None) -> None:
        """A document imports a file of the project, if it is one."""
        if filename is not None:
            self.imports.setdefault(document.path, set()).add(filename)

    # -- what a program names

    def gpu_named(self, document: Document) -> None:
        """Something in the document shows that a CUDA device is meant."""
        self.facts[document.filename].names_gpu = True

    def name_used(self, document: Document, name: str) -> None:
        """A library object was named."""
        if names_gpu(name):
            self.gpu_named(document)

    def framework(self, document: Document, name: str) -> None:
        """A framework that moves batches is in use."""
        facts = self.facts[document.filename]
        facts.own_frameworks |= {name}
        facts.names_gpu = True

    def evident_model(self, document: Document, target: cst.Name | cst.Attribute) -> Module:
        """The model that is bound here, of which nothing is known but how it is used."""
        return self._evident_models.setdefault(target, Module(document, target, ""))

    def package_imported(self, document: Document, name: str) -> None:
        """A module is imported, or something in it."""
        self.facts[document.filename].packages.add(name.partition(".")[0])

    def torch_imported(self, document: Document, name: str) -> None:
        """``torch`` is bound to a global name."""
        self.facts[document.filename].torch_name = name

    def reflects(self, document: Document) -> None:
        """Names may be read by their text."""
        self.facts[document.filename].reflects = True

    def attribute_read(self, owner: Value, name: str) -> None:
        """Code asks for an attribute of something."""
        for one in options_of(owner):
            if not isinstance(one, _OF_LIBRARIES):
                self.asked.setdefault(one.cls if isinstance(one, Instance) else None, set()).add(name)

    def attribute_assigned(self, document: Document, target: cst.BaseExpression) -> None:
        """An attribute is assigned, or something in it is."""
        while type(target) is cst.Attribute:
            self.facts[document.filename].assigned.add(target.attr.value)
            target = target.value

    # -- loaders and loops

    @property
    def loaders(self) -> list[LoaderCall]:
        """All loaders, in the order in which they were met."""
        return list(self._loaders.values())

    def loader(self, frame: Frame, node: cst.Call, constructor: Constructor) -> LoaderCall:
        """The record of the loader that a call builds."""
        known = self._loaders.get(id(node))
        if known is None:
            known = LoaderCall(frame.document, node, constructor)
            self._loaders[id(node)] = known
            self.facts[frame.document.filename].loaders.append(known)
        return known

    @property
    def evident_loaders(self) -> list[LoaderCall]:
        """The loaders that nothing in sight builds, in the order in which they were met."""
        return list(self._evident_loaders.values())

    def evident_loader(self, frame: Frame, name: str, node: cst.BaseExpression, basis: Evidence) -> LoaderCall:
        """The record of a loader that nothing in sight builds: one for each name in a document. It is none of the
        document's loaders, since there is no call to advise on."""
        key = (frame.document.filename, name)
        known = self._evident_loaders.get(key)
        if known is None:
            call = cst.Call(node)
            known = LoaderCall(frame.document, call, CONSTRUCTORS[TORCH_LOADER], name, opaque=True, basis=basis)
            self._evident_loaders[key] = known
        return known

    def loop(self, frame: Frame, node: cst.CSTNode) -> Loop:
        """The record of a loop that begins."""
        known = self._loops.get(id(node))
        if known is None:
            known = Loop(frame.document, node, frame.function_names, frame.loop)
            self._loops[id(node)] = known
            self.facts[frame.document.filename].loops.append(known)
        known.parent = known.parent or frame.loop
        known.function = frame.function.node if frame.function is not None else None
        guarded = any(frame.loop and one.varies is frame.loop and not one.ordinary for one in frame.conditions)
        known.guarded |= guarded
        known.periodic |= guarded and frame.every is not None
        return known

    def take(self, loop: Loop, loaders: list[LoaderCall]) -> None:
        """A loop takes its batches from these loaders."""
        for loader in loaders:
            if loader not in loop.loaders:
                loop.loaders.append(loader)
            if loop not in loader.loops:
                loader.loops.append(loop)

    def go_over(self, frame: Frame, loop: Loop, element: Value) -> None:
        """A loop has ``element`` in each of its turns: batches of loaders, or parts of one batch."""
        self.take(loop, loaders_of(element))
        loop.from_host |= holds_host_batch(element)
        for loader in loaders_of(element, whole=True):
            if loop not in loader.passes:
                loader.passes.append(loop)
            turns = loader.around
            for inner, outer in pairwise(reversed(frame.loops)):
                if inner.guarded and not inner.periodic:
                    break
                turns = loader.now_and_then if inner.guarded else turns
                if outer not in turns:
                    turns.append(outer)

    def take_one(self, frame: Frame, element: Value) -> None:
        """``next(iterator)``: the loop around it takes batches; but one that takes the first of a loader, for a loop
        within it to begin with, or one more behind a loop within it that learns from them all, is no loop over batches
        for that."""
        if not frame.loops:
            return
        around = frame.loops[-1]
        loaders = [
            one for one in loaders_of(element) if not any(it.learns and it.is_within(around) for it in one.loops)
        ]
        for loader in loaders:
            for loop in note_first(frame.loops, loader, frame.function_names):
                loader.loops.remove(loop)
        self.take(around, loaders)

    def backward(self, frame: Frame, *, forgets: bool = False) -> None:
        """The model learns here, or forgets old gradients."""
        note_learning(frame.loops, frame.conditions, forgets=forgets)

    def update(self, frame: Frame, *, scheduled: bool) -> None:
        """Something takes a step here: the learning rate alone where it is ``scheduled``."""
        note_step(frame.loops, frame.conditions, scheduled=scheduled)

    def model_called(self, frame: Frame) -> None:
        """A model is called on a batch here."""
        graphs = frame.graphs
        for loop in reversed(frame.loops):
            loop.calls_model = True
            loop.graphs |= graphs
            if loop.loaders:
                break
        if not graphs:
            self.autograd_stopped(frame.loops)

    def autograd_stopped(self, loops: tuple[Loop, ...]) -> None:
        """What is computed here may not be recorded by autograd."""
        for loop in reversed(loops):
            loop.graph_free = True
            if loop.loaders:
                break

    # -- transfers and calls

    def transfer(
        self,
        frame: Frame,
        node: cst.Call,
        method: str,
        device: cst.BaseExpression | None,
        non_blocking: Value | None,
        context: TransferContext,
        unsure: bool,
    ) -> None:
        """A call moves something, in one more way."""
        facts = self.facts[frame.document.filename]
        given = UNKNOWN if unsure and non_blocking is None else (ABSENT if non_blocking is None else non_blocking)
        known = self.transfers.get(id(node))
        if known is None:
            known = Transfer(
                frame.document,
                node,
                method,
                device,
                given,
                frame.discarding and not method.endswith("_"),
                _framework_around(frame),
                frame.statement or node,
            )
            self.transfers[id(node)] = known
            facts.transfers.append(known)
        known.non_blocking = join(known.non_blocking, given)
        if context not in known.contexts:
            known.contexts.append(context)
        loader = loader_of(context.loader)
        if loader is not None and known not in loader.transfers:
            loader.transfers.append(known)

    def operation(
        self,
        frame: Frame,
        node: cst.CSTNode,
        what: Action,
        receiver: Value | None = None,
        arguments: Arguments | None = None,
        value: Value | None = None,
    ) -> None:
        """The program does something with a library, in one more way; ``value`` is what an assignment gives."""
        frame.run.clock.operation(what, frame.loops)
        given: list[tuple[str | int, Argument]] = []
        if arguments is not None:
            given += list(enumerate(arguments.positional))
            given += list(arguments.keywords.items())
        if value is not None:
            given.append((0, Argument(value)))
        context = OperationContext(
            receiver=receiver,
            arguments=tuple(given),
            open=arguments is not None and arguments.open,
            loop=frame.batch_loop,
            loops=frame.loops[::-1],
            conditions=frame.conditions,
            around=frame.around,
            functions=frame.function_names,
            every=frame.every,
            basis=frame.run.basis,
        )
        known = self.operations.get((id(node), what))
        if known is None:
            statement, framework = frame.statement or node, _framework_around(frame)
            around = frame.function.node if frame.function is not None else None
            known = Operation(frame.document, node, what, frame.discarding, framework, statement, around)
            self.operations[id(node), what] = known
            self.facts[frame.document.filename].operations.append(known)
        known.happens(context, frame.chain)

    def index(self, frame: Frame, node: cst.Subscript, key: Value, of: Value = UNKNOWN, *, sure: bool = False) -> None:
        """Something is indexed: a tensor without dimensions, or that is ``sure`` to end a slice, becomes a number."""
        if isinstance(key, Tensor) and (sure or key.scalar) and not key.mask:
            self.operation(frame, node, Act.INDEXES_BY_NUMBER, key)
        elif isinstance(of, Tensor) and of.scalar and isinstance(key, Constant) and key.value == 0:
            self.operation(frame, node, Act.READS_FIRST, of)

    def callee(self, node: cst.Call, callee: Value) -> None:
        """What a call calls, in one more way."""
        known = callee if isinstance(callee, (Qualified, Class)) else None
        if isinstance(callee, (Choice, Named)) or self._callees.setdefault(id(node), known) != known:
            self.varying.add(id(node))

    def module_call(self, frame: Frame, node: cst.Call, loss: bool, context: ModuleCallContext) -> None:
        """A module is called, in one more way."""
        known = self._module_calls.get(id(node))
        if known is None:
            known = ModuleCall(frame.document, node, loss, _framework_around(frame))
            self._module_calls[id(node)] = known
            self.facts[frame.document.filename].module_calls.append(known)
        if context not in known.contexts:
            known.contexts.append(context)

    def device_name(self, document: Document, node: cst.Name, kinds: frozenset[str], scope: Scope) -> None:
        """A name was bound to a device that can be an accelerator."""
        if id(node) not in self._devices:
            record = DeviceName(document, node, node.value, kinds, scope)
            self._devices[id(node)] = record
            self.facts[document.filename].devices.append(record)

    # -- classes

    def moves_itself(self, cls: Class) -> bool:
        """Whether a module's class, or a base of it in the project, moves itself outside of ``forward``."""
        known = self._moving.get(id(cls.node))
        if known is None:
            known = self._moving[id(cls.node)] = any(moves_itself(one.node) for one in cls.lineage())
        return known

    def touches_devices(self, cls: Class) -> bool:
        """Whether a class, or a base of it in the project, moves things between devices by itself."""
        known = self._touching.get(id(cls.node))
        if known is None:
            known = any(touches_devices(one.node) for one in cls.lineage()) or "?" in cls.library_bases()
            self._touching[id(cls.node)] = known
        return known


def _framework_around(frame: Frame) -> str | None:
    """The framework whose class the code that is being interpreted belongs to."""
    for function in reversed(frame.functions):
        for base in sorted(function.owner.library_bases()) if function.owner is not None else ():
            if base in FRAMEWORK_CLASSES:
                return FRAMEWORK_CLASSES[base]
    return None
