"""Networks that a training step runs under autograd, and whose results it only uses detached."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.gradients.unused_graphs import UnusedGraph, unused_graphs
from accel_advisor.rule import Rule, also_at


class RecordedThenDetached(Rule):
    """A training step runs a network under autograd, and only uses the result detached.

    What it does
        Finds calls of networks that an optimizer of the program steps, or that are copies of such ones (a target or
        teacher network), in code that runs in the steps of a training, where autograd records and everything that
        becomes of the result is a `.detach()`, a `.data`, a comparison, a number, or a computation under
        `torch.no_grad()`. Results are followed through names, tuples and functions of the program. The calls of one
        function are one finding.

    Why it costs time
        The forward pass keeps its activations, and builds a graph, for a backward pass that never comes: memory for a
        larger batch, and time on the host for each operation.

    Example
        import torch
        from torch import nn

        net, target = nn.Linear(8, 4), nn.Linear(8, 4)
        target.load_state_dict(net.state_dict())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for state, following in torch.zeros(16, 2, 32, 8):
            best = target(following).amax(1)
            loss = (net(state).amax(1) - best.detach()).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn

        net, target = nn.Linear(8, 4), nn.Linear(8, 4)
        target.load_state_dict(net.state_dict())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for state, following in torch.zeros(16, 2, 32, 8):
            with torch.no_grad():
                best = target(following).amax(1)
            loss = (net(state).amax(1) - best).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    When to ignore it
        Where code that the rule cannot see differentiates what the network computes, by a hook or by what it leaves in
        its attributes. It is silent where the result is used undetached as well (the generator's loss of the same
        step), is returned to where it may be, is kept in an attribute or given to unknown code; where the parameters of
        the network are, or may be, frozen; in functions that are named for an evaluation; of results that are copied to
        the host at once, which ACC401 reports; and in programs that call `torch.set_grad_enabled` as a statement.

    References
        - https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
    """

    code = "ACC434"
    name = "recorded-then-detached"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the calls of each function as one."""
        found: dict[int, list[UnusedGraph]] = {}
        for one in unused_graphs(facts):
            found.setdefault(id(one.function), []).append(one)
        for first, *others in found.values():
            name, torch = facts.document.code(first.call.func), facts.torch_name or "torch"
            why = "its result is only used detached" if first.detached else "nothing but values is read from its result"
            claim = f"autograd records what `{name}` computes, and its activations are kept, though {why}"
            remedy = f"call it under `with {torch}.no_grad():`"
            related = [also_at(facts.document, one.call, "so is what this computes") for one in others]
            yield self.finding(facts, first.call, claim, remedy, related=related, basis=first.basis)
