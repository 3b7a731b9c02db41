"""How fast bytes travel between this machine's memory and its accelerator, from pageable and from pinned memory.

Pinned memory lets the device read it by itself, where pageable memory is first copied into a buffer of the driver's.
How much that matters differs by a factor between machines, and on some it does not matter at all, so it is measured.
The measurement runs in a process of its own: this file, by its path, under the interpreter that trains.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

BYTES = 64 << 20
"""Bytes of one copy: long enough that starting it does not count, and no more than a large batch."""
ROUNDS = 7
TIME_LIMIT = 120.0
PAYS = 1.1
"""Times as fast that pinned copies must be for pinning to be worth mentioning."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second of copies of 64 MiB, the median of seven; ``device`` as torch names it.

    Attributes:
        pageable_to, pinned_to: from memory to the device.
        pageable_from, pinned_from: from the device to memory.
    """

    device: str
    pageable_to: float
    pinned_to: float
    pageable_from: float
    pinned_from: float

    @property
    def ratio(self) -> float:
        """How many times as fast pinned copies to the device are."""
        return self.pinned_to / self.pageable_to

    @property
    def sentence(self) -> str:
        """Whether pinning can pay here."""
        rates = f"{self.pinned_to / 1e9:.1f} against {self.pageable_to / 1e9:.1f} GB/s"
        if self.ratio < PAYS:
            return f"pinned copies to {self.device} are no faster than pageable ones here ({rates}): pinning cannot pay"
        return f"pinned copies to {self.device} run {self.ratio:.1f} times as fast as pageable ones here ({rates})"


def measure(python: str = sys.executable, limit: float = TIME_LIMIT) -> Bandwidth | str:
    """The bandwidth of the current accelerator, or in words why there is none.

    Args:
        python: the interpreter whose torch is used.
        limit: seconds for the whole process, the start of the device included.
    """
    try:
        done = subprocess.run(
            [python, "-P", __file__], capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"copies to the accelerator were not done within {limit:.0f} s"
    except OSError as error:
        return f"{python} cannot be run: {error.strerror or error}"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.strip().rpartition("\n")[2]
        return f"copies to the accelerator could not be measured: {last or f'exit status {done.returncode}'}"
    return Bandwidth(**answer) if isinstance(answer, dict) else str(answer)


def copy_rates(torch: Any, device: Any) -> Bandwidth:
    """Copies both ways, in turns, on ``device``.

    Raises:
        RuntimeError: memory cannot be allocated or pinned.
    """
    pageable = torch.zeros(BYTES, dtype=torch.uint8)
    pinned = torch.zeros(BYTES, dtype=torch.uint8).pin_memory()
    there = torch.zeros(BYTES, dtype=torch.uint8, device=device)
    module = torch.get_device_module(device)
    copies: dict[str, Callable[[], Any]] = {
        "pageable_to": lambda: there.copy_(pageable),
        "pinned_to": lambda: there.copy_(pinned, non_blocking=True),
        "pageable_from": lambda: pageable.copy_(there),
        "pinned_from": lambda: pinned.copy_(there, non_blocking=True),
    }
    seconds: dict[str, list[float]] = {name: [] for name in copies}
    for number in range(ROUNDS + 2):
        for name, copy in copies.items():
            module.synchronize()
            began = time.perf_counter()
            copy()
            module.synchronize()
            if number >= 2:  # the first ones pay for buffers and clocks
                seconds[name].append(time.perf_counter() - began)
    return Bandwidth(str(device), **{name: BYTES / median(taken) for name, taken in seconds.items()})


def main() -> None:
    """Prints the rates as JSON, or as a JSON string why there are none."""
    try:
        import torch
    except ImportError:
        print(json.dumps("torch is not installed"))
        return
    device = torch.accelerator.current_accelerator() if hasattr(torch, "accelerator") else None
    if device is None or not torch.accelerator.is_available():
        print(json.dumps("there is no accelerator to copy to"))
        return
    try:
        found = copy_rates(torch, torch.device(device.type, torch.accelerator.current_device_index()))
    except RuntimeError as error:
        print(json.dumps(f"copies to {device.type} failed: {str(error).splitlines()[0]}"))
        return
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # all is said, and the end of an interpreter with torch takes half a second
