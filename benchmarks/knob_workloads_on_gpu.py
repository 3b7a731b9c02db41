"""The same for a GPU, in the order of what an answer is worth: where the time is short, the last ones are left out.

Without a GPU the scripts are small, so that they can be seen to train.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.knob_workloads import POINTWISE, WORKLOADS, Workload

PRODUCTS = "size, rows = (2048, 128) if device == 'cuda' else (64, 1)"
IMAGES = "width, copies = (64, 16) if device == 'cuda' else (8, 1)"
LARGE = "size = 4096 if device == 'cuda' else 64"


def on_gpu(name: str, **other: Any) -> Workload:
    """The like of a workload on the processor, in shorter blocks."""
    return replace(WORKLOADS[name], device="cuda", block=0.2, **other)


ON_GPU = {
    "autocast, products on a GPU": Workload(
        "autocast",
        True,
        "nn.Sequential(*[nn.Linear(size, size) for _ in range(8)])",
        "4096, 16",
        loader="batch_size=32, shuffle=True",
        loss="model(inputs.to(device).repeat(rows, size // 16)).float().square().mean()",
        classes=PRODUCTS,
        device="cuda",
        block=0.2,
    ),
    "channels_last, convolutions on a GPU": Workload(
        "channels_last",
        True,
        "nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), *[layer for _ in range(8) "
        "for layer in (nn.Conv2d(width, width, 3, padding=1), nn.ReLU())])",
        "256, 3, 56, 56",
        before="model.forward = torch.autocast(device, torch.bfloat16)(model.forward)",
        loss="model(inputs.to(device).repeat(copies, 1, 1, 1)).float().square().mean()",
        classes=IMAGES,
        device="cuda",
        block=0.2,
    ),
    "fused_optimizer, large weights on a GPU": Workload(
        "fused_optimizer",
        True,
        "nn.Sequential(*[nn.Linear(size, size) for _ in range(8)])",
        "4096, 32",
        optimizer="AdamW(model.parameters(), lr=1e-7)",
        loss="model(inputs.to(device).repeat(1, size // 32)).square().mean()",
        classes=LARGE,
        device="cuda",
        block=0.2,
    ),
    "batch_size, small batches on a GPU": on_gpu(
        "batch_size, small batches",
        shape="112, 32",  # as many as allow for one doubling: each takes four starts
    ),
    "tf32, products": WORKLOADS["tf32, products"],
    "cudnn_benchmark, convolutions": WORKLOADS["cudnn_benchmark, convolutions"],
    "autocast, a loss that it moves on a GPU": on_gpu("autocast, a loss that it moves"),
    "channels_last, no convolution on a GPU": on_gpu("channels_last, no convolution"),
    "fused_optimizer, no fused form on a GPU": on_gpu("fused_optimizer, no fused form"),
    "batch_size, a batch sampler on a GPU": on_gpu("batch_size, a batch sampler"),
    "tf32, asked for already": WORKLOADS["tf32, asked for already"],
    "fused_optimizer, many small weights on a GPU": on_gpu("fused_optimizer, many small weights"),
    "cudnn_benchmark, no convolution": WORKLOADS["cudnn_benchmark, no convolution"],
    "compile, pointwise operations on a GPU": on_gpu(
        "compile, pointwise operations",
        shape="2048, 512",
        loader="batch_size=32, shuffle=True",
        classes=POINTWISE.replace("4096", "512").replace("range(30)", "range(12)"),
    ),
    "compile, a graph in pieces on a GPU": on_gpu("compile, a graph in pieces"),
}
"""Each by its name, which ends in "on a GPU" where the like of it runs on the processor, too."""
ALL = {**WORKLOADS, **ON_GPU}
