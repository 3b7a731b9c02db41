"""`pin_memory_device`, which does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule, drop_argument


class PinMemoryDeviceIgnored(Rule):
    """A DataLoader names the device to pin memory for, which torch finds by itself.

    What it does
        Finds `pin_memory_device="cuda"` at a DataLoader.

    Why it costs time
        It does nothing: memory has long been pinned for CUDA by default, and recent versions of torch take the current
        accelerator, ignore the argument, and warn about it whenever the loader is iterated.

    Example
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], pin_memory=True, pin_memory_device="cuda")

    Use instead
        from torch.utils.data import DataLoader

        loader = DataLoader([1, 2, 3], pin_memory=True)

    When to ignore it
        Other devices, such as "xpu", needed the argument before torch 2.8, and the rule is silent about them. It is
        silent, too, in a project that pins torch before 2.13.

    Fix safety
        Safe where the project needs torch 2.13 or later, which ignores the argument. Unsafe otherwise: another version
        may heed it.

    References
        - https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "ACC118"
    name = "pin-memory-device-ignored"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loader once, at its call."""
        if not facts.supports((2, 13)):
            return
        for loader in facts.loaders:
            device = loader.given("pin_memory_device")
            if loader.constructor.advises and device.is_literal("cuda", "cuda:0"):
                claim = (
                    f"`pin_memory_device={device.literal!r}` of `{loader.label}` does nothing, and recent versions of "
                    "torch warn about it in every epoch"
                )
                remedy = "drop it"
                applicability = Applicability.SAFE if facts.needs((2, 13)) else Applicability.UNSAFE
                fix = drop_argument(facts.document, loader.node, "pin_memory_device", applicability)
                yield self.finding(facts, loader.node, claim, remedy, fix=fix)
