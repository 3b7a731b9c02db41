"""Evaluation loops that build graphs for a backward pass that never comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.copies.read_results import read_at_once
from accel_advisor.records.queries.evaluation import Evaluation, evaluations_with_graphs
from accel_advisor.rule import Rule, also_at, decorate

_COST = ", and keeps every activation for a backward pass that never comes"


class EvalWithoutNoGrad(Rule):
    """A model is evaluated while autograd records everything that it computes.

    What it does
        Finds loops over a DataLoader that call a model, or a method of it that runs a part of it, never call
        `backward()`, are clearly an evaluation (the model is in `eval()` mode, or the function is named for it), and
        run under neither `torch.no_grad()` nor `torch.inference_mode()`, in themselves, in their callers or in the
        model. Loops over single samples are found where the model is in `eval()` mode, and so are calls beside the
        training step; loops that train and evaluate where a parameter (`train`, `optimizer is not None`) decides on
        `backward()`, and a call against it. It is information where only `eval()` and a call are seen, and for a call
        in another loop of which values alone are read (`model(x).cpu().numpy()`), later on only where nothing learns.

    Why it costs time
        It costs memory: every activation is kept for a backward pass that never comes. A loss that is summed up without
        `.item()` keeps the graphs of all batches. It takes no time on a GPU: on an H200 ResNet-18 evaluated batches of
        256 images of 224 x 224 as fast with graphs as without, in 3.5 GiB more (docs/costs.md).

    Example
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)))

        def evaluate():
            model.eval()
            for (x,) in loader:
                print(float(model(x).sum()))

    Use instead
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(8, 2)
        loader = DataLoader(TensorDataset(torch.zeros(64, 8)))

        @torch.no_grad()
        def evaluate():
            model.eval()
            for (x,) in loader:
                print(float(model(x).sum()))

    When to ignore it
        Where gradients with respect to the input are taken by code that the rule cannot see, or the function returns
        what such code differentiates. It is silent beside `autograd.grad`, `torch.func` and `requires_grad` (but for a
        part of a model that is frozen), where a backward pass in the code that calls the evaluation may start from its
        result, in names of adversarial, meta-learning and test-time adaptation, in functions that export a model, in
        the hooks of frameworks, and in programs that call `torch.set_grad_enabled`.

    Fix safety
        Unsafe: what the function returns has no gradient. `torch.inference_mode()` is not used: its tensors
        raise when they are saved for a backward pass later. No fix is made for a function that also trains.

    References
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#disable-gradient-calculation-for-validation-or-inference
    """

    code = "ACC401"
    name = "eval-without-no-grad"
    severity = Severity.WARNING
    frequency = Frequency.EPOCH

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each function once, at its first such loop, and each such loop outside of functions."""
        found = list(evaluations_with_graphs(facts))
        yield from (self._report(facts, one) for one in (*found, *read_at_once(facts, found)))

    def _report(self, facts: Facts, evaluation: Evaluation) -> Finding:
        torch, loop, basis, choice = facts.torch_name or "torch", evaluation.loop, evaluation.basis, evaluation.choice
        model = f"`{evaluation.model}`" if evaluation.model else "a model"
        if evaluation.call is not None and (evaluation.in_step or evaluation.at_once):
            once = f"what {model} computes is only read, and autograd records it for nothing"
            what = once if evaluation.at_once else f"the training evaluates {model} within its steps{_COST}"
            level = Severity.INFO if evaluation.at_once or loop.loaders else Severity.WARNING
            remedy = f"compute it under `with {torch}.no_grad():`"
            return self.finding(facts, evaluation.call, what, remedy, severity=level, since=(0, 4))
        what = f"evaluates {model}{evaluation.where}{basis.clause}{_COST}"
        manager = f"set_grad_enabled({choice.trains})" if choice is not None else "no_grad()"
        claim, remedy, fix = f"this loop {what}", f"put the loop under `with {torch}.{manager}:`", None
        function = loop.definition
        if function is not None:
            name, decorator = function.name.value, f"@{facts.torch_name}.no_grad()"
            trains = any(name in other.functions for one in facts.program for other in one.loops if other.backward)
            if not trains and facts.torch_name is not None:
                edit = decorate(facts.document, function, decorator)
                fix = Fix(f"Decorate `{name}` with `{decorator}`", (edit,), Applicability.UNSAFE)
            claim = f"`{name}` {what}"
            remedy = remedy if trains or evaluation.imports_torch else f"decorate it with `@{torch}.no_grad()`"
        called = [also_at(evaluation.document, evaluation.call, "the model is called here")] if evaluation.call else []
        if choice is not None:
            called.append(also_at(choice.document, choice.node, f"here `{choice.name}` is {choice.value!r}"))
        before = "" if evaluation.volatile else "pass `volatile=True` to the Variables that it computes with"
        found = self.finding(facts, loop.node, claim, remedy, fix=fix, basis=basis, since=(0, 4), before=before)
        return replace(found, severity=Severity.WARNING if basis.proven else Severity.INFO, related=tuple(called))
