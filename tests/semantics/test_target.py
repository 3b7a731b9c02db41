"""What a project says that it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.semantics.target import Target, target_of


def test_a_project_that_says_nothing(tmp_path: Path) -> None:
    assert target_of(tmp_path) == Target()


def test_a_broken_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"[project\xff")
    assert target_of(tmp_path) == Target(read=(tmp_path / "pyproject.toml",))


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("torch>=1.8.0  # newer is better", (1, 8)),
        ("torch >= 2.4", (2, 4)),
        ("torch[opt]~=2.1.0", (2, 1)),
        ("torch==2.13.0", (2, 13)),
        ("torch<3,>=2.2", (2, 2)),
        ("torch", None),
        ("torchvision>=0.9", None),
        ("# torch>=1.0", None),
    ],
)
def test_the_oldest_torch(line: str, version: tuple[int, int] | None, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"numpy>=1.20\n{line}\n")
    assert target_of(tmp_path).torch == version


def test_the_oldest_of_both_files(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=2.4\n")
    text = '[project]\nname = "x"\nrequires-python = ">=3.9"\ndependencies = ["numpy", "torch>=1.13,<3"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    found = target_of(tmp_path)
    assert (found.python, found.torch) == ((3, 9), (1, 13))
