"""cuDNN switched off, or given contradicting flags."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Applicability, Finding, Fix, Severity
from accel_advisor.records.actions import Sets
from accel_advisor.records.facts import Facts
from accel_advisor.records.operations import Operation
from accel_advisor.rule import Rule, also_at, replace_node

_ENABLED, _BENCHMARK, _DETERMINISTIC = (
    Sets("torch.backends.cudnn", name) for name in ("enabled", "benchmark", "deterministic")
)


class CudnnFlags(Rule):
    """cuDNN is switched off, or set to be deterministic and to choose by the clock at once.

    What it does
        Finds `torch.backends.cudnn.enabled = False`, and `benchmark = True` in a run in which `deterministic = True` is
        set, also where that is on a condition such as `if args.seed`.

    Why it costs time
        Without cuDNN convolutions and recurrent layers run on much slower kernels: on an H200 the training of ResNet-18
        took 6.7 times as long (docs/costs.md), so this is a warning. `benchmark` times the algorithms and takes the
        fastest, which may be another one in the next run: results then differ between runs although `deterministic`
        was asked for. That one is information.

    Example
        import torch

        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = True

    Use instead
        import torch

        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False

    When to ignore it
        Where cuDNN is switched off because of an error of its own. The rule is silent under conditions, where a value
        is not a literal, and where the file switches cuDNN on again. It does not advise `benchmark = True`: ACC437
        does, where a program fixes the size of its images, and a trial finds whether it pays.

    Fix safety
        Unsafe: another choice of algorithms changes the last bits of results, and their speed. There is no fix where
        determinism is asked for on a condition: other runs are right to measure.

    References
        - https://docs.pytorch.org/docs/stable/notes/randomness.html
        - https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#enable-cudnn-auto-tuner
    """

    code = "ACC410"
    name = "cudnn-flags"
    severity = Severity.INFO

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each switch once."""
        for operation in facts.operations_of(_ENABLED, _BENCHMARK):
            switch_off = operation.what is _ENABLED and _sets(operation, False)
            if switch_off and not _is_set_again(facts, operation):
                claim = (
                    f"`{facts.document.code(operation.node)} = False` makes convolutions and recurrent layers run "
                    "without cuDNN, on much slower kernels"
                )
                remedy = "leave it on"
                fix = self._fix(facts, operation, "True")
                yield self.finding(facts, operation.node, claim, remedy, severity=Severity.WARNING, fix=fix)
            elif operation.what is _BENCHMARK and _sets(operation, True):
                yield from self._contradiction(facts, operation)

    def _contradiction(self, facts: Facts, benchmark: Operation) -> Iterator[Finding]:
        document = facts.document
        others = [one for one in facts.operations_of(_BENCHMARK, _DETERMINISTIC) if one is not benchmark]
        if len(others) != 1 or others[0].what is _BENCHMARK or not others[0].gives("value", True, 0):
            return
        other = others[0]
        if not other.meets(benchmark):
            return
        where = " where it is set" if other.guarded else ""
        claim = (
            f"`{document.code(benchmark.node)} = True` lets the clock choose the algorithms, so that runs differ "
            f"although `{document.code(other.node)} = True` asks for the same results each time{where}"
        )
        remedy = "keep one of them"
        related = also_at(document, other.node, "asked for the same results here")
        # where only some runs are to agree, the others are right to measure
        fix = None if other.guarded else self._fix(facts, benchmark, "False")
        yield self.finding(facts, benchmark.node, claim, remedy, fix=fix, related=[related])

    def _fix(self, facts: Facts, operation: Operation, value: str) -> Fix | None:
        node = operation.assigned
        if node is None:
            return None
        edit = replace_node(facts.document, node, value)
        return Fix(f"Set it to `{value}`", (edit,), Applicability.UNSAFE)


def _is_set_again(facts: Facts, operation: Operation) -> bool:
    """Whether a switch is turned in another place, too, as around a part that needs it so."""
    others = [one for one in facts.operations_of(operation.what) if one is not operation]
    return any(not _sets(one, False) for one in others)


def _sets(operation: Operation, value: bool) -> bool:
    return operation.gives("value", value, 0) and not operation.guarded
