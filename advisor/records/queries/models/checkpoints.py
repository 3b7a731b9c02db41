"""Loads of checkpoints and models from files, and how they are told from loads of data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, Call, Sets, calls
from accel_advisor.records.queries.models.kept_checkpoints import (
    STATES_ON_HOST,
    TAKES_STATES,
    is_handed_on,
    keeps_host_state,
    kept_part,
)
from accel_advisor.syntax.shapes import dotted, main_guards, methods_of, words_of
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Program
    from accel_advisor.records.given import Given
    from accel_advisor.records.operations import Operation
    from accel_advisor.records.transfers import Transfer

_CHECKPOINT = frozenset(
    (
        "checkpoint checkpoints ckpt chkpt cpt model models net network weights pretrained backbone optimizer optim "
        "generator discriminator encoder decoder ema teacher student snapshot"
    ).split()
)
_PLAIN = frozenset("loaded load obj object pkg package state dict saved self res result content file f d x sd".split())
"""What names of things that were loaded say nothing with, so that the name of the file is asked."""
_OF_MODULES = frozenset("eval train parameters named_parameters state_dict load_state_dict modules".split())
"""Methods that show that what was loaded is a module or an optimizer; tensors have none of them."""
_LOAD, _SAVE = Call("torch.load"), Call("torch.save")
_STARTS_RANKS = calls("torch.distributed.init_process_group", "torch.multiprocessing.spawn")
_STARTS_PROCESSES = frozenset({"accelerate", "composer", "deepspeed", "lightning", "mmengine", "transformers"})
"""Frameworks that train in as many processes as the command that starts them says, or as there are GPUs."""
_SET_OTHERWISE = Sets("torch", "load")
_INNER: frozenset[type[cst.CSTNode]] = frozenset({cst.FunctionDef, cst.Lambda, cst.ClassDef})
_Uses = dict[str | cst.CSTNode, set[Evidence]]


@dataclass(frozen=True, slots=True)
class CheckpointLoad:
    """A load of weights, or of what else a training keeps on its device, onto the device that it was saved from.

    Attributes:
        basis: what shows that it is one; proven where ``load_state_dict`` takes it, and so copies it once more.
        kept: the code of what stays as it was loaded, and is not copied; empty where nothing is seen to.
        handed_on: whether something is given it, which may move it.
    """

    operation: Operation
    basis: Evidence
    kept: str = ""
    handed_on: bool = False


def loads_of_checkpoints(facts: Facts) -> Iterator[CheckpointLoad]:
    """The calls of ``torch.load`` in a document that give no ``map_location`` and load a checkpoint or a model, in the
    order in which they were met; none that loads what the program saved from the host, or what another branch of the
    same function loads with ``map_location``. Where nothing shows that a GPU is meant, only those of code that others
    call."""
    everywhere = facts.operations_of(_LOAD)
    loads = [one for one in everywhere if one.lacks("map_location", 1)]
    if not facts.names_gpu_anywhere:
        loads = [one for one in loads if one.function is not None and _is_for_others(facts)]
    if not has_ranks(facts):
        loads = [one for one in loads if not _was_saved_by_this_run(facts, one)]
    if not loads or facts.does(_SET_OTHERWISE):
        return
    program = facts.program
    chosen = {(one.function, _file(one)) for one in everywhere if one not in loads}
    taken = [
        value.positional
        for operation in program.operations_of(AnyCall("load_state_dict"))
        if not keeps_host_state(dotted(operation.node.func) if isinstance(operation.node, cst.Call) else "")
        for context in operation.contexts
        for value in context.values
        if value.made_by == "torch.load" and value.argument("map_location", 1).absent
    ]
    hosted = {_file(one, 1) for one in _saved_from_host(program, program.operations_of(_SAVE))}
    uses: dict[cst.CSTNode, _Uses] = {}
    for load in loads:
        if _file(load) in hosted or (load.function, _file(load)) in chosen:
            continue
        scope = load.function or facts.document.tree
        if scope not in uses:
            uses[scope] = _uses_in(scope)
        mine = [one.positional for one in load.contexts if one.positional in taken]
        # two files of which nothing is known look alike
        certain = any(_is_known(one) or _count(program, one) == 1 for one in mine)
        basis = PROVEN if certain else _basis(load, uses[scope])
        if basis is not None:
            names = [] if isinstance(load.statement, cst.Return) else _bound_to(load)
            kept = kept_part(facts, scope, names)
            yield CheckpointLoad(load, basis, kept, is_handed_on(scope, kept))


def _is_known(arguments: tuple[Given, ...]) -> bool:
    return bool(arguments) and not any(one.unknown for given in arguments for one in given.alternatives)


def _count(program: Program, arguments: tuple[Given, ...]) -> int:
    """How many calls of a program load something with such arguments."""
    loads = program.operations_of(_LOAD)
    return len({id(one.node) for one in loads if any(context.positional == arguments for context in one.contexts)})


def _saved_from_host(program: Program, saves: Iterable[Operation]) -> list[Operation]:
    """Those of the calls of ``torch.save`` in a program that save what was copied to the host, or the states of modules
    that an earlier statement of the same function moved there: ``model.cpu()`` moves a module in place."""
    transfers = [transfer for one in program for transfer in one.transfers]
    copies = {id(one.node) for one in transfers if one.kinds == {"cpu"}}
    moves = [one for one in transfers if one.alone and one.receiver is not None]
    return [
        save
        for save in saves
        if any(id(part) in copies for part in descendants(save.node, cst.Call)) or _was_moved(save, moves)
    ]


def _was_moved(save: Operation, moves: list[Transfer]) -> bool:
    """Whether all modules whose states a call saves were last moved to the host, wherever the call is reached."""
    scope = save.function or save.document.tree
    names = _saved_modules(save, scope)
    return bool(names) and all(_is_on_host(save, name, scope, moves) for name in names)


def _saved_modules(save: Operation, scope: cst.CSTNode) -> set[str]:
    """The modules whose states are saved, by the names that hold them, through names that are bound in the function. A
    wrapper holds the module that it wraps."""
    assert isinstance(save.node, cst.Call)
    saved = save.node.args[0].value if save.node.args else save.node
    bound = [one for one in descendants(scope, cst.Assign) if dotted(one.targets[0].target) == dotted(saved)]
    parts: list[cst.CSTNode] = [saved, *(one.value for one in bound if isinstance(saved, cst.Name))]
    calls = (
        call for part in parts for call in descendants(part, cst.Call) if dotted(call.func).endswith(".state_dict")
    )
    return {dotted(call.func).removesuffix(".state_dict").removesuffix(".module") for call in calls}


def _is_on_host(save: Operation, name: str, scope: cst.CSTNode, moves: list[Transfer]) -> bool:
    document = save.document
    at = document.span(save.node).start.offset
    mine = [one for one in moves if one.document is document and dotted(one.receiver) == name]
    code = scope.body if isinstance(scope, cst.FunctionDef) else scope
    own = {id(one) for one in descendants(code, cst.Call, but=_INNER)}
    before = [one for one in mine if id(one.node) in own and document.span(one.node).start.offset < at]
    last = max(before, key=lambda one: document.span(one.node).start.offset, default=None)
    if last is None or last.kinds != {"cpu"}:
        return False
    around = (one for one in descendants(scope, cst.If) if _stands_in(last.node, one))
    return all(_stands_in(save.node, one) for one in around)


def _stands_in(node: cst.CSTNode, scope: cst.CSTNode) -> bool:
    return any(one is node for one in descendants(scope, cst.Call))


def has_ranks(facts: Facts) -> bool:
    """Whether a program may run in several processes, each with a device of its own: what one of them saved from its
    GPU, all load onto that one."""
    framework = not facts.frameworks.isdisjoint(_STARTS_PROCESSES)
    return framework or facts.wraps_in_parallel or facts.does(*_STARTS_RANKS)


def _was_saved_by_this_run(facts: Facts, load: Operation) -> bool:
    """Whether a load stands behind the training in one function, or at the top of the file: it takes back what the same
    process saved from the same device."""
    document, scope = facts.document, load.function or facts.document.tree
    trainings = [one for each in facts.program for one in each.loops if one.learns]
    trains = {name for one in trainings for name in one.functions}
    own = [one.node for one in trainings if one.document is document and one.function is load.function]
    calls = [one for one in descendants(scope, cst.Call) if dotted(one.func).removeprefix("self.") in trains]
    at = document.span(load.node).start
    return any(document.span(one).start < at for one in (*own, *calls))


def _is_for_others(facts: Facts) -> bool:
    """Whether a program is a part of others, which choose the device: it defines models, and trains, evaluates and
    places nothing itself."""
    tree = facts.document.tree
    runs = (
        facts.placed
        or any(loop.loaders or loop.backward for one in facts.program for loop in one.loops)
        or main_guards(tree)
    )
    return not runs and any(cls.bases for cls in descendants(tree, cst.ClassDef) if "forward" in methods_of(cls))


def _basis(load: Operation, uses: _Uses) -> Evidence | None:
    """What shows that a load is one of a checkpoint: what is done with its result, or what it is called."""
    names = _bound_to(load)
    if any(words_of(name) & STATES_ON_HOST for name in names):
        return None
    keys: list[str | cst.CSTNode] = [load.node, *names]
    found = [basis for key in keys for basis in uses.get(key, ())]
    if found:
        return min(found, key=lambda one: len(one.grounds))
    plain = all(words_of(name) <= _PLAIN for name in names)
    named = any(words_of(name) & _CHECKPOINT for name in (*names, *(_called(load) if plain else ())))
    return Evidence.of(Ground.CALLED) if named else None


def _bound_to(load: Operation) -> list[str]:
    """What the statement of a load binds, with dots; or the function that returns it."""
    statement = load.statement
    if isinstance(statement, cst.Return) and isinstance(load.function, cst.FunctionDef):
        return [load.function.name.value]
    targets = [one.target for one in statement.targets] if isinstance(statement, cst.Assign) else []
    bound = [dotted(one) for target in targets for one in descendants(target, cst.Name, cst.Attribute)]
    return [one for one in bound if one and one != "self"]


def _called(load: Operation) -> list[str]:
    """The name of the file that is loaded, where it is one name."""
    argument = load.contexts[0].argument("f", 0)
    file = argument.node.value if argument is not None and argument.node is not None else None
    while isinstance(file, cst.Call) and len(file.args) == 1:
        file = file.args[0].value
    return [dotted(file).rpartition(".")[2]] if file is not None else []


def _uses_in(scope: cst.CSTNode) -> _Uses:
    """What is done in a function or a module with names, and with what calls return, that only checkpoints and models
    are for."""
    uses: _Uses = defaultdict(set)
    for one in descendants(scope, cst.Call, cst.Subscript):
        if isinstance(one, cst.Subscript):
            texts = [text for element in one.slice for text in descendants(element, cst.SimpleString)]
            if any(words_of(text.value) & _CHECKPOINT or "state_dict" in text.value for text in texts):
                uses[_root(one.value)].add(Evidence.of(Ground.USE))
            continue
        assert isinstance(one, cst.Call)
        if isinstance(one.func, cst.Attribute) and one.func.attr.value in _OF_MODULES:
            uses[_root(one.func.value)].add(Evidence.of(Ground.USE))
        callee = dotted(one.func)
        if TAKES_STATES.fullmatch(callee.rpartition(".")[2]) and not keeps_host_state(callee):
            for value in (value for part in one.args for value in descendants(part, cst.Name, cst.Call)):
                uses[_root(value)].add(PROVEN)
    return uses


def _root(node: cst.CSTNode) -> str | cst.CSTNode:
    """The call, or the name with dots, that something was taken out of by subscripts."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Call) else dotted(node)


def _file(operation: Operation, position: int = 0) -> str | None:
    """The code that names the file, where it is a literal or a name."""
    argument = operation.contexts[0].argument("f", position)
    return operation.document.code(argument.node.value) if argument is not None and argument.node is not None else None
