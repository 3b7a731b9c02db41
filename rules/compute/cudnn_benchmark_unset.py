"""Convolutions of one size whose algorithms nobody measures."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.images.unmeasured_convolutions import UnmeasuredTraining, unmeasured_training
from accel_advisor.rule import Rule, also_at


class CudnnBenchmarkUnset(Rule):
    """A convolutional network is trained on images of one size, and cuDNN never measures its algorithms.

    What it does
        Finds the first training of a program that uses CUDA, builds several convolutions of two or three dimensions
        and fixes the size of its images (a data set of one size, a crop, a resize to a height and a width), and that
        mentions `torch.backends.cudnn.benchmark` nowhere.

    Why it costs time
        cuDNN has several algorithms for a convolution, and chooses by rules of thumb. With `benchmark = True` it
        times them when a shape is seen first, and takes the fastest from then on. For shapes that never change, this
        costs a moment at the first step. On an H200 a ResNet-18 trained as fast without it (docs/costs.md), so the
        finding is minor: it is shown with `--minor`.

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from torchvision import transforms

        cut = transforms.RandomCrop(32)
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 1, 3)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(cut(torch.zeros(64, 3, 40, 40)))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            model(x.cuda(non_blocking=True)).square().mean().backward()
            optimizer.step()

    Use instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from torchvision import transforms

        torch.backends.cudnn.benchmark = True
        cut = transforms.RandomCrop(32)
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 1, 3)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(cut(torch.zeros(64, 3, 40, 40)))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            model(x.cuda(non_blocking=True)).square().mean().backward()
            optimizer.step()

    When to ignore it
        Where runs have to agree bit by bit, and where an evaluation in the same run sees another size with each
        image: there each new shape costs a measurement. How much it gains depends on the GPU and on cuDNN:
        `accel-advisor tune train.py --knobs cudnn_benchmark` measures it. The rule is silent where determinism is
        asked for, where samples are padded or left in a list, with sizes that change on purpose, with batches of one
        image, about networks of 1x1 or one-dimensional convolutions, and with frameworks that have a setting of
        their own, such as Lightning. ACC410 reports flags of cuDNN that contradict each other.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#enable-cudnn-auto-tuner
        - https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.torch.backends.cudnn.benchmark
    """

    code = "ACC437"
    name = "cudnn-benchmark-unset"
    severity = Severity.INFO
    knob = "cudnn_benchmark"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a program once, at its first training."""
        found = unmeasured_training(facts)
        if found is not None:
            yield self._report(facts, found)

    def _report(self, facts: Facts, found: UnmeasuredTraining) -> Finding:
        torch, size = facts.torch_name or "torch", found.size
        claim = (
            f"this trains convolutions on images of one size ({size.words}), whose algorithms cuDNN chooses without "
            "timing them"
        )
        remedy = (
            f"set `{torch}.backends.cudnn.benchmark = True` at startup, and measure it with `accel-advisor tune "
            "--knobs cudnn_benchmark`"
        )
        related = [also_at(size.document, size.node, "this fixes the size")]
        if found.move is not None:
            related.append(also_at(found.move.document, found.move.node, "a model moves to the GPU here"))
        return self.finding(facts, found.loop.node, claim, remedy, related=related, minor=True)
