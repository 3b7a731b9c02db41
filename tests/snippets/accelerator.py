"""A pretended accelerator: tensors lie in the host's memory, a label says on which device the program believes them.

What a program does is done in earnest, with real values, loaders, workers and gradients. As on a CUDA device, a call
that mixes tensors of the host and of the device fails, as does asking a tensor of the device for a NumPy array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

HOST = torch.device("cpu")
DEVICE = torch.device("cuda", 0)

DEVICE_OF = torch.Tensor.device.__get__
IS_CUDA = torch.Tensor.is_cuda.__get__  # type: ignore[attr-defined]
SET_DATA = torch.Tensor.data.__set__  # type: ignore[attr-defined]
MOVES: set[Any] = {torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu, torch._C._nn._parse_to}
TO_NUMPY: set[Any] = {torch.Tensor.numpy, torch.Tensor.__array__}
# They copy from one device to another, or take an index from the host.
MIXING: set[Any] = {
    SET_DATA,
    torch.Tensor.copy_,
    torch.Tensor.__getitem__,
    torch.Tensor.__setitem__,
    torch._has_compatible_shallow_copy_type,
}


def is_device(value: object) -> bool:
    """Whether an argument names the accelerator."""
    return isinstance(value, str | torch.device) and str(value).partition(":")[0] == DEVICE.type


class PretendedAccelerator(TorchFunctionMode):
    """Lets every call of torch see an accelerator."""

    def __init__(self) -> None:
        self._labels: Any = WeakTensorKeyDictionary()

    def place(self, tensor: torch.Tensor) -> torch.device:
        """Where the program believes a tensor to lie."""
        label: torch.device = self._labels.get(tensor, tensor.device)
        return label

    def label(self, tensor: torch.Tensor, place: torch.device) -> None:
        """Says where the program shall believe a tensor to lie."""
        self._labels[tensor] = place

    def __torch_function__(
        self, function: Callable[..., Any], types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Makes one call of torch."""
        kwargs = kwargs or {}
        if function is torch.device:
            return DEVICE if type(args[0]) is int else function(*args, **kwargs)
        if type(kwargs.get("device")) is int:
            kwargs["device"] = DEVICE
        if function in MOVES:
            args = tuple(DEVICE if type(one) is int else one for one in args)
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        places = {self.place(one) for one in given}
        if function == DEVICE_OF:
            return self.place(args[0])
        if function == IS_CUDA:
            return self.place(args[0]) == DEVICE
        if function is torch._C._nn._parse_to:
            return (self._target(HOST, *args, **kwargs), *function(*self._real(args), **self._real(kwargs))[1:])
        if function in MOVES:
            return self._move(function, *args, **kwargs)
        if function is torch.Tensor.pin_memory:
            if DEVICE in places:
                raise RuntimeError(f"cannot pin a tensor of {DEVICE}: only dense CPU tensors can be pinned")
            return args[0].clone()
        if function in TO_NUMPY and DEVICE in places:
            raise TypeError(f"can't convert a tensor of {DEVICE} to numpy: copy it to host memory first")
        if function not in MIXING and {self.place(one) for one in given if one.dim()} == {HOST, DEVICE}:
            raise RuntimeError(f"Expected all tensors to be on the same device, found {HOST} and {DEVICE}: {function}")
        named = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.device) or is_device(one)]
        result = function(*self._real(args), **self._real(kwargs))
        if function == SET_DATA:
            self._labels[args[0]] = self.place(args[1])
        elif is_device(named[0]) if named else DEVICE in places:
            known = {id(one) for one in given}
            for one in tree_leaves(result):
                if isinstance(one, torch.Tensor) and id(one) not in known:
                    self._labels[one] = DEVICE
        return result

    def _move(self, function: Callable[..., Any], tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if function is torch.Tensor.to:
            target = self._target(self.place(tensor), *args, **kwargs)
            moved = tensor.to(*self._real(args), **self._real(kwargs))
        else:
            target = DEVICE if function is torch.Tensor.cuda else HOST
            moved = tensor
        if moved is tensor and target != self.place(tensor):
            moved = tensor.clone()
        if moved is not tensor:
            self._labels[moved] = target
        return moved

    def _target(self, place: torch.device, *args: Any, **kwargs: Any) -> torch.device:
        for one in (*args, *kwargs.values()):
            if is_device(one):
                return DEVICE
            if isinstance(one, str | torch.device):
                return torch.device(one)
            if isinstance(one, torch.Tensor):
                return self.place(one)
        return place

    @staticmethod
    def _real(arguments: Any) -> Any:
        return tree_map(lambda one: HOST if is_device(one) else one, arguments)


@contextmanager
def pretended() -> Iterator[PretendedAccelerator]:
    """Runs the body with an accelerator."""
    real_group, real_compile = torch.distributed.init_process_group, torch.compile
    real_copy = torch.nn.Parameter.__deepcopy__
    mode = PretendedAccelerator()

    def gloo(backend: str | None = None, *args: Any, **kwargs: Any) -> None:
        real_group("gloo", *args, **kwargs)

    def traced(*args: Any, **kwargs: Any) -> Any:
        # What Dynamo traces runs as it is: a compiler would take half a minute for each program.
        return real_compile(*args, **{"backend": "eager", **kwargs})

    def copied(parameter: torch.nn.Parameter, memo: dict[int, Any]) -> Any:
        # A deep copy makes its parameter past the modes of torch functions.
        copy = real_copy(parameter, memo)
        mode.label(copy, mode.place(parameter))
        return copy

    # All that looks for a driver.
    stands: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 2,
        "current_device": lambda: 0,
        "is_bf16_supported": lambda *_: True,
        "set_device": lambda _: None,
        "synchronize": lambda *_: None,
        "empty_cache": lambda: None,
        "get_device_name": lambda *_: "pretended",
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda *_: None,
    }
    with (
        mode,
        mock.patch.multiple(torch.cuda, **stands),
        mock.patch.object(torch.distributed, "init_process_group", gloo),
        mock.patch.object(torch, "compile", traced),
        mock.patch.object(torch.nn.Parameter, "__deepcopy__", copied),
    ):
        yield mode
