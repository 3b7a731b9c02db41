"""Backward passes that go past the Accelerator."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, Operation
from accel_advisor.records.queries.frameworks.accelerator import names_of_accelerators, raw_backwards
from accel_advisor.rule import Rule, replace_node


class AccelerateRawBackward(Rule):
    """`loss.backward()` is called where `accelerator.backward(loss)` belongs.

    What it does
        Finds `loss.backward()` in a loop over a loader that an `Accelerator` prepared, where no
        `accelerator.backward(...)` stands in the same loop.

    Why it costs time
        The call skips the loss scaling of float16, the division by the number of accumulated steps, and DeepSpeed: the
        training is wrong as soon as one of them is switched on.

    Example
        import torch
        from accelerate import Accelerator
        from accelerate.utils import DataLoaderConfiguration
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))
        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for (x,) in loader:
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    Use instead
        import torch
        from accelerate import Accelerator
        from accelerate.utils import DataLoaderConfiguration
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))
        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for (x,) in loader:
            loss = model(x).sum()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()

    When to ignore it
        Where the loss comes from a second model that was not prepared.

    Fix safety
        Unsafe: a loss that the code already divides by the accumulated steps would be divided twice. No fix is made
        where `backward` is given arguments.

    References
        - https://huggingface.co/docs/accelerate/package_reference/accelerator#accelerate.Accelerator.backward
    """

    code = "ACC607"
    name = "accelerate-raw-backward"
    severity = Severity.ERROR

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each backward pass once."""
        for backward in raw_backwards(facts):
            yield self._report(facts, backward)

    def _report(self, facts: Facts, backward: Operation) -> Finding:
        document, call = facts.document, backward.node
        loss = document.code(backward.receiver) if backward.receiver is not None else "loss"
        names = names_of_accelerators(facts)
        name = names[0] if len(names) == 1 else "accelerator"
        claim = (
            f"`{document.code(call)}` goes past `{name}`: no loss scaling, no division by accumulated steps, no "
            "DeepSpeed"
        )
        remedy = f"call `{name}.backward({loss})`"
        fix = None
        if name.isidentifier() and not backward.arguments and len(names) < 2:
            edit = replace_node(document, call, f"{name}.backward({loss})")
            fix = Fix(f"Call `{name}.backward`", (edit,), Applicability.UNSAFE)
        return self.finding(facts, call, claim, remedy, fix=fix)
