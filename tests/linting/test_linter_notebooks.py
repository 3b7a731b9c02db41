"""Notebooks: linted as one program, and fixed without a byte changed elsewhere."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from accel_advisor.configurations import Configurations
from accel_advisor.linting.cache import Caches
from accel_advisor.linting.linter import lint
from accel_advisor.linting.report import Report
from accel_advisor.project.discovery import Discoverer, Found
from accel_advisor.project.project_index import digest_of

from ..conftest import Run
from ..source.notebooks import LOADER, SETUP, TRAIN, code, lines, notebook, sources, training

PIN = "DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)"


def linted(path: Path, caches: Caches | None = None) -> Report:
    return lint([Found(str(path), named=True)], Configurations(), memory=caches)


def found(path: Path) -> list[tuple[str, str]]:
    return [(str(one.span.start), one.code) for one in linted(path).findings]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.accel-advisor]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def train(folder: Path) -> Path:
    path = folder / "train.ipynb"
    path.write_text(json.dumps(training(), indent=1) + "\n")
    return path


class TestLint:
    def test_cells_are_one_program(self, train: Path) -> None:
        assert found(train) == [("cell 3:2:10", "ACC101"), ("cell 4:4:12", "ACC201")]

    def test_the_text(self, train: Path, run: Run) -> None:
        result = run("lint", "train.ipynb")
        assert "train.ipynb:cell 3:2:10: ACC101" in result.out
        assert "  2 | loader = DataLoader(data, batch_size=4, num_workers=2)\n" in result.out
        assert result.status == 1
        assert "train.ipynb:cell 4:4:12: ACC201" in run("lint", "train.ipynb", "--output-format=concise").out

    def test_json(self, train: Path, run: Run) -> None:
        first = json.loads(run("lint", "train.ipynb", "--output-format=json").out)[0]
        assert (first["cell"], first["location"], first["end_location"]["row"]) == (3, {"row": 2, "column": 10}, 2)
        (edit,) = first["fix"]["edits"]
        assert (edit["cell"], edit["location"]) == (3, {"row": 2, "column": 54})

    def test_services_get_the_line_of_the_file(self, train: Path, run: Run) -> None:
        row = next(row for row, line in enumerate(train.read_text().splitlines(), 1) if "DataLoader(data" in line)
        github = run("lint", "train.ipynb", "--output-format=github").out
        assert f"file=train.ipynb,line={row},col=15," in github
        assert "::train.ipynb:cell 3:2:10: ACC101" in github
        (first, *_) = json.loads(run("lint", "train.ipynb", "--output-format=gitlab").out)
        assert first["location"]["positions"]["begin"] == {"line": row, "column": 15}
        result = json.loads(run("lint", "train.ipynb", "--output-format=sarif").out)["runs"][0]["results"][0]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == row
        assert "fixes" not in result

    def test_diff(self, train: Path, run: Run) -> None:
        shown = run("lint", "--diff", "--select=ACC101", "--unsafe-fixes", "train.ipynb").out
        assert shown.splitlines() == [
            "--- a/train.ipynb:cell 3",
            "+++ b/train.ipynb:cell 3",
            "@@ -1,3 +1,3 @@",
            f" {lines(LOADER)[0].rstrip()}",
            "-loader = DataLoader(data, batch_size=4, num_workers=2)",
            f"+loader = {PIN}",
            " ",
        ]

    def test_fix_changes_the_lines_and_nothing_else(self, train: Path, run: Run) -> None:
        before = train.read_bytes()
        run("lint", "--fix", "--unsafe-fixes", "train.ipynb")
        after = train.read_bytes()
        assert after != before
        expected = before.replace(b"DataLoader(data, batch_size=4, num_workers=2)", PIN.encode())
        expected = expected.replace(b'.to(\\"cuda\\"),', b'.to(\\"cuda\\", non_blocking=True),')
        assert after == expected.replace(b'y.to(\\"cuda\\") ', b'y.to(\\"cuda\\", non_blocking=True) ')
        run("lint", "--fix", "--unsafe-fixes", "train.ipynb")
        assert train.read_bytes() == after

    def test_stdin(self, train: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(train.read_bytes())))
        shown = run("lint", "-", "--stdin-filename", "x.ipynb", "--fix", "--unsafe-fixes").out
        run("lint", "--fix", "--unsafe-fixes", "train.ipynb")
        assert shown.encode() == train.read_bytes()

    def test_the_cache_knows_cells(self, train: Path) -> None:
        caches = Caches()
        first = linted(train, caches)
        caches.save()
        (program,) = first.programs
        known = Caches().of(program.root, {}).get(program, [digest_of(train.read_bytes())])
        assert known is not None
        assert [one.span.start.cell for one in known.findings] == [one.span.start.cell for one in first.findings]
        assert first.findings[0].span.start.cell is not None

    def test_a_broken_cell_is_reported_once(self, folder: Path) -> None:
        data = training()
        data["cells"] += [code("x = torch.\nprint x"), code("%%bash\nls"), code("torch. ("), code("def f(:")]
        (folder / "a.ipynb").write_text(json.dumps(data))
        report = linted(folder / "a.ipynb")
        (broken,) = [one for one in report.findings if one.code == "ACC001"]
        assert str(broken.span.start) == "cell 5:1:11"
        assert broken.message == "Syntax error: invalid syntax; the cell is left out, as are 2 others."
        assert broken.severity == "info"
        assert [one.code for one in report.findings if one is not broken] == ["ACC101", "ACC201"]

    def test_no_notebook(self, folder: Path, run: Run) -> None:
        (folder / "a.ipynb").write_text('{"cells": [\n"torch"\n')
        result = run("lint", "a.ipynb", "--output-format=concise")
        sentence = "This file is no notebook, because it is not JSON: Expecting ',' delimiter."
        assert result.out.splitlines()[0] == f"a.ipynb:3:1: ACC001 {sentence}"
        assert result.status == 1

    def test_suppressions(self, folder: Path) -> None:
        data = training()
        data["cells"][2]["source"][1] = data["cells"][2]["source"][1].rstrip() + "  # accel: ignore[ACC101] small\n"
        data["cells"][3]["source"] = [TRAIN + "\n# accel: ignore-file[ACC201]"]
        (folder / "a.ipynb").write_text(json.dumps(data))
        assert found(folder / "a.ipynb") == []

    def test_a_comment_at_the_end_of_a_cell_does_not_reach_the_next(self, folder: Path, run: Run) -> None:
        (folder / "a.ipynb").write_text(json.dumps(notebook(code("import torch\n# accel: ignore"), code("x = 1"))))
        assert found(folder / "a.ipynb") == [("cell 2:2:1", "ACC002")]
        run("lint", "--fix", "a.ipynb")
        assert sources((folder / "a.ipynb").read_bytes()) == ["import torch", "x = 1"]

    def test_an_import_means_a_file_of_the_project(self, folder: Path) -> None:
        (folder / "loaders.py").write_text(
            "from torch.utils.data import DataLoader\n\n\ndef build(data, workers):\n"
            "    return DataLoader(data, 4, num_workers=workers)\n"
        )
        data = training()
        data["cells"][2]["source"] = "import loaders\nloader = loaders.build([torch.zeros(3)] * 9, 2)"
        (folder / "a.ipynb").write_text(json.dumps(data))
        report = lint([Found("a.ipynb", named=True), Found("loaders.py", named=True)], Configurations())
        assert [one.filenames for one in report.programs] == [("a.ipynb", "loaders.py")]
        assert ("loaders.py", "ACC101") in [(one.filename, one.code) for one in report.findings]

    def test_no_file_imports_a_notebook(self, train: Path) -> None:
        (train.parent / "other.py").write_text("import torch\nimport train\nfrom train import loader\n")
        report = lint([Found("train.ipynb", named=True), Found("other.py", named=True)], Configurations())
        assert sorted(one.filenames for one in report.programs) == [("other.py",), ("train.ipynb",)]
        assert not any(name.endswith("other.py") for one in report.programs for name in one.consulted)


class TestMeaning:
    """What is different in a notebook."""

    def codes(self, folder: Path, *cells: str, name: str = "a.ipynb") -> list[str]:
        (folder / name).write_text(json.dumps(notebook(*map(code, cells))))
        return [one.code for one in linted(folder / name).findings]

    @pytest.mark.parametrize(
        ("last", "codes"),
        [
            ('x.to("cuda")', []),
            ('x.to("cuda")  # on the GPU\n', []),
            ('y = 1; x.to("cuda")', []),
            ('x.to("cuda");', ["ACC207"]),
            ('x.to("cuda")\n%matplotlib inline', ["ACC207"]),
            ('x.to("cuda")\nfor y in x: print(y)', ["ACC207"]),
            ('if True:\n    x.to("cuda")', ["ACC207"]),
        ],
    )
    def test_the_last_value_of_a_cell_is_shown(self, folder: Path, last: str, codes: list[str]) -> None:
        assert self.codes(folder, "import torch\nx = torch.randn(4, 8)", last, "x") == codes

    @pytest.mark.parametrize("use", ["f(device)", "!python train.py --device {device}", "%time f(device)"])
    def test_a_name_that_a_later_cell_reads(self, folder: Path, use: str) -> None:
        train = "\n".join(
            [
                "import torch",
                "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
                "model = torch.nn.Linear(8, 2)",
                "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
                "for step in range(10):",
                "    loss = model(torch.randn(4, 8)).sum()",
                "    loss.backward()",
                "    optimizer.step()",
            ]
        )
        assert self.codes(folder, train, "x = 1") == ["ACC301"]
        assert self.codes(folder, train, use) == []

    def test_workers_do_not_run_cells(self, folder: Path) -> None:
        spawned = "DataLoader([1], num_workers=2, multiprocessing_context='spawn', collate_fn=lambda batch: batch)"
        program = f"from torch.utils.data import DataLoader\nloader = {spawned}\nfor x in loader:\n    print(x)\n"
        assert self.codes(folder, program) == []
        (folder / "a.py").write_text(program)
        assert {one.code for one in linted(folder / "a.py").findings} == {"ACC113", "ACC114"}

    def test_workers_that_are_not_forked_do_not_know_what_cells_define(self, folder: Path) -> None:
        photos = (
            "from PIL import Image\nfrom torch.utils.data import Dataset\n\nclass Photos(Dataset):\n"
            "    def __getitem__(self, index):\n        return Image.open(str(index))\n"
        )
        loader = "loader = DataLoader(Photos(), batch_size=4)"
        assert "ACC102" in self.codes(folder, SETUP, photos, loader, TRAIN)
        (folder / "pyproject.toml").write_text("[tool.accel-advisor]\nplatform = ['windows', 'linux']\n")
        assert "ACC102" not in self.codes(folder, SETUP, photos, loader, TRAIN)

    def test_what_a_shell_gives_is_not_known(self, folder: Path) -> None:
        loader = "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=n, persistent_workers=True)"
        assert self.codes(folder, "n = 0", loader) == ["ACC104"]
        assert self.codes(folder, "n = !nproc", loader) == []

    def test_what_an_unreadable_cell_did_is_not_known(self, folder: Path) -> None:
        made, moved = "import torch\nx = torch.randn(4, 8)", 'x.to("cuda")\nprint(1)'
        assert self.codes(folder, made, "y = = torch.ones(3)", moved) == ["ACC001", "ACC207"]
        for cells in (("x = load() ...",), ("for x in what",), ("x ...", "y ..."), ("y ...", "x ...", "z = 1")):
            assert self.codes(folder, made, *cells, moved) == ["ACC001"]
        assert self.codes(folder, made, "x ...", made, moved) == ["ACC001", "ACC207"]

    def test_messages_name_the_cell(self, train: Path) -> None:
        pin, *_ = linted(train).findings
        assert "in line 4 of cell 4 copies" in pin.message


class TestDiscovery:
    def test_notebooks_are_found_and_their_checkpoints_are_not(self, folder: Path) -> None:
        for name in ("a.ipynb", "b.py", ".ipynb_checkpoints/a-checkpoint.ipynb"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("{}")
        discovery = Discoverer(Configurations().patterns).discover(["."])
        assert [one.filename for one in discovery.files] == ["a.ipynb", "b.py"]
