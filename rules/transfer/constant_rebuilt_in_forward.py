"""Windows, filter banks and masks that each forward pass computes anew."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.models.rebuilt_constants import rebuilt_constants
from accel_advisor.rule import Rule


class ConstantRebuiltInForward(Rule):
    """A module computes the same window, filter bank or mask again at each forward pass.

    What it does
        Finds `torch.hann_window` and its kin, mel filter banks, transforms of torchaudio and triangular masks that are
        made in `forward`, or in a function that it calls, from arguments that do not depend on the input.

    Why it costs time
        A window or a filter bank takes several small kernels, or work of the host and a copy that the GPU waits for,
        in each step and each layer. As a buffer it is computed once and moves with the module.

    Example
        import torch
        from torch import nn

        class Spectrum(nn.Module):
            def __init__(self, size=8):
                super().__init__()
                self.size = size

            def forward(self, x):
                window = torch.hann_window(self.size, device=x.device)
                return torch.stft(x, self.size, window=window, return_complex=True).abs()

    Use instead
        import torch
        from torch import nn

        class Spectrum(nn.Module):
            def __init__(self, size=8):
                super().__init__()
                self.size = size
                self.register_buffer("window", torch.hann_window(size), persistent=False)

            def forward(self, x):
                return torch.stft(x, self.size, window=self.window, return_complex=True).abs()

    When to ignore it
        Where the module runs rarely. The rule is silent where a condition decides about the call, as for something that
        is kept after the first time, in a function with a cache, and where an argument may depend on the input.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
    """

    code = "ACC220"
    name = "constant-rebuilt-in-forward"
    severity = Severity.INFO
    frequency = Frequency.STEP

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once."""
        for operation in rebuilt_constants(facts):
            message = (
                f"`{facts.document.code(operation.node)}` is computed again at each forward pass, with the same "
                f"arguments; compute it once in `__init__` and keep it with `register_buffer`"
            )
            if operation.what.owner == "torchaudio.transforms":
                message = message.replace(" and keep it with `register_buffer`", ", as a module of its own")
            yield self.finding(facts, operation.node, message)
