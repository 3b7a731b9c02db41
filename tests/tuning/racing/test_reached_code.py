"""Which code acts on a training loop: what it runs, and what is passed once before it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel_advisor.finding import Finding, Frequency, Location, Severity, Span
from accel_advisor.tuning.probe.channel.wire import Frame, LoopSamples
from accel_advisor.tuning.racing.reached_code import ReachedCode, files_of

SOURCE = """\
flags.on()


class Model:
    def __init__(self):
        self.bias = True

    def forward(self, inputs):
        return shifted(inputs)


class Other:
    def __init__(self):
        self.bias = False


def build():
    return Optimizer()


def main():
    optimizer = Optimizer()
    for inputs in loader:
        step(inputs)
        if broken:
            report(inputs)
    for inputs in held_out:
        judge(inputs)


main()
"""
ROWS = SOURCE.splitlines()


def row(text: str) -> int:
    return next(number for number, line in enumerate(ROWS, 1) if text in line)


def finding(text: str, frequency: Frequency = Frequency.STEP) -> Finding:
    span = Span(Location(0, row(text), 1), Location(1, row(text), 2))
    return Finding("ACC900", "a-rule", "what it says", Severity.WARNING, "train.py", span, frequency=frequency)


@pytest.fixture
def reached() -> ReachedCode:
    ran = tuple(("train.py", row(text)) for text in ("for inputs in loader", "step(inputs)", "if broken", "shifted"))
    return ReachedCode(LoopSamples((), (), ran, ()), (), {"train.py": SOURCE.encode()})


@pytest.mark.parametrize("text", ["step(inputs)", "shifted(inputs)"])
def test_what_the_loop_ran_is_reached(reached: ReachedCode, text: str) -> None:
    assert reached.holds(finding(text))
    assert reached.holds(finding(text, Frequency.ONCE))


@pytest.mark.parametrize("text", ["flags.on()", "optimizer = Optimizer()", "self.bias = True"])
def test_what_ran_before_and_acts_on_each_step_is_reached(reached: ReachedCode, text: str) -> None:
    assert reached.holds(finding(text))
    assert not reached.holds(finding(text, Frequency.ONCE))


@pytest.mark.parametrize(
    "text", ["report(inputs)", "judge(inputs)", "for inputs in held_out", "self.bias = False", "return Optimizer()"]
)
def test_other_branches_loops_functions_and_classes_are_not(reached: ReachedCode, text: str) -> None:
    assert not reached.holds(finding(text))


def test_the_function_that_builds_the_loader_is_reached() -> None:
    frame = Frame("train.py", "build", row("return Optimizer()"), 1, row("return Optimizer()"), 2)
    samples = LoopSamples((), (), (), ())
    assert ReachedCode(samples, (frame,), {"train.py": SOURCE.encode()}).holds(finding("return Optimizer()"))
    assert files_of(samples, (frame,)) == ("train.py",)


def test_a_file_that_nothing_was_seen_of_is_not(reached: ReachedCode) -> None:
    assert not reached.holds(replace(finding("flags.on()"), filename="other.py"))
