"""Training in float32 throughout."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.actions import AnyCall, AnySets, calls, methods, within
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.precision import COMPLEX, DOUBLES, HALVES, speaks_of
from accel_advisor.records.queries.training_loops import trainings
from accel_advisor.rule import Rule

_SINCE = (1, 10)
_DECIDES = (
    *(AnyCall("autocast"), AnySets("allow_tf32"), AnySets("fp32_precision")),
    *calls("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.set_float32_matmul_precision"),
    *methods("Module", "half", "bfloat16", "double"),
    *methods("Tensor", "half", "bfloat16", "double"),
    *calls("torch.set_default_dtype", "torch.set_default_tensor_type", "torch.view_as_complex", "torch.complex"),
    *calls("torch.stft"),
    *within("torch.fft", "gym", "gymnasium", "stable_baselines3", "ray.rllib", "torchrl"),
)


class NoMixedPrecision(Rule):
    """A model is trained on the GPU in float32 throughout.

    What it does
        Finds training loops on CUDA whose model has convolutions or attention, in programs that never mention a
        precision: no autocast, half, bfloat16 or float64, and none for float32 products.

    Why it costs time
        Tensor cores multiply matrices in half precision several times as fast as in float32, and activations take half
        the memory.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 3)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            loss = model(x.cuda(non_blocking=True)).square().mean()
            loss.backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 3)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = model(x.cuda(non_blocking=True)).square().mean()
            loss.backward()
            optimizer.step()

    When to ignore it
        With small models, which are bound by launches, and where eight bits of mantissa are too few. The rule is silent
        with frameworks, complex numbers, Fourier transforms and reinforcement learning, about models that it does not
        see built, and where torch is pinned before 1.10.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#use-mixed-precision-and-amp
    """

    code = "ACC417"
    name = "no-mixed-precision"
    severity = Severity.INFO
    enabled = False

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a document once, at its first such loop."""
        if not facts.supports(_SINCE) or facts.does(*_DECIDES) or speaks_of(facts, HALVES | DOUBLES | COMPLEX):
            return
        for training in trainings(facts):
            if training.convolves or training.attends:
                message = (
                    "this loop trains in float32 throughout, past what tensor cores do best; compute the model and the "
                    'loss under `torch.autocast("cuda", torch.bfloat16)`'
                )
                yield self.finding(facts, training.loop.node, message, since=_SINCE)
                return
