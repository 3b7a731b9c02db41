"""Which lines make batches, from sources and samples that are written here."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from accel_advisor.tuning.plain.data_lines import DataLines, data_lines
from accel_advisor.tuning.probe.channel.wire import Frame, LoopSamples, LoopStack


def seen(folder: Path, text: str, *, computes: tuple[int, ...], steps: int) -> DataLines | None:
    """What is found where every line was found at work equally often, and some of them in the model."""
    path = folder / "train.py"
    path.write_text(dedent(text).lstrip())
    count = len(path.read_text().splitlines())

    def frame(row: int) -> Frame:
        return Frame(str(path), "<module>", row, 1, row, 2)

    stacks = tuple(LoopStack((frame(row),), None, int(row in computes)) for row in range(1, count + 1))
    samples = tuple((number % count, 0.002) for number in range(100 * count))
    return data_lines(LoopSamples(stacks, samples, (), (frame(steps),)))


def test_an_index_and_what_it_depends_on(tmp_path: Path) -> None:
    text = """
        order = torch.randperm(100)
        for at in range(0, 100, 16):
            rows = order[at : at + 16]
            x, y = data[rows], targets[rows]
            lr = schedule(step)
            out = model(x)
            loss = F.mse_loss(out, y)
            loss.backward()
            log(loss.item())
            optimizer.step()
    """
    found = seen(tmp_path, text, computes=(6, 8), steps=10)
    assert found is not None
    assert found.rows == {2, 3, 4}
    assert found.price.share == pytest.approx(0.3, abs=0.01)


def test_the_head_of_a_loop_over_a_generator(tmp_path: Path) -> None:
    text = """
        for epoch in range(3):
            for x, y in batches(data):
                loss = step(model, x, y)
                optimizer.step()
    """
    found = seen(tmp_path, text, computes=(3,), steps=4)
    assert found is not None
    assert found.rows == {2}
    assert found.text == "for x, y in batches(data):"


def test_a_state_that_the_model_gave_is_no_data(tmp_path: Path) -> None:
    text = """
        while True:
            x = data[next(order)]
            out, state = model(x, state)
            state = state.detach()
            out.mean().backward()
            optimizer.step()
    """
    found = seen(tmp_path, text, computes=(3, 5), steps=6)
    assert found is not None
    assert found.rows == {2}


def test_there_are_none_where_the_model_is_given_what_was_there_before(tmp_path: Path) -> None:
    text = """
        while True:
            model(x).mean().backward()
            optimizer.step()
    """
    assert seen(tmp_path, text, computes=(2,), steps=3) is None


def test_there_are_none_outside_of_a_loop(tmp_path: Path) -> None:
    assert seen(tmp_path, "x = data[0]\nmodel(x)\noptimizer.step()\n", computes=(2,), steps=3) is None


def test_a_stray_sample_makes_no_line_one_that_trains(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("while True:\n    x = data[0]\n    model(x)\n    optimizer.step()\n")
    frames = [Frame(str(path), "<module>", row, 1, row, 2) for row in (2, 2, 3, 4)]
    stacks = tuple(LoopStack((frame,), None, computing) for frame, computing in zip(frames, (0, 1, 1, 0), strict=True))
    samples = ((1, 0.002), *((number % 3 + (number % 3 > 0), 0.002) for number in range(300)))
    found = data_lines(LoopSamples(stacks, samples, (), (frames[-1],)))
    assert found is not None
    assert found.rows == {2}
