"""Beginnings that the programs of rules/precision share."""

from __future__ import annotations

from ..programs import IMPORTS, MODEL

CLIPPING = IMPORTS + MODEL + "import conf\nx = torch.zeros(4, 8).cuda()\nclip = nn.utils.clip_grad_norm_\n"
"""A model on the GPU, its input, and the function that clips gradients."""
