"""`lint --why FILE:LINE`: what is known of a line, what is held back and by what, and where rules stopped."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from ..commands.scripts import HEALTHY, NOT_TORCH, SLOW
from ..conftest import Run

LOADER = 19
"""The line of SLOW that builds its loader."""


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next empty line."""
    return text.partition(f"{heading}\n")[2].partition("\n\n")[0]


class TestReported:
    def test_what_is_reported_and_what_is_known(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        done = run("lint", "--why", f"train.py:{LOADER}")
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith(f"train.py:{LOADER}: loader = DataLoader(Photos")
        assert ": a loader, no workers, " in section(done.out, "What is known of it:")
        assert "ACC102 dataloader-num-workers-zero: `loader` " in section(done.out, "Reported at this line:")
        assert "ACC102" not in section(done.out, "Looked at it, and stopped where:")

    @pytest.mark.parametrize(
        ("comment", "options", "why"),
        [
            ("  # accel: ignore[ACC102]", (), f"the comment in line {LOADER} silences it"),
            ("  # noqa: ACC102", (), f"the comment in line {LOADER} silences it"),
            ("", ("--ignore", "ACC102"), "it is switched off; `--extend-select ACC102` shows it: `loader` "),
            ("", ("--per-file-ignores", "*.py:ACC102"), "`per-file-ignores` switches it off in this file"),
            ("", ("--min-severity", "error"), "it is proven, warning, and min-severity is error"),
        ],
    )
    def test_what_holds_a_finding_back(
        self, run: Run, project: Path, comment: str, options: tuple[str, ...], why: str
    ) -> None:
        lines = SLOW.splitlines()
        lines[LOADER - 1] += comment
        (project / "train.py").write_text("\n".join(lines) + "\n")
        out = run("lint", *options, "--why", f"train.py:{LOADER}").out
        assert f"  ACC102 dataloader-num-workers-zero: {why}" in section(out, "Found, and not reported:")
        assert "ACC102" not in run("lint", *options, "--output-format", "concise").out, "that is what a lint shows"

    def test_what_is_of_little_consequence(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text("import torch\n\nfor n in range(2):\n    x = torch.zeros(4).cuda()\n")
        held = "ACC205 create-on-cpu-then-move: it is of little consequence here; `--minor` shows it: "
        assert held in section(run("lint", "--why", "train.py:4").out, "Found, and not reported:")
        assert "ACC205 " in section(run("lint", "--minor", "--why", "train.py:4").out, "Reported at this line:")

    def test_a_rule_that_is_off_by_default(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text('import torch\n\nmodel = torch.nn.Linear(2, 2).to(torch.device("cuda"))\n')
        out = run("lint", "--why", "train.py:3").out
        assert "ACC309 hard-coded-cuda: it is off by default; `--extend-select ACC309` shows it: " in out

    def test_what_is_done_with_a_library_in_words(self, run: Run, project: Path) -> None:
        lines = ["import torch", "torch.backends.cudnn.benchmark = True", "total = torch.ones(3)", "total += 1"]
        lines += ["if total.sum() > 3:", "    print(f'{total}')"]
        (project / "train.py").write_text("\n".join(lines) + "\n")
        seen = "".join(
            section(run("lint", "--why", f"train.py:{row}").out, "What is known of it:") for row in range(2, 7)
        )
        for words in (
            "sets `torch.backends.cudnn.benchmark`",
            "a call of `torch.ones`",
            "changes a value in place, as `+=` does",
            "the truth of a tensor decides what happens next",
            "a tensor becomes a part of a string",
        ):
            assert words in seen


class TestStopped:
    def test_where_rules_stopped(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(HEALTHY)
        assert "  `accel-advisor lint --why train.py:LINE` says why, line by line.\n" in run("lint").out
        out = run("lint", "--why", f"train.py:{LOADER}").out
        stopped = section(out, "Looked at it, and stopped where:")
        (workers,) = (line for line in stopped.splitlines() if line.startswith("  ACC102 "))
        assert " (records/queries/loaders/wanting_workers.py:" in workers
        files = set(re.findall(r"\(([\w/]+\.py):\d+\)", stopped))
        assert any(one.startswith("rules/") for one in files)
        assert [one for one in files if find_spec(f"accel_advisor.{one[:-3].replace('/', '.')}") is None] == []
        assert out.endswith(
            "\nThe conditions are those of the rules' own code, in files of the package accel_advisor.\n"
        )

    def test_a_line_of_which_nothing_is_known(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text("import torch\n\nfor batch in somewhere():\n    x = 1\n")
        out = run("lint", "--why", "train.py:4").out
        assert "Nothing that rules ask about is seen on this line" in out
        assert "No rule held anything of this line by itself." in out
        assert "Looked at it" not in out
        assert "conditions" not in out

    def test_what_the_file_leaves_open_is_said(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(
            "import torch\n\n\ndef train(model, optimizer, stream):\n    for x in stream:\n        loss = model(x)\n"
            "        loss.backward()\n        optimizer.step()\n"
        )
        out = run("lint", "--why", "train.py:5").out
        assert "a loop that trains, over something that is not known to be a loader" in out
        assert "not known: what the loop goes over in line 5 (`stream`)" in out

    def test_a_file_without_torch(self, run: Run, project: Path) -> None:
        (project / "plain.py").write_text(NOT_TORCH)
        said = "plain.py mentions neither torch nor a framework on it, so no rule looks at it.\n"
        assert run("lint", "--why", "plain.py:1").out == said
        (project / "plain.py").write_text("import torch\ndef (:\n")
        said = "plain.py was not understood, so no rule looked at it:\n  plain.py:2:5: ACC001 Syntax error: "
        assert run("lint", "--why", "plain.py:1").out.startswith(said)

    def test_a_place_as_a_lint_prints_it(self, run: Run, project: Path) -> None:
        (project / "train.py").write_text(SLOW)
        plain = run("lint", "--why", f"train.py:{LOADER}").out
        assert plain.startswith(f"train.py:{LOADER}: loader = ")
        place = run("lint", "--output-format", "concise", "train.py").out.split(" ", 1)[0]
        assert place.startswith(f"train.py:{LOADER}:")
        assert run("lint", "--why", place).out == plain
        assert run("lint", "--why", place.rstrip(":")).out == plain


class TestNotebooks:
    def test_a_line_of_a_cell(self, run: Run, project: Path) -> None:
        cells = [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Train\n"]},
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": SLOW},
        ]
        text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        (project / "train.ipynb").write_text(text)
        out = run("lint", "--why", f"train.ipynb:cell 2:{LOADER}").out
        assert out.startswith(f"train.ipynb:cell 2:{LOADER}: loader = DataLoader(Photos")
        assert run("lint", "--why", "train.ipynb:3").err.endswith("train.ipynb is a notebook: say FILE:cell N:LINE\n")
        said = run("lint", "--why", f"train.ipynb:2:{LOADER}").err
        assert said == f"Error: --why: train.ipynb is a notebook: say 'train.ipynb:cell 2:{LOADER}'\n"
        assert run("lint", "--why", f"train.ipynb:cell 2:{LOADER}:10").out == out
        rows = SLOW.count("\n") + 1
        assert run("lint", "--why", "train.ipynb:cell 2:999").err.endswith(f"cell 2 has no line 999: it has {rows}\n")
        for cell in (1, 3):
            said = run("lint", "--why", f"train.ipynb:cell {cell}:1").err
            assert said == f"Error: --why: cell {cell} of train.ipynb holds no Python; those that do are 2\n"
        said = run("lint", "--why", "trian.ipynb:cell 2:1").err
        assert said == "Error: --why: trian.ipynb: there is no such file; did you mean 'train.ipynb'?\n"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("train.py",), "'train.py' is not FILE:LINE, such as train.py:42"),
        (("train.py:first",), "'train.py:first' is not FILE:LINE"),
        (("trian.py:1",), "trian.py: there is no such file; did you mean 'train.py'?"),
        (("train.py:999",), f"train.py has no line 999: it has {SLOW.count(chr(10)) + 1}"),
        (("train.py:0",), "train.py has no line 0"),
        (("train.py:cell 1:2",), "train.py is no notebook: say FILE:LINE"),
        (("train.py:1", "train.py"), "--why names file and line, such as train.py:42: leave out the paths"),
        (("8", "train.py"), "--why names file and line: say `--why train.py:8`"),
    ],
)
def test_one_sentence_for_a_place_that_is_none(run: Run, project: Path, args: tuple[str, ...], sentence: str) -> None:
    (project / "train.py").write_text(SLOW)
    done = run("lint", "--why", *args)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
