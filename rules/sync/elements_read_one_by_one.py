"""Loops that read a tensor on the GPU one element at a time."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.waits.elements_read import ElementsRead, elements_read
from accel_advisor.rule import Rule, also_at


class ElementsReadOneByOne(Rule):
    """A loop reads a tensor on the GPU one element at a time.

    What it does
        Finds loops outside of training steps that read the elements of one tensor on the GPU, by what they count or go
        over: `x[i].item()`, `int(x[i, j])`, `if x[i] > 0`, `names[x[i]]`, `for one in x: one.item()`. It is a warning
        where another loop repeats all of that. A tensor on an unknown device counts where the program names a GPU.

    Why it costs time
        Each read waits for the GPU, and copies a few bytes. One copy of the whole tensor waits once, and Python then
        reads numbers.

    Example
        import torch

        model = torch.nn.Linear(8, 4).cuda().eval()
        names = ["a", "b", "c", "d"]

        def decode(scores):
            indices = scores.argmax(1)
            return [names[indices[i].item()] for i in range(indices.size(0))]

        with torch.no_grad():
            print(decode(model(torch.zeros(16, 8, device="cuda"))))

    Use instead
        import torch

        model = torch.nn.Linear(8, 4).cuda().eval()
        names = ["a", "b", "c", "d"]

        def decode(scores):
            return [names[index] for index in scores.argmax(1).tolist()]

        with torch.no_grad():
            print(decode(model(torch.zeros(16, 8, device="cuda"))))

    When to ignore it
        Where the loop takes a few passes. The rule is silent about loops of up to four passes, about tensors that the
        loop computes itself, about lists of tensors, such as losses, in functions that plot or debug, and in training
        steps, of whose waits ACC208 speaks.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.tolist.html
    """

    code = "ACC223"
    name = "elements-read-one-by-one"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each tensor that a loop reads once, at the first read; those of one file as one."""
        yield from (self._report(facts, found) for found in elements_read(facts))

    def _report(self, facts: Facts, found: ElementsRead) -> Finding:
        document = facts.document
        first, *others = found.reads
        name = document.code(found.tensor)
        copied = f"{name}.tolist()" if found.numbers else f"{name}.cpu()"
        claim = (
            f"`{document.code(first)}` waits for the GPU to read one element of `{name}` in each pass of this "
            f"loop{found.basis.clause}"
        )
        remedy = f"copy all of it once, before the loop: `{copied}`"
        level = Severity.WARNING if found.nested else Severity.INFO
        related = [also_at(document, one, f"it reads an element of `{name}` here too") for one in others]
        return self.finding(
            facts, first, claim, remedy, severity=level, related=related, basis=found.basis, group="elements"
        )
