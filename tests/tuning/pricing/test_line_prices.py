"""Samples of a loop's stack, joined with findings: who is charged with what, and what a wait would save."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from accel_advisor.finding import CellPlace, Finding, Location, Severity, Span
from accel_advisor.tuning.pricing.line_prices import priced
from accel_advisor.tuning.pricing.sampled_shares import Shares
from accel_advisor.tuning.probe.channel.wire import Block, Frame, LoopSamples, LoopStack
from accel_advisor.tuning.record.schema import Prices
from accel_advisor.tuning.showing.price_text import price_lines

from ...source import notebooks

SOURCE = """\
def train(loader):
    for images, labels in loader:
        images = augment(images)
        loss = model(images)
        total += loss.item()
        if broken:
            print(loss)


def augment(images):
    return shuffled(images)
"""


HEAD = "%matplotlib inline\nimport torch"
"""Another cell, so that rows of the program are not those of the second one."""
BELOW = 3


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(notebooks.notebook(notebooks.code(HEAD), notebooks.code(SOURCE))))
    return path


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SOURCE)
    return path


def at(path: Path, code: str) -> tuple[int, int, int]:
    """Row, column and end column of the first place of a code."""
    rows = SOURCE.splitlines()
    row = next(number for number, line in enumerate(rows, 1) if code in line)
    column = rows[row - 1].index(code) + 1
    return row + BELOW * (path.suffix == ".ipynb"), column, column + len(code)


def frame(path: Path, code: str) -> Frame:
    row, column, end = at(path, code)
    return Frame(str(path), "train", row, column, row, end)


def finding(path: Path, text: str, code: str = "ACC900") -> Finding:
    row, column, end = at(path, text)
    cell = CellPlace(3, row - BELOW, 1, 1) if path.suffix == ".ipynb" else None
    span = Span(Location(column, row, column, cell), Location(end, row, end, cell))
    return Finding(code, "a-rule", "what it says", Severity.WARNING, str(path), span)


def block(path: Path, *, wait: float = 0.1, host: float = 0.2) -> Block:
    """100 steps of 10 ms, 1000 samples: 10 % fetching, 20 % below `augment`, 30 % in the model, 40 % in `.item()`."""
    helper = frame(path, "augment(images)")
    stacks = (
        LoopStack((frame(path, "loader:"),), 1),
        LoopStack((helper, frame(path, "shuffled(images)")), None),
        LoopStack((frame(path, "model(images)"),), None),
        LoopStack((frame(path, "loss.item()"),), None),
    )
    turn = (0, 1, 1, 2, 2, 2, 3, 3, 3, 3)
    samples = tuple(itertools.islice(((number, 0.001) for number in itertools.cycle(turn)), 1000))
    lines = LoopSamples(stacks, samples, ((str(path), 6),), (frame(path, "loader:"),))
    return Block("baseline", 100, 100, 1.0, wait, 0.0, 1.0 - wait - host, host, 0.0, lines=lines)


def prices(path: Path, *findings: Finding, device: str = "cpu") -> Prices:
    found = priced(block(path), findings, path.parent, device=device)
    assert found is not None
    return found


def test_a_finding_is_charged_with_what_is_called_there(script: Path) -> None:
    found = prices(script, finding(script, "augment(images)"), finding(script, "loss.item()"))
    assert [(one.text, round(one.price.share, 3)) for one in found.findings] == [
        ("loss.item()", 0.4),
        ("augment(images)", 0.2),
    ]
    for one in found.findings:
        assert one.price.low < one.price.share < one.price.high
        assert one.price.waits == ""
        assert one.price.saves is None


def test_places_in_a_notebook_are_those_of_its_cells(cells: Path) -> None:
    found = prices(cells, finding(cells, "loss.item()"))
    assert [(one.cell, one.row, one.text, round(one.price.share, 3)) for one in found.findings] == [
        (3, 5, "loss.item()", 0.4)
    ]
    assert [(one.cell, one.row, one.calls) for one in found.lines] == [
        (3, 4, "model(images)"),
        (3, 11, "shuffled(images)"),
        (3, 2, "loader:"),
    ]
    assert found.listing is not None
    assert found.listing.cell == 3
    first = found.listing.lines[0]
    assert (first.row, first.text) == (2, SOURCE.splitlines()[1])
    said = [text for text, _ in price_lines(found)]
    assert any(text.startswith("ACC900 train.ipynb:cell 3:5 `loss.item()`") for text in said)


def test_a_finding_in_code_that_ran_and_costs_nothing_is_named_as_such(script: Path) -> None:
    found = prices(script, finding(script, "broken"))
    assert [one.price.share for one in found.findings] == [0.0]
    assert found.elsewhere == 0
    assert "Nothing that could be measured here" in " ".join(text for text, _ in price_lines(found))


def test_a_finding_in_code_that_did_not_run_is_counted_only(script: Path) -> None:
    found = prices(script, finding(script, "print(loss)"))
    assert found.findings == ()
    assert found.elsewhere == 1
    assert "1 other finding is about lines" in " ".join(text for text, _ in price_lines(found))


def test_dear_lines_without_a_finding_say_what_they_call(script: Path) -> None:
    found = prices(script, finding(script, "loss.item()"))
    assert [(one.row, one.calls, one.price.waits) for one in found.lines] == [
        (4, "model(images)", ""),
        (11, "shuffled(images)", ""),
        (2, "loader:", "data"),
    ]


@pytest.mark.parametrize(("scattered", "named"), [(True, ["model(images)", "loss.item()"]), (False, ["model(images)"])])
def test_a_line_whose_cost_may_be_chance_is_not_named(script: Path, scattered: bool, named: list[str]) -> None:
    """4 % of the samples, in all of the block or in a single hiccup."""
    stacks = tuple(LoopStack((frame(script, code),), None) for code in ("model(images)", "loss.item()"))
    numbers = [int(n % 25 == 0 if scattered else n < 40) for n in range(1000)]
    lines = LoopSamples(stacks, tuple((number, 0.001) for number in numbers), (), ())
    found = priced(Block("baseline", 100, 100, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, lines=lines), [], script.parent)
    assert found is not None
    assert [one.calls for one in found.lines] == named


def test_on_an_accelerator_only_what_the_device_is_idle_could_be_saved(script: Path) -> None:
    """Of ten parts of a step the host waits for four at `.item()`, and the device is idle for three."""
    (found,) = prices(script, finding(script, "loss.item()"), device="cuda").findings
    assert found.price.waits == "device"
    assert found.price.saves == pytest.approx(0.3)


def test_a_device_that_is_never_idle_has_to_be_waited_for_anyway(script: Path) -> None:
    shown = priced(block(script, wait=0.0, host=0.0), [finding(script, "loss.item()")], script.parent, device="cuda")
    assert shown is not None
    assert shown.findings[0].price.saves == 0.0
    assert "that would have to be waited for anyway" in " ".join(text for text, _ in price_lines(shown))


def test_on_the_host_itself_nothing_waits_for_a_device(script: Path) -> None:
    (found,) = prices(script, finding(script, "loss.item()")).findings
    assert (found.price.waits, found.price.saves) == ("", None)


def test_the_loop_is_listed_with_what_each_line_takes(script: Path) -> None:
    listing = prices(script).listing
    assert listing is not None
    assert (listing.filename, [line.row for line in listing.lines]) == ("train.py", [2, 3, 4, 5, 6, 7])
    shares = [None if line.price is None else round(line.price.share, 2) for line in listing.lines]
    assert shares == [0.1, 0.2, 0.3, 0.4, None, None]


def test_a_block_without_samples_has_no_prices(script: Path) -> None:
    assert priced(Block("baseline", 10, 10, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0), [], script.parent) is None


@pytest.mark.parametrize(
    ("device", "fetch", "model"), [("cpu", 0.04, 0.3 * 0.96 / 0.9), ("cuda", 0.1, 0.3)], ids=["clocked", "sampled"]
)
def test_waiting_for_data_is_what_the_clock_says(script: Path, device: str, fetch: float, model: float) -> None:
    """A tenth of the samples in a fetch that takes a twenty-fifth of the time: all other lines share what is left.
    Beside a device the clock counts what the device waits, which is no share of the host's time."""
    found = priced(block(script, wait=0.04), [], script.parent, device=device)
    assert found is not None
    assert found.listing is not None
    shares = [None if line.price is None else line.price.share for line in found.listing.lines]
    assert shares[0] == pytest.approx(fetch)
    assert shares[2] == pytest.approx(model)
    assert sum(share for share in shares if share is not None) == pytest.approx(1.0)


@pytest.mark.parametrize("fetching", [None, 1], ids=["never", "always"])
def test_samples_of_one_kind_stay_as_they_are(fetching: int | None) -> None:
    samples = LoopSamples((LoopStack((), fetching),), ((0, 1.0),) * 100, (), ())
    assert Shares(samples, 0.3).of({0}) == pytest.approx(1.0)


def test_the_interval_is_as_wide_as_steps_differ() -> None:
    """The same number of samples says less where the place takes half of the time at the end alone."""
    even = LoopSamples((LoopStack((), None),) * 2, ((0, 1.0), (1, 1.0)) * 500, (), ())
    late = LoopSamples(even.stacks, ((0, 1.0),) * 500 + ((1, 1.0),) * 500, (), ())
    first, second = (Shares(one).price({0}) for one in (even, late))
    assert first.share == second.share == 0.5
    assert second.high - second.low > 4 * (first.high - first.low)


def test_a_finding_is_not_charged_with_the_training_in_its_statement(tmp_path: Path) -> None:
    """A copy within a call of the model costs what the copy does; what numpy does with a batch is its own."""
    path = tmp_path / "train.py"
    path.write_text("loss = model(images.to(device))\nimages = sort(images.numpy())\n")

    def place(row: int, column: int, end: int) -> Frame:
        return Frame(str(path), "train", row, column, row, end)

    stacks = (
        LoopStack((place(1, 8, 32),), None, computing=1),
        LoopStack((place(1, 14, 31),), None),
        LoopStack((place(2, 10, 30),), None),
    )
    samples = LoopSamples(stacks, ((0, 1.0), (0, 1.0), (1, 1.0), (2, 1.0)) * 100, (), ())
    watched = Block("baseline", 10, 10, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, lines=samples)

    def found(row: int, column: int, end: int) -> Finding:
        span = Span(Location(0, row, column), Location(1, row, end))
        return Finding("ACC900", "a-rule", "what it says", Severity.WARNING, str(path), span)

    prices = priced(watched, [found(1, 14, 31), found(2, 15, 29)], tmp_path)
    assert prices is not None
    assert [(one.row, one.price.share) for one in prices.findings] == [(1, 0.25), (2, 0.25)]
    assert [(one.calls, one.price.share) for one in prices.lines] == [("model(images.to(device))", 0.5)]
