"""Backward passes that compute gradients of a network which the step after them does not update."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.gradients.thrown_away import ThrownAway, thrown_away
from accel_advisor.rule import Rule, also_at


class GradientsThrownAway(Rule):
    """A backward pass computes gradients of a network whose optimizer zeroes them before it uses them.

    What it does
        Finds programs with several optimizers, and in them backward passes whose loss depends on a network that the
        next step does not update (the discriminator in the update of the generator, the critic in that of the actor)
        and whose gradients are zeroed before its own optimizer steps. What a loss depends on is followed through names,
        tuples and functions of the program. The passes of one function are one finding.

    Why it costs time
        The gradients of the weights are about a third of the work that a forward and a backward pass through that
        network take, and they are written, and under DDP averaged over all processes, only to be zeroed.

    Example
        import torch
        from torch import nn

        actor, critic = nn.Linear(8, 8), nn.Linear(8, 1)
        actor_optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
        for state in torch.zeros(16, 32, 8):
            critic_optimizer.zero_grad()
            (critic(state) - 1).square().mean().backward()
            critic_optimizer.step()
            actor_optimizer.zero_grad()
            (-critic(actor(state)).mean()).backward()
            actor_optimizer.step()

    Use instead
        import torch
        from torch import nn

        actor, critic = nn.Linear(8, 8), nn.Linear(8, 1)
        actor_optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
        for state in torch.zeros(16, 32, 8):
            critic_optimizer.zero_grad()
            (critic(state) - 1).square().mean().backward()
            critic_optimizer.step()
            actor_optimizer.zero_grad()
            critic.requires_grad_(False)
            (-critic(actor(state)).mean()).backward()
            critic.requires_grad_(True)
            actor_optimizer.step()

    When to ignore it
        Where something that the rule cannot see uses these gradients. It is silent where they are added up on purpose
        (the network's own step follows without zeroing them), where anything in the program switches the gradients of
        the network's parameters on and off (as Lightning's `toggle_optimizer` does), where its own update uses what the
        same call computes, where one optimizer steps both networks, where `inputs` says for what gradients are wanted,
        and where it is not known which networks an optimizer steps.

    References
        - https://docs.pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad
        - https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
    """

    code = "ACC435"
    name = "gradients-thrown-away"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the backward passes of each function as one."""
        found: dict[tuple[int, bool], list[ThrownAway]] = {}
        for one in thrown_away(facts):
            found.setdefault((id(one.function), one.upstream), []).append(one)
        for passes in found.values():
            yield self._report(facts, passes)

    def _report(self, facts: Facts, passes: list[ThrownAway]) -> Finding:
        first = passes[0]
        names = [f"`{name}`" for name in dict.fromkeys(one.name for one in first.reached)]
        *others, last = names
        shown = f"{', '.join(others)} and {last}" if others else last
        switch = "call `requires_grad_(False)` of each" if others else f"call `{last[1:-1]}.requires_grad_(False)`"
        remedy = f"{switch} before the loss is computed, and `requires_grad_(True)` after this pass"
        if first.upstream:
            remedy = f"detach what {shown} computes, or compute it under `{facts.torch_name or 'torch'}.no_grad()`"
        shared = ", averaged over all processes," if facts.wraps_in_parallel else ""
        claim = (
            f"the backward pass in {facts.document.span(first.backward).start.line} also computes gradients of the "
            f"weights of {shown}, which{shared} are zeroed before any step uses them"
        )
        named = {one.name for one in first.reached}
        calls = {id(each.call): each for one in passes for each in one.reached if each.name in named}.values()
        inside = [one.call for one in calls if one.document is facts.document]
        here = min(inside, key=lambda one: facts.document.span(one).start, default=first.backward)
        related = [also_at(one.document, one.call, f"`{one.name}` is called here") for one in calls]
        related += [also_at(facts.document, one.backward, "the backward pass is here") for one in passes]
        related = [
            one for one in related if one.span != facts.document.span(here) or one.filename != facts.document.filename
        ]
        return self.finding(facts, here, claim, remedy, related=related, basis=first.basis)
