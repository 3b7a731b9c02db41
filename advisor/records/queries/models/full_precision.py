"""Training in float32 throughout, of a model that is deep enough for tensor cores to pay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets, Call, any_calls, calls, methods, within
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.queries.autocast.array_reads import read_as_arrays
from accel_advisor.records.queries.autocast.index_writes import index_writes
from accel_advisor.records.queries.autocast.judged_loops import first_judged, other_judged
from accel_advisor.records.queries.autocast.moved_inputs import moved_inputs
from accel_advisor.records.queries.autocast.own_backwards import outside_autocast, recovers_inputs
from accel_advisor.records.queries.autocast.replicas import replicated_in
from accel_advisor.records.queries.models.autocast_hazards import needing_float32
from accel_advisor.records.queries.models.float32_products import moved_in_float32
from accel_advisor.records.queries.precision import COMPLEX, DOUBLES, HALVES, speaks_of
from accel_advisor.records.queries.training_loops import first_step, trainings
from accel_advisor.records.queries.waits.acting_loops import acting_loops
from accel_advisor.syntax.imports import bound_by, full_name
from accel_advisor.syntax.shapes import dotted, keywords_of, mentioned_in, names_read_in
from accel_advisor.syntax.walking import descendants
from accel_advisor.tables.canonical_names import canonical
from accel_advisor.tables.torch_functions import TENSOR_FACTORIES
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.conditions import Condition
    from accel_advisor.records.facts import Facts, Loop
    from accel_advisor.records.operations import Operation, OperationContext
    from accel_advisor.source.document import Document

_SCALERS = calls("torch.amp.GradScaler", "torch.cuda.amp.GradScaler")
"""What may be made whatever the precision is, and does nothing to it."""
_SWITCHES = (
    *(AnyCall("autocast"), AnySets("allow_tf32"), AnySets("fp32_precision")),
    *_SCALERS,
    *calls("torch.set_float32_matmul_precision"),
    *methods("Module", "half", "bfloat16"),
    *methods("Tensor", "half", "bfloat16"),
    *within("apex.amp", "apex.fp16_utils"),
)
"""What lets a program compute in another precision than float32, always or where an option asks for it."""
_DECIDES = (
    *methods("Module", "double"),
    *methods("Tensor", "double"),
    *calls("torch.set_default_dtype", "torch.view_as_complex", "torch.complex"),
    *within("torch.fft", "gym", "gymnasium", "stable_baselines3", "ray.rllib", "torchrl"),
)
_BACKWARD = AnyCall("backward")
_DIFFERENTIATES = (Call("torch.autograd.grad"), *methods("Tensor", "backward"), *methods("?", "backward"))
_WEIGHTS = re.compile(r"param|weight|theta|(?:^|_)(?:vars|net|model)(?:$|_)", re.IGNORECASE)
"""Names of what a network learns."""
_SPEAKS = re.compile(
    r"(?<![a-z])(?:autocast|gradscaler|[bf]p?16|b?float16|mixed[_ -]?precision|allow_tf32|deepspeed)(?![a-z])"
    r"|(?:apex|cuda|torch|--|args?|opts?|cfg|config|hparams|self|use|no|with|enable[sd]?)[._ -]?amp(?![a-z])"
    r"|(?<![a-z])amp[._ -]?(?:autocast|level|opt|scaler?|init|enabled?|dtype|training|mode)|[\"']amp[\"']",
)
"""Words of a program, in small letters, whose owner has thought of mixed precision; by itself, `amp` is an amplitude as
often."""
_ASIDES = re.compile(
    r"#[^\n]*|dtype[ \t]*(?:==|!=|(?:not[ \t]+)?in\b|is\b)[^\n]*"
    r"|\b(?:np|numpy)\.float16\b|\.astype\([^()\n]*float16[^()\n]*\)"
    r"|fp16[ _-]?(?:allreduce|compression)|compression\.fp16",
    re.IGNORECASE,
)
"""Comments, questions for a precision that somebody else has decided about, arrays, and what goes over the network."""
_DEEPSPEED = re.compile("deepspeed")
"""A library whose files of settings decide."""
_LAYERS = calls(
    *(f"torch.nn.{kind}{size}d" for kind in ("Conv", "ConvTranspose") for size in (1, 2, 3)),
    *(f"torch.nn.{kind}" for kind in ("MultiheadAttention", "Transformer", "TransformerEncoder", "TransformerDecoder")),
    *(f"torch.nn.{kind}" for kind in ("TransformerEncoderLayer", "TransformerDecoderLayer", "LSTM", "GRU")),
)
_SOFTMAX = calls("torch.softmax", "torch.nn.functional.softmax", "torch.nn.Softmax")
_PRODUCTS = calls("torch.matmul", "torch.bmm", "torch.einsum")
_FACTORIES = (
    *calls("timm.create_model", "torch.hub.load"),
    *within("torchvision.models", "timm.models", "segmentation_models_pytorch", "monai.networks.nets"),
    *within("efficientnet_pytorch", "pretrainedmodels", "diffusers.models"),
)
_TRANSFORMERS = within("transformers", "pytorch_transformers", "pytorch_pretrained_bert")
_MODEL = re.compile(r"(?:Model|For[A-Z]\w+)(?:\.from_(?:pretrained|config))?$")
"""What their models are called, whose layers are many."""
_OF_TORCH = within("torch", "Tensor")
_SUMS = any_calls("scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_", "index_add", "index_add_", "spmm")
"""What adds up over the neighbours of a node."""
_EDGES = frozenset("edge_index edge_list edge_weight edges adj adjacency".split())
_MANY = 4
"""Places that build convolutions, from which on a model is no exercise."""

_MOST_TEXTS = 2048
"""Of which is kept what they say."""


@dataclass(frozen=True, slots=True)
class FullPrecision:
    """A loop that trains in float32.

    Attributes:
        loop: the first one of its program.
        document, node: the first call of a model in its steps, outside of models, where one is seen; otherwise the
            call in the loop that gives what its last loss is computed from, or else the loop.
        loss: the last call of a loss in the loop's own text.
        way: the call in the loop's own text that leads to the model, where the model is called elsewhere.
        option: the option without which it does, where one lets the program compute in another precision; or empty.
        switch: what that option switches on.
        twice: what takes gradients of gradients in the loop, as a penalty of gradients does; None where nothing does.
        others: where the first such loop of each other function of the program calls the model, or else that loop.
        kept: what of the program has to be left in float32.
        replicated: where DataParallel is put around what the loop calls.
        arrays: where numpy is given what the model computes, which it cannot read in bfloat16.
        written: where that is written by an index into a tensor of float32.
        moved: where a step asks for the gradient by which it moves an input, and the input's name.
        outside: the functions of autograd whose backward passes compute outside of autocast.
        basis: what shows that it trains such a model on a GPU.
    """

    loop: Loop
    document: Document
    node: cst.CSTNode
    loss: cst.Call | None
    way: cst.Call | None
    option: str
    switch: Operation | None
    twice: Operation | None
    others: tuple[tuple[Document, cst.CSTNode], ...]
    kept: tuple[tuple[Document, cst.CSTNode], ...]
    replicated: tuple[Operation, ...]
    arrays: tuple[Operation, ...]
    written: tuple[tuple[Document, cst.CSTNode], ...]
    moved: tuple[tuple[Operation, str], ...]
    outside: tuple[tuple[Document, cst.ClassDef], ...]
    basis: Evidence


def full_precision(facts: Facts) -> FullPrecision | None:
    """The loop that trains a deep model on a GPU in float32 and calls it in this document, if the program never
    mentions another precision; None where another loop of the program stands for it, or the move of its attention
    layers."""
    first = facts.program.once(first_judged) if _may(facts) else None
    if first is None or acting_loops(facts, [first]):
        return None  # the small networks of an agent wait for what they act on
    model = first_step(facts, first)
    calls_of = (call for call, _ in facts.program.calls_in.get(first, ()) if call.loss)
    losses = [call.node for call in calls_of if first.holds(call.document, call.node)]
    loss = losses[-1] if losses else None
    document, node = first.document, _judged(facts, first, loss) or first.node
    if model is not None:
        document, node = model.document, model.node
    if document is not facts.document:
        return None
    switched = _switched_by(facts, first)
    if switched is None or (not switched and _speaks(facts, _SPEAKS)) or _speaks(facts, _DEEPSPEED):
        return None
    option, switch = switched[0] if switched else ("", None)
    loads = any(one.constructor.name.startswith(("torch_geometric.", "dgl.")) for one in loaders_in(first))
    graphs = loads or _sums_over_edges(facts)
    twice = _differentiated_twice(facts, first)
    bars = graphs or any(not _is_penalty(one) for one in twice)
    if bars or not is_deep(facts) or moved_in_float32(facts) is not None:
        return None
    if recovers_inputs(facts):
        return None  # what bfloat16 rounds is lost in each layer
    if facts.does(*_FACTORIES) and not (first.loaders or any(one.loaders for one in facts.program)):
        return None  # a pretrained model is looked at, as in the transfer of a style
    home = next(one for one in facts.program if one.document is first.document)
    proven = any(one.loop is first and (one.convolves or one.attends) for one in trainings(home))
    basis = PROVEN if proven else Evidence.of(Ground.GPU, Ground.LAYERS)
    basis |= Evidence.of(Ground.DEFAULT) if option else PROVEN
    penalty = twice[0] if twice else None
    others, kept = tuple(other_judged(facts, first)), tuple(needing_float32(facts, first))
    inside = first.holds(document, node)
    calls = () if inside else descendants(first.node, cst.Call)
    way = next((one for one in calls if facts.call_graph.leads_to(one, node)), None)
    wrapped = tuple(replicated_in(facts, first, document, node))
    arrays = tuple(read_as_arrays(facts, first, wrapped))
    written, moved = tuple(index_writes(facts, first)), tuple(moved_inputs(facts, first))
    places = others, kept, wrapped, arrays, written
    outside = tuple(outside_autocast(facts))
    return FullPrecision(first, document, node, loss, way, option, switch, penalty, *places, moved, outside, basis)


def _sums_over_edges(facts: Facts) -> bool:
    """Whether the program passes messages along the edges of a graph itself, and has no layers that multiply more than
    it gathers."""
    if facts.does(*_LAYERS, *_FACTORIES):
        return False
    gathers = (one for one in facts.program if one.operations_of(*_SUMS))
    return any(not _EDGES.isdisjoint(one.document.once(mentioned_in)) for one in gathers)


def _judged(facts: Facts, loop: Loop, loss: cst.Call | None) -> cst.Call | None:
    """The call in the text of a loop whose result a loss is given first: that of the model, if it is nothing known."""
    given = loss.args[0].value if loss is not None and loss.args else None
    if not isinstance(given, cst.Name):
        return None
    known = {id(one.node) for one in facts.operations if one.does(*_OF_TORCH)}
    bound = (one for one in descendants(loop.node, cst.Assign) if dotted(one.targets[0].target) == given.value)
    calls = (one.value for one in bound if isinstance(one.value, cst.Call) and id(one.value) not in known)
    return next(calls, None)


def _may(facts: Facts) -> bool:
    """Whether a program trains on a GPU, and nothing in it decides about precision."""
    return not facts.frameworks and facts.names_gpu_anywhere and facts.placed and not _decides(facts)


def leaves_precision_alone(facts: Facts) -> bool:
    """Whether nothing in a program decides about precision, lets it be another than float32, or speaks of another."""
    if _decides(facts) or facts.program.operations_of(*_SWITCHES):
        return False
    return not _speaks(facts, _SPEAKS) and not _speaks(facts, _DEEPSPEED)


def _decides(facts: Facts) -> bool:
    if facts.does(*_DECIDES) or _changes_default(facts):
        return True
    return speaks_of(facts, HALVES | COMPLEX) or speaks_of(facts, DOUBLES, TENSOR_FACTORIES)


def _speaks(facts: Facts, words: re.Pattern[str]) -> bool:
    """Whether words stand anywhere in the program, but for the imports of what may never be used."""
    return any(_says(each.document, words) for each in facts.program)


def _says(document: Document, words: re.Pattern[str]) -> bool:
    if words is _SPEAKS and document.once(_uses_amp):
        return True
    text = document.text
    if not _mentions(text, words):
        return False  # spares the look at the imports: with them, the text says no less
    for one in reversed(document.once(_imports)):
        start = document.order(one)
        text = text[:start] + text[start + len(document.code(one)) :]
    return words.search(_ASIDES.sub("", text).lower()) is not None


@lru_cache(maxsize=_MOST_TEXTS)
def _mentions(text: str, words: re.Pattern[str]) -> bool:
    """A search that ignores case takes four times as long."""
    return words.search(text.lower()) is not None


def _imports(tree: cst.Module) -> list[cst.Import | cst.ImportFrom]:
    """The imports of torch and apex, of what may never be used."""
    found = (
        one for one in descendants(tree, cst.Import, cst.ImportFrom) if isinstance(one, (cst.Import, cst.ImportFrom))
    )
    return [one for one in found if any(full.startswith(("apex", "torch")) for _, full in bound_by(one))]


def _uses_amp(tree: cst.Module) -> bool:
    """Whether one of them brings in the name ``amp``, which by itself is an amplitude as often, and it is used."""
    imports = _imports(tree)
    if "amp" not in {name for one in imports for name, _ in bound_by(one)}:
        return False
    attributes = {id(one.attr) for one in descendants(tree, cst.Attribute)}
    others = attributes.union(*(map(id, descendants(one, cst.Name)) for one in imports))
    return any(one.value == "amp" and id(one) not in others for one in descendants(tree, cst.Name))


def _switched_by(facts: Facts, loop: Loop) -> list[tuple[str, Operation]] | None:
    """The options without which the training computes in float32, and what each switches on, in the loop first; empty
    where nothing lets it do otherwise, and None where it does so anyway, or may. Options without which nothing is
    trained are none."""
    learns = [context for one in facts.program.operations_of(_BACKWARD) for context in one.contexts]
    needed = [{by.off_by for by in context.conditions} for context in learns if loop in context.loops]
    trains = set.intersection(*needed) if needed else set()
    found = {
        one: [_off_by(context, trains) for context in one.contexts] for one in facts.program.operations_of(*_SWITCHES)
    }
    for one, deciding in found.items():
        known = {by.node for by in deciding if by is not None}
        for context, by in zip(one.contexts, deciding, strict=True):
            # of who else calls it, it is perhaps not known what decides there
            beside = not known.isdisjoint(each.node for each in context.conditions)
            if by is None and not (beside or one.does(*_SCALERS)):
                return None
    ways = [(context, by, one) for one, known in found.items() for context, by in zip(one.contexts, known, strict=True)]
    ways.sort(key=lambda way: loop not in way[0].loops)  # an option for evaluations alone decides on no training
    return [(by.off_by, one) for _, by, one in ways if by is not None]


def _off_by(context: OperationContext, but: set[str]) -> Condition | None:
    """The innermost condition without which something does not happen, since an option is off, but for these."""
    return next((by for by in reversed(context.conditions) if by.off_by and by.off_by not in but), None)


def _changes_default(facts: Facts) -> bool:
    """Whether tensors are made in another precision than float32 by default; on a GPU is none."""
    for operation in facts.program.operations_of(Call("torch.set_default_tensor_type")):
        for one in (one for context in operation.contexts for one in context.given("t", 0).alternatives):
            name = one.named or (one.literal if isinstance(one.literal, str) else "")
            if name.rpartition(".")[2] != "FloatTensor":
                return True
    return False


def _differentiated_twice(facts: Facts, loop: Loop) -> list[Operation]:
    """What takes gradients of gradients in a loop, or in a function beside it that nothing is seen to call. A project
    has losses that do which this training does not use, and optimizers to choose from."""
    found = facts.program.operations_of(*_DIFFERENTIATES)
    twice = [one for one in found if _keeps_graph(one)]
    return [
        one
        for one in twice
        if any(
            (loop in context.loops and "step" not in context.functions)
            or (one.document is loop.document and context.inner is None and context.functions)
            for context in one.contexts
        )
    ]


def _keeps_graph(operation: Operation) -> bool:
    """Whether gradients are computed so that they can be differentiated: what ``backward`` is given by a variable says
    so only for optimizers of second order (``create_graph=is_second_order``)."""
    if operation.what.name == "grad":
        return not operation.lacks("create_graph", 4)
    return any(one.literal is True for one in operation.given("create_graph", 2).alternatives)


def _is_penalty(operation: Operation) -> bool:
    """Whether gradients are taken by the inputs of a network, to be a part of its loss, which can be left in float32;
    those by its weights are what it learns by."""
    node = operation.node
    if operation.what.name != "grad" or not isinstance(node, cst.Call) or operation.lacks("create_graph"):
        return False
    by = keywords_of(node).get("inputs") or next((one.value for one in node.args[1:2] if one.keyword is None), None)
    return by is not None and not any(map(_WEIGHTS.search, names_read_in(by)))


def is_deep(facts: Facts) -> bool:
    """Whether the program builds a model of many layers that multiply matrices: by many calls, by lists of layers, or
    by a library's factory."""
    program = facts.program
    if facts.does(*_FACTORIES) or any(_MODEL.search(one.what.full) for one in program.operations_of(*_TRANSFORMERS)):
        return True
    layers = len(program.operations_of(*_LAYERS)) or _derives(facts)
    attends = bool(program.operations_of(*_SOFTMAX) and program.operations_of(*_PRODUCTS))
    return layers >= _MANY or ((layers > 0 or attends) and _stacks(facts))


def _derives(facts: Facts) -> bool:
    """Whether the program has layers of its own that are made of such a layer of torch."""
    names = {one.full for one in _LAYERS}
    for document in (one.document for one in facts.program):
        for cls in document.tree.body:
            bases = [one.value for one in cls.bases] if isinstance(cls, cst.ClassDef) else []
            if any(canonical(full_name(document.imported, base)) in names for base in bases):
                return True
    return False


def _stacks(facts: Facts) -> bool:
    """Whether layers are put into lists, as many as an option says."""
    if facts.does(Call("torch.nn.ModuleList")):
        return True
    sequences = [one.node for one in facts.program.operations_of(Call("torch.nn.Sequential"))]
    return any(arg.star == "*" for node in sequences if isinstance(node, cst.Call) for arg in node.args)
