"""What a project says that it runs on, and how that decides what rules say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from accel_advisor.project.requirements import FILES, declared
from accel_advisor.project.target import PLATFORMS, Target, Version, Versions, platforms, versions

from ..conftest import Done

Run = Callable[..., Done]


def target_of(folder: Path, **files: str) -> Target:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return declared(folder).target


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


class TestDeclared:
    def test_a_project_that_says_nothing(self, tmp_path: Path) -> None:
        found = declared(tmp_path)
        assert found.target == Target()
        assert found.read == {str(tmp_path / name) for name in FILES}, "one that appears must be noticed"

    def test_broken_files_say_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "pyproject.toml").write_bytes(b"[project\xff")
        (tmp_path / "requirements.txt").write_bytes(b"\xff\xfe\x00torch>=2\x00")
        (tmp_path / "setup.cfg").write_text("torch\n[")
        (tmp_path / "setup.py").write_text("setup(\n")
        (tmp_path / "environment.yml").mkdir()
        assert declared(tmp_path).target == Target()

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("torch>=1.8.0  # newer is better", Versions((1, 8))),
            ("torch >= 2.4", Versions((2, 4))),
            ("torch[opt]~=2.1.0", Versions((2, 1), (2, 2))),
            ("torch==2.13.0 --hash=sha256:12", Versions((2, 13), (2, 14))),
            ("torch==2.13.0 \\", Versions((2, 13), (2, 14))),
            ("Torch<3,>=2.2", Versions((2, 2), (3, 0))),
            ("torch (>=2.2)", Versions((2, 2))),
            ('torch>=1.8,<2; python_version < "3.12"', Versions((1, 8), (2, 0))),
            ("torch @ https://example.org/torch-2.1.0-py3-none-any.whl", Versions()),
            ("torch", Versions()),
            ("torchvision>=0.9", Versions()),
            ("torch-geometric>=2.0", Versions()),
            ("# torch>=1.0", Versions()),
        ],
    )
    def test_lines_of_requirements(self, line: str, expected: Versions, tmp_path: Path) -> None:
        assert target_of(tmp_path, requirements_dot_txt=f"numpy>=1.20\n{line}\n").torch == expected

    def test_requirements_that_include_others(self, tmp_path: Path) -> None:
        (tmp_path.parent / "outside.txt").write_text("torch>=1.0\n")
        files = {"requirements_dot_txt": "-r requirements/base.txt\n", "requirements__base.txt": "torch>=1.9\n"}
        base = "torch>=1.9\n-r ../requirements.txt\n-r ../../outside.txt\n"
        assert target_of(tmp_path, **(files | {"requirements__base.txt": base})).torch == Versions((1, 9))

    def test_what_a_project_needs_to_run_goes_before_what_its_tests_need(self, tmp_path: Path) -> None:
        (tmp_path / "requirements-dev.txt").write_text("torch==1.9.0\n")
        assert target_of(tmp_path).torch == Versions((1, 9), (1, 10))
        assert target_of(tmp_path, requirements_dot_txt="torch>=2.4\n").torch == Versions((2, 4))

    def test_pyproject(self, tmp_path: Path) -> None:
        text = """
            [project]
            name = "x"
            requires-python = ">=3.9"
            dependencies = ["numpy", "torch>=1.13,<3"]
            classifiers = [
                "Programming Language :: Python :: 3", "Programming Language :: Python :: 3.9",
                "Programming Language :: Python :: 3.14", "Operating System :: MacOS :: MacOS X",
                "Operating System :: POSIX :: Linux", "Operating System :: OS Independent",
            ]
        """
        target = target_of(tmp_path, pyproject_dot_toml=text, requirements_dot_txt="torch>=2.4\n")
        assert target.python == Versions((3, 9), None, (3, 14))
        assert target.torch == Versions((1, 13)), "the older of both"
        assert target.platforms == {"linux", "macos"}

    @pytest.mark.parametrize(
        "text",
        [
            '[project.optional-dependencies]\ntrain = ["torch~=2.1"]\n',
            '[dependency-groups]\ntrain = ["torch~=2.1", {include-group = "other"}]\nother = []\n',
            '[tool.poetry.dependencies]\npython = "^3.10"\ntorch = "^2.1.0"\n',
            '[tool.poetry.dependencies]\ntorch = {version = "^2.1", source = "cpu"}\n',
            '[tool.poetry.dependencies]\ntorch = [{version = "^2.1"}, {version = ">=2.3 <3"}]\n',
            '[tool.poetry.group.train.dependencies]\ntorch = ">=2.1,<3.0"\n',
        ],
    )
    def test_other_tables_of_pyproject(self, text: str, tmp_path: Path) -> None:
        assert target_of(tmp_path, pyproject_dot_toml=text).torch == Versions((2, 1), (3, 0))

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("~2.1", Versions((2, 1), (2, 2))),
            ("^0.4", Versions((0, 4), (0, 5))),
            ("2.1", Versions((2, 1), (2, 2))),
            ("2.1.*", Versions((2, 1), (2, 2))),
            ("<2 || >=2.4,<3", Versions((2, 4), (3, 0))),
            ("*", Versions()),
        ],
    )
    def test_the_notation_of_poetry(self, written: str, expected: Versions, tmp_path: Path) -> None:
        text = f'[tool.poetry.dependencies]\ntorch = "{written}"\n'
        assert target_of(tmp_path, pyproject_dot_toml=text).torch == expected

    def test_setup_cfg(self, tmp_path: Path) -> None:
        text = """
[metadata]
classifiers =
    Operating System :: Microsoft :: Windows
[options]
python_requires = >=3.8,<3.12
install_requires =
    numpy
    torch>=1.9  # the first one that works
[options.extras_require]
test = torch>=2
"""
        target = target_of(tmp_path, setup_dot_cfg=text)
        assert target == Target(Versions((3, 8), (3, 12)), Versions((1, 9)), frozenset({"windows"}))

    def test_setup_py_is_read_and_not_run(self, tmp_path: Path) -> None:
        text = """
import setuptools
raise SystemExit("it ran")
NEEDS = ["numpy", "torch>=1.9,<2"]
setuptools.setup(name="x", python_requires=">=3.8", install_requires=NEEDS, extras_require={"a": ["torch>=2.4"]})
"""
        target = target_of(tmp_path, setup_dot_py=text)
        assert (target.python, target.torch) == (Versions((3, 8)), Versions((1, 9), (2, 0)))
        made = "from setuptools import setup\nsetup(install_requires=read('requirements.txt'), **more)\n"
        assert target_of(tmp_path, setup_dot_py=made) == Target()

    @pytest.mark.parametrize(
        ("lines", "torch", "python"),
        [
            ("  - pytorch=2.1\n  - python=3.10\n", Versions((2, 1), (2, 2)), Versions((3, 10), (3, 11))),
            ("  - pytorch::pytorch>=2.0,<2.2  # why\n", Versions((2, 0), (2, 2)), Versions()),
            ("  - pytorch=2.1.0=py3.10_cuda11.8_0\n", Versions((2, 1), (2, 2)), Versions()),
            ('  - pip:\n    - "torch>=1.12"\n', Versions((1, 12)), Versions()),
            ("  - pytorch-cuda=11.8\n  - torchvision=0.9\n  - python-dateutil=2.8\n", Versions(), Versions()),
        ],
    )
    def test_a_conda_environment(self, lines: str, torch: Versions, python: Versions, tmp_path: Path) -> None:
        target = target_of(tmp_path, environment_dot_yml=f"name: x\ndependencies:\n{lines}")
        assert (target.torch, target.python) == (torch, python)


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
WORKERS = HEAD + "loader = DataLoader(torch.zeros(64, 8), num_workers=2, pin_memory=True)\n"
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
    "workers that live on": (
        "ACC106",
        WORKERS + EPOCHS,
        [("--torch-version", "1.7"), ("--torch-version", "<1.8")],
        [(), ("--torch-version", "1.8")],
    ),
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
        [("--torch-version", "2.12"), ("--torch-version", "<2.13")],
        [(), ("--torch-version", "2.13")],
    ),
    "names of amp": (
        "ACC402",
        HEAD + "scaler = torch.cuda.amp.GradScaler()\n",
        [("--torch-version", "2.2"), ("--torch-version", "<2.3")],
        [(), ("--torch-version", "2.3"), ("--torch-version", "<3")],
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
        [("--torch-version", "1.13")],
        [(), ("--torch-version", "2.0")],
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
        [("--torch-version", "1.13")],
        [(), ("--torch-version", "2.0")],
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


def test_unknown_workers_are_told_apart_from_known_ones(run: Run, project: Path) -> None:
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


def test_a_file_that_appears_or_changes_is_noticed_by_the_cache(run: Run, project: Path) -> None:
    (project / "train.py").write_text(GATES["names of amp"][1])
    command = ("lint", "--select", "ACC402", "--output-format", "concise")
    assert "ACC402" in run(*command).out
    (project / "requirements.txt").write_text("torch>=2.1\n")
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
