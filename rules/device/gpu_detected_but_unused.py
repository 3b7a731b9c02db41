"""A device that is chosen and not used."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.rule import Rule


class GpuDetectedButUnused(Rule):
    """A device is chosen, and nothing is ever put on it: the program trains on the CPU without a word.

    What it does
        Finds a name that is bound to a device which can be a GPU, and never read, in a program that trains and puts
        nothing on any GPU. A name that is only printed or logged is reported too, as information.

    Why it costs time
        No error is raised. The whole training runs on the CPU, many times slower, beside an idle GPU.

    Example
        import torch
        from torch import nn

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            loss = model(torch.randn(4, 8)).sum()
            loss.backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(8, 2).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            loss = model(torch.randn(4, 8, device=device)).sum()
            loss.backward()
            optimizer.step()

    When to ignore it
        The rule is silent where the name is read anywhere in the file or imported by another one, where a framework
        places modules, and where anything else in the program is moved to a device.

    References
        - https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code
    """

    code = "ACC301"
    name = "gpu-detected-but-unused"
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each name once, where it is bound."""
        if not facts.trains or facts.placed or facts.reflects:
            return
        seen: set[str] = set()
        for device in facts.devices:
            if "cuda" not in device.kinds or device.name in seen or device.name.startswith("_"):
                continue
            if facts.reads(device.name, beyond_print=True) or facts.is_read_elsewhere(device.name):
                continue
            seen.add(device.name)
            shown = facts.reads(device.name)
            severity = Severity.INFO if shown else Severity.WARNING
            fate = "only shown" if shown else "never used"
            claim = f"`{device.name}` is chosen but {fate}, so the training runs on the CPU even where there is a GPU"
            remedy = f"move the model with `.to({device.name})`, and each batch in the loop"
            yield self.finding(facts, device.node, claim, remedy, severity=severity)
