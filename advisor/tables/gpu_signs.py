"""What shows that a program is written for a CUDA device: names, texts and options that only such a program has."""

from __future__ import annotations

from accel_advisor.tables.torch_functions import HARMLESS_CUDA

_NAMES = ("torch.cuda.", "torch.accelerator.", "pynvml.")
_TEXTS = frozenset({"cuda", "nccl", "CUDA_VISIBLE_DEVICES"})
_OPTIONS = frozenset(
    "gpu gpus gpu-id gpu-ids gpuid gpu-num num-gpu num-gpus n-gpu n-gpus ngpu ngpus use-gpu cuda use-cuda no-cuda "
    "no-gpu disable-cuda cuda-device gpu-device gpu-list cuda-id".split()
)


def names_gpu(name: str) -> bool:
    """Whether a library's object, by its full name, is used by programs for a GPU alone."""
    return name.startswith(_NAMES) and name not in HARMLESS_CUDA


def text_names_gpu(text: str) -> bool:
    """Whether a string is the name of a CUDA device, of its backend, or of its environment variable."""
    return text in _TEXTS or text.startswith("cuda:")


def option_names_gpu(option: str) -> bool:
    """Whether an option of the command line chooses a GPU."""
    return option.lstrip("-").replace("_", "-").lower() in _OPTIONS
