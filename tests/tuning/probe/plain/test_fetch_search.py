"""Which function gives the model its batches, in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accel_advisor.tuning.probe.measuring.meter import Meter
from accel_advisor.tuning.probe.plain.fetch_search import FetchFound, FetchSearch

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def rows() -> Any:
    return np.random.rand(4, 8).astype("float32")


def get_batch() -> Any:
    return torch.from_numpy(rows()), torch.zeros(4)


def arrays() -> Any:
    return {"x": rows(), "step": 3}


def learning_rate() -> float:
    return 0.1


def generated() -> Any:
    while True:
        yield torch.rand(4, 8)


class Source:
    def __init__(self) -> None:
        self.data = torch.rand(40, 8)
        self.at = 0

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        self.at = (self.at + 4) % 40
        return self.data[self.at : self.at + 4]


def search(step: Callable[[Any, Any], None], steps: int = 3) -> FetchFound | None:
    """What is found in a few steps, each of which is given the model and how to call it."""
    model = torch.nn.Linear(8, 1)
    found = FetchSearch(Meter())

    def call(*args: Any) -> Any:
        found.took(model, args, {})
        return model(*args)

    found.begin()
    for _ in range(steps):
        step(model, call)
        found.step()
    return found.end()


def name(found: FetchFound | None) -> str:
    assert found is not None
    return found.code.co_qualname


def test_a_function_that_returns_tensors() -> None:
    found = search(lambda _, call: call(get_batch()[0]))
    assert name(found) == "get_batch"
    assert found is not None
    assert found.calls == 1
    assert found.asks[-1].filename == __file__


def test_arrays_that_become_tensors_later() -> None:
    def step(_: Any, call: Any) -> None:
        learning_rate()
        call(torch.tensor(arrays()["x"]).float().to("cpu"))

    assert name(search(step)) == "arrays"


def test_a_batch_that_is_fetched_in_the_step_before() -> None:
    kept = [get_batch()]

    def step(_: Any, call: Any) -> None:
        call(kept[0][0])
        kept[0] = get_batch()

    def twice(model: Any, call: Any) -> None:
        step(model, call)
        step(model, call)

    assert search(step, steps=1) is None  # nobody looked when it was fetched
    assert name(search(twice)) == "get_batch"


def test_the_method_of_an_iterator() -> None:
    source = Source()
    assert name(search(lambda _, call: call(next(source)))) == "Source.__next__"


def test_a_generator_is_told_as_such() -> None:
    source = generated()
    found = search(lambda _, call: call(next(source)))
    assert name(found) == "generated"
    assert found is not None
    assert found.is_generator


def test_how_often_a_step_calls_it() -> None:
    def step(_: Any, call: Any) -> None:
        for _ in range(3):
            call(get_batch()[0])

    found = search(step)
    assert found is not None
    assert found.calls == 3


def test_nothing_is_found_where_batches_are_made_in_the_loop() -> None:
    assert search(lambda _, call: call(torch.rand(4, 8))) is None


def test_a_comprehension_is_no_function() -> None:
    source = Source()
    assert search(lambda _, call: call(torch.stack([row * 2 for row in source.data[:4]]))) is None


def test_a_function_that_trains_is_no_fetch() -> None:
    def train(call: Any) -> Any:
        return call(torch.rand(4, 8))

    assert search(lambda _, call: call(train(call).expand(4, 8))) is None


def test_nothing_stays_of_it() -> None:
    before = torch.Tensor.to, torch.Tensor.__getitem__, torch.stack
    search(lambda _, call: call(get_batch()[0]))
    assert before == (torch.Tensor.to, torch.Tensor.__getitem__, torch.stack)
