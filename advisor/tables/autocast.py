"""What autocast computes in which precision on CUDA.

From ``ATen/autocast_mode.h`` of torch 2.13, and the layers that call these functions.
"""

from __future__ import annotations

IN_FLOAT32 = frozenset(
    (
        "acos arccos asin arcsin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus "
        "layer_norm rms_norm group_norm norm cosine_similarity dist pdist cdist renorm logsumexp interpolate upsample "
        "prod softmax log_softmax softmin cumprod cumsum sum normalize float double"
    ).split()
)
"""Functions and methods that give float32 of what is in half precision; ``normalize`` divides by a norm."""

IN_HALF = frozenset(
    (
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d addmm addmv addr matmul einsum mm mv "
        "linear addbmm baddbmm bmm chain_matmul multi_dot scaled_dot_product_attention"
    ).split()
)
"""Functions that compute in half precision, whatever they are given."""

LAYERS_IN_FLOAT32 = frozenset(
    f"torch.nn.{name}"
    for name in "Softmax Softmax2d LogSoftmax Softmin Softplus LayerNorm GroupNorm RMSNorm Upsample".split()
)
"""Layers that give float32."""

LAYERS_IN_HALF = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM GRU RNN "
        "MultiheadAttention PReLU"
    ).split()
)
"""Layers that give half precision, whatever they are given."""
