"""Functions of torch: which make tensors, which compute, which wait for a device.

From the documentation of torch 2.13 (https://docs.pytorch.org/docs/stable/torch.html).
"""

from __future__ import annotations

TENSOR_FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        "zeros ones empty full eye arange linspace logspace rand randn randint randperm tensor as_tensor "
        "range from_numpy scalar_tensor tril_indices triu_indices hann_window"
    ).split()
)
"""Functions that make a tensor of something else."""

WINDOWS = tuple(f"torch.{name}_window" for name in "hann hamming blackman bartlett kaiser".split())
"""Functions that make the windows of spectra."""

SIZED_FACTORIES = frozenset(f"torch.{name}" for name in "zeros ones empty full eye rand randn randperm".split())
"""Factories whose first argument is the size, or its first dimension."""

SHAPED_FACTORIES = frozenset("torch." + name for name in "zeros ones empty full rand randn".split())
"""Factories whose first argument is a size: an empty one makes a tensor without dimensions."""

TENSOR_FUNCTIONS = frozenset(
    f"torch.{name}"
    for name in (
        "cat stack add sub mul div matmul mm bmm exp log sqrt abs sum mean max min clamp relu sigmoid tanh "
        "softmax log_softmax sin cos pow where sort topk argmax argmin flatten reshape transpose permute "
        "squeeze unsqueeze split chunk zeros_like ones_like rand_like randn_like empty_like full_like "
        "bernoulli normal einsum cumsum logical_and logical_or logical_not isnan isfinite norm outer ger "
        "floor round sign eq ne gt lt ge le isinf any all argsort nonzero argwhere unique masked_select std var prod "
        "flip fliplr flipud roll rot90 tile clone triu tril diag"
    ).split()
)
"""Functions that make a tensor of tensors."""

ONE_OPERAND = frozenset(
    (
        "sum mean softmax log_softmax sort topk argmax argmin flatten reshape transpose permute squeeze unsqueeze "
        "split chunk cumsum norm any all argsort unique std var prod flip roll rot90 tile triu tril diag cat stack "
        "interpolate upsample pad one_hot dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout "
        "softmin gumbel_softmax normalize unfold fold glu elu selu celu leaky_relu hardtanh relu6 gelu silu softplus "
        "softshrink hardshrink threshold pixel_shuffle pixel_unshuffle channel_shuffle "
        "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d adaptive_max_pool1d "
        "adaptive_max_pool2d adaptive_max_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d"
    ).split()
)
"""Functions of ``torch`` and ``torch.nn.functional`` of whose arguments only the first is a tensor: the others are
numbers, such as sizes, or dimensions."""

LOSS_FUNCTIONS = frozenset(
    f"torch.nn.functional.{name}"
    for name in (
        "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss binary_cross_entropy kl_div huber_loss "
        "binary_cross_entropy_with_logits gaussian_nll_loss hinge_embedding_loss margin_ranking_loss"
    ).split()
)
"""Functions that compute a loss."""

READS_TENSOR = frozenset({"float", "int", "bool", "print", "range", "min", "max"})
"""Builtins that copy a tensor to the host, and wait for it: the last two where they compare several values."""

SAVES = frozenset({"torch.save", "safetensors.torch.save_file"})
"""Functions that write their first argument to a file."""

SETS_DEFAULT_DEVICE = frozenset({"torch.set_default_device", "torch.set_default_tensor_type"})
"""Calls after which tensors and modules may be made on an accelerator, wherever in the program."""

HARMLESS_CUDA = frozenset(
    "torch.cuda." + name for name in ("manual_seed manual_seed_all seed seed_all empty_cache get_device_name").split()
)
"""Calls that are no evidence that a program runs on a GPU."""

ASKS_FOR_CUDA = frozenset({"torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.is_initialized"})
"""Calls that ask for a GPU without using it."""

AUTOCASTS = frozenset({"torch.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})
"""Context managers that compute in a smaller precision."""

ENABLED_AT = {
    "torch.autocast": 2,
    "torch.cuda.amp.autocast": 0,
    "torch.cpu.amp.autocast": 0,
    "torch.amp.GradScaler": 5,
    "torch.cuda.amp.GradScaler": 4,
    "torch.cpu.amp.GradScaler": 4,
}
"""The position of ``enabled`` in the calls that make an autocast region or a gradient scaler."""

DEVICE_KINDS = frozenset("cpu cuda mps xpu xla hpu meta npu mlu musa ipu mtia vulkan privateuseone".split())
"""Kinds of devices, as torch writes them."""

DEVICE_FUNCTIONS = {
    "torch.accelerator.current_accelerator": frozenset({"cuda", "mps", "xpu"}),
    "torch.accelerator.current_device_idx": frozenset({"cuda", "mps", "xpu"}),
    "torch.accelerator.current_device_index": frozenset({"cuda", "mps", "xpu"}),
    "torch_xla.device": frozenset({"xla"}),
    "torch_xla.core.xla_model.xla_device": frozenset({"xla"}),
    "torch_directml.device": frozenset({"privateuseone"}),
}
"""Functions that return a device, and the kinds that it can be."""

INDICES = frozenset(
    {"int", "torch.distributed.get_rank", "torch.distributed.get_node_local_rank", "torch.cuda.current_device"}
)
"""Functions that return a whole number: as a device, the number of an accelerator."""

DRAWS = ("numpy.random.", "torch.rand", "torch.utils.data.random_split")
"""Beginnings of names of functions that draw at random."""
