"""Transformers trained without TF32."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.queries.models.float32_products import SINCE, moved_in_float32
from accel_advisor.records.queries.training_loops import first_step
from accel_advisor.rule import Rule, also_at, indentation_at, newline_of


class Tf32NotEnabled(Rule):
    """A transformer is trained in full float32, past the tensor cores.

    What it does
        Finds programs that train on CUDA, build attention layers of `torch.nn`, use no lower precision, and never say
        which precision float32 products may have. Convolutions use TF32 by themselves and are no reason.

    Why it costs time
        Products of float32 matrices leave the tensor cores of GPUs since Ampere idle, unless TF32 is allowed. On an
        H200 the training of a transformer of 4 layers of 1,024 took 3.0 times as long without it (docs/costs.md).

    Example
        import torch
        from torch import nn

        model = nn.TransformerEncoderLayer(64, 8)
        model.cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, 64, device="cuda")).sum().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn

        model = nn.TransformerEncoderLayer(64, 8)
        torch.set_float32_matmul_precision("high")
        model.cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(10):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, 64, device="cuda")).sum().backward()
            optimizer.step()

    When to ignore it
        Where ten bits of mantissa are too few. The rule is silent with frameworks, which have settings of their own,
        with float64, beside gradients of gradients, linear algebra and libraries of science, in names that mention
        physics and the like, and in programs that ask for deterministic algorithms.

    Fix safety
        Unsafe: results change in the last bits that float32 has over TF32.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html
    """

    code = "ACC408"
    name = "tf32-not-enabled"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports once in a program, where the first model moves to the GPU."""
        move = moved_in_float32(facts)
        if move is not None and move.document is facts.document:
            yield self._report(facts, move)

    def _report(self, facts: Facts, move: Transfer) -> Finding:
        document, torch = facts.document, facts.torch_name
        call = f'{torch or "torch"}.set_float32_matmul_precision("high")'
        kinds = [one.moved.module.kind for one in move.contexts if one.moved.module is not None]
        name = kinds[0].removeprefix("project:").rpartition(".")[2]
        claim = f"the matrix products of `{name}` run in full float32, without the tensor cores"
        remedy = f"call `{call}`, or compute the model under `torch.autocast`"
        start = document.span(move.statement).start.offset
        location = document.location(start)
        fix = None
        if torch is not None and document.line(location.row)[: location.column - 1].strip() == "":
            text = f"{call}{newline_of(document)}{indentation_at(document, start)}"
            fix = Fix(f"Call `{call}`", (document.edit(start, start, text),), Applicability.UNSAFE)
        step = first_step(facts, facts.program.first_training)
        related = [also_at(step.document, step.node, "the step computes it here")] if step is not None else []
        return self.finding(facts, move.node, claim, remedy, fix=fix, related=related, since=SINCE)
