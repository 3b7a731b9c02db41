"""Convolutional networks that are trained on a GPU with the channels of their images first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, calls, methods, within
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.queries.images.unmeasured_convolutions import LEAVE_MODELS
from accel_advisor.records.queries.steps.training_steps import first_training
from accel_advisor.records.queries.training_loops import Training, trainings
from accel_advisor.syntax.imports import full_name, imported_names
from accel_advisor.syntax.shapes import dotted, last_name, methods_of, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.values.evidence import PROVEN, Evidence, Ground
from accel_advisor.values.values import Module

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop, Transfer
    from accel_advisor.records.transfers import ModuleCallContext
    from accel_advisor.source.document import Document

_SMALL = calls(
    *(
        f"torchvision.datasets.{name}"
        for name in ("CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST", "SVHN", "USPS")
    )
)
"""Data sets of images of 32 x 32 or less, whose steps are short of work for a GPU."""
_BARS = (
    *calls(*(f"torch.nn.{kind}{size}d" for kind in ("Conv", "ConvTranspose") for size in (1, 3))),
    *calls(*(f"torch.nn.{name}" for name in ("MultiheadAttention", "Transformer", "TransformerEncoder"))),
    *calls(*(f"torch.nn.{name}" for name in ("TransformerEncoderLayer", "TransformerDecoderLayer", "LSTM", "GRU"))),
    *within("torch.utils.cpp_extension", "gym", "gymnasium", "stable_baselines3", "ray.rllib", "torchrl"),
)
"""Layers that have no such layout, or want rows of another one; kernels of one's own; and what trains on few images."""
_UNDOES = tuple(calls(f"torch.nn.{name}") for name in ("ReflectionPad2d", "ReplicationPad2d", "InstanceNorm2d"))
"""Layers that give images with the channels first on CUDA, however they get them. Source: ReflectionPad.cu and
ReplicationPadding.cu of torch; instance normalization does so on the host as well (torch 2.13)."""
_NAMES_SMALL = re.compile(r"\b(?:CIFAR|(?:Fashion|K)?MNIST|SVHN)", re.IGNORECASE)
_HALVES = (AnyCall("autocast"), *methods("Module", "half", "bfloat16"), *within("apex.amp"))
"""Frameworks that leave the layout to the program."""
_NETS = re.compile(r"(?:wide_)?resne[xt]|densenet|deeplab|fcn_|fasterrcnn|retinanet")
_NAMED_NET = re.compile(rf"(?:{_NETS.pattern})\w*")
_LAYOUTS = re.compile(r"channels_?last|memory_format")
"""Names and strings of programs that know of layouts."""
_OF_LAYOUTS = ("channels", "memory_format")
"""Words one of which stands in each of these."""
_KERNELS = re.compile(r"_(?:cuda|ext|gpu|kernels?)$|^_C$")
"""Names of modules that were built, where the program has none of that name in Python."""
_WIDE = frozenset({"torch.nn.Conv2d", "torch.nn.ConvTranspose2d"})
_LAYER = re.compile(r"(?:torch\.)?(?:nn\.)?Conv(?:Transpose)?2d")
_MODULE = re.compile(r"(?:Module|Net|Block|Base|Model)$")
_NO_NETWORK = re.compile(r"loss|criteri|anchor|prior|metric", re.IGNORECASE)
_SETS_UP = re.compile(r"init|load|weight|param")
_LIKE_LAYOUTS = frozenset({("0", "2", "3", "1"), ("0", "3", "1", "2")})
"""Permutations that a layout with the channels last makes free."""
_MANY = 4
"""Places that build convolutions, from which on a model is no exercise."""
_FEW_IMAGES = 2


@dataclass(frozen=True, slots=True)
class ChannelsFirst:
    """A training of a network of two-dimensional convolutions on CUDA, in a program that says nothing of layouts.

    Attributes:
        loop: the first loop that trains.
        move: the first move of a network to CUDA in the document of the loop, if it has one.
        alone: whether that move is certainly the one of the model that the loop trains.
        flattens: calls of ``view`` that join channels with rows and columns, which that layout does not allow.
        basis: what shows that it is such a network.
    """

    loop: Loop
    move: Transfer | None
    alone: bool
    flattens: tuple[tuple[Document, cst.Call], ...]
    basis: Evidence


def channels_first(facts: Facts) -> ChannelsFirst | None:
    """The first training of a program, where it is such a one.

    Returns:
        None where its model may be of other layers, takes images apart between its convolutions, or learns from small
        images, or, without half precision, from one or two at a time.
    """
    loop = facts.program.once(first_training)
    if loop is None or loop.document is not facts.document or not facts.names_gpu_anywhere:
        return None
    if facts.frameworks - LEAVE_MODELS or not any(one.loaders for one in facts.program) or facts.does(*_SMALL, *_BARS):
        return None
    if loop.document.once(_names_small) or any(_knows_layouts(one.document) for one in facts.program):
        return None
    if _imports_kernels(facts) or any(_runs_before_layouts(one.document) for one in facts.program):
        return None
    trained = next((one for one in trainings(facts) if one.loop is loop), None)
    if _takes_apart(facts, loop, trained) or (trained is not None and trained.module.kind == "torch.nn.Linear"):
        return None
    known = trained if trained is not None and trained.convolves else None
    if not _convolves(facts) or (_takes_few(loop) and not facts.does(*_HALVES)):
        return None
    moves = [one for one in facts.transfers if one.moves_models and not _moves_a_loss(one)]
    own = [one for one in moves if known is not None and _is_move_of(one, known)]
    wide = [one for one in moves if _moves_convolutions(facts, one)]
    flattens = tuple((one.document, call) for one in facts.program for call in one.document.once(_flattens))
    basis = PROVEN if known is not None else Evidence.of(Ground.GPU, Ground.LAYERS)
    return ChannelsFirst(loop, next(iter(own or wide or moves), None), bool(own), flattens, basis)


def _convolves(facts: Facts) -> bool:
    """Whether a program builds a network of convolutions over all channels, or takes one of torchvision, by its class
    or by its name, and has none that are mostly of convolutions over single channels, or of such that stand beside a
    layer which undoes the layout."""
    dense, grouped = (sum(len(one.document.once(kind)) for one in facts.program) for kind in (_dense, _grouped))
    undone = max(sum(len(one.operations_of(*kind)) for one in facts.program) for kind in _UNDOES)
    if 2 * undone >= max(dense, 1):
        return False
    if dense >= _MANY or grouped:
        return dense >= max(_MANY, 3 * grouped)
    operations = (one.what for each in facts.program for one in each.operations)
    built = any(one.owner.startswith("torchvision.models") and _NETS.match(one.name) for one in operations)
    return built or any(one.document.once(_names_net) for one in facts.program)


def _takes_few(loop: Loop) -> bool:
    sizes = [one.default_count("batch_size") for one in loaders_in(loop)]
    return any(size is not None and size <= _FEW_IMAGES for size in sizes)


def _moves_a_loss(transfer: Transfer) -> bool:
    modules = [one.moved.module for one in transfer.contexts]
    return any(one is not None and one.kind.rpartition(".")[2].endswith(("Loss", "criterion")) for one in modules)


def _moves_convolutions(facts: Facts, transfer: Transfer) -> bool:
    modules = [one.moved.module for one in transfer.contexts]
    layers = frozenset().union(*(facts.layers.of(one) for one in modules if one is not None))
    return any(one in _WIDE or one.startswith("torchvision.models.") for one in layers)


def _is_move_of(transfer: Transfer, training: Training) -> bool:
    moved = [context.moved.module for context in transfer.contexts]
    return all(one is not None and one.plain is training.module.plain for one in moved)


def _words(tree: cst.Module) -> Iterator[str]:
    """The names and the strings of a text's code, but for its docstrings."""
    statements = {id(one.value) for one in descendants(tree, cst.Expr)}
    for one in descendants(tree, cst.Name, cst.SimpleString, cst.FormattedStringText):
        if isinstance(one, (cst.Name, cst.SimpleString, cst.FormattedStringText)) and id(one) not in statements:
            yield one.value


def _names_small(tree: cst.Module) -> bool:
    return any(map(_NAMES_SMALL.search, _words(tree)))


def _knows_layouts(document: Document) -> bool:
    return any(word in document.today for word in _OF_LAYOUTS) and document.once(_names_layouts)


def _names_layouts(tree: cst.Module) -> bool:
    return any(map(_LAYOUTS.search, _words(tree)))


def _runs_before_layouts(document: Document) -> bool:
    """Whether a text copies with ``async=True``, as no torch did any more that has layouts."""
    given = descendants(document.tree, cst.Arg) if document.outdated is not None else ()
    names = (one.keyword for one in given if one.keyword is not None and one.keyword.value == "non_blocking")
    return any(document.code(one).startswith("async") for one in names)


def _imports_kernels(facts: Facts) -> bool:
    """Whether a program imports einops, which takes tensors apart, or kernels of its own."""
    own = {Path(one.document.filename).stem for one in facts.program}
    own |= {definition.name.value for one in facts.program for definition in one.document.once(_definitions)}
    parts = {part for one in facts.program for part in one.document.once(_imported_parts)}
    return "einops" in parts or any(map(_KERNELS.search, parts - own))


def _definitions(tree: cst.Module) -> list[cst.FunctionDef | cst.ClassDef]:
    return [one for one in tree.body if isinstance(one, (cst.FunctionDef, cst.ClassDef))]


def _imported_parts(tree: cst.Module) -> frozenset[str]:
    """The parts of the names of what a text imports, but for those of torch."""
    names: list[str] = []
    for one in descendants(tree, cst.Import, cst.ImportFrom):
        package = f"{dotted(one.module)}." if isinstance(one, cst.ImportFrom) else ""
        names += [package, *(package + dotted(each.name) for each in descendants(one, cst.ImportAlias))]
    return frozenset(part for name in names if not name.startswith("torch.") for part in name.split("."))


def _names_net(tree: cst.Module) -> bool:
    """Whether a text takes a network of torchvision by its name, and spells the name of one of convolutions."""
    imported = imported_names(tree)
    tables = [one.value for one in descendants(tree, cst.Subscript)]
    held = [one.value for one in tables if isinstance(one, cst.Attribute) and one.attr.value == "__dict__"]
    held += [one.args[0].value for one in descendants(tree, cst.Call) if dotted(one.func) == "getattr" and one.args]
    if not any(full_name(imported, one) == "torchvision.models" for one in held):
        return False
    return any(_NAMED_NET.fullmatch(one.raw_value) for one in descendants(tree, cst.SimpleString))


def _dense(tree: cst.Module) -> list[cst.Call]:
    """The calls that build two-dimensional convolutions over more than a pixel and over all channels at once."""
    found = (one for one in _layers(tree) if _code(_given(one, "groups", 6)) in ("", "1"))
    return [one for one in found if _code(_given(one, "kernel_size", 2)) != "1"]


def _grouped(tree: cst.Module) -> list[cst.Call]:
    """The calls that build two-dimensional convolutions over groups of channels."""
    return [one for one in _layers(tree) if _code(_given(one, "groups", 6)) not in ("", "1")]


def _layers(tree: cst.Module) -> list[cst.Call]:
    return [one for one in descendants(tree, cst.Call) if _LAYER.fullmatch(dotted(one.func))]


def _given(call: cst.Call, name: str, position: int) -> cst.BaseExpression | None:
    for at, one in enumerate(call.args):
        if one.keyword.value == name if one.keyword is not None else at == position:
            return one.value
    return None


def _code(node: cst.BaseExpression | None) -> str:
    """An integer or a name as it is written; empty for nothing, and a mark for anything else."""
    if node is None:
        return ""
    return node.value if isinstance(node, (cst.Integer, cst.Name)) else "..."


def _in_networks(tree: cst.Module) -> Iterator[tuple[cst.ClassDef, cst.Call, str, tuple[str, ...]]]:
    """The calls in the methods of modules that are no losses, each with its class, last name and arguments."""
    for cls in descendants(tree, cst.ClassDef):
        if _NO_NETWORK.search(cls.name.value) or not any(_MODULE.search(dotted(one.value)) for one in cls.bases):
            continue
        for method in methods_of(cls).values():
            for call in () if _SETS_UP.search(method.name.value) else descendants(method, cst.Call):
                name = last_name(call.func)
                given = [one.value for one in call.args]
                if len(given) == 1 and isinstance(given[0], (cst.Tuple, cst.List)):
                    given = [one.value for one in given[0].elements]
                yield cls, call, name, tuple(map(_code, given))


def _takes_apart(facts: Facts, loop: Loop, trained: Training | None) -> bool:
    """Whether the network that a loop trains permutes or splits its images by hand: each time they would be copied to
    another layout. Where the network is known, another one that is seen to be called is not a part of it; any class of
    which that is not known may be."""
    found = [cls for one in facts.program for cls in one.document.once(_rearranging)]
    if trained is None or not found:
        return bool(found)
    inside = _called(context for _, context in facts.program.calls_in.get(loop, ()))
    anywhere = _called(context for one in facts.program for call in one.module_calls for context in call.contexts)
    names = _names_within(facts, [trained.module.node, *inside])
    return any(cls in inside or cls not in anywhere or cls.name.value in names for cls in found)


def _called(contexts: Iterable[ModuleCallContext]) -> set[cst.ClassDef]:
    """The classes, and their bases, of the modules that are called."""
    classes = [one.module.cls for one in contexts if isinstance(one.module, Module)]
    return {base.node for one in classes if one is not None for base in one.lineage()}


def _names_within(facts: Facts, pending: list[cst.CSTNode]) -> set[str]:
    """The names that pieces of a program read, and those that what the program defines by these names reads."""
    definitions = [definition for one in facts.program for definition in one.document.once(_definitions)]
    names: set[str] = set()
    while pending:
        fresh = names_read_in(pending.pop()) - names
        names |= fresh
        pending += [one for one in definitions if one.name.value in fresh]
    return names


def _rearranging(tree: cst.Module) -> list[cst.ClassDef]:
    """The classes that permute or split images by hand."""
    found: list[cst.ClassDef] = []
    for cls, call, name, given in _in_networks(tree):
        views = name in ("view", "reshape") and len(given) >= 4 and given[-2:] != ("1", "1")
        inner = (one.func for one in descendants(call.func, cst.Call)) if views else ()
        if views and any(isinstance(one, cst.Attribute) and one.attr.value == "permute" for one in inner):
            continue
        if views or (name == "permute" and len(given) >= 4 and given not in _LIKE_LAYOUTS):
            found.append(cls)
    return found


def _flattens(tree: cst.Module) -> list[cst.Call]:
    """The calls of ``view`` that make rows of images, whose length is computed."""
    computed = (cst.UnaryOperation, cst.BinaryOperation)
    views = (call for _, call, name, given in _in_networks(tree) if name == "view" and len(given) == 2)
    return [one for one in views if isinstance(one.args[-1].value, computed)]
