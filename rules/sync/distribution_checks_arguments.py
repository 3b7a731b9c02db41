"""Distributions that wait for the GPU to check their arguments."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Fix, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.waits.checked_distributions import CheckedDistribution, checked_distributions
from accel_advisor.rule import Rule, pass_argument


class DistributionChecksArguments(Rule):
    """A distribution checks its arguments each time that it is built.

    What it does
        Finds distributions of `torch.distributions`, and classes of the project that derive from them, that are built
        in the `forward` of a module or in a loop without `validate_args=False`, where the program names a GPU.

    Why it costs time
        To raise an error the host has to know whether all values are allowed: it waits until the GPU has computed them,
        and the GPU then idles. `log_prob` checks its values as well.

    Example
        import torch
        from torch import nn
        from torch.distributions import Normal

        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.mean, self.scale = nn.Linear(8, 2), nn.Linear(8, 2)

            def forward(self, x):
                return Normal(self.mean(x), self.scale(x).exp()).rsample()

        encoder = Encoder().cuda()
        print(encoder(torch.zeros(4, 8, device="cuda")).shape)

    Use instead
        import torch
        from torch import nn
        from torch.distributions import Normal

        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.mean, self.scale = nn.Linear(8, 2), nn.Linear(8, 2)

            def forward(self, x):
                return Normal(self.mean(x), self.scale(x).exp(), validate_args=False).rsample()

        encoder = Encoder().cuda()
        print(encoder(torch.zeros(4, 8, device="cuda")).shape)

    When to ignore it
        While a training is new: the checks find NaN where it arises. The rule is silent where the program calls
        `Distribution.set_default_validate_args`, about arguments on the host and numbers, in classes that nothing uses,
        and in projects for a torch before 1.8, which checks only where it is asked to.

    Fix safety
        Unsafe: values that are not allowed raise no error any more.

    References
        - https://docs.pytorch.org/docs/stable/distributions.html
    """

    code = "ACC222"
    name = "distribution-checks-arguments"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the distributions of a file as one."""
        yield from (self._report(facts, found) for found in checked_distributions(facts))

    def _report(self, facts: Facts, found: CheckedDistribution) -> Finding:
        fix: Fix | None = None
        if found.operation is not None:
            fix = pass_argument(found.operation, "validate_args", "False")
        name = facts.document.code(found.callee)
        claim = (
            f"each time that `{name}` is built here, the host waits for the GPU to check its "
            f"arguments{found.basis.clause}"
        )
        remedy = "pass `validate_args=False` once the training is known to work"
        return self.finding(facts, found.node, claim, remedy, fix=fix, basis=found.basis, group="checks")
