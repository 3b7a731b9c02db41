"""Tensors that are made of lists of arrays."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import calls
from accel_advisor.records.facts import Facts
from accel_advisor.records.given import Given
from accel_advisor.rule import Rule

_ARRAYS = frozenset(
    "numpy." + name
    for name in "array asarray zeros ones empty full arange linspace load stack concatenate loadtxt".split()
)


class DatasetListOfNdarrays(Rule):
    """A tensor is made of a list of arrays, number by number.

    What it does
        Finds `torch.tensor([...])` of a list whose elements are numpy arrays.

    Why it costs time
        torch goes through such a list element by element in Python and warns that it is extremely slow. numpy stacks
        the arrays in one piece, and `torch.from_numpy` takes the result without a copy.

    Example
        import numpy as np
        import torch

        x = torch.tensor([np.load(name) for name in ["a.npy", "b.npy"]])

    Use instead
        import numpy as np
        import torch

        x = torch.from_numpy(np.stack([np.load(name) for name in ["a.npy", "b.npy"]]))

    When to ignore it
        For a few small arrays. The rule is silent about lists of numbers, and where it does not know the elements.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html
    """

    code = "ACC124"
    name = "dataset-list-of-ndarrays"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in facts.operations_of(*calls("torch.tensor", "torch.as_tensor")):
            if self._is_list_of_arrays(operation.given("data", 0)):
                claim = f"`{facts.document.code(operation.node)}` takes the arrays of a list apart in Python"
                remedy = "stack them with `numpy.stack`, and pass that to `torch.from_numpy`"
                yield self.finding(facts, operation.node, claim, remedy)

    def _is_list_of_arrays(self, given: Given) -> bool:
        items = (given.element,) if given.items is None else given.items
        return bool(items) and all(one.made_by in _ARRAYS for one in items)
