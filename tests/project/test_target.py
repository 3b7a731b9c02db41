"""What a project says that it runs on, and how that decides what rules say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.project.target import PLATFORMS, Version, Versions, platforms, versions

from ..conftest import Run


class TestVersions:
    @pytest.mark.parametrize(
        ("text", "oldest", "below"),
        [
            ("2.4", (2, 4), None),
            (" 2.4.1 ", (2, 4), None),
            (">=2.4", (2, 4), None),
            (">2.0", (2, 0), None),
            (">=1.8,<2", (1, 8), (2, 0)),
            (">=1.8, <=2.1", (1, 8), (2, 2)),
            ("<2.1.1", None, (2, 2)),
            ("<2.1.0", None, (2, 1)),
            ("~=2.1", (2, 1), (3, 0)),
            ("~=2.1.3", (2, 1), (2, 2)),
            ("==2.1.0", (2, 1), (2, 2)),
            ("==2.1.*", (2, 1), (2, 2)),
            ("==2.*", (2, 0), (3, 0)),
            ("==2.1.0+cu118", (2, 1), (2, 2)),
            (">=2.0,!=2.1.0", (2, 0), None),
            (">=2,>=2.3,<4,<3", (2, 3), (3, 0)),
        ],
    )
    def test_what_a_person_writes(self, text: str, oldest: Version | None, below: Version | None) -> None:
        assert versions(text) == Versions(oldest, below)

    @pytest.mark.parametrize("text", ["", "two", "2", "!=2.1", "=>2", "2.4,", ">=2 <3", "latest"])
    def test_what_is_none(self, text: str) -> None:
        with pytest.raises(ValueError, match="is neither a version such as"):
            versions(text)

    def test_a_range_without_a_version_in_it(self) -> None:
        with pytest.raises(ValueError, match="'>=3,<2' allows no version"):
            versions(">=3,<2")

    def test_a_question_that_nobody_answers_has_no_answer(self) -> None:
        assert Versions().all_from((2, 0)) is None
        assert Versions(below=(3, 0)).all_from((2, 0)) is None
        assert Versions(below=(2, 0)).all_from((2, 0)) is False
        assert Versions(oldest=(1, 13)).all_from((2, 0)) is False
        assert Versions(oldest=(2, 0)).all_from((2, 0)) is True
        assert Versions(oldest=(3, 9)).reach((3, 14)) is None
        assert Versions(oldest=(3, 9), below=(4, 0)).reach((3, 14)) is None
        assert Versions(oldest=(3, 9), below=(3, 14)).reach((3, 14)) is False
        assert Versions(oldest=(3, 9), newest=(3, 14)).reach((3, 14)) is True
        assert Versions(oldest=(3, 14)).reach((3, 14)) is True

    def test_platforms(self) -> None:
        assert platforms([]) == frozenset()
        assert platforms(["linux", "all"]) == set(PLATFORMS)
        with pytest.raises(ValueError, match="'darwin' is none of linux, macos, windows, all"):
            platforms(["darwin"])


HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

model = nn.Linear(8, 2).cuda()
"""
EPOCHS = """
def main():
    for epoch in range(9):
        for x in loader:
            model(x.cuda(non_blocking=True)).sum().backward()
"""
WORKERS = (
    HEAD
    + """\
class Rows(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.full((8,), index / 2).square()

loader = DataLoader(Rows(), num_workers=2, pin_memory=True)
"""
)
PHOTOS = (
    HEAD
    + """\
import glob
import numpy
from PIL import Image

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        return torch.from_numpy(numpy.asarray(Image.open(self.paths[index]))).float()

loader = DataLoader(Photos(glob.glob("*.png")), batch_size=2)
for x in loader:
    model(x.cuda(non_blocking=True)).sum().backward()
"""
)
PYTHON_314 = ("--python-version", "3.14")
LINUX_313 = ("--platform", "linux", "--python-version", ">=3.9,<3.14")

GATES: dict[str, tuple[str, str, list[tuple[str, ...]], list[tuple[str, ...]]]] = {
    "workers that could not start": (
        "ACC102",
        PHOTOS,
        [("--platform", "windows"), PYTHON_314],
        [(), LINUX_313, ("--platform", "linux")],
    ),
    "workers that share pages": (
        "ACC121",
        PHOTOS.replace("batch_size=2", "num_workers=2").replace("= paths", "= [path for path in paths]"),
        [("--platform", "windows"), PYTHON_314],
        [(), ("--platform", "all")],
    ),
    "main guard": (
        "ACC114",
        WORKERS + "for x in loader:\n    print(x)\n",
        [(), LINUX_313, ("--python-version", "3.9")],
        [PYTHON_314, ("--platform", "macos"), ("--python-version", "3.9", "--platform", "windows")],
    ),
    "pickles": (
        "ACC113",
        HEAD + "loader = DataLoader([1, 2], num_workers=2, collate_fn=lambda batch: batch)\n",
        [LINUX_313],
        [PYTHON_314, ("--platform", "windows")],
    ),
    "the pin device": (
        "ACC118",
        HEAD + "loader = DataLoader([1, 2], pin_memory=True, pin_memory_device='cuda')\n",
        [("--torch-version", "~=2.12.0"), ("--torch-version", "<2.13")],
        [(), ("--torch-version", "2.12"), ("--torch-version", "2.13")],
    ),
    "names of amp": (
        "ACC402",
        HEAD + "scaler = torch.cuda.amp.GradScaler()\n",
        [("--torch-version", "==2.2"), ("--torch-version", "<2.3")],
        [(), ("--torch-version", "1.0"), ("--torch-version", "2.3"), ("--torch-version", "<3")],
    ),
    "the new tf32": (
        "ACC409",
        HEAD + "torch.backends.cuda.matmul.fp32_precision = 'tf32'\n",
        [(), ("--torch-version", "2.9")],
        [("--torch-version", "2.8")],
    ),
    "prefetch": (
        "ACC104",
        HEAD + "loader = DataLoader([1, 2], prefetch_factor=2)\n",
        [("--torch-version", "1.13"), ("--torch-version", "<2")],
        [(), ("--torch-version", "2.0")],
    ),
    "gradients": (
        "ACC411",
        HEAD + "optimizer = torch.optim.SGD(model.parameters())\noptimizer.zero_grad(set_to_none=False)\n",
        [("--torch-version", "==1.13")],
        [(), ("--torch-version", "1.13"), ("--torch-version", "2.0")],
    ),
    "mps": (
        "ACC203",
        HEAD
        + "device = torch.device('mps' if torch.backends.mps.is_available() else 'cpu')\n"
        + "x = torch.zeros(8).to(device, non_blocking=True)\n",
        [("--platform", "linux"), ("--platform", "linux", "--platform", "windows")],
        [(), ("--platform", "macos"), ("--platform", "all")],
    ),
    "pinning": (
        "ACC101",
        HEAD + "loader = DataLoader(torch.zeros(64, 8), num_workers=2)\nfor x in loader:\n    model(x.cuda())\n",
        [("--platform", "macos")],
        [(), ("--platform", "linux"), ("--platform", "all")],
    ),
    "pinning by the Trainer": (
        "ACC602",
        "from transformers import TrainingArguments\nargs = TrainingArguments('o', dataloader_pin_memory=False)\n",
        [("--platform", "macos")],
        [(), ("--platform", "linux")],
    ),
    "copies of the Trainer": (
        "ACC606",
        "from transformers import TrainingArguments\nargs = TrainingArguments('o')\n",
        [("--platform", "macos")],
        [(), ("--platform", "linux")],
    ),
    "pinning by timm": (
        "ACC612",
        HEAD + "from timm.data import create_loader\nloader = create_loader([1, 2], (3, 8, 8), 2)\n",
        [("--platform", "macos")],
        [(), ("--platform", "linux")],
    ),
    "many kernels": (
        "ACC416",
        HEAD + "optimizer = torch.optim.SGD(model.parameters(), foreach=False)\n",
        [("--torch-version", "==1.13")],
        [(), ("--torch-version", "1.13"), ("--torch-version", "2.0")],
    ),
    "copies": (
        "ACC201",
        HEAD + "loader = DataLoader(torch.zeros(64, 8), pin_memory=True)\nfor x in loader:\n    model(x.cuda())\n",
        [("--platform", "macos")],
        [(), ("--platform", "linux")],
    ),
}


@pytest.mark.parametrize(("code", "source", "silent", "speaking"), GATES.values(), ids=GATES.keys())
def test_a_target_decides(
    code: str,
    source: str,
    silent: list[tuple[str, ...]],
    speaking: list[tuple[str, ...]],
    run: Run,
    project: Path,
) -> None:
    (project / "train.py").write_text(source)
    for options, expected in [*((one, False) for one in silent), *((one, True) for one in speaking)]:
        done = run("lint", "--no-cache", "--select", code, "--output-format", "concise", *options)
        assert (f": {code} " in done.out) == expected, (options, done.out, done.err)


CUDA_IN_WORKERS = (
    HEAD
    + """\
class Points(Dataset):
    def __getitem__(self, index):
        return torch.zeros(8).cuda()

loader = DataLoader(Points(), num_workers=2)
"""
)


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        ((), "info"),
        (LINUX_313, "info"),
        (("--platform", "linux"), "info"),
        (PYTHON_314, "warning"),
        (("--platform", "windows"), "warning"),
        (("--platform", "all"), "warning"),
        (("--platform", "linux,macos"), "warning"),
    ],
)
def test_what_a_start_of_workers_costs(options: tuple[str, ...], severity: str, run: Run, project: Path) -> None:
    (project / "train.py").write_text(WORKERS + EPOCHS)
    (found,) = json.loads(run("lint", "--select", "ACC106", "--output-format", "json", *options).out)
    assert found["severity"] == severity


@pytest.mark.parametrize(
    ("options", "severity", "words"),
    [
        ((), "error", "forked workers cannot use CUDA"),
        (("--platform", "linux,windows"), "error", "forked workers cannot use CUDA"),
        (PYTHON_314, "warning", "a CUDA context of its own"),
        (("--platform", "windows"), "warning", "a CUDA context of its own"),
    ],
)
def test_cuda_in_workers(options: tuple[str, ...], severity: str, words: str, run: Run, project: Path) -> None:
    (project / "train.py").write_text(CUDA_IN_WORKERS)
    (found,) = json.loads(run("lint", "--select", "ACC109", "--output-format", "json", *options).out)
    assert found["severity"] == severity
    assert words in found["message"]


def test_unknown_workers_are_distinguished_from_known_ones(run: Run, project: Path) -> None:
    (project / "train.py").write_text(GATES["pickles"][1])
    assert ": ACC113 " in run("lint", "--output-format", "concise").out
    assert run("lint").status == 0, "info: nobody says where it runs"
    assert run("lint", *PYTHON_314).status == 1


def test_the_project_says_it_and_the_configuration_overrules(run: Run, project: Path) -> None:
    (project / "train.py").write_text(GATES["main guard"][1])
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\nrequires-python = '>=3.14'\n")
    assert run("lint").status == 1
    with (project / "pyproject.toml").open("a") as stream:
        stream.write("[tool.accel-advisor]\npython-version = '3.11'\n")
    assert run("lint").status == 0
    with (project / "pyproject.toml").open("a") as stream:
        stream.write("platform = ['linux', 'windows']\n")
    assert run("lint").status == 1
    assert run("lint", "--platform", "linux").status == 0


def test_the_settings_show_what_holds(run: Run, project: Path) -> None:
    (project / "requirements.txt").write_text("torch>=2.1,<3\n")
    (project / "pyproject.toml").write_text("[tool.accel-advisor]\nplatform = 'linux'\n")
    shown = json.loads(run("lint", "--show-settings", "--python-version", "3.12").out)
    assert (shown["torch-version"], shown["python-version"], shown["platform"]) == (">=2.1,<3.0", ">=3.12", ["linux"])


@pytest.mark.parametrize(
    ("file", "text", "fix"),
    [
        ("requirements.txt", "torch>=1.0\n", "unsafe"),
        ("README.md", "Install PyTorch 0.4\n", "unsafe"),
        ("README.md", "Tested with PyTorch 1.7.1\n", "unsafe"),
        ("requirements.txt", "torch>=2.3\n", "safe"),
        ("README.md", "PyTorch 2.4 is required\n", "safe"),
        ("requirements.txt", "torch\n", "unsafe"),
        ("docs/GETTING_STARTED.md", "- PyTorch 1.11+\n", "unsafe"),
        ("docs/GETTING_STARTED.md", "- PyTorch 2.4+\n", "safe"),
        ("docs/THEORY.md", "- PyTorch 2.4+\n", "unsafe"),
        ("requirements.txt", "torch>=1.0,<2\n", None),
        ("requirements.txt", "torch~=1.4\n", None),
        ("environment.yml", "dependencies:\n  - pytorch=1.4.0\n", None),
        ("README.md", "Requires PyTorch 1.7\n\n    pip install torch==1.7.1 torchvision==0.8.2\n", "unsafe"),
        ("README.md", "    pip install 'torch>=1.7,<2'\n", None),
    ],
)
def test_a_pin_bars_advice_and_an_older_version_that_is_allowed_demotes_its_fix(
    file: str, text: str, fix: str | None, run: Run, project: Path
) -> None:
    (project / "train.py").write_text(GATES["names of amp"][1])
    (project / "docs").mkdir()
    (project / file).write_text(text)
    found = json.loads(run("lint", "--no-cache", "--select", "ACC402", "--output-format", "json").out)
    assert [one["fix"]["applicability"] for one in found] == ([fix] if fix else [])
    assert ["(torch 2.3 or later)" in one["message"] for one in found] == ([fix == "unsafe"] if fix else [])


def test_a_file_that_appears_or_changes_is_noticed_by_the_cache(run: Run, project: Path) -> None:
    (project / "train.py").write_text(GATES["names of amp"][1])
    command = ("lint", "--select", "ACC402", "--output-format", "concise")
    assert "ACC402" in run(*command).out
    (project / "requirements.txt").write_text("torch==2.1\n")
    assert "ACC402" not in run(*command).out
    (project / "requirements.txt").write_text("torch>=2.4\n")
    assert "ACC402" in run(*command).out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--torch-version", "two"), "--torch-version: 'two' is neither a version such as 2.4 nor a range such as"),
        (("--python-version", ">=4,<3"), "--python-version: '>=4,<3' allows no version"),
        (("--platform", "linux,osx"), "--platform: 'osx' is none of linux, macos, windows, all"),
    ],
)
def test_a_wrong_option_is_one_sentence(options: tuple[str, ...], sentence: str, run: Run, project: Path) -> None:
    done = run("lint", *options)
    assert done.status == 2
    assert done.out == ""
    assert f"Error: {sentence}" in done.err
