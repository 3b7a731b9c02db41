"""What the files of a project say that it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.project.requirements import Declared, Requirements
from accel_advisor.project.target import Target, Versions


def declared(folder: Path) -> Declared:
    return Requirements().of(folder, folder)


def target_of(folder: Path, **files: str) -> Target:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return declared(folder).target


class TestDeclared:
    def test_a_project_that_says_nothing(self, tmp_path: Path) -> None:
        found = declared(tmp_path)
        assert found.target == Target()
        assert str(tmp_path) in found.read, "a file that appears must be noticed"

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
            ("torch==1.7.1+cu110", Versions((1, 7), (1, 8))),
            ("torch>=2.0.1+cu118", Versions((2, 0))),
            ("torch~=1.4", Versions((1, 4), (2, 0))),
            ("pytorch=1.4.0", Versions((1, 4), (1, 5))),
            ("pytorch=1.4.0=py3.7_cuda10.1.243_cudnn7.6.3_0", Versions((1, 4), (1, 5))),
            ("pytorch::pytorch=2", Versions((2, 0), (3, 0))),
            ("pytorch 1.4.*", Versions((1, 4), (1, 5))),
            ("pytorch>=1.4,<1.5|>=1.7", Versions((1, 4))),
            ("torch", Versions()),
            ("torchvision>=0.9", Versions()),
            ("torch\ntorchvision==0.9.1", Versions(None, (1, 9))),
            ("torch\ntorchvision==0.15.2+cu118", Versions(None, (2, 1))),
            ("torch\ntorchvision==0.2.2", Versions()),
            ("torch>=1.8.1\ntorchaudio>=0.8,<2.1", Versions((1, 8), (2, 1))),
            ("torchaudio==0.13", Versions(None, (1, 14))),
            ("torchaudio<1", Versions(None, (2, 0))),
            ("torchaudio==2.11.0", Versions()),
            ("torch\nscipy==1.2.1", Versions(None, (2, 0))),
            ("torch\nscipy>=1.2.1", Versions()),
            ("torch\nnumpy==1.19.5", Versions(None, (2, 9))),
            ("torch\nnumpy<2", Versions()),
            ("torch\npython=3.7.10", Versions(None, (2, 0))),
            ("torch\npython=3.11", Versions()),
            ("torch==2.1\nnumpy==1.16", Versions((2, 1), (2, 2))),
            ("torch==2.1\ntorchvision==0.9", Versions((2, 1), (2, 2))),
            ("pytorch=0.4.1=py36_cuda9.0.176_cudnn7.1.2_1\ncuda90=1.0=h6433d27_0", Versions((0, 4), (0, 5))),
            (
                "https://conda.anaconda.org/pytorch/linux-64/pytorch-0.4.0-py36_cuda8.0_1.tar.bz2",
                Versions((0, 4), (0, 5)),
            ),
            ("https://conda.anaconda.org/pytorch/noarch/pytorch-mutex-1.0-cuda.tar.bz2", Versions()),
            ("torch-geometric>=2.0", Versions()),
            ("# torch>=1.0", Versions()),
        ],
    )
    def test_lines_of_requirements(self, line: str, expected: Versions, tmp_path: Path) -> None:
        assert target_of(tmp_path, requirements_dot_txt=f"numpy>=1.20\n{line}\n").torch == expected

    def test_other_packages_that_rules_ask_about(self, tmp_path: Path) -> None:
        target = target_of(tmp_path, requirements_dot_txt="timm==0.4.12\nnumpy\n")
        assert target.libraries == (("timm", Versions((0, 4), (0, 5))),)

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
            ("  - pytorch-cuda=11.8\n  - python-dateutil=2.8\n", Versions(), Versions()),
            ("  - pytorch\n  - cudatoolkit=9.2\n", Versions(None, (1, 8)), Versions()),
            ("  - pytorch>=1.4\n  - cudatoolkit=10.1.243=h6bb024c_0\n", Versions((1, 4), (1, 9)), Versions()),
            ("  - pytorch\n  - pytorch-cuda=11.7\n", Versions(None, (2, 1)), Versions()),
            ("  - pytorch\n  - cudatoolkit>=10.1\n", Versions(), Versions()),
            ("  - pytorch\n  - cudatoolkit=10\n", Versions(), Versions()),
            ("  - pytorch\n  - cudatoolkit=11.3\n", Versions(), Versions()),
            ("  - cudatoolkit=9.2\n  - pip:\n    - torch\n", Versions(), Versions()),
            ("  - pytorch=1.9\n  - cudatoolkit=9.2\n", Versions((1, 9), (1, 10)), Versions()),
        ],
    )
    def test_a_conda_environment(self, lines: str, torch: Versions, python: Versions, tmp_path: Path) -> None:
        target = target_of(tmp_path, environment_dot_yml=f"name: x\ndependencies:\n{lines}")
        assert (target.torch, target.python) == (torch, python)

    @pytest.mark.parametrize("channel", ["pytorch", "conda-forge"])
    def test_a_channel_is_no_package(self, channel: str, tmp_path: Path) -> None:
        text = f"channels:\n  - {channel}\n  - defaults\ndependencies:\n  - pytorch=1.4\nprefix: /x\n"
        assert target_of(tmp_path, env_dot_yml=text).torch == Versions((1, 4), (1, 5))

    @pytest.mark.parametrize("name", ["environment.yaml", "env.yml", "conda.yaml", "conda_env.yml", "docker/env.yaml"])
    def test_the_names_of_conda_environments(self, name: str, tmp_path: Path) -> None:
        files = {name.replace("/", "__").replace(".", "_dot_"): "dependencies: [python=3.8, 'pytorch=1.4.0']\n"}
        target = target_of(tmp_path, **files)
        assert (target.torch, target.python) == (Versions((1, 4), (1, 5)), Versions((3, 8), (3, 9)))

    @pytest.mark.parametrize("name", ["conda_packagelist.txt", "spec-file.txt", "environment.txt"])
    @pytest.mark.parametrize(
        "head", ["# $ conda create --name <env> --file <this file>\n# platform: linux-64\n", "@EXPLICIT\n"]
    )
    def test_lists_that_conda_wrote(self, name: str, head: str, tmp_path: Path) -> None:
        lines = (
            "pytorch=1.4.0=py3.7_0\npython=3.7.4=h265db76_1\n",
            "https://repo.anaconda.com/pkgs/main/linux-64/python-3.7.4-h265db76_1.conda#12\n"
            "https://conda.anaconda.org/pytorch/linux-64/pytorch-1.4.0-py3.7_0.tar.bz2\n",
        )
        for text in lines:
            target = target_of(tmp_path, **{name.replace(".", "_dot_"): head + text})
            assert (target.torch, target.python) == (Versions((1, 4), (1, 5)), Versions((3, 7), (3, 8)))

    def test_a_text_that_is_no_list_of_conda(self, tmp_path: Path) -> None:
        assert target_of(tmp_path, environment_dot_txt="torch==1.4\n") == Target()

    def test_a_configuration_that_is_no_conda_environment(self, tmp_path: Path) -> None:
        assert target_of(tmp_path, env_dot_yaml="backends:\n  - torch==1.4\n") == Target()

    @pytest.mark.parametrize(
        "made",
        [
            "reqs = open('needs/requirements.txt').read()\nsetup(install_requires=reqs.splitlines())\n",
            "setup(install_requires=['numpy', *more(), 'torch==1.9'] + ['scipy'])\n",
            "BASE = ['torch==1.9']\nsetup(install_requires=BASE + extra())\n",
            "setup(install_requires='numpy\\ntorch==1.9')\n",
        ],
    )
    def test_what_setup_py_reads_and_adds_up(self, made: str, tmp_path: Path) -> None:
        files = {"setup_dot_py": made, "needs__requirements_dot_txt": "torch==1.9\n" if "open(" in made else ""}
        assert target_of(tmp_path, **files).torch == Versions((1, 9), (1, 10))

    @pytest.mark.parametrize(
        "files",
        [
            {"setup_dot_cfg": "[options]\ninstall_requires = file: needs/requirements.txt\n"},
            {"pyproject_dot_toml": '[tool.setuptools.dynamic]\ndependencies = {file = ["needs/requirements.txt"]}\n'},
        ],
    )
    def test_files_that_a_build_reads(self, files: dict[str, str], tmp_path: Path) -> None:
        files = files | {"needs__requirements_dot_txt": "torch==1.9\n", "requirements-dev_dot_txt": "torch==1.4\n"}
        assert target_of(tmp_path, **files).torch == Versions((1, 9), (1, 10))

    @pytest.mark.parametrize(
        "text",
        [
            "FROM python:3.8\nRUN apt-get update && \\\n  pip3 install --no-cache-dir \\\n  numpy torch==1.7.1+cu110\n",
            "FROM pytorch/pytorch:1.7.1-cuda11.0-cudnn8-devel\n",
            "FROM nvcr.io/nvidia/pytorch:20.12-py3\nRUN conda install -y pytorch=1.7.1 -c pytorch\n",
            'ARG PYTORCH="1.7.1"\nARG CUDA="11.0"\nFROM pytorch/pytorch:${PYTORCH}-cuda${CUDA}-cudnn8-devel\n',
            "ARG VERSION=1.7.1\nARG IMAGE=pytorch/pytorch:$VERSION-cuda11.0-cudnn8-devel\nFROM ${IMAGE}\n",
            "FROM python:3.8\nENV TORCH_VERSION 1.7.1\nRUN pip install torch==${TORCH_VERSION}\n",
        ],
    )
    @pytest.mark.parametrize("name", ["Dockerfile", "docker/Dockerfile.train"])
    def test_dockerfiles(self, name: str, text: str, tmp_path: Path) -> None:
        (tmp_path / "docker").mkdir()
        (tmp_path / name).write_text(text)
        assert target_of(tmp_path).torch == Versions((1, 7), (1, 8))
        assert target_of(tmp_path, requirements_dot_txt="torch>=2.4\n").torch == Versions((2, 4))

    def test_other_libraries(self, tmp_path: Path) -> None:
        target = target_of(tmp_path, requirements_dot_txt="transformers[torch]==4.30.2\naccelerate\nlightning>=2\n")
        assert target.rules_out("transformers", (4, 42))
        assert not target.allows_before("transformers", (4, 30))
        assert not target.allows_before("accelerate", (0, 27))
        assert target.supported("lightning") == Versions((2, 0))


class TestFolders:
    """The nearest folder that says something of a package counts."""

    @pytest.fixture
    def script_folder(self, tmp_path: Path) -> Path:
        (tmp_path / "pyproject.toml").write_text(
            '[project]\nrequires-python = ">=3.9"\ndependencies = ["torch>=2.4"]\n'
        )
        folder = tmp_path / "examples" / "mnist"
        folder.mkdir(parents=True)
        return folder

    def test_the_root_speaks_for_folders_that_say_nothing(self, script_folder: Path, tmp_path: Path) -> None:
        found = Requirements().of(script_folder, tmp_path)
        assert found.target.torch == Versions((2, 4))
        assert {str(tmp_path), str(tmp_path / "examples"), str(script_folder)} <= found.read

    def test_the_nearest_one_counts(self, script_folder: Path, tmp_path: Path) -> None:
        (script_folder.parent / "requirements.txt").write_text("torch==1.4\ntransformers==4.30\n")
        (script_folder / "requirements.txt").write_text("transformers==4.40\n")
        target = Requirements().of(script_folder, tmp_path).target
        assert (target.torch, target.python) == (Versions((1, 4), (1, 5)), Versions((3, 9)))
        assert target.supported("transformers") == Versions((4, 40), (4, 41))
        assert Requirements().of(tmp_path, tmp_path).target.torch == Versions((2, 4))

    def test_nothing_above_the_root_is_read(self, script_folder: Path, tmp_path: Path) -> None:
        assert Requirements().of(script_folder, script_folder).target == Target()
        assert Requirements().of(tmp_path, script_folder).target == Target()


class TestReadme:
    """What a README tells readers to install names the oldest version that is known to work, and rules out nothing but
    what it says itself."""

    @pytest.mark.parametrize(
        "text",
        [
            "```\nconda install pytorch==1.7.1 torchvision==0.8.2 -c pytorch\n```\n",
            "pip3 install \\\n    numpy torch==1.7.1+cu110 -f https://example.org/whl\n",
            "Requires PyTorch 1.5.\n\n    pip install torch==1.7.1\n",
        ],
    )
    def test_commands(self, text: str, tmp_path: Path) -> None:
        target = target_of(tmp_path, README_dot_md=f"# A project\n\n{text}", requirements_dot_txt="torch\n")
        assert target.torch == Versions()
        assert target.allows_before("torch", (1, 8))
        assert not target.allows_before("torch", (1, 7))
        assert not target.rules_out("torch", (9, 9))

    @pytest.mark.parametrize("name", ["INSTALL", "docs__Installation_dot_rst", "docs__getting_started_dot_md"])
    def test_pages_on_the_installation(self, name: str, tmp_path: Path) -> None:
        target = target_of(tmp_path, **{name: "- PyTorch 1.11+\n"})
        assert (target.allows_before("torch", (2, 3)), target.allows_before("torch", (1, 11))) == (True, False)
        assert not target_of(tmp_path / "other", docs__theory_dot_md="- PyTorch 1.11+\n").allows_before("torch", (2, 3))

    def test_bounds_that_are_said(self, tmp_path: Path) -> None:
        target = target_of(tmp_path, README_dot_md="Run `pip install 'torch<2'`.\n")
        assert target.rules_out("torch", (2, 0))
        assert not target.rules_out("torch", (1, 13))

    @pytest.mark.parametrize(
        "text",
        [
            "Run `pip install 'torch>=1.7'` first.\n",
            "- PyTorch 1.7.1\n",
            "* [PyTorch] >= 1.7\n* Python 3.6\n",
            "The code requires **PyTorch** version 1.7 and CUDA.\n",
            "| torch | 1.7.0 |\n",
            "![](https://img.shields.io/badge/PyTorch-1.7-red)\n",
            "- [PyTorch](https://pytorch.org), version 1.7.1\n",
            "1. [PyTorch](https://pytorch.org) 1.7 or higher\n",
            "- [x] PyTorch 1.7\n",
            "The code relies on Python 3.8 and PyTorch 1.7.\n",
            "A PyTorch(1.7.1) implementation of a paper.\n",
            "## Requirements\n\n```\nPython >= 3.8, PyTorch == 1.7.1\n```\n",
            "### Environment\n\n- Ubuntu 16.04, Docker (PyTorch 1.7.1, CUDA 11.0)\n",
            "Tested with PyTorch 1.7, which is fast. Others are not tested.\n",
        ],
    )
    def test_demands(self, text: str, tmp_path: Path) -> None:
        target = target_of(tmp_path, README_dot_md=f"# A project\n\n{text}", requirements_dot_txt="torch\n")
        assert target.torch == Versions()
        assert target.allows_before("torch", (1, 8))
        assert not target.allows_before("torch", (1, 7))
        assert not target.rules_out("torch", (9, 9))

    @pytest.mark.parametrize(
        "text",
        [
            "1. 1.1.0 =< PyTorch < 1.5.0\n",
            "- PyTorch <1.5\n",
            "Requires torch <= 1.4\n",
            "- [PyTorch](https://pytorch.org) < 1.5\n",
        ],
    )
    def test_bounds_in_prose(self, text: str, tmp_path: Path) -> None:
        target = target_of(tmp_path, README_dot_md=f"# A project\n\n{text}", requirements_dot_txt="torch\n")
        assert target.rules_out("torch", (1, 10))
        assert not target.rules_out("torch", (1, 4))

    @pytest.mark.parametrize(
        "text",
        [
            "We compare with the code of others, who used PyTorch 1.2.\n",
            "- PyTorch Lightning 1.5\n",
            "NOTE: PyTorch 1.5 is not supported at this moment.\n",
            "## Requirements\n\n- Python 3\n\n## Results\n\nWith PyTorch 1.2 it took a day.\n",
            "pip install -r requirements.txt\n",
            "pip install torch torchvision==0.8\n",
            "conda install pytorch torchvision cudatoolkit=10.1 -c pytorch\n",
        ],
    )
    def test_what_demands_nothing(self, text: str, tmp_path: Path) -> None:
        assert target_of(tmp_path, README_dot_md=text) == Target()

    @pytest.mark.parametrize(
        ("text", "version"),
        [
            ("- PyTorch 1.4\n", (1, 4)),
            ("Install [PyTorch v0.3](http://pytorch.org) with CUDA.\n", (0, 3)),
            ("    pip install torch==1.4\n", (1, 4)),
            ("- PyTorch 1.4 or later\n", None),
            ("- PyTorch 1.4+\n", None),
            ("- PyTorch >= 1.4\n", None),
        ],
    )
    def test_the_version_that_it_was_used_with(
        self, text: str, version: tuple[int, int] | None, tmp_path: Path
    ) -> None:
        assert target_of(tmp_path, README_dot_md=text).used_with("torch") == version

    def test_the_oldest_version_where_others_name_only_a_bound(self, tmp_path: Path) -> None:
        files = {"README_dot_md": "- PyTorch 1.2\n", "requirements_dot_txt": "torch\nscipy==1.2.1\n"}
        target = target_of(tmp_path, **files)
        assert (target.rules_out("torch", (2, 0)), target.rules_out("torch", (1, 13))) == (True, False)
        assert (target.allows_before("torch", (1, 3)), target.allows_before("torch", (1, 2))) == (True, False)

    def test_a_version_that_is_required_counts_more(self, tmp_path: Path) -> None:
        files = {"README_dot_md": "- PyTorch 1.4\n", "requirements_dot_txt": "torch>=2.4\n"}
        assert not target_of(tmp_path, **files).allows_before("torch", (2, 4))
        assert str(tmp_path / "README.md") not in declared(tmp_path).read

    def test_so_do_other_files_where_the_version_is_left_open(self, tmp_path: Path) -> None:
        target = target_of(tmp_path, requirements_dot_txt="torch\n", Dockerfile="RUN pip install torch==1.4\n")
        assert target.torch == Versions()
        assert target.rules_out("torch", (1, 5))

    def test_what_a_dockerfile_installs_beside_torch(self, tmp_path: Path) -> None:
        target = target_of(tmp_path, Dockerfile="RUN conda install -y pytorch cudatoolkit=10.1 -c pytorch\n")
        assert target.rules_out("torch", (1, 9))
        assert not target.rules_out("torch", (1, 8))
