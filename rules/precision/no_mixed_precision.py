"""Training in float32 throughout."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.autocast.precision_words import places_of, remedy_of, threads_of, what_stays
from accel_advisor.records.queries.models.full_precision import full_precision
from accel_advisor.rule import Rule, also_at


class NoMixedPrecision(Rule):
    """A model is trained on the GPU in float32 throughout.

    What it does
        Finds the first step, in a training loop, of a program that names a GPU, builds a deep model (four convolutions,
        attention or recurrent layers or more, lists of them, or a model of torchvision, timm or the like) and never
        mentions a precision: no autocast, half, bfloat16 or float64, and none for float32 products. A precision that
        only an option of the command line switches on, which is off by default, is none, nor is an import of apex or
        `torch.cuda.amp` that nothing uses. Loops that train linear layers alone, as on stored features, that attack a
        finished model, or whose model stays on the host are passed over.

    Why it costs time
        Tensor cores multiply matrices in half precision several times as fast as in float32, and activations take half
        the memory. On an H200 the training of a transformer of 4 layers of 1,024 took 2.4 times as long in float32 as
        under autocast in bfloat16, although TF32 was allowed (docs/costs.md).

    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        model = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)]).cuda()
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

        model = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)]).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = TensorDataset(torch.zeros(64, 3, 32, 32))
        for (x,) in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = model(x.cuda(non_blocking=True)).square().mean()
            loss.backward()
            optimizer.step()

    When to ignore it
        With models that are bound by launches, and where eight bits of mantissa are too few. The rule is silent with
        frameworks (of Lightning speaks ACC613), complex numbers, Fourier transforms, gradients of gradients by weights,
        graphs (also with messages that the program adds up along edges itself) and reinforcement learning, about models
        of a few layers and those of MNIST, and in programs with words such as `amp` or `fp16`. Where the project rules
        torch 1.10 out it names what torch 1.6 has, and is minor where that is ruled out, too; also float16 with a
        scaler where the kernels of `inplace_abn`, or `interpolate` before torch 2.1, have no bfloat16. Of a model in
        DataParallel it says that autocast has to stand in the `forward` that the threads call: they would take float16
        for the bfloat16 of one around the call. Where autocast would break a part of what is computed (kernels of the
        project's own, also by `x.data_ptr()`, the nearest points by `-2 * x @ y`, `log(1 - p)`, indices that take the
        type of an activation, decompositions of matrices, `batch_norm` by computed weights, `BCELoss`), it names that
        part, which has to stay in float32. It also names where what is bfloat16 then goes to numpy, or by an index into
        a tensor of float32: both raise; and inputs that are moved by their gradients, in attacks and samplers, whose
        steps may be rounded away. A `torch.autograd.Function` whose `backward` computes a model again, or multiplies,
        is to be decorated, since autocast is off there; where it gets inputs back by subtraction, as reversible layers
        do, the rule is silent.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#use-mixed-precision-and-amp
    """

    code = "ACC417"
    name = "no-mixed-precision"
    severity = Severity.INFO
    knob = "autocast"

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports a program once, at the model in its first such loop."""
        training = full_precision(facts)
        if training is None:
            return
        node, loop = training.node, training.loop
        subject = "this loop trains" if loop.holds(training.document, node) else "the training runs"
        option = training.option
        decided = f"mixed precision is decided by `{option}`, off by default, and without it " if option else ""
        claim = f"{decided}{subject} in float32 throughout, past what tensor cores do best{training.basis.clause}"
        remedy, since = remedy_of(facts, training)
        related = [also_at(loop.document, loop.node, "the loop of the training")] if node is not loop.node else []
        if training.way is not None:
            related.append(also_at(loop.document, training.way, "each step goes to the model from here"))
        if training.switch is not None:
            related.append(also_at(training.switch.document, training.switch.node, f"what `{option}` switches on"))
        if training.loss is not None:
            related.append(also_at(loop.document, training.loss, "the loss is computed here"))
        if training.twice is not None:
            related.append(also_at(training.twice.document, training.twice.node, "these are best left in float32"))
        threads = "DataParallel runs this in threads"
        related += [also_at(one.document, one.node, threads) for one in threads_of(facts, training)]
        related += [also_at(*kept, what_stays(facts)) for kept in training.kept]
        related += [also_at(*place) for place in places_of(facts, training)]
        related += [also_at(document, step, "this loop trains in float32, too") for document, step in training.others]
        yield self.finding(facts, node, claim, remedy, related=related, basis=training.basis, since=since)
