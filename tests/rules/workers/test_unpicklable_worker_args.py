"""ACC113 unpicklable-worker-args, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import FILES
from .programs import WORKERS, points_data

SILENT = {
    "no workers": "DataLoader(data, collate_fn=lambda b: b[0])",
    "workers not known": "DataLoader(data, num_workers=conf.n, collate_fn=lambda b: b[0])",
    "forked by choice": "DataLoader(data, num_workers=2, collate_fn=lambda b: b[0], multiprocessing_context='fork')",
    "a function of the module": "DataLoader(data, num_workers=2, collate_fn=take)",
    "a part of one": "DataLoader(data, num_workers=2, collate_fn=functools.partial(take))",
    "a bound method": (
        "class Collator:\n    def all(self, batch): return batch\nDataLoader(data, num_workers=2, collate_fn=Collator().all)"
    ),
    "a generator of torch": "DataLoader(data, num_workers=2, generator=torch.Generator())",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_what_can_be_pickled_or_need_not_be(source: str, tmp_path: Path) -> None:
    check_one("ACC113", WORKERS + source + "\n", tmp_path)


HEAD = FILES + "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
LAMBDA = "DataLoader(data, num_workers=2, collate_fn=lambda b: b[0])"
PAIRS = {
    "no workers": Pair(HEAD + LAMBDA.replace("2", "0"), "=0", "=2"),
    "workers not given": Pair(HEAD + LAMBDA.replace("num_workers=2, ", ""), "data, ", "data, num_workers=2, "),
    "a setting": Pair(HEAD + LAMBDA.replace("2", "conf.n"), "conf.n", "2"),
    "forked": Pair(HEAD + LAMBDA[:-1] + ", multiprocessing_context='fork')", ", multiprocessing_context='fork'"),
    "a context that forks": Pair(
        HEAD + "import multiprocessing as mp\n" + LAMBDA[:-1] + ", multiprocessing_context=mp.get_context('fork'))",
        ", multiprocessing_context=mp.get_context('fork')",
    ),
    "a program that forks": Pair(
        HEAD + "torch.multiprocessing.set_start_method('fork')\n" + LAMBDA,
        "torch.multiprocessing.set_start_method('fork')\n",
    ),
    "a function of the module": Pair(HEAD + LAMBDA.replace("lambda b: b[0]", "take"), "take)", "lambda b: b[0])"),
    "a partial of one": Pair(
        HEAD + LAMBDA.replace("lambda b: b[0]", "functools.partial(take)"), "partial(take)", "partial(lambda b: b[0])"
    ),
    "a bound method": Pair(
        HEAD + "class C:\n    def all(self, b): return b\n" + LAMBDA.replace("lambda b: b[0]", "C().all"),
        "C().all",
        "lambda b: b[0]",
    ),
    "an object": Pair(
        HEAD + "class C:\n    def __call__(self, b): return b\n" + LAMBDA.replace("lambda b: b[0]", "C()"),
        "C()",
        "lambda b: b[0]",
    ),
    "a generator of torch": Pair(
        HEAD + "class G(Files):\n    def __init__(self): self.g = torch.Generator()\nDataLoader(G(), num_workers=2)",
        "torch.Generator()",
        "threading.Lock()",
    ),
    "a generator for the loader": Pair(
        HEAD + "DataLoader(data, num_workers=2, generator=torch.Generator())",
        "generator=torch.Generator()",
        "collate_fn=lambda b: b",
    ),
    "a class of the module": Pair(
        HEAD + "class G(Files): pass\nDataLoader(G(), num_workers=2)",
        "class G(Files): pass\nDataLoader(G(), num_workers=2)",
        "def main():\n    class G(Files): pass\n    DataLoader(G(), num_workers=2)\nmain()",
    ),
    "a function that is used in another": Pair(
        HEAD + "def c(b): return b\ndef main():\n    DataLoader(data, num_workers=2, collate_fn=c)\nmain()",
        "def c(b): return b\ndef main():\n",
        "def main():\n    def c(b): return b\n",
    ),
    "a worker_init_fn of the module": Pair(
        HEAD + "def c(w): pass\nDataLoader(data, num_workers=2, worker_init_fn=c)", "=c)", "=lambda w: None)"
    ),
    "a function of the module inside": Pair(
        HEAD + "class G(Files):\n    def __init__(self): self.g = take\nDataLoader(G(), num_workers=2)",
        "self.g = take",
        "self.g = lambda b: b",
    ),
    "a class that pickles itself": Pair(
        HEAD
        + "class G(Files):\n    def __init__(self): self.g = lambda b: b\n    def __getstate__(self): return {}\nDataLoader(G(), num_workers=2)",
        "__getstate__",
        "state",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC113", PAIRS[case], tmp_path)


REPORTED = {
    "a lambda": "DataLoader(data, num_workers=2, collate_fn=lambda b: b[0])",
    "a local function": (
        "def main():\n    def collate(b): return b\n    DataLoader(data, num_workers=2, collate_fn=collate)\nmain()"
    ),
    "a local class": (
        "def main():\n    class Points(Dataset):\n        def __getitem__(self, i): return i\n"
        "    DataLoader(Points(), num_workers=2)\nmain()"
    ),
    "kept in the data set": points_data("return self.f(i)", "self.f = lambda i: i")
    + "DataLoader(Points(), num_workers=2)",
}


@pytest.mark.parametrize("source", REPORTED.values(), ids=REPORTED.keys())
def test_reports_what_cannot_be_pickled(source: str, tmp_path: Path) -> None:
    assert severities("ACC113", WORKERS + source + "\n", tmp_path) == ["info"]
    start = "torch.multiprocessing.set_start_method('spawn')\n"
    assert severities("ACC113", WORKERS + start + source + "\n", tmp_path) == ["error"]
    newest = {"pyproject.toml": "[project]\nname = 'x'\nrequires-python = '>=3.14'\n"}
    assert severities("ACC113", WORKERS + source + "\n", tmp_path, newest) == ["error"]
