"""What a lint remembers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from accel_advisor.linting import cache
from accel_advisor.linting.cache import FOLDER, Caches
from accel_advisor.linting.report import Report

from .training_project import LOADERS, TRAIN, linted


class TestCache:
    @pytest.fixture(autouse=True)
    def files(self, project: Path) -> None:
        (project / "loaders.py").write_text(LOADERS)
        (project / "train.py").write_text(TRAIN)

    def cached(self) -> tuple[Report, bool]:
        """A report, and whether everything in it was known."""
        caches = Caches()
        report = linted("train.py", caches=caches)
        caches.save()
        return report, not caches.of(os.getcwd(), {})._changed

    def test_the_same_again(self) -> None:
        first, known = self.cached()
        assert not known
        assert first.findings
        again, known = self.cached()
        assert known
        assert again.findings == first.findings

    def test_the_workers_of_a_fix_are_known_again(self, project: Path) -> None:
        (project / "loaders.py").write_text(LOADERS.replace(", num_workers=workers", ""))
        self.cached()
        caches = Caches()
        fixes = [one.fix for one in linted("loaders.py", caches=caches).findings if one.code == "ACC102"]
        assert not caches.of(os.getcwd(), {})._changed
        assert [one.workers for one in fixes if one is not None] == [4]

    def test_what_was_seen_is_known_again(self, project: Path) -> None:
        gap = "import torch\n\ndef train(batches):\n    for x in batches:\n        torch.relu(x).sum().backward()\n"
        (project / "train.py").write_text(gap)
        first, _ = self.cached()
        assert first.seen
        again, known = self.cached()
        assert known
        assert again.seen == first.seen

    def test_another_file_of_the_program_is_known(self) -> None:
        self.cached()
        caches = Caches()
        assert {one.filename for one in linted("loaders.py", caches=caches).findings} == {"loaders.py"}
        assert not caches.of(os.getcwd(), {})._changed

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("train.py", TRAIN + "\n"),
            ("loaders.py", LOADERS.replace("workers=0", "workers=4")),
            ("torchvision.py", ""),
            ("main.py", "import train\n"),
            ("pyproject.toml", "[tool.accel-advisor]\nignore = ['ACC102']\n"),
            ("environment.yml", "dependencies:\n  - pytorch=1.4\n"),
            ("docker/Dockerfile", "RUN pip install torch==1.4\n"),
            ("README.md", "pip install torch==1.4\n"),
        ],
    )
    def test_whatever_matters_changes(self, project: Path, name: str, text: str) -> None:
        self.cached()
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
        _, known = self.cached()
        assert not known

    @pytest.mark.parametrize("name", ["environment.yml", "conda_requirements.txt", "README.md"])
    def test_a_file_of_requirements_is_edited(self, project: Path, name: str) -> None:
        (project / name).write_text("dependencies:\n- pytorch=1.4\n")
        self.cached()
        assert self.cached()[1]
        (project / name).write_text("dependencies:\n- pytorch=2.4\n")
        assert not self.cached()[1]

    def test_what_does_not_matter_changes(self, project: Path) -> None:
        (project / "other").mkdir()
        self.cached()
        (project / "other" / "other.py").write_text("import torch\n")
        (project / "notes.txt").write_text("torch\n")
        _, known = self.cached()
        assert known

    @pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"salt": 1, "entries": 3}', b'{"salt": "$", "entries": 3}'])
    def test_a_damaged_one_counts_as_empty(self, project: Path, raw: bytes) -> None:
        first, _ = self.cached()
        salt = json.loads((project / FOLDER / "lint.json").read_bytes())["salt"]
        (project / FOLDER / "lint.json").write_bytes(raw.replace(b"$", salt.encode()))
        again, known = self.cached()
        assert not known
        assert again.findings == first.findings

    @pytest.mark.parametrize("index", [[], {}, {"files": 1}, {"files": {"a": 1}, "groups": []}, None])
    def test_a_damaged_index_counts_as_none(self, project: Path, index: object) -> None:
        first, _ = self.cached()
        path = project / FOLDER / "index.json"
        data = json.loads(path.read_bytes())
        assert data["index"]["files"]
        path.write_text(json.dumps(data | {"index": index}))
        again, known = self.cached()
        assert known
        assert again.findings == first.findings

    def test_it_is_ignored_by_git(self, project: Path) -> None:
        self.cached()
        assert (project / FOLDER / ".gitignore").read_text() == "*\n"


def test_a_changed_and_a_new_rule_make_what_is_kept_worthless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_rules_folder", lambda: str(tmp_path))
    (tmp_path / "theme").mkdir()
    salts = [cache._salt()]
    for name, text in (("one.py", "a\n"), ("one.py", "ab\n"), ("theme/two.py", ""), ("theme/three.txt", "")):
        (tmp_path / name).write_text(text)
        salts.append(cache._salt())
    assert len(set(salts[:4])) == 4
    assert salts[4] == salts[3]
