"""NVIDIA GPUs as their driver sees them: what they are, what holds them back, and how busy they are.

The driver is asked through NVML (nvidia-ml-py), which needs neither torch nor a CUDA context, so that asking takes no
memory on the device. Where the library, the driver or a GPU is missing there is simply none; what a GPU does not report
is None.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

_SLOWED = {
    0x04: "its power cap",
    0x08: "a hardware slowdown",
    0x20: "its temperature",
    0x40: "its temperature",
    0x80: "a power brake of the machine",
}
"""Reasons for low clocks that are somebody's business, by NVML's bits (nvmlClocksEventReason*)."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU.

    Attributes:
        uuid: as the driver writes it: ``GPU-...``.
        name: its model.
        driver: version of the driver.
        memory: bytes in all.
        power_limit, power_default: watts that it may draw, and that it comes with.
        clock_most: megahertz of its processors at the most.
        width, width_most: lanes of its PCIe link now, and at the most.
        generation_most: PCIe generation that card and slot can both do.
        persistent: whether the driver stays loaded between programs.
        slowed: why its clocks are low, in words; empty where nothing slows it down.
        divided: whether it is split into MIG instances, of which the driver reports less.
    """

    uuid: str
    name: str
    driver: str
    memory: int | None
    power_limit: float | None
    power_default: float | None
    clock_most: int | None
    width: int | None
    width_most: int | None
    generation_most: int | None
    persistent: bool | None
    slowed: tuple[str, ...] = ()
    divided: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """What a GPU did at one moment.

    Attributes:
        at: on :func:`time.perf_counter`, in seconds; in a record, since the run began.
        busy: share of the last sampling period (a sixth of a second to a second) in which a kernel ran.
        memory: bytes in use, by whomever.
        power: watts.
        clock: megahertz of its processors.
        energy: joules on the counters of all cards that train, since their driver was loaded. A counter is of a whole
            card, whoever uses it, and is brought up to date every 20 to 100 ms.
    """

    at: float
    busy: float | None = None
    memory: int | None = None
    power: float | None = None
    clock: float | None = None
    energy: float | None = None


@contextlib.contextmanager
def driver() -> Iterator[Any]:
    """NVML, open; None where it is not available."""
    try:
        library = importlib.import_module("pynvml")
    except ImportError:
        yield None
        return
    try:
        library.nvmlInit()
    except library.NVMLError:
        yield None
        return
    try:
        yield library
    finally:
        with contextlib.suppress(library.NVMLError):
            library.nvmlShutdown()


def gpus() -> tuple[Gpu, ...]:
    """The GPUs of this machine, those included that this process's environment hides from CUDA."""
    with driver() as library:
        if library is None:
            return ()
        count = _asked(library, library.nvmlDeviceGetCount) or 0
        handles = (_asked(library, library.nvmlDeviceGetHandleByIndex, number) for number in range(count))
        return tuple(_described(library, handle) for handle in handles if handle is not None)


def handle_of(library: Any, uuid: str) -> Any:
    """The GPU, or the MIG instance of one, with a UUID, as torch or the driver writes it; None where there is none, or
    where it is not known."""
    if not uuid:
        return None
    found = (_asked(library, library.nvmlDeviceGetHandleByUUID, f"{kind}{uuid}") for kind in ("", "GPU-", "MIG-"))
    return next((handle for handle in found if handle is not None), None)


def metered(library: Any, handles: Sequence[Any]) -> tuple[Any, ...]:
    """The cards whose energy counters are those of a training on ``handles``: all of them, or none where one is not
    there, or is divided into MIG instances, which share a counter."""

    def whole(handle: Any) -> bool:
        mode = _asked(library, library.nvmlDeviceGetMigMode, handle)
        return mode is None or not mode[0]

    return tuple(handles) if all(handle is not None and whole(handle) for handle in handles) else ()


def sample(library: Any, handle: Any, at: float, cards: Sequence[Any] = ()) -> Sample:
    """What a GPU does now, and what the counters of ``cards`` say together."""
    counted = [_asked(library, library.nvmlDeviceGetTotalEnergyConsumption, card) for card in cards]
    known = [one for one in counted if one is not None]
    rates = _asked(library, library.nvmlDeviceGetUtilizationRates, handle)
    memory = _asked(library, library.nvmlDeviceGetMemoryInfo, handle)
    power = _asked(library, library.nvmlDeviceGetPowerUsage, handle)
    clock = _asked(library, library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_SM)
    return Sample(
        at,
        rates.gpu / 100 if rates is not None else None,
        int(memory.used) if memory is not None else None,
        power / 1000 if power is not None else None,
        clock,
        sum(known) / 1000 if known and len(known) == len(counted) else None,
    )


def reasons(bits: int) -> tuple[str, ...]:
    """Why clocks are low, in words, from NVML's bits."""
    return tuple(dict.fromkeys(words for bit, words in _SLOWED.items() if bits & bit))


def _described(library: Any, handle: Any) -> Gpu:
    def asked(function: Callable[..., T], *args: Any) -> T | None:
        return _asked(library, function, handle, *args)

    memory = asked(library.nvmlDeviceGetMemoryInfo)
    limit = asked(library.nvmlDeviceGetEnforcedPowerLimit)
    default = asked(library.nvmlDeviceGetPowerManagementDefaultLimit)
    persistent = asked(library.nvmlDeviceGetPersistenceMode)
    mode = asked(library.nvmlDeviceGetMigMode)
    return Gpu(
        uuid=_text(asked(library.nvmlDeviceGetUUID)),
        name=_text(asked(library.nvmlDeviceGetName)),
        driver=_text(_asked(library, library.nvmlSystemGetDriverVersion)),
        memory=int(memory.total) if memory is not None else None,
        power_limit=limit / 1000 if limit is not None else None,
        power_default=default / 1000 if default is not None else None,
        clock_most=asked(library.nvmlDeviceGetMaxClockInfo, library.NVML_CLOCK_SM),
        width=asked(library.nvmlDeviceGetCurrPcieLinkWidth),
        width_most=asked(library.nvmlDeviceGetMaxPcieLinkWidth),
        generation_most=asked(library.nvmlDeviceGetMaxPcieLinkGeneration),
        persistent=bool(persistent) if persistent is not None else None,
        slowed=reasons(asked(library.nvmlDeviceGetCurrentClocksThrottleReasons) or 0),
        divided=bool(mode is not None and mode[0]),
    )


def _asked(library: Any, function: Callable[..., T], *args: Any) -> T | None:
    """What the driver answers; None where this GPU, or this driver, does not report it."""
    try:
        return function(*args)
    except library.NVMLError:
        return None


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")
