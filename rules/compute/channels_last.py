"""Convolutions in half precision whose channels come first."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import AnyCall, calls, methods
from accel_advisor.records.facts import Facts, Transfer
from accel_advisor.records.queries.training_loops import Training, trainings
from accel_advisor.rule import Rule, insert_after, pass_argument

_HALVES = (AnyCall("autocast"), *methods("Module", "half", "bfloat16"))
_KERNELS = calls("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
_SINCE = (1, 5)
_OTHERS = ("Conv1d", "Conv3d", "ConvTranspose1d", "ConvTranspose3d")


class ChannelsLast(Rule):
    """A convolutional network computes in half precision with its channels first.

    What it does
        Finds the move to CUDA of a model with two-dimensional convolutions that a loop trains in mixed precision, in
        programs that never mention `channels_last`.

    Why it costs time
        The convolutions of tensor cores want the channels last. In the default layout images and weights are
        transposed around them.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 3))
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

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 3))
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
        With kernels of your own, which may take the layout for granted, and where `view` is called on images. The rule
        is silent without mixed precision, about models with other convolutions or attention, with frameworks, and where
        torch is pinned before 1.5.

    Fix safety
        Unsafe: `view` raises for a tensor whose channels lie last, and other kernels compute other last bits. Images
        may be converted as well; the first convolution does it otherwise.

    References
        - https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html
    """

    code = "ACC419"
    name = "channels-last"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each move of such a model once."""
        if not facts.does(*_HALVES) or any("channels_last" in each.document.text for each in facts.program):
            return
        if facts.does(*_KERNELS) or not facts.supports(_SINCE):
            return
        for training in (one for each in facts.program for one in trainings(each)):
            if not training.convolves or training.attends or training.has(*_OTHERS):
                continue
            for transfer in facts.transfers:
                if "cuda" in transfer.kinds and self._moves(transfer, training):
                    message = (
                        "the convolutions of this model have to transpose images and weights in half precision; pass "
                        "`memory_format=torch.channels_last`, and convert the images too"
                    )
                    yield self.finding(facts, transfer.node, message, fix=self._fix(facts, transfer), since=_SINCE)
            return

    def _moves(self, transfer: Transfer, training: Training) -> bool:
        moved = [context.moved.module for context in transfer.contexts]
        return all(one is not None and one.plain is training.module.plain for one in moved)

    def _fix(self, facts: Facts, transfer: Transfer) -> Fix | None:
        if facts.torch_name is None:
            return None
        layout = f"{facts.torch_name}.channels_last"
        if transfer.method == "to":
            return pass_argument(transfer, "memory_format", layout)
        edit = insert_after(facts.document, transfer.node, f".to(memory_format={layout})")
        return Fix(f"Pass `memory_format={layout}`", (edit,), Applicability.UNSAFE)
