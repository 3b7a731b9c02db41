"""All groups of habits that are measured."""

from __future__ import annotations

from functools import partial

import torch

from .habit_kernels import Kernels
from .habit_variants import Group
from .habit_waits import Waits


def groups(device: torch.device, *, quick: bool) -> list[Group]:
    """All groups; ``quick`` ones are small enough for two cores without a GPU."""
    waits, kernels = Waits(device, quick), Kernels(device, quick)
    found = [
        Group(
            f"waits, {length} ms",
            f"12 linear layers of 1,024, as many rows as make a step of about {length} ms",
            partial(waits.waits, length / 1000),
            block=0.4 if length > 50 else 0.25 if length > 10 else 0.1,
        )
        for length in ((2,) if quick else (1, 5, 20, 100))
    ]
    return [
        *found,
        Group("made on the host", "6 linear layers of 1,024, 4,096 rows", waits.made_on_host),
        Group("small weights", "100 linear layers of 64, 64 rows, AdamW", partial(kernels.weights, 100, 64, 64)),
        Group("large weights", "24 linear layers of 2,048, 512 rows, AdamW", partial(kernels.weights, 24, 2048, 512)),
        Group("products", "transformer encoder, 4 layers of 1,024, 32 texts of 512 words", kernels.products),
        Group("convolutions", "ResNet-18, 256 images of 224 x 224", kernels.convolutions),
        Group("evaluation", "ResNet-18, 256 images of 224 x 224, forward only", kernels.evaluation),
        Group("written out", "activations of 64 x 256 x 56 x 56, texts of 32 x 512 x 1,024", kernels.written_out),
        Group("attention", "16 sequences of 1,024, 8 heads of 64, bfloat16, forward and backward", kernels.attention),
    ]
