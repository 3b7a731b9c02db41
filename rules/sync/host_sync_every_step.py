"""Training loops that wait for the GPU at every step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from accel_advisor.finding import Finding, Pause, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.steps.host_waits import waits_of_each_step
from accel_advisor.records.queries.steps.training_steps import wait_in
from accel_advisor.records.queries.waits.step_waits import LoopWaits, Wait
from accel_advisor.rule import Rule, also_at


class HostSyncEveryStep(Rule):
    """Every step of a training loop waits for the GPU to read values.

    What it does
        Finds what reads a tensor that is on the GPU at every step of the innermost loop in which the model learns:
        `.item()`, `.tolist()`, `.cpu()`, `float(loss)`, `print(loss)`, a tensor in an f-string, `if loss > 3:`,
        `add_scalar`, what has to count first, as `nonzero`, `unique`, `repeat_interleave` by a tensor and indexing with
        a mask do, a tensor as an index, size, bound or factor, what asks whether it failed (`torch.linalg.inv`);
        buffers of a module too (`int(self.step)`). What a step reads twice counts once. Functions that the loop calls
        are a part of it, and so are the methods of a model and of its parts: each file reports what stands in it, with
        the calls in the loop that lead there. It is a warning from three waits on (reads that stand together in the
        loop are one), where a step waits for each parameter or sample, and where only every hundredth uses what is
        read; not for what the host computes with values that the step goes on with (a matching, a plan, a score, a
        size). A tensor on an unknown device counts where the program names a GPU, and in the `step` of a project's own
        optimizer. Epochs of one step are reported from three on.

    Why it costs time
        To read a value the host waits until all that it has queued is done, and the GPU then idles until it has queued
        more. That is little in a long step, and nothing where the host is the slower of the two.

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        criterion = torch.nn.MSELoss()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
        total = largest = 0.0
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            loss = criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            total += loss.item()
            largest = max(largest, out.max().item())

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2).cuda()
        criterion = torch.nn.MSELoss()
        data = TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2))
        losses, maxima = [], []
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            out = model(x.cuda(non_blocking=True))
            loss = criterion(out, y.cuda(non_blocking=True))
            loss.backward()
            losses.append(loss.detach())
            maxima.append(out.detach().max())
        total, largest = torch.stack(losses).sum().item(), torch.stack(maxima).max().item()

    When to ignore it
        Where a step is long. A read in a loop is of little consequence (`--minor`) where each step synchronizes, and so
        is any read that has the same model call or `backward()` before and behind it as what waits in any case: the
        `step` of a `GradScaler` for an optimizer that is not fused, `clip_grad_norm_` before torch 1.7, what the host
        computes with, or what decides about `backward()`; waits for each parameter or sample are not. The rule is
        silent about what decides about `backward()` or the step (`if norm < limit:`), about what a condition guards
        that changes from step to step (`if step % 100 == 0`, but neither `if len(boxes) > 0` nor `if step > start`) or
        that is about debugging, about evaluation (what else is under `no_grad` is a part of the step), where the
        optimizer is LBFGS, where a loop steps an environment and waits for values alone, or outside of what learns,
        about dictionaries in a batch if a step moves its tensors alone, and about `loss.data[0]` where torch is 0.4 or
        later. Of options, only those of a `forward` guard, if nothing gives them.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
    """

    code = "ACC208"
    name = "host-sync-every-step"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each loop once, at the first wait in this document."""
        yield from (self._report(facts, found) for found in waits_of_each_step(facts))

    def _report(self, facts: Facts, found: LoopWaits) -> Finding:
        document, loop, first = facts.document, found.loop, found.first
        at, stays = first.operation.node, first.beside
        often, where = (f"{found.count} times ", "first ") if found.count > 1 else ("", "")
        times = f"{often}at every step{f', for each {first.each}' if first.each else ''}, {where}"
        claim = f"this training waits for the GPU {times}at `{document.code(at)}`{found.basis.clause}{found.clause}"
        related = [also_at(document, one.operation.node, self._beside(one)) for one in found.waits if one is not first]
        related += [also_at(one.document, one.node, "it is called here") for one in found.callers]
        related += [also_at(loop.document, one, "steps come there from here") for one in found.ways]
        if loop.document is not document:
            related.append(also_at(loop.document, loop.node, "the loop of the training"))
        related += [also_at(stays.document, stays.node, "the step waits here in any case")] if stays else []
        level, wait = Severity.WARNING if found.costly else Severity.INFO, None if stays else wait_in(loop, Pause.READS)
        told = partial(self.finding, facts, at, claim, found.remedy, severity=level, related=related, wait=wait)
        return told(since=found.since, basis=found.basis, minor=stays is not None)

    def _beside(self, other: Wait) -> str:
        here = "or here, in another branch" if other.instead else "it waits here too"
        each = f", for each {other.each}" if other.each else ""
        return "it reads the same value here once more" if other.again else f"{here}{each}"
