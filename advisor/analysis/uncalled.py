"""Functions that nothing in a program calls: what they do with arguments that are not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import libcst as cst

from accel_advisor.analysis.receivers import Receivers
from accel_advisor.analysis.step_functions import calls_steps, is_step_of_optimizer, is_step_of_training
from accel_advisor.analysis.unknown_models import UnknownModels
from accel_advisor.interpreter.arguments import Arguments
from accel_advisor.interpreter.frames import Entry, NamedCall
from accel_advisor.interpreter.interpreter import Interpreter
from accel_advisor.interpreter.loader_batches import holds_host_batch
from accel_advisor.interpreter.parameters import bind_parameters, takes, takes_what_it_is_given
from accel_advisor.interpreter.resolution import builds_modules, class_member, parts_of
from accel_advisor.records.around import NOTHING, Surroundings
from accel_advisor.records.conditions import Condition
from accel_advisor.records.loops import Loop
from accel_advisor.records.operations import Argument
from accel_advisor.syntax.model_names import is_class_of_losses
from accel_advisor.syntax.shapes import dotted, last_name, methods_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.tensor_methods import TENSOR_CLASSES
from accel_advisor.values.autograd_state import decorators_around, may_stop_autograd
from accel_advisor.values.evidence import Evidence, Ground
from accel_advisor.values.places import place_of_input
from accel_advisor.values.values import (
    UNKNOWN,
    Class,
    Constant,
    Function,
    Iterated,
    Module,
    Qualified,
    Tensor,
    Value,
    join,
)

_EVALUATES = re.compile(r"(?:Eval(?:uation|uator)?|Infer(?:ence|er)?)(?![a-z])")

_ONLY_TENSORS = frozenset("view size unsqueeze squeeze expand permute masked_fill dim byte bool long float".split())
"""Methods that only tensors have among what a model is given."""
_UNKNOWN_ARGUMENTS = Arguments(None, open=True, starred=True)
_MOST_MEANT, _MOST_OF_ONE_BASE, _MOST_RUNS = 8, 32, 3
"""Functions that a name may mean where it is called on something unknown, methods that it may mean where all are of
classes with one base, and loops in which each of them is run for that: a name that more of them have says nothing."""


class Uncalled:
    """Interprets functions that nothing called, or that were not followed in every call, with unknown arguments.

    Args:
        machine: what has interpreted the modules of the program.
        wanted: the files whose functions are to be interpreted.
        guarded: interprets something in a file, as far as it can be.
    """

    def __init__(
        self, machine: Interpreter, wanted: frozenset[str], guarded: Callable[[str, Callable[[], object]], None]
    ) -> None:
        self._machine = machine
        self._wanted = wanted
        self._guarded = guarded
        self._receivers = Receivers(machine)
        self._overridden: set[tuple[Class, str]] = set()
        self._entered: set[tuple[Function, Class]] = set()
        self._alone: set[Function] = set()
        self._in_training: set[Function] = set()
        self._sometimes: list[Entry] = []
        self._runs_by_name: dict[Function, set[Loop]] = {}
        self._indexed = 0
        self._named: dict[str, list[Function]] = {}
        self._methods: dict[Class, dict[str, Function]] = {}
        self._mentions: dict[Function, set[str]] = {}
        self._unknown = UnknownModels(machine.recorder.called)

    def interpret(self) -> None:
        """First those that no other one of them mentions; then those that train, and methods, those of what has no
        ``forward`` first, so that the steps of a training are known before its modules are looked at."""
        functions, done = self._machine.functions, 0
        while done < len(functions):
            here = [one for one in functions[done:] if one.document.path in self._wanted or self._is_asked(one)]
            batch = [one for one in here if self._is_left(one)]
            done = len(functions)
            names = {function: _names_in(function) for function in batch}
            mentioned = {name for each in names.values() for name in each}
            roots = [one for one in batch if one.owner is None and one.name not in mentioned]
            methods = [one for one in batch if one.owner is not None]
            modules = {one.owner for one in methods if one.name == "forward"}
            methods.sort(key=lambda one: one.owner in modules)
            rest = [one for one in batch if one.owner is None and one.name in mentioned]
            training = _that_train(rest, names)
            self._receivers = Receivers(self._machine)
            self._machine.part_of = self._receivers.part_of
            below = [(one, methods_of(one.node)) for one in self._machine.classes]
            self._overridden = {(base, name) for one, names in below for base in one.lineage()[1:] for name in names}
            self._run_steps()
            hooks = self._machine.recorder.called.hooks
            # which loops train is known last, and what calls several steps in turn is one step
            for function in sorted(
                (*roots, *training, *methods, *rest), key=lambda one: (one in hooks, not calls_steps(one))
            ):
                for way in self._ways_to(function):
                    self._run(way, again=True)
                for way in self._ways_through_bases(function):
                    self._run(way, again=True, cls=function.owner)
                if self._is_left(function):
                    around = self._around(function)
                    self._run(function, around)
                    if not around.loops:
                        self._alone.add(function)
                self._run_steps()

    def _index(self) -> None:
        """Brings the indexes of functions by their names, and of methods by their classes, up to date."""
        functions = self._machine.functions
        for one in functions[self._indexed :]:
            if one.document.path in self._wanted and one.scope.kind != "function":
                self._named.setdefault(one.name, []).append(one)
            if one.owner is not None and one.name != "__init__":
                self._methods.setdefault(one.owner, {})[one.name] = one
        self._indexed = len(functions)

    def _is_left(self, function: Function) -> bool:
        return id(function.node) not in self._machine.called or id(function.node) in self._machine.truncated

    def _is_asked(self, function: Function) -> bool:
        """Whether it is the ``forward`` of a module that a file which was asked for calls, wherever it is defined."""
        return function.name == "forward" and function.owner in self._machine.recorder.called.classes

    def _ways_to(self, function: Function) -> Iterator[Function]:
        """The methods through which an object of a class reaches one of its own that is left because another class
        overrides it: they were followed on objects of that class alone."""
        owner = function.owner
        if owner is None or not self._is_left(function) or (owner, function.name) not in self._overridden:
            return
        own = [one for one in self._machine.functions if one.owner is owner and not self._is_left(one)]
        roots = _roots_to(function.name, {one.name: _names_in(one) for one in own})
        yield from (one for one in own if one.name in roots)

    def _ways_through_bases(self, function: Function) -> Iterator[Function]:
        """The methods of bases through which an object of a class that nothing builds reaches one of its own."""
        owner = function.owner
        bases = owner.lineage()[1:] if owner is not None else ()
        if owner is None or not bases or not self._is_left(function) or function.name == "__init__":
            return
        self._index()
        methods: dict[str, Function] = {}
        for cls in (*reversed(bases), owner):
            methods |= self._methods.get(cls, {})
        for method in methods.values():
            if method not in self._mentions:
                self._mentions[method] = _names_in(method)
        roots = _roots_to(function.name, {name: self._mentions[method] for name, method in methods.items()})
        yield from (method for name, method in methods.items() if name in roots and method.owner is not owner)

    def _around(self, function: Function) -> Surroundings:
        """What is around a function that nothing calls: nothing that is known. But where a training calls a model of
        which nothing is known, the ``forward`` of a module that nothing else calls is likely to be what runs there, or
        a part of it; so is that of a loss where a loss is called of which nothing is known."""
        cls, called = function.owner, self._machine.recorder.called
        if is_step_of_optimizer(function):
            return Surroundings(loops=(called.steps_of(function),), basis=Evidence.of(Ground.OPTIMIZER))
        if function in called.hooks:
            return self._around_hook(called.hooks[function])
        if is_step_of_training(function):
            return Surroundings(loops=(called.steps_of(function),), basis=Evidence.of(Ground.STEP))
        if function.name != "forward" or cls is None or cls in called.classes or not _trains(function):
            return NOTHING
        if not builds_modules(cls) and "?" not in cls.library_bases():
            return NOTHING
        around = self._unknown.training_with(function, losses=is_class_of_losses(cls.name))
        if around is None:
            return NOTHING
        # a choice between models says nothing of what happens in one of them
        telling = tuple([one for one in around.conditions if one.for_debugging or one.evaluates])
        return replace(around, conditions=telling, basis=around.basis | Evidence.of(Ground.CHOICE))

    def _around_hook(self, conditions: tuple[Condition, ...]) -> Surroundings:
        """What is around a hook: the first loop of the program that trains a model, if it has one."""
        loops = (one for facts in self._machine.recorder.facts.values() for one in facts.loops)
        training = [one for one in loops if one.learns and one.repeats and not one.goes_over_epochs]
        steps = next((one for one in training if one.updates), training[0] if training else None)
        if steps is None:
            return NOTHING
        return Surroundings((*reversed(steps.outer), steps), conditions, basis=Evidence.of(Ground.HOOK))

    def _run_steps(self) -> None:
        """Interprets what the loops of the program call of which nothing is known but a name, and each method of a
        module that a step of a training calls, within the loop that it was met in."""
        self._run_modules()
        while call := self._machine.recorder.called.take_named():
            for function in self._meant(call):
                runs = self._runs_by_name.setdefault(function, set())
                if len(runs) < _MOST_RUNS and call.around.loops[-1] not in runs:
                    runs.add(call.around.loops[-1])
                    around = replace(call.around, basis=call.around.basis | Evidence.of(Ground.CHOICE))
                    self._run(function, around, again=True, arguments=call.arguments)
                    if any(one.learns for one in around.loops):
                        self._machine.recorder.imported(call.document, function.document.path)
            self._run_modules()

    def _meant(self, call: NamedCall) -> list[Function]:
        """The functions of the program that a call of something unknown may mean in each pass of a loop: those of that
        name that take what it gives."""
        if not call.around.plain:
            return []
        self._index()
        named = self._named.get(call.name, ())
        bound = [(one, one.owner is not None and Qualified("staticmethod") not in one.decorators) for one in named]
        meant = [one for one, method in bound if takes(one, call.arguments, bound=method)]
        of_one_base = len({one if one.owner is None else one.owner.lineage()[-1] for one in meant}) == 1
        return meant if len(meant) <= (_MOST_OF_ONE_BASE if of_one_base else _MOST_MEANT) else []

    def _run_modules(self) -> None:
        """Interprets each method of a module that a step of a training calls, within the loop that it was met in: last
        those that only some passes of that loop call, as if each did."""
        called = self._machine.recorder.called
        while True:
            for entry in called.take():
                self._run_entry(entry)
            waiting = [one for one in self._sometimes if self._is_new_in_training(one)]
            if not waiting:
                return
            entry, *self._sometimes = waiting
            basis = entry.around.basis | Evidence.of(Ground.CHOICE)
            self._run_entry(replace(entry, around=replace(entry.around.in_all_passes, basis=basis)))

    def _is_new_in_training(self, entry: Entry) -> bool:
        """Whether the method was not interpreted within a training yet."""
        return class_member(self._machine, entry.cls, entry.method) not in self._in_training

    def _run_entry(self, entry: Entry) -> None:
        recorder = self._machine.recorder
        epochs = not any(one.loops for one in (*recorder.loaders, *recorder.evident_loaders))
        trains = entry.around.in_training(epochs=epochs)
        if not trains and entry.method == "forward" and entry.around.in_all_passes.in_training(epochs=epochs):
            self._sometimes.append(entry)
        method = class_member(self._machine, entry.cls, entry.method) if trains else None
        if not isinstance(method, Function):
            held = self._receivers.of(entry.cls) if trains and entry.method == "forward" else UNKNOWN
            for part in parts_of(self._machine, held) if isinstance(held, Module) else ():
                if isinstance(part, Module) and part.cls is not None:
                    recorder.called.note(part.cls, "forward", entry.around, graphs=True)
            return
        # what a base defines calls what each class below it overrides
        inherited = method.owner is not entry.cls
        again = (entry.followed is not None or inherited) and (method, entry.cls) not in self._entered
        again |= method in self._alone or method not in self._in_training
        if again or self._is_left(method):
            self._entered.add((method, entry.cls))
            self._alone.discard(method)
            self._in_training.add(method)
            given = _tensors_in(entry.followed) if takes_what_it_is_given(method) else _UNKNOWN_ARGUMENTS
            self._run(method, entry.around, again=again, arguments=given, cls=entry.cls)

    def _run(
        self,
        function: Function,
        around: Surroundings = NOTHING,
        *,
        again: bool = False,
        arguments: Arguments = _UNKNOWN_ARGUMENTS,
        cls: Class | None = None,
    ) -> None:
        """Interprets one function, unless something in the way cannot be."""
        run = partial(self._run_alone, function, around, again=again, arguments=arguments, cls=cls or function.owner)
        if function.document.path in self._wanted:
            self._guarded(function.document.path, run)
            return
        with self._machine.allowed_beside.strictly() as has_steps:
            if has_steps:
                self._guarded(function.document.path, run)

    def _run_alone(
        self, function: Function, around: Surroundings, *, again: bool, arguments: Arguments, cls: Class | None
    ) -> None:
        """Interprets one function; a method, on an object of a class that was built with unknown arguments."""
        machine = self._machine
        receiver: Value | None = None
        if cls is not None:
            receiver = machine.recorder.called.handed_out.get(function) if cls is function.owner else None
            receiver = receiver or self._receivers.of(cls)
        if again or self._is_left(function):
            with machine.at_home(function.scope.globals, around):
                bound = bind_parameters(machine, function, arguments, receiver)
                if isinstance(receiver, Module) and function.name == "forward":
                    moved = _moved_in(function)
                    for name, value, annotated in _inputs(function):
                        if name in moved and holds_host_batch(bound.get(name, UNKNOWN)):
                            continue
                        bound[name] = value
                        if annotated:
                            machine.recorder.inputs.used_as_tensor(place_of_input(function.node, name))
                machine.inline(function, bound, None)


def _tensors_in(given: Arguments | None) -> Arguments:
    """What a call hands over that lives somewhere; another call may hand over other settings."""
    if given is None or given.open:
        return _UNKNOWN_ARGUMENTS
    places = [_tensor_or_unknown(one) for one in given.positional]
    named = {name: _tensor_or_unknown(one) for name, one in given.keywords.items()}
    return Arguments(None, places, named, open=True, starred=True)


def _tensor_or_unknown(given: Argument) -> Argument:
    return given if isinstance(given.value, Tensor) else replace(given, value=UNKNOWN)


def _roots_to(name: str, mentions: dict[str, set[str]]) -> set[str]:
    """The methods that lead to one of this name, each with the names that it mentions, and that none of these mentions
    itself."""
    reached = {name}
    while more := {one for one, names in mentions.items() if one not in reached and not names.isdisjoint(reached)}:
        reached |= more
    inner = {each for one in reached if one in mentions for each in mentions[one]}
    return (reached - inner) & mentions.keys()


def _trains(forward: Function) -> bool:
    """Whether no decorator of a ``forward`` keeps autograd from recording, and its class is not named for less."""
    less = forward.owner is not None and _EVALUATES.search(forward.owner.name)
    return not less and not any(map(may_stop_autograd, decorators_around(forward)))


def _inputs(forward: Function) -> Iterator[tuple[str, Value, bool]]:
    """Parameters of a module's ``forward`` that may be tensors, as what, and whether an annotation says that they are.
    Those that may be None are tensors where they are used as such (``mask.view(-1)``)."""
    used: set[str] | None = None
    if isinstance(forward.node.params.star_arg, cst.Param):
        name = forward.node.params.star_arg.name.value
        yield name, Iterated(Tensor(place_of_input(forward.node, f"*{name}"), proven=False)), False
    for param in forward.node.params.params[1:]:
        tensor = Tensor(place_of_input(forward.node, param.name.value), proven=False)
        annotation = param.annotation.annotation if param.annotation is not None else None
        plain = dotted(annotation) in TENSOR_CLASSES
        if param.default is None and (annotation is None or plain):
            yield param.name.value, tensor, plain
        elif isinstance(param.default, cst.Name) and param.default.value == "None" and annotation is None:
            if used is None:
                parts = descendants(forward.node.body, cst.Attribute)
                used = {dotted(one.value) for one in parts if one.attr.value in _ONLY_TENSORS}
            if param.name.value in used:
                yield param.name.value, join(Constant(None), tensor), False


def _moved_in(forward: Function) -> frozenset[str]:
    """The names in a ``forward`` of what it moves itself, or of which it moves a part."""
    moves = (one.func for one in descendants(forward.node.body, cst.Call) if last_name(one.func) in ("to", "cuda"))
    bases = [one.value for one in moves if isinstance(one, cst.Attribute)]
    while any(isinstance(one, cst.Subscript) for one in bases):
        bases = [one.value if isinstance(one, cst.Subscript) else one for one in bases]
    return frozenset(one.value for one in bases if isinstance(one, cst.Name))


def _that_train(functions: list[Function], names: dict[Function, set[str]]) -> list[Function]:
    """Those of some functions that compute gradients, or call others that do: callers first."""
    found, known = dict[Function, None](), {"backward"}
    while more := [one for one in functions if one not in found and not known.isdisjoint(names[one])]:
        found |= dict.fromkeys(more)
        known |= {one.name for one in more}
    return list(reversed(found))


def _names_in(function: Function) -> set[str]:
    own = function.name
    found = {one.value for one in descendants(function.node.body, cst.Name)}
    return found - {own}
