"""Convolutions on a GPU whose channels come first."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.queries.images.channels_first import ChannelsFirst, channels_first
from accel_advisor.rule import Rule, also_at, insert_after, pass_argument

_SINCE = (1, 5)


class ChannelsLast(Rule):
    """A convolutional network is trained on a GPU with the channels of its images first.

    What it does
        Finds the first training on CUDA of a program that builds a network of two-dimensional convolutions (four or
        more places that build one, or a network of torchvision) and never mentions `channels_last`: where the network
        moves to the GPU, or the loop.

    Why it costs time
        The convolutions of tensor cores want the channels last. In the default layout images and weights are
        transposed around them. On an H200 ResNet-18 took 2.3 times as long to train under autocast in bfloat16 in the
        default layout, and 1.7 times in float32, whose convolutions use TF32 by default (docs/costs.md).

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 1, 3))
        model.to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = model(x.cuda(non_blocking=True)).square().mean()
            loss.backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 1, 3))
        model.to("cuda", memory_format=torch.channels_last)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = model(x.cuda(non_blocking=True)).square().mean()
            loss.backward()
            optimizer.step()

    When to ignore it
        With kernels of your own, which may take the layout for granted. `view` raises where it joins channels with rows
        and columns (`x.view(len(x), -1)` before a linear layer): write `flatten(1)`. The rule is silent about models
        with other convolutions, attention or recurrent layers, permutations between convolutions (each would copy
        images), mostly grouped ones, or reflection or replication padding or instance normalization beside half of
        them (they give channels first on CUDA), small images (CIFAR), one or two in full precision, reinforcement
        learning, frameworks, torch < 1.5.

    Fix safety
        Unsafe: `view` may raise, and other kernels compute other last bits. Images may be converted as well; the first
        convolution does it otherwise. The fix is made where the code says which model moves.

    References
        - https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html
    """

    code = "ACC419"
    name = "channels-last"
    severity = Severity.INFO
    knob = "channels_last"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a program once, where its network moves to the GPU, or at the loop that trains it."""
        found = channels_first(facts) if facts.supports(_SINCE) else None
        if found is not None:
            yield self._report(facts, found)

    def _report(self, facts: Facts, found: ChannelsFirst) -> Finding:
        document, loop, move = facts.document, found.loop.node, found.move
        what = "this loop trains convolutions" if move is None else f"`{document.code(move.node)}` leaves convolutions"
        claim = (
            f"{what} with their channels first{found.basis.clause}, and cuDNN transposes images around them for the "
            "tensor cores"
        )
        remedy = (
            "convert the model and its images to `torch.channels_last`, and measure it with `accel-advisor tune "
            "--knobs channels_last`"
        )
        view = "a `view` of images may raise then: `flatten(1)` does not"
        related = [also_at(where, call, view) for where, call in found.flattens]
        related = [also_at(document, loop, "the loop that trains"), *related] if move is not None else related
        fix = self._fix(facts, move) if move is not None and found.alone and facts.torch_name else None
        node = loop if move is None else move.node
        return self.finding(facts, node, claim, remedy, fix=fix, related=related, basis=found.basis, since=_SINCE)

    def _fix(self, facts: Facts, transfer: Transfer) -> Fix | None:
        layout = f"{facts.torch_name}.channels_last"
        if transfer.method == "to":
            return pass_argument(transfer, "memory_format", layout)
        edit = insert_after(facts.document, transfer.node, f".to(memory_format={layout})")
        return Fix(f"Pass `memory_format={layout}`", (edit,), Applicability.UNSAFE)
