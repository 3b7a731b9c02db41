"""Training in float32 throughout, of a model that is deep enough for tensor cores to pay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from accel_advisor.records.actions import AnyCall, AnySets, Call, calls, methods, within
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.queries.models.float32_products import moved_in_float32
from accel_advisor.records.queries.precision import COMPLEX, DOUBLES, HALVES, speaks_of
from accel_advisor.records.queries.training_loops import trainings
from accel_advisor.values.evidence import PROVEN, Evidence, Ground

if TYPE_CHECKING:
    from accel_advisor.records.facts import Facts, Loop

SINCE = (1, 10)
"""The version of torch that brought ``torch.autocast``."""
_DECIDES = (
    *(AnyCall("autocast"), AnySets("allow_tf32"), AnySets("fp32_precision")),
    *calls("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.set_float32_matmul_precision"),
    *methods("Module", "half", "bfloat16", "double"),
    *methods("Tensor", "half", "bfloat16", "double"),
    *calls("torch.set_default_dtype", "torch.set_default_tensor_type", "torch.view_as_complex", "torch.complex"),
    Call("torch.optim.LBFGS"),
    *within("torch.fft", "gym", "gymnasium", "stable_baselines3", "ray.rllib", "torchrl"),
)
_DIFFERENTIATES = (Call("torch.autograd.grad"), *methods("Tensor", "backward"), *methods("?", "backward"))
_SPEAKS = re.compile(
    r"(?<![a-z])(?:amp|autocast|gradscaler|[bf]p?16|b?float16|mixed[_ -]?precision|allow_tf32|deepspeed)(?![a-z])",
    re.IGNORECASE,
)
"""Words of a program whose owner has thought of mixed precision."""
_LAYERS = calls(
    *(f"torch.nn.{kind}{size}d" for kind in ("Conv", "ConvTranspose") for size in (1, 2, 3)),
    *(f"torch.nn.{kind}" for kind in ("MultiheadAttention", "Transformer", "TransformerEncoder", "TransformerDecoder")),
    *(f"torch.nn.{kind}" for kind in ("TransformerEncoderLayer", "TransformerDecoderLayer", "LSTM", "GRU")),
)
_SOFTMAX = calls("torch.softmax", "torch.nn.functional.softmax", "torch.nn.Softmax")
_PRODUCTS = calls("torch.matmul", "torch.bmm", "torch.einsum")
_FACTORIES = (Call("timm.create_model"), *within("torchvision.models", "timm.models", "segmentation_models_pytorch"))
_SMALL = calls(*(f"torchvision.datasets.{name}MNIST" for name in ("", "Fashion", "K", "E", "Q")))
_MANY = 4
"""Places that build convolutions, from which on a model is no exercise."""


@dataclass(frozen=True, slots=True)
class FullPrecision:
    """A loop that trains in float32.

    Attributes:
        loop: the first one of its program.
        node: the first call of a model in it, where one is seen in its own text; otherwise the loop.
        basis: what shows that it trains such a model on a GPU.
    """

    loop: Loop
    node: cst.CSTNode
    basis: Evidence


def full_precision(facts: Facts) -> FullPrecision | None:
    """The loop of this document that trains a deep model on a GPU in float32, if the program never mentions another
    precision; None where another loop of the program stands for it, or the move of its attention layers."""
    if not facts.supports(SINCE) or not any(loop.learns for loop in facts.loops) or not _may(facts):
        return None
    learning = [loop for each in facts.program for loop in each.loops if loop.learns]
    fed = [loop for loop in learning if loop.loaders] or learning
    first = min(fed, key=lambda loop: (loop.document.filename, loop.document.span(loop.node).start.offset))
    graphs = any(one.constructor.name.startswith(("torch_geometric.", "dgl.")) for one in loaders_in(first))
    if first.document is not facts.document or graphs or not _is_deep(facts) or moved_in_float32(facts) is not None:
        return None
    if _differentiates_twice(facts, first):
        return None
    if not first.loaders and facts.does(*_FACTORIES):
        return None  # a pretrained model is looked at, as in the transfer of a style
    proven = any(one.loop is first and (one.convolves or one.attends) for one in trainings(facts))
    models = [call.node for call, _ in facts.program.calls_in.get(first, ()) if not call.loss]
    node = next((one for one in models if first.holds(facts.document, one)), first.node)
    return FullPrecision(first, node, PROVEN if proven else Evidence.of(Ground.GPU, Ground.LAYERS))


def _may(facts: Facts) -> bool:
    """Whether a program trains on a GPU, and nothing in it decides about precision."""
    if facts.frameworks or not facts.names_gpu_anywhere or not facts.placed or facts.does(*_DECIDES, *_SMALL):
        return False
    if any(_SPEAKS.search(each.document.text) for each in facts.program):
        return False
    return not speaks_of(facts, HALVES | DOUBLES | COMPLEX)


def _differentiates_twice(facts: Facts, loop: Loop) -> bool:
    """Whether a loop, or a function that nothing is seen to call, takes gradients of gradients."""
    found = facts.program.operations_of(*_DIFFERENTIATES)
    twice = [one for one in found if one.what.name == "grad" or not one.lacks("create_graph", 2)]
    contexts = [context for one in twice for context in one.contexts]
    return any(loop in one.loops or (one.inner is None and one.functions) for one in contexts)


def _is_deep(facts: Facts) -> bool:
    """Whether the program builds a model of many layers that multiply matrices: by many calls, by lists of layers, or
    by a library's factory."""
    program = facts.program
    if facts.does(*_FACTORIES):
        return True
    layers = len(program.operations_of(*_LAYERS))
    attends = bool(program.operations_of(*_SOFTMAX) and program.operations_of(*_PRODUCTS))
    return layers >= _MANY or ((layers > 0 or attends) and _stacks(facts))


def _stacks(facts: Facts) -> bool:
    """Whether layers are put into lists, as many as an option says."""
    if facts.does(Call("torch.nn.ModuleList")):
        return True
    sequences = [one.node for one in facts.program.operations_of(Call("torch.nn.Sequential"))]
    return any(arg.star == "*" for node in sequences if isinstance(node, cst.Call) for arg in node.args)
