"""Backward passes that go past the Accelerator."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Method, methods
from accel_advisor.records.facts import Facts
from accel_advisor.records.loaders import loaders_in
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, replace_node

_OWNER = "accelerate.Accelerator"
_PREPARES = methods(_OWNER, "prepare", "prepare_model", "prepare_data_loader", "prepare_optimizer", "prepare_scheduler")


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
        right = facts.program.operations_of(Method(_OWNER, "backward"))
        for operation in facts.operations_of(Method("Tensor", "backward"), Method("?", "backward")):
            loops = [context.loop for context in operation.contexts]
            if not all(
                loop and not loop.from_host and any(one.moved_by == "accelerate" for one in loaders_in(loop))
                for loop in loops
            ):
                continue
            if self._is_of_another_model(facts, operation):
                continue
            if any(operation.runs_with(one) for one in right) or not isinstance(operation.node, cst.Call):
                continue
            yield self._report(facts, operation.node)

    def _is_of_another_model(self, facts: Facts, backward: Operation) -> bool:
        """Whether the loss comes from models that were never prepared."""
        losses = [context.subject for context in backward.contexts]
        grown = {node for one in losses if one.is_tensor for node in one.graph}
        calls = [call for one in facts.program for call in one.module_calls if call.node in grown and not call.loss]
        models = {context.model for call in calls for context in call.contexts}
        prepared = {
            argument.module
            for operation in facts.program.operations_of(*_PREPARES)
            for context in operation.contexts
            for argument in context.values
            if argument.module is not None or argument.unknown
        }
        return bool(models) and not models & prepared

    def _report(self, facts: Facts, call: cst.Call) -> Finding:
        document = facts.document
        loss = document.code(call.func.value) if isinstance(call.func, cst.Attribute) else "loss"
        prepares = {
            document.code(one.node.func.value)
            for one in facts.operations_of(Method(_OWNER, "prepare"))
            if isinstance(one.node, cst.Call) and isinstance(one.node.func, cst.Attribute)
        }
        name = prepares.pop() if len(prepares) == 1 else "accelerator"
        message = (
            f"`{document.code(call)}` goes past `{name}`: no loss scaling, no division by accumulated steps, no "
            f"DeepSpeed; call `{name}.backward({loss})`"
        )
        fix = None
        if name.isidentifier() and not call.args and not prepares:
            edit = replace_node(document, call, f"{name}.backward({loss})")
            fix = Fix(f"Call `{name}.backward`", (edit,), Applicability.UNSAFE)
        return self.finding(facts, call, message, fix=fix)
