"""ACC121 dataset-python-objects-cow, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, severities
from ..programs import FILES, NUMBERS


def listed(body: str, method: str = "return open(self.files[i]).read()") -> str:
    """A data set that keeps files."""
    return (
        f"import glob\nclass Texts(Dataset):\n    def __init__(self, root):\n        {body}\n"
        f"    def __getitem__(self, i):\n        {method}\n"
    )


LOADED = "DataLoader(Texts('a'), num_workers=2)"
SILENT = [
    listed("self.files = sorted(glob.glob(root))") + "DataLoader(Texts('a'))",
    listed("self.files = sorted(glob.glob(root))") + "DataLoader(Texts('a'), num_workers=conf.n)",
    listed("self.files = sorted(glob.glob(root))") + LOADED[:-1] + ", multiprocessing_context='spawn')",
    listed("self.files = sorted(glob.glob(root))", "return i") + LOADED,
    listed("self.files = np.array(glob.glob(root))") + LOADED,
    listed("self.files = glob.glob(root)\n        self.files = np.array(self.files)") + LOADED,
    listed("self.files = conf.files(root)") + LOADED,
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC121", NUMBERS + source, tmp_path)


def listed_pair(body: str, method: str = "return open(self.files[i]).read()") -> str:
    return f"class Texts(Dataset):\n    def __init__(self, root):\n        {body}\n    def __getitem__(self, i):\n        {method}\n"


PAIRS = {
    "no workers": Pair(
        FILES + listed_pair("self.files = sorted(glob.glob(root))") + "DataLoader(Texts('a'))",
        "'a')",
        "'a'), num_workers=2",
    ),
    "spawned": Pair(
        FILES
        + listed_pair("self.files = sorted(glob.glob(root))")
        + LOADED[:-1]
        + ", multiprocessing_context='spawn')",
        ", multiprocessing_context='spawn'",
    ),
    "an array": Pair(
        FILES + listed_pair("self.files = np.array(glob.glob(root))") + LOADED,
        "np.array(glob.glob(root))",
        "glob.glob(root)",
    ),
    "arrow": Pair(
        FILES + "import pyarrow as pa\n" + listed_pair("self.files = pa.array(glob.glob(root))") + LOADED,
        "pa.array(glob.glob(root))",
        "glob.glob(root)",
    ),
    "pandas": Pair(
        FILES + "import pandas as pd\n" + listed_pair("self.files = pd.read_csv(root)") + LOADED,
        "pd.read_csv(root)",
        "glob.glob(root)",
    ),
    "replaced by an array": Pair(
        FILES + listed_pair("self.files = glob.glob(root)\n        self.files = np.array(self.files)") + LOADED,
        "\n        self.files = np.array(self.files)",
    ),
    "not read": Pair(
        FILES + listed_pair("self.files = glob.glob(root)", "return i") + LOADED, "return i", "return self.files[i]"
    ),
    "unknown": Pair(
        FILES + listed_pair("self.files = conf.files(root)") + LOADED, "conf.files(root)", "glob.glob(root)"
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC121", PAIRS[case], tmp_path)


REPORTED = [
    listed("self.files = sorted(glob.glob(root))") + LOADED,
    listed("self.files = [one for one in glob.glob(root)]") + LOADED,
    listed("self.files = [one for one in glob.glob(root)]")
    + "DataLoader(torch.utils.data.Subset(Texts('a'), [1]), num_workers=2)",
]


@pytest.mark.parametrize("source", REPORTED)
def test_reported(source: str, tmp_path: Path) -> None:
    assert severities("ACC121", NUMBERS + source, tmp_path) == ["info"]
