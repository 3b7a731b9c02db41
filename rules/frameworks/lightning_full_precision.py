"""Lightning Trainers that compute in full float32."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.frameworks.lightning_trainers import OLD_PACKAGE, FloatTrainer, trainers_in_float32
from accel_advisor.records.queries.models.autocast_hazards import needing_float32
from accel_advisor.rule import Rule, also_at, pass_argument

_SINCE = (2, 0)


class LightningFullPrecision(Rule):
    """A Lightning Trainer fits a deep model in float32 throughout.

    What it does
        Finds a `Trainer` without `precision` that uses a GPU, in a program that fits a deep model (four convolutions,
        attention or recurrent layers or more, lists of them, or a model of torchvision, timm or the like) and never
        mentions another precision.

    Why it costs time
        Tensor cores multiply matrices in half precision several times as fast as in float32, and activations take half
        the memory. ACC417 reports the same of plain loops.

    Example
        import lightning as L
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        class Net(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])

            def training_step(self, batch):
                return self.layers(batch[0]).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        if __name__ == "__main__":
            data = TensorDataset(torch.zeros(64, 3, 32, 32))
            trainer = L.Trainer(accelerator="gpu")
            trainer.fit(Net(), DataLoader(data, batch_size=16, pin_memory=True))

    Use instead
        import lightning as L
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        class Net(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])

            def training_step(self, batch):
                return self.layers(batch[0]).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        if __name__ == "__main__":
            data = TensorDataset(torch.zeros(64, 3, 32, 32))
            trainer = L.Trainer(accelerator="gpu", precision="bf16-mixed")
            trainer.fit(Net(), DataLoader(data, batch_size=16, pin_memory=True))

    When to ignore it
        With models that are bound by launches, and where eight bits of mantissa are too few. The rule is silent where
        arguments of the Trainer come from a dict or a command line, with `plugins`, with `fast_dev_run`, on other
        accelerators, where Lightning 1 is not told of a GPU, about models of a few layers and those of MNIST, and in
        programs that decide about a precision or speak of one (`amp`, `fp16`, complex numbers, `float64`).

    Fix safety
        Unsafe: results differ in the third digit.

    References
        - https://lightning.ai/docs/pytorch/stable/common/precision_basic.html
    """

    code = "ACC613"
    name = "lightning-full-precision"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports the Trainers of a file as one remark."""
        if facts.target.has_cuda:
            yield from (self._report(facts, one) for one in trainers_in_float32(facts))

    def _report(self, facts: Facts, trainer: FloatTrainer) -> Finding:
        node, basis, kept = trainer.operation.node, trainer.basis, list(needing_float32(facts))
        claim = f"the Trainer computes in float32 throughout, past what tensor cores do best{basis.clause}"
        remedy, old = 'pass `precision="bf16-mixed"`', OLD_PACKAGE in facts.packages
        if old:
            remedy += ' (`"bf16"` before Lightning 2)'
        if kept:
            remedy += ", and leave in float32 what half precision breaks"
        keep = 'this, and what it is computed from, stays in float32, under `torch.autocast("cuda", enabled=False)`'
        related = [also_at(document, one, keep) for document, one in kept]
        fix = None if old else pass_argument(trainer.operation, "precision", '"bf16-mixed"')
        since = None if old else _SINCE
        return self.finding(
            facts, node, claim, remedy, fix=fix, related=related, basis=basis, since=since, package="lightning"
        )
