"""Decorators and context managers: which change what autograd records, and which leave a function as it is.

From the documentation of torch 2.13 (https://docs.pytorch.org/docs/stable/autograd.html) and of the libraries that are
named.
"""

from __future__ import annotations

STOPS_AUTOGRAD = frozenset(
    {"torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autograd.no_grad"}
    | {"torch.autograd.grad_mode.no_grad", "torch.autograd.inference_mode", "torch.autograd.grad_mode.inference_mode"}
    | {"torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled"}
)
"""Context managers and decorators under which autograd records nothing, or perhaps nothing."""

LEAVES_AUTOGRAD = (
    *("torch.", "tqdm.", "functools.", "hydra.", "click.", "abc.", "typing.", "warnings.", "rich.", "time."),
    *("contextlib.nullcontext", "contextlib.suppress", "contextlib.redirect", "contextlib.contextmanager"),
    *("staticmethod", "classmethod", "property", "open", "PIL.", "h5py.", "wandb.", "mlflow.", "numpy."),
    *("beartype.", "icontract.", "typeguard.", "jaxtyping."),
    *("pathlib.", "io.", "codecs.", "gzip.", "bz2.", "lzma.", "zipfile.", "tarfile.", "tempfile.", "urllib."),
    *("fsspec.", "threading.", "multiprocessing.", "concurrent.", "logging.", "lmdb.", "soundfile.", "requests."),
)
"""Beginnings of names of context managers and decorators that have nothing to do with autograd otherwise."""

LEAVE_AUTOGRAD_BY_NAME = frozenset(
    "open autocast scale_loss no_sync accumulate nullcontext suppress record_function profile stream tqdm".split()
)
"""What methods of unknown objects are called that give context managers which have nothing to do with autograd: of
paths, of accelerate's and Lightning's engines, of DistributedDataParallel, of profilers."""

TRANSPARENT_DECORATORS = (
    "torch.no_grad",
    "torch.inference_mode",
    "torch.enable_grad",
    "staticmethod",
    "classmethod",
    "property",
    "functools.",
    "torch.compile",
    "abc.abstractmethod",
    "torch.autocast",
    "typing.",
    "torch.jit.",
    "hydra.main",
    "click.",
    "typer.",
    "record",
    "torch.distributed.elastic.",
    "beartype.",
    "icontract.",
    "typeguard.",
    "jaxtyping.",
)
"""Beginnings of decorators that leave the arguments and the result of a function as they are."""
