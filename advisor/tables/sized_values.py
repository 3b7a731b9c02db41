"""What depends on the form of tensors and on settings alone, and never on what tensors hold."""

from __future__ import annotations

FORM_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "device", "is_cuda", "layout"})
"""Attributes that say how large a tensor is, or where and of which kind."""
FORM_METHODS = frozenset({"size", "dim", "numel", "nelement", "ndimension", "get_device", "element_size", "len"})
"""Methods and functions that do."""
OWN_FACTORIES = frozenset({"new_zeros", "new_ones", "new_full", "new_tensor"})
"""Methods that make a tensor which shares nothing with their receiver but its dtype and device."""
LIKE_FACTORIES = frozenset({"torch.zeros_like", "torch.ones_like", "torch.full_like", "numpy.zeros_like"})
"""Functions that take no more of their first argument than its form."""
PURE_BUILTINS = frozenset(
    {"int", "float", "bool", "str", "len", "range", "list", "tuple", "min", "max", "abs", "round", "sum", "zip"}
    | {"enumerate", "sorted", "reversed", "slice", "True", "False", "None", "pow", "divmod"}
)
"""Names of Python's own whose results follow from what they are given."""
OF_NUMBERS = frozenset({"sqrt", "log", "log2", "exp", "ceil", "floor", "pow", "prod", "array", "to_2tuple", "pair"})
"""Functions that make a number, or an array, of numbers."""
CHANCES = frozenset(
    {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial"}
    | {"normal", "poisson", "binomial", "rrelu", "gumbel_softmax", "seed", "initial_seed", "sample", "rsample"}
    | {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"}
    | {"normal_", "uniform_", "random_", "exponential_", "bernoulli_", "log_normal_", "cauchy_", "geometric_"}
    | {"empty", "empty_like", "new_empty", "load", "loadtxt", "genfromtxt", "fromfile"}
)
"""Functions and methods whose results differ from call to call, by chance, by what memory or a file holds."""
OF_CHANCE = ("numpy.random.", "torch.distributions.", "torch.hub.", "torch.random.")
"""Packages in which all do."""

STRUCTURED = frozenset(
    {"torch.arange", "torch.linspace", "torch.logspace", "torch.eye", "torch.tril_indices", "torch.triu_indices"}
    | {"torch.range", "torch.tril", "torch.triu", "torch.meshgrid", "torch.cartesian_prod", "torch.combinations"}
    | {"numpy.arange", "numpy.linspace", "numpy.eye", "numpy.identity", "numpy.tri", "numpy.tril", "numpy.triu"}
    | {"numpy.meshgrid", "numpy.indices", "numpy.array", "numpy.asarray", "numpy.mgrid", "numpy.ogrid", "numpy.float32"}
    | {"torch.hann_window", "torch.hamming_window", "torch.blackman_window", "torch.kaiser_window"}
    | {"numpy.hanning", "numpy.hamming", "numpy.outer", "torch.outer"}
)
"""Functions that make something with a pattern: a range, a grid, a mask, a window."""
FILLED = frozenset(
    {f"{library}.{name}" for library in ("torch", "numpy") for name in ("zeros", "ones", "full")} | LIKE_FACTORIES
)
"""Functions that make a tensor or array of one number."""
OF_LISTS = frozenset(
    {"torch.tensor", "torch.as_tensor"}
    | {f"torch.{kind}Tensor" for kind in ("", "Float", "Double", "Half", "Long", "Int", "Byte", "Bool")}
)
"""Functions that make a tensor of a list of numbers."""
