"""Checkpoints that are loaded onto the device that they were saved from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.actions import Call, Method
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.destinations import needs_one_gpu
from accel_advisor.rule import Rule, also_at

_COPIES = re.compile(r"\.cpu\(|\.to\([\"']cpu[\"']")


class LoadWithoutMapLocation(Rule):
    """A checkpoint is loaded onto whichever device it was saved from.

    What it does
        Finds `module.load_state_dict(torch.load(file))` without `map_location`, in programs that use CUDA.

    Why it costs time
        `torch.load` puts each tensor back where it lived. On a machine without that GPU it raises; with several ranks
        all of them load onto `cuda:0`, which then holds a copy for each.

    Example
        import torch
        from torch import nn

        model = nn.Linear(8, 2).to("cuda" if torch.cuda.is_available() else "cpu")
        model.load_state_dict(torch.load("model.pt"))

    Use instead
        import torch
        from torch import nn

        model = nn.Linear(8, 2).to("cuda" if torch.cuda.is_available() else "cpu")
        model.load_state_dict(torch.load("model.pt", map_location="cpu"))

    When to ignore it
        Where the file is known to have been saved from the CPU: the rule is silent where the program saves it so
        (`torch.save(model.cpu().state_dict(), file)`), where nothing shows that a GPU is meant, and in a program that
        needs one: it runs in a single process and moves everything to CUDA, whether there is a GPU or not.

    Fix safety
        Unsafe: the tensors pass through the memory of the host; `load_state_dict` copies them to the parameters'
        device.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """

    code = "ACC426"
    name = "load-without-map-location"
    severity = Severity.INFO
    frequency = Frequency.ONCE

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at the first load, with the others as related places."""
        if not facts.names_gpu_anywhere or needs_one_gpu(facts):
            return
        taken = [
            argument.positional
            for operation in facts.program.operations_of(Method("Module", "load_state_dict"))
            for context in operation.contexts
            for argument in context.values
            if argument.made_by == "torch.load"
        ]
        saves = facts.program.operations_of(Call("torch.save"))
        hosted = {self._file(one, 1) for one in saves if _COPIES.search(one.document.code(one.node))}
        loads = [
            operation
            for operation in facts.operations_of(Call("torch.load"))
            if operation.lacks("map_location", 1)
            and self._file(operation) not in hosted
            and any(context.positional in taken for context in operation.contexts)
        ]
        if loads:
            yield self._report(facts, loads)

    def _file(self, operation: Operation, position: int = 0) -> str | None:
        """The code that names the file, where it is a literal or a name."""
        argument = operation.contexts[0].argument("f", position)
        return (
            operation.document.code(argument.node.value) if argument is not None and argument.node is not None else None
        )

    def _report(self, facts: Facts, loads: list[Operation]) -> Finding:
        document = facts.document
        edits = [edit for one in loads for edit in one.keyword_edits("map_location", '"cpu"') or ()]
        fix = Fix('Pass `map_location="cpu"`', tuple(edits), Applicability.UNSAFE) if edits else None
        message = (
            f"`{document.code(loads[0].node)}` puts every tensor onto the device that it was saved from, which may not "
            f'exist or be another rank\'s; pass `map_location="cpu"`'
        )
        related = [also_at(document, one.node, "loads likewise") for one in loads[1:]]
        return self.finding(facts, loads[0].node, message, fix=fix, related=related)
