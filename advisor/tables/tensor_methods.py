"""Methods of tensors, and their dtypes.

From the documentation of torch 2.13 (https://docs.pytorch.org/docs/stable/tensors.html).
"""

from __future__ import annotations

TENSOR_CLASSES = frozenset({"torch.Tensor", "Tensor", "torch.FloatTensor", "torch.LongTensor"})
"""How annotations name a tensor."""

TENSOR_METHODS = frozenset(
    (
        "float double half bfloat16 long int short bool byte view reshape flatten squeeze unsqueeze permute "
        "transpose contiguous detach clone expand repeat view_as expand_as t mean sum max min argmax softmax "
        "log_softmax sigmoid relu tanh exp log sqrt abs pow clamp add sub mul div matmul mm bmm eq ne gt lt ge le "
        "masked_fill gather index_select type_as requires_grad_ narrow chunk split unbind roll flip cumsum norm "
        "std var prod any all isnan isfinite isinf logical_not argmin topk sort argsort nonzero unique "
        "masked_select reshape_as triu tril sin cos floor ceil round repeat_interleave unfold diag "
        "logical_and logical_or logical_xor isclose logsumexp scatter scatter_add index_add square rsqrt "
        "new new_zeros new_ones new_full new_empty new_tensor"
    ).split()
)
"""Methods that exist on tensors, and give a tensor that lives where the receiver lives."""

CASTS = {
    "float": "torch.float32",
    "double": "torch.float64",
    "half": "torch.float16",
    "bfloat16": "torch.bfloat16",
    "long": "torch.int64",
    "int": "torch.int32",
    "short": "torch.int16",
    "byte": "torch.uint8",
    "bool": "torch.bool",
}
"""Methods of a tensor that change its dtype and leave it where it is."""

TAKES_SHAPE_OF = frozenset({"expand_as", "view_as", "reshape_as"})
"""Methods that want to know of another tensor only what form it has."""

FILLS_IN_PLACE = frozenset(
    {"fill_", "zero_", "uniform_", "normal_", "random_", "exponential_", "bernoulli_", "log_normal_", "cauchy_"}
    | {"fill_diagonal_", "mul_", "div_", "add_", "sub_", "pow_", "exp_", "log_", "sqrt_", "clamp_", "neg_"}
    | {"triu_", "tril_", "unsqueeze_", "squeeze_", "t_", "transpose_"}
)
"""Methods that change a tensor with numbers, with what they draw, or with what it holds itself."""

MASKS = frozenset(
    {"eq", "ne", "gt", "lt", "ge", "le", "isnan", "isfinite", "isinf", "isclose", "any", "all"}
    | {"logical_not", "logical_and", "logical_or", "logical_xor"}
)
"""Methods of a tensor that give truth values."""

KEEPS_VALUES = frozenset(
    {"flatten", "expand", "expand_as", "view_as", "reshape_as", "repeat", "flip", "roll", "clone", "narrow", "diag"}
    | {"triu", "tril", "gather", "index_select", "repeat_interleave", "masked_fill"}
)
"""Methods whose result holds nothing but what the tensor held."""

SHAPES = frozenset({"size", "dim", "numel", "view", "unsqueeze", "reshape", "permute", "transpose", "contiguous"})
"""Methods and attributes that only a tensor has, of all that is given to a module."""

OF_TENSORS = TENSOR_METHODS - {"sort", "split"} | SHAPES
"""Methods that neither a list nor a dict nor a string has."""

REDUCES = frozenset({"sum", "mean", "max", "min", "norm", "prod", "std", "var", "any", "all", "argmax", "argmin"})
"""Methods and functions that give a tensor without dimensions where they are given nothing else."""

JOINS = frozenset({"stack", "cat", "concat", "hstack", "vstack"})
"""Functions that make one tensor of a list of them, whatever is known of the list."""

TELLTALE = frozenset(
    {"unsqueeze", "unsqueeze_", "masked_fill", "masked_fill_", "index_select", "index_add_", "scatter_", "scatter_add_"}
    | {"expand_as", "view_as", "type_as", "log_softmax", "bmm", "narrow", "detach_", "repeat_interleave"}
    | {"zero_", "fill_", "copy_", "mul_", "add_", "sub_", "div_", "clamp_", "normal_", "uniform_", "detach"}
    | {"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "logsumexp", "masked_select"}
)
"""Methods that no object has but a tensor: arrays and data frames call theirs otherwise."""

GRAPHLESS = (
    MASKS
    | {"argmax", "argmin", "nonzero", "argsort"}
    | {"new", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"}
)
"""Methods of a tensor that no gradient flows through."""

MOVES = frozenset({"to", "cuda", "cpu", "xpu", "type", "npu"})
"""Methods that move what they are called on."""

DOUBLES = frozenset({"torch.float64", "torch.double", "torch.DoubleTensor", "torch.cuda.DoubleTensor"})
"""Names of double precision."""

HALVES = frozenset({"torch.float16", "torch.half", "torch.bfloat16"})
"""Names of half precision."""

COMPLEX = frozenset(f"torch.{name}" for name in ("chalf", "cfloat", "cdouble", "complex32", "complex64", "complex128"))
"""Names of complex dtypes."""
