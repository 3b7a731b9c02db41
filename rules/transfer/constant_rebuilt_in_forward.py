"""Windows, filter banks, masks and grids that each forward pass computes again."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.constants.rebuilt_constants import rebuilt_constants
from accel_advisor.records.queries.constants.size_constants import SizeConstant, size_constants
from accel_advisor.records.queries.steps.filled_then_moved import filled_then_moved
from accel_advisor.rule import Rule, also_at

LONGEST = 60


class ConstantRebuiltInForward(Rule):
    """A module computes the same window, filter bank or mask again at each forward pass.

    What it does
        Finds `torch.hann_window` and its kin, mel filter banks, transforms of torchaudio and triangular masks that are
        made in `forward`, or in a function that it calls, from arguments that do not depend on the input. Also masks,
        grids, indices and windows of any other kind that each step builds from sizes, dtypes, devices and settings
        alone: by numpy, lists or several operations on the host, and then copied to a GPU; or by several kernels, where
        a loop of the step repeats them or they make a grid.

    Why it costs time
        A window or a filter bank takes several small kernels, or work of the host and a copy that the GPU waits for,
        in each step and each layer. As a buffer it is computed once and moves with the module. What depends on the size
        of the input can be kept in a dict by size and device: most runs see few sizes.

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
        Where the module runs rarely, or nearly every input has a size of its own. The rule is silent where a condition
        decides about the call, as for something that is kept after the first time, in a function with a cache, where
        what a tensor holds or chance goes into it, and where a compiler joins the kernels. A tensor that one call
        fills on the host and that is copied at once is ACC205's, and shown here with `--minor` only.

    References
        - https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
    """

    code = "ACC220"
    name = "constant-rebuilt-in-forward"
    severity = Severity.INFO
    frequency = Frequency.STEP

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call once, and each constant once that several calls build."""
        built = list(size_constants(facts))
        moved = {one.node for one in (filled_then_moved(facts) if built else ()) if one.often}
        for one in built:
            yield self._report(facts, one, minor=one.copy in moved and not one.others)
        for operation in rebuilt_constants(facts):
            if any(one.holds(operation.node) for one in built):
                continue
            code = facts.document.code(operation.node)
            claim = f"`{code}` is computed again at each forward pass, with the same arguments"
            is_module = operation.what.owner == "torchaudio.transforms"
            kept = ", as a module of its own" if is_module else " and keep it with `register_buffer`"
            yield self.finding(facts, operation.node, claim, f"compute it once in `__init__`{kept}")

    def _report(self, facts: Facts, one: SizeConstant, *, minor: bool) -> Finding:
        document = facts.document
        code = document.code(one.place)
        shown = code if len(code) <= LONGEST and "\n" not in code else f"{code.splitlines()[0][:LONGEST].rstrip()}..."
        way = "built on the host and copied to the GPU" if one.copy is not None else "built by several small kernels"
        when = "in each pass of a loop of each step" if one.looped else "in each step"
        remedy = (
            "build it once in `__init__` and keep it with `register_buffer`"
            if one.settled
            else "keep it in a dict by size and device, and build it only where it is not there"
        )
        claim = f"`{shown}` is {way} {when}, although it depends on sizes and settings alone"
        related = [also_at(document, part, "is a part of it") for part in one.others]
        return self.finding(facts, one.place, claim, remedy, related=related, group=one.function, minor=minor)
