"""Loops over parameters that one call over all of them would replace."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.parameters.parameter_groups import groups_of_one
from accel_advisor.records.queries.parameters.parameter_loops import ParameterLoop, parameter_loops
from accel_advisor.records.queries.parameters.parameter_remedies import SINCE, remedy_of
from accel_advisor.records.queries.parameters.parameter_updates import Update
from accel_advisor.rule import Rule, also_at


class ParameterByParameter(Rule):
    """A loop in Python launches kernels for each parameter of a model in every step.

    What it does
        Finds loops over `parameters()`, `named_parameters()` or a `state_dict()` that run in each step of a training
        and do nothing but move each parameter towards another one, copy it, or scale, clamp, zero or measure its
        gradient; `update` of timm's `ModelEma` and `ModelEmaV2`; and optimizers that are given a group for each
        parameter.

    Why it costs time
        Each parameter takes one to four launches, and Python in between. The kernels are so small that the GPU waits
        for the next one, while the same arithmetic over lists takes a few launches in all. An optimizer works
        on one group after the other: with one parameter in each it has no lists.

    Example
        import copy
        import torch
        from torch import nn

        model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)).cuda()
        average = copy.deepcopy(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(100):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, device="cuda")).sum().backward()
            optimizer.step()
            with torch.no_grad():
                for mean, weight in zip(average.parameters(), model.parameters()):
                    mean.mul_(0.99).add_(weight, alpha=0.01)

    Use instead
        import copy
        import torch
        from torch import nn

        model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)).cuda()
        average = copy.deepcopy(model)
        means, weights = list(average.parameters()), list(model.parameters())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(100):
            optimizer.zero_grad()
            model(torch.zeros(4, 8, device="cuda")).sum().backward()
            optimizer.step()
            with torch.no_grad():
                torch._foreach_lerp_(means, weights, 0.01)

    When to ignore it
        Where a step is long, so that the launches hide behind the kernels of the model. The rule is silent where the
        loop runs once in several steps, in the step of an optimizer of the project, where a condition treats some
        parameters differently, where new tensors are made of them that autograd follows (the fast weights of MAML),
        where a parameter is moved to another device, with FSDP, about single layers and what has as few parameters, and
        where torch is pinned before 1.12, or timm before 1.0, which brought `ModelEmaV3`. All tensors of a list have to
        be on one device to gain from it.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
        - https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """

    code = "ACC436"
    name = "parameter-by-parameter"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports averages, gradients and groups once each in a document, with all other such places as related."""
        loops = list(parameter_loops(facts))
        averages = [one for one in loops if not one.updates.isdisjoint((Update.AVERAGE, Update.COPY))]
        for together, kind in ((averages, "averages"), ([one for one in loops if one not in averages], "gradients")):
            if together and (remedy_of(together)[2] != "torch" or facts.supports(remedy_of(together)[1])):
                yield self._report(facts, together, kind)
        groups = groups_of_one(facts) if facts.supports(SINCE) else []
        if groups:
            claim = (
                f"`{facts.document.code(groups[0])}` makes a group of a single parameter for the optimizer, which then "
                "launches its kernels for each of them by itself"
            )
            remedy = "make one group for each setting"
            related = [also_at(facts.document, one, "so does this one") for one in groups[1:]]
            yield self.finding(facts, groups[0], claim, remedy, related=related, group="groups")

    def _report(self, facts: Facts, loops: list[ParameterLoop], kind: str) -> Finding:
        first, basis = loops[0], loops[0].basis
        remedy, since, package = remedy_of(loops)
        done = (
            "averages one tensor after the other"
            if first.by_library
            else "launches kernels for each parameter by itself"
        )
        claim = f"`{first.code}` {done} in every step{basis.clause}"
        related = [also_at(facts.document, one.node, "so does this loop") for one in loops[1:]]
        return self.finding(
            facts, first.node, claim, remedy, related=related, basis=basis, since=since, package=package, group=kind
        )
