"""ACC109, ACC112, ACC113 and ACC114, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from .marked import findings_in, fixed
from .programs import IMPORTS

HEAD = (
    IMPORTS
    + """
import argparse, random, functools, conf
import numpy as np
model = nn.Linear(8, 2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def take(batch): return batch[0]
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
SEED = 7
data = [1, 2, 3]
"""
)


def severities(source: str, folder: Path, code: str, others: dict[str, str] | None = None) -> list[str]:
    found = findings_in(HEAD + source, folder, others)[1]
    return [str(one.severity) for one in found if one.code == code]


def dataset(sample: str, init: str = "self.x = torch.zeros(64, 8)") -> str:
    return (
        f"class Points(Dataset):\n    def __init__(self):\n        {init}\n    def __len__(self): return 8\n"
        f"    def __getitem__(self, i):\n        {sample}\n"
    )


WITH_WORKERS = "loader = DataLoader(Points(), num_workers=2)\n"
SILENT_DEVICE = {
    "only asks": dataset("return self.x[i] if torch.cuda.is_available() else i"),
    "the host": dataset("return self.x[i].to('cpu')"),
    "a dtype": dataset("return self.x[i].to(torch.float16)"),
    "an unknown device": dataset("return self.x[i].to(conf.device)"),
    "not for samples": dataset("return self.x[i]") + "    def show(self): return self.x.cuda()\n",
}


@pytest.mark.parametrize("source", SILENT_DEVICE.values(), ids=SILENT_DEVICE.keys())
def test_silent_where_samples_stay_on_the_host(source: str, tmp_path: Path) -> None:
    assert severities(source + WITH_WORKERS, tmp_path, "ACC109") == []


def test_silent_about_data_that_is_on_the_device_without_workers(tmp_path: Path) -> None:
    source = dataset("return self.x[i]", "self.x = torch.zeros(64, 8).cuda()")
    assert severities(source + "loader = DataLoader(Points())\n", tmp_path, "ACC109") == []


LOUD_DEVICE = {
    "cuda": dataset("return self.x[i].cuda()"),
    "to": dataset("return self.x[i].to(device)"),
    "created there": dataset("return torch.zeros(8, device='cuda')"),
    "in a helper": dataset("return self.one(i)") + "    def one(self, i): return self.x[i].to('cuda:0')\n",
    "waits for it": dataset("torch.cuda.synchronize()\n        return self.x[i]"),
}


@pytest.mark.parametrize("source", LOUD_DEVICE.values(), ids=LOUD_DEVICE.keys())
def test_reports_samples_that_need_the_device(source: str, tmp_path: Path) -> None:
    assert severities(source + WITH_WORKERS, tmp_path, "ACC109") == ["error"]


def test_is_milder_where_nothing_is_forked(tmp_path: Path) -> None:
    source = dataset("return self.x[i].cuda()")
    assert severities(source + "loader = DataLoader(Points())\n", tmp_path, "ACC109") == ["warning"]
    spawned = "loader = DataLoader(Points(), num_workers=2, multiprocessing_context='spawn')\n"
    assert severities(source + spawned, tmp_path, "ACC109") == ["warning"]


def test_looks_into_the_collate_function(tmp_path: Path) -> None:
    source = "def collate(batch): return torch.stack(batch).to(device)\n"
    loader = "loader = DataLoader(data, collate_fn=collate, num_workers=2)\n"
    assert severities(source + loader, tmp_path, "ACC109") == ["error"]


SEEDED = """
def init(worker):
    {}
loader = DataLoader(data, num_workers=2, worker_init_fn=init{})
for epoch in range(9):
    for x in loader:
        model(x).sum().backward()
"""
SILENT_SEEDS = {
    "torch's own": ("np.random.seed(torch.initial_seed() % 2**32)", ""),
    "the worker's": ("np.random.seed(torch.utils.data.get_worker_info().seed % 2**32)", ""),
    "numpy's state": ("np.random.seed(np.random.get_state()[1][0] + worker)", ""),
    "something unknown": ("np.random.seed(conf.seed() + worker)", ""),
    "workers live on": ("np.random.seed(worker)", ", persistent_workers=True"),
    "no seed": ("print(worker)", ""),
}


@pytest.mark.parametrize(("body", "more"), SILENT_SEEDS.values(), ids=SILENT_SEEDS.keys())
def test_silent_where_epochs_differ(body: str, more: str, tmp_path: Path) -> None:
    assert severities(SEEDED.format(body, more), tmp_path, "ACC112") == []


def test_silent_about_seeds_where_nothing_trains_or_once(tmp_path: Path) -> None:
    source = SEEDED.format("np.random.seed(worker)", "")
    assert severities(source.replace("model(x).sum().backward()", "print(x)"), tmp_path, "ACC112") == []
    assert severities(source.replace("range(9)", "range(1)"), tmp_path, "ACC112") == []
    assert severities(source.replace("num_workers=2", "num_workers=0"), tmp_path, "ACC112") == []


@pytest.mark.parametrize(
    "seed",
    ["np.random.seed(0)", "np.random.seed(42 + worker)", "random.seed(SEED + worker)", "torch.manual_seed(args.seed)"],
)
def test_reports_seeds_that_repeat(seed: str, tmp_path: Path) -> None:
    assert severities(SEEDED.format(seed, ""), tmp_path, "ACC112") == ["warning"]


def test_seeds_from_torch_instead(tmp_path: Path) -> None:
    after = fixed(HEAD + SEEDED.format("np.random.seed(42 + worker)", ""), tmp_path, "ACC112")
    assert "    np.random.seed(torch.initial_seed() % 2**32)\n" in after


SILENT_PICKLES = {
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


@pytest.mark.parametrize("source", SILENT_PICKLES.values(), ids=SILENT_PICKLES.keys())
def test_silent_about_what_can_be_pickled_or_need_not_be(source: str, tmp_path: Path) -> None:
    assert severities(source + "\n", tmp_path, "ACC113") == []


LOUD_PICKLES = {
    "a lambda": "DataLoader(data, num_workers=2, collate_fn=lambda b: b[0])",
    "a local function": (
        "def main():\n    def collate(b): return b\n    DataLoader(data, num_workers=2, collate_fn=collate)\nmain()"
    ),
    "a local class": (
        "def main():\n    class Points(Dataset):\n        def __getitem__(self, i): return i\n"
        "    DataLoader(Points(), num_workers=2)\nmain()"
    ),
    "kept in the data set": dataset("return self.f(i)", "self.f = lambda i: i") + "DataLoader(Points(), num_workers=2)",
}


@pytest.mark.parametrize("source", LOUD_PICKLES.values(), ids=LOUD_PICKLES.keys())
def test_reports_what_cannot_be_pickled(source: str, tmp_path: Path) -> None:
    assert severities(source + "\n", tmp_path, "ACC113") == ["info"]
    start = "torch.multiprocessing.set_start_method('spawn')\n"
    assert severities(start + source + "\n", tmp_path, "ACC113") == ["error"]
    newest = {"pyproject.toml": "[project]\nname = 'x'\nrequires-python = '>=3.14'\n"}
    assert severities(source + "\n", tmp_path, "ACC113", newest) == ["error"]


SPAWNING = "loader = DataLoader(data, num_workers=2, multiprocessing_context='spawn')\n"
SILENT_GUARDS = {
    "forked": "loader = DataLoader(data, num_workers=2)\nfor x in loader:\n    print(x)\n",
    "guarded": SPAWNING + "if __name__ == '__main__':\n    for x in loader:\n        print(x)\n",
    "in a function": SPAWNING + "def main():\n    for x in loader:\n        print(x)\n",
    "no workers": "loader = DataLoader(data)\nfor x in loader:\n    print(x)\n",
}


@pytest.mark.parametrize("source", SILENT_GUARDS.values(), ids=SILENT_GUARDS.keys())
def test_silent_where_a_worker_does_not_run_the_loop(source: str, tmp_path: Path) -> None:
    assert severities(source, tmp_path, "ACC114") == []


def test_reports_a_loop_that_workers_would_run_again(tmp_path: Path) -> None:
    assert severities(SPAWNING + "for x in loader:\n    print(x)\n", tmp_path, "ACC114") == ["error"]
