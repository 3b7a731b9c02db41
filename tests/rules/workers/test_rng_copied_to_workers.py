"""ACC111 dataset-rng-copied-to-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check, check_pair
from ..programs import FILES
from .programs import HANDLES, held

TRAIN = """
model = nn.Linear(8, 2)
for x in loader:
    model(x).sum().backward()
"""
SILENT = {
    "made in the worker": held(
        "self.rng = None",
        "if self.rng is None:\n            self.rng = np.random.default_rng()\n        return self.rng.random()",
    ),
    "for each index": held("self.seed = 1", "return np.random.default_rng((self.seed, i)).random()"),
    "seeded again": held("self.rng = random.Random(0)", "self.rng.seed(i)\n        return self.rng.random()"),
    "global": held("np.random.seed(0)", "return np.random.random()"),
    "not drawn from for samples": held(
        "self.rng = random.Random(0)\n        self.x = self.rng.sample(p, 2)", "return self.x[i]"
    ),
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_about_generators_that_workers_have_for_themselves(source: str, tmp_path: Path) -> None:
    check(HANDLES + source + "loader = DataLoader(Held('a'), num_workers=2)\n" + TRAIN, tmp_path)


NOISY = held("self.rng = np.random.default_rng(0)", "return self.rng.random()")


@pytest.mark.parametrize(
    ("arguments", "use"),
    [("num_workers=0", TRAIN), ("num_workers=2, worker_init_fn=conf.seed", TRAIN), ("num_workers=2", "")],
    ids=["no workers", "seeded by the loader", "no training"],
)
def test_silent_where_copies_do_no_harm(arguments: str, use: str, tmp_path: Path) -> None:
    check(HANDLES + NOISY + f"loader = DataLoader(Held('a'), {arguments})\n" + use, tmp_path)


LOADED = "loader = DataLoader(Held('a'), num_workers=2)\n"
PAIR_TRAIN = "for x in loader:\n    model(x).sum().backward()\n"
PAIR_NOISY = held("self.r = np.random.default_rng(0)", "return self.r.random()")
PAIRS = {
    "seeded by worker_init_fn": Pair(
        FILES
        + PAIR_NOISY
        + "def init(w): torch.utils.data.get_worker_info().dataset.r = np.random.default_rng(w)\nloader = DataLoader(Held('a'), num_workers=2, worker_init_fn=init)\n"
        + PAIR_TRAIN,
        ", worker_init_fn=init",
    ),
    "made in the worker": Pair(
        FILES
        + held(
            "self.r = None",
            "if self.r is None:\n            self.r = np.random.default_rng(torch.utils.data.get_worker_info().seed)\n        return self.r.random()",
        )
        + LOADED
        + PAIR_TRAIN,
        "self.r = None\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        if self.r is None:\n            self.r = np.random.default_rng(torch.utils.data.get_worker_info().seed)\n",
        "self.r = np.random.default_rng(0)\n    def __len__(self): return 8\n    def __getitem__(self, i):\n",
    ),
    "for each index": Pair(
        FILES
        + held("self.r = np.random.default_rng(0)", "r = np.random.default_rng((1, i))\n        return r.random()")
        + LOADED
        + PAIR_TRAIN,
        "r = np.random.default_rng((1, i))",
        "r = self.r",
    ),
    "seeded for each index": Pair(
        FILES
        + held("self.r = random.Random(0)", "self.r.seed(i)\n        return self.r.random()")
        + LOADED
        + PAIR_TRAIN,
        "self.r.seed(i)",
        "pass",
    ),
    "seeded for each index, of torch": Pair(
        FILES
        + held("self.r = torch.Generator()", "self.r.manual_seed(i)\n        return torch.rand(1, generator=self.r)")
        + LOADED
        + PAIR_TRAIN,
        "self.r.manual_seed(i)",
        "pass",
    ),
    "evaluation": Pair(
        FILES + PAIR_NOISY + LOADED + "for x in loader:\n    model(x)\n",
        "    model(x)",
        "    model(x).sum().backward()",
    ),
    "numpy's own": Pair(
        FILES + held("self.r = np.random\n        np.random.seed(0)", "return self.r.random()") + LOADED + PAIR_TRAIN,
        "self.r = np.random\n",
        "self.r = np.random.RandomState()\n",
    ),
    "random's own": Pair(
        FILES + held("self.r = random", "return self.r.random()") + LOADED + PAIR_TRAIN,
        "self.r = random\n",
        "self.r = random.Random(1)\n",
    ),
    "torch's own": Pair(
        FILES + held("torch.manual_seed(0)", "return torch.rand(1)") + LOADED + PAIR_TRAIN,
        "torch.manual_seed(0)\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        return torch.rand(1)",
        "self.r = torch.Generator()\n    def __len__(self): return 8\n    def __getitem__(self, i):\n        return torch.rand(1, generator=self.r)",
    ),
    "no workers": Pair(FILES + PAIR_NOISY + "loader = DataLoader(Held('a'), num_workers=0)\n" + PAIR_TRAIN, "=0", "=1"),
    "a setting": Pair(
        FILES + PAIR_NOISY + "loader = DataLoader(Held('a'), num_workers=conf.n)\n" + PAIR_TRAIN, "conf.n", "1"
    ),
    "dropped when pickled": Pair(
        FILES + PAIR_NOISY.rstrip() + "\n    def __getstate__(self): return {}\n" + LOADED + PAIR_TRAIN,
        "__getstate__",
        "state",
    ),
    "not drawn from for samples": Pair(
        FILES
        + held("self.r = random.Random(0)\n        self.x = self.r.sample(p, 2)", "return self.x[i]")
        + LOADED
        + PAIR_TRAIN,
        "return self.x[i]",
        "return self.r.random()",
    ),
    "replaced from outside": Pair(
        FILES
        + PAIR_NOISY
        + "d = Held('a')\nloader = DataLoader(d, num_workers=2)\nfor e in range(3):\n    d.r = np.random.default_rng(e)\n    for x in loader:\n        model(x).sum().backward()\n",
        "d.r = np.random.default_rng(e)",
        "pass",
    ),
    "made again in every epoch": Pair(
        FILES + PAIR_NOISY + "    def set_epoch(self, e): self.r = np.random.default_rng(e)\n" + LOADED + PAIR_TRAIN,
        "self.r = np.random.default_rng(e)",
        "pass",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC111", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "made", ["np.random.default_rng(0)", "np.random.RandomState(1)", "random.Random(2)", "torch.Generator()"]
)
def test_reports_generators_that_are_copied(made: str, tmp_path: Path) -> None:
    source = held(f"self.rng = {made}", "return self.rng.random()")
    loud = "loader = DataLoader(Held('a'), num_workers=2)  # -> ACC111 warning none\n"
    check(HANDLES + source + loud + TRAIN, tmp_path)
