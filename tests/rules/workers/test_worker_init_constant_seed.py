"""ACC112 worker-init-constant-seed, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, fixed, severities
from ..programs import FILES
from .programs import WORKERS

SEEDED = """
def init(worker):
    {}
loader = DataLoader(data, num_workers=2, worker_init_fn=init{})
for epoch in range(9):
    for x in loader:
        model(x).sum().backward()
"""
SILENT = {
    "torch's own": ("np.random.seed(torch.initial_seed() % 2**32)", ""),
    "the worker's": ("np.random.seed(torch.utils.data.get_worker_info().seed % 2**32)", ""),
    "numpy's state": ("np.random.seed(np.random.get_state()[1][0] + worker)", ""),
    "something unknown": ("np.random.seed(conf.seed() + worker)", ""),
    "workers live on": ("np.random.seed(worker)", ", persistent_workers=True"),
    "no seed": ("print(worker)", ""),
}


@pytest.mark.parametrize(("body", "more"), SILENT.values(), ids=SILENT.keys())
def test_silent_where_epochs_differ(body: str, more: str, tmp_path: Path) -> None:
    check_one("ACC112", WORKERS + SEEDED.format(body, more), tmp_path)


def test_silent_about_seeds_where_nothing_trains_or_once(tmp_path: Path) -> None:
    source = SEEDED.format("np.random.seed(worker)", "")
    check_one("ACC112", WORKERS + source.replace("model(x).sum().backward()", "print(x)"), tmp_path)
    check_one("ACC112", WORKERS + source.replace("range(9)", "range(1)"), tmp_path)
    check_one("ACC112", WORKERS + source.replace("num_workers=2", "num_workers=0"), tmp_path)


HEAD = FILES + "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
PAIR_EPOCHS = "for e in range(9):\n    for x in loader:\n        model(x).sum().backward()\n"
INIT = "def init(worker):\n    {}\n"
PAIR_SEEDED = INIT + "loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n" + PAIR_EPOCHS
WORKER = PAIR_SEEDED.format("np.random.seed(worker)")
SEEDS = [
    "torch.initial_seed() % 2**32",
    "torch.utils.data.get_worker_info().seed % 2**32",
    "np.random.get_state()[1][0] + worker",
    "conf.seed() + worker",
    "torch.initial_seed() % 2**32 + worker",
    "random.randint(0, 9)",
]
PAIRS = {
    **{one: Pair(HEAD + PAIR_SEEDED.format(f"np.random.seed({one})"), one, "worker") for one in SEEDS},
    "a name": Pair(
        HEAD + PAIR_SEEDED.format("seed = torch.initial_seed() % 2**32\n    np.random.seed(seed)"),
        "np.random.seed(seed)",
        "np.random.seed(worker)",
    ),
    "the epoch of the script": Pair(
        HEAD
        + "epoch = 0\n"
        + PAIR_SEEDED.format("np.random.seed(epoch * 100 + worker)").replace("for e in", "for epoch in"),
        "epoch * 100 + worker",
        "worker",
    ),
    "the epoch, assigned": Pair(
        HEAD
        + "epoch = 0\n"
        + PAIR_SEEDED.format("np.random.seed(epoch + worker)").replace("range(9):\n", "range(9):\n    epoch = e\n"),
        "epoch + worker",
        "worker",
    ),
    "the epoch of a function": Pair(
        HEAD
        + "epoch = 0\ndef init(worker):\n    np.random.seed(epoch + worker)\ndef main():\n    global epoch\n    loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n    for epoch in range(9):\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + worker",
        "worker",
    ),
    "an epoch that is counted": Pair(
        HEAD
        + "epoch = 0\ndef init(worker):\n    np.random.seed(epoch + worker)\ndef main():\n    global epoch\n    loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n    for e in range(9):\n        epoch += 1\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + worker",
        "worker",
    ),
    "an epoch that is closed over": Pair(
        HEAD
        + "def main():\n    for epoch in range(9):\n        def init(worker): np.random.seed(epoch + worker)\n        loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + worker",
        "worker",
    ),
    "an epoch in a lambda": Pair(
        HEAD
        + "def main():\n    for epoch in range(9):\n        loader = DataLoader(data, num_workers=2, worker_init_fn=lambda w: np.random.seed(epoch + w))\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + w",
        "w",
    ),
    "an epoch that a partial gives": Pair(
        HEAD
        + "def init(epoch, worker): np.random.seed(epoch)\nfor e in range(9):\n    loader = DataLoader(data, num_workers=2, worker_init_fn=functools.partial(init, e))\n    for x in loader:\n        model(x).sum().backward()\n",
        "(epoch)",
        "(4)",
    ),
    "an epoch by default": Pair(
        HEAD
        + "for e in range(9):\n    loader = DataLoader(data, num_workers=2, worker_init_fn=lambda w, e=e: np.random.seed(e + w))\n    for x in loader:\n        model(x).sum().backward()\n",
        "e + w)",
        "w)",
    ),
    "an epoch of an object": Pair(
        HEAD
        + "class Seeds:\n    epoch = 0\n    def init(self, worker): np.random.seed(self.epoch + 3)\nseeds = Seeds()\n"
        + PAIR_SEEDED.format("pass").replace("=init", "=seeds.init"),
        "self.epoch + 3",
        "3",
    ),
    "workers that live on": Pair(
        HEAD + WORKER.replace("=init", "=init, persistent_workers=True"), ", persistent_workers=True"
    ),
    "perhaps live on": Pair(
        HEAD + WORKER.replace("=init", "=init, persistent_workers=conf.p"), ", persistent_workers=conf.p"
    ),
    "no training": Pair(
        HEAD + WORKER.replace("model(x).sum().backward()", "model(x)"),
        "        model(x)",
        "        model(x).sum().backward()",
    ),
    "one epoch": Pair(HEAD + WORKER.replace("(9)", "(1)"), "range(1)", "range(9)"),
    "no workers": Pair(HEAD + WORKER.replace("=2", "=0"), "num_workers=0", "num_workers=2"),
    "no seed": Pair(HEAD + PAIR_SEEDED.format("print(worker)"), "print(worker)", "random.seed(worker)"),
    "a seed elsewhere": Pair(
        HEAD + PAIR_SEEDED.format("pass") + "np.random.seed(0)\n", "    pass", "    np.random.seed(0)"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC112", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "seed",
    ["np.random.seed(0)", "np.random.seed(42 + worker)", "random.seed(SEED + worker)", "torch.manual_seed(args.seed)"],
)
def test_reports_seeds_that_repeat(seed: str, tmp_path: Path) -> None:
    assert severities("ACC112", WORKERS + SEEDED.format(seed, ""), tmp_path) == ["warning"]


def test_seeds_from_torch_instead(tmp_path: Path) -> None:
    after = fixed("ACC112", WORKERS + SEEDED.format("np.random.seed(42 + worker)", ""), tmp_path)
    assert "    np.random.seed(torch.initial_seed() % 2**32)\n" in after


def test_all_seeds_of_a_function_change_together_and_torch_needs_none(tmp_path: Path) -> None:
    three = "torch.manual_seed(worker)\n    np.random.seed(worker)\n    import random\n    random.seed(worker)"
    source = WORKERS + SEEDED.format(three, "")
    (found,) = findings_of("ACC112", source, tmp_path)
    assert found.message.startswith("`np.random.seed(worker)` seeds")
    assert len(found.related) == 3
    assert (
        "def init(worker):\n    np.random.seed(torch.initial_seed() % 2**32)\n    import random\n"
        "    random.seed(torch.initial_seed() % 2**32)\n"
    ) in fixed("ACC112", source, tmp_path)
    alone = WORKERS + SEEDED.format("torch.manual_seed(worker)", "")
    assert "    torch.manual_seed(torch.initial_seed() % 2**32)\n" in fixed("ACC112", alone, tmp_path)


ASKED = """
import random
class Crops(Dataset):
    def __init__(self):
        self.seeded = False
    def __len__(self):
        return 64
    def __getitem__(self, index):
        if not self.seeded:
            info = torch.utils.data.get_worker_info()
            if info is not None:
                {}
                self.seeded = True
        return torch.full((8,), random.random())
data = Crops()
"""


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        ("random.seed(info.id)", 1),
        ("random.seed(7 + torch.utils.data.get_worker_info().id)", 1),
        ("random.seed(info.seed)", 0),
        ("random.seed(info.id + torch.initial_seed())", 0),
        ("random.seed(0)", 0),
    ],
)
def test_reports_a_data_set_that_seeds_by_the_number_of_its_worker(seed: str, count: int, tmp_path: Path) -> None:
    loop = SEEDED.replace(", worker_init_fn=init{}", "").replace("def init(worker):\n    {}\n", "")
    assert len(findings_of("ACC112", WORKERS + ASKED.format(seed) + loop, tmp_path)) == count
