"""A bias that a batch norm takes away again."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Fix, Severity
from accel_advisor.records.actions import Method, Within
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.records.queries.models.layer_order import successions, touches_biases
from accel_advisor.rule import Rule, pass_argument

_BIAS = 7
"""The position of ``bias`` in every convolution."""


class ConvBiasBeforeBn(Rule):
    """A convolution adds a bias that the batch norm behind it takes away again.

    What it does
        Finds convolutions with their default bias whose result goes into a batch norm and nowhere else: neighbours in
        an `nn.Sequential`, and `self.bn(self.conv(x))`.

    Why it costs time
        Batch norm subtracts the mean of each channel, the bias included, and has a bias of its own. The one of the
        convolution costs an addition, its gradient a sum over the whole batch, and changes nothing. On an H200 the
        training of ResNet-18 took 1.07 times as long with such biases (docs/costs.md). It is shown with `--minor`, or
        where the rule is selected: most models are smaller, or have checkpoints with the bias.

    Example
        from torch import nn

        block = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
        )

    Use instead
        from torch import nn

        block = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
        )

    When to ignore it
        Where weights that were trained with the bias must go on loading. The rule is silent about group and layer
        norm, about a convolution that is used in other places too, about a batch norm that is called on a name, and in
        programs that fuse the two for inference, where the bias takes up what the batch norm does.

    Fix safety
        Unsafe: checkpoints that hold the bias fail to load, and the other weights start from other random numbers. No
        fix is made in a program that loads weights into a module, or reads the `bias` of a layer, which would be None.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#disable-bias-for-convolutions-directly-followed-by-a-batch-norm
    """

    code = "ACC424"
    name = "conv-bias-before-bn"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each convolution once."""
        if any(".fuse_" in one.what.full for one in facts.program.operations_of(Within("torch"))):
            return
        behind = {id(first.node): second.kind for first, second in successions(facts)}
        for operation in facts.operations:
            first, second = operation.what.full, behind.get(id(operation.node))
            if second is not None and _follow(first, second) and self._adds(operation):
                claim = f"the batch norm behind this `{operation.what.name}` takes its bias away again"
                remedy = "pass `bias=False`"
                fix = self._fix(facts, operation)
                yield self.finding(facts, operation.node, claim, remedy, fix=fix, minor=True, group="bias")

    def _adds(self, operation: Operation) -> bool:
        return operation.lacks("bias", _BIAS) or operation.gives("bias", True, _BIAS)

    def _fix(self, facts: Facts, operation: Operation) -> Fix | None:
        loads = facts.does(Method("Module", "load_state_dict"), Method("?", "load_state_dict"))
        if not operation.lacks("bias", _BIAS) or loads or touches_biases(facts):
            return None
        return pass_argument(operation, "bias", "False")


def _follow(first: str, second: str) -> bool:
    """Whether a layer is a convolution, and the next one a batch norm over as many dimensions."""
    convolution = first.startswith(("torch.nn.Conv", "torch.nn.ConvTranspose"))
    return convolution and second in (f"torch.nn.BatchNorm{first[-2:]}", "torch.nn.SyncBatchNorm")
