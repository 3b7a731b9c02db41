"""Trials that are started from an editor: how they go, what they leave above the loop, and what ends them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from lsprotocol import types

from ..source.notebooks import code, notebook
from .driven_server import Editor, driven, editing

TRAIN = """\
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
loader = DataLoader(TensorDataset(torch.randn(4000, 4)), batch_size=4)
for epoch in range(100_000):
    for (x,) in loader:
        model.zero_grad()
        model(x).sum().backward()
        with torch.no_grad():  # by hand: with its first optimizer torch imports its compiler, in each run
            model.weight -= 0.1 * model.weight.grad
        time.sleep(0.005)  # which leaves the cores to other tests
"""
OFFER = "measure this training: accel-advisor tune"
QUICK = {"tuneArguments": ["--budget", "5", "--knobs", "num_workers"]}


@pytest.fixture(autouse=True)
def _trials_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Trials of other tests have no lock in this folder."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert not list(folder.glob("accel-advisor-*/*"))


def started(editor: Editor) -> list[types.WorkDoneProgressBegin]:
    return [one for kept in editor.client.progress_reports.values() for one in kept if one.kind == "begin"]


def reported(editor: Editor) -> list[str]:
    return [one.message for kept in editor.client.progress_reports.values() for one in kept if one.kind == "report"]


def ended(editor: Editor) -> bool:
    return any(one.kind == "end" for kept in editor.client.progress_reports.values() for one in kept)


def said(editor: Editor) -> list[str]:
    return [one.message for one in editor.client.messages]


async def measure(editor: Editor, path: Path) -> None:
    params = types.ExecuteCommandParams("accel-advisor.tune", [str(path)])
    await editor.client.workspace_execute_command_async(params)


async def lenses(editor: Editor, uri: str) -> list[tuple[int, str, list[str]]]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_code_lens_async(params)
    commands = [(one.range.start.line, one.command) for one in found or () if one.command is not None]
    return [(row, command.title, list(command.arguments or ())) for row, command in commands]


@driven
async def test_a_notebook_is_measured_and_its_figures_stand_in_the_cell_of_the_loader(project: Path) -> None:
    head, _, loop = TRAIN.partition("for epoch")
    path = project / "train.ipynb"
    path.write_text(json.dumps(notebook(code(head), code("for epoch" + loop))))
    title, first, second = (f"vscode-notebook-cell:{path.as_uri()}#{name}" for name in "abc")
    kinds = (types.NotebookCellKind.Markup, types.NotebookCellKind.Code, types.NotebookCellKind.Code)
    cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, (title, first, second), strict=True)]
    texts = [
        types.TextDocumentItem(title, "markdown", 1, "# title"),
        types.TextDocumentItem(first, "python", 1, head),
        types.TextDocumentItem(second, "python", 1, "for epoch" + loop),
    ]
    async with editing(project, settings={"": QUICK}) as editor:
        document = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, texts))
        assert await lenses(editor, first) == [(6, OFFER, [str(path)])]
        assert [one[:2] for one in await lenses(editor, second)] == [(1, OFFER)]
        await measure(editor, path)
        await editor.until(lambda: ended(editor))
        assert [one.title for one in started(editor)] == ["accel-advisor tune train.ipynb"]
        assert any("starting the script" in one for one in reported(editor))
        await editor.until(lambda: bool(editor.client.messages))
        (told,) = said(editor)  # nothing of changes that are not saved: there are none
        assert told.startswith("train.ipynb: ")
        assert "samples/s" in told
        figures, offer = await lenses(editor, first)
        assert figures[:2] == (6, f"measured {figures[1][9:19]}: {told.removeprefix('train.ipynb: ')}")
        assert offer == (6, OFFER, [str(path)])


@driven
async def test_a_trial_that_is_cancelled_ends_and_leaves_nothing(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = project / "train.py"
    path.write_text(TRAIN)
    async with editing(project, settings={"": QUICK}) as editor:
        uri = editor.open(path, TRAIN)
        await editor.diagnostics(uri)
        await measure(editor, path)
        await editor.until(lambda: bool(reported(editor)))
        await measure(editor, path)
        await editor.until(lambda: "accel-advisor: a trial of train.py runs already" in said(editor))
        server = editor.client._server
        assert server is not None
        below = psutil.Process(server.pid).children(recursive=True)
        assert below
        (token,) = editor.client.progress_reports
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        await editor.until(lambda: ended(editor))
        await editor.until(lambda: not any(one.is_running() for one in below))
        await editor.until(lambda: len(said(editor)) == 2)
        assert said(editor)[1] == "train.py: the trial was stopped"
        assert [one[1] for one in await lenses(editor, uri)] == [OFFER, OFFER]
        await measure(editor, path)
        await editor.until(lambda: len(editor.client.progress_reports) == 2 and len(reported(editor)) > 1)
        below = psutil.Process(server.pid).children(recursive=True)
    psutil.wait_procs(below, timeout=60)  # an editor that is closed ends them, too
    assert not [one for one in below if one.is_running()]
    assert "Traceback" not in capfd.readouterr().err
    assert {one.name for one in project.iterdir()} == {"train.py", ".accel_advisor_cache", ".git"}


@driven
async def test_what_is_not_saved_is_said(project: Path) -> None:
    path, new = project / "train.py", project / "new.py"
    path.write_text("raise SystemExit('there are no photos')\n")
    async with editing(project) as editor:
        editor.open(path, TRAIN)
        editor.open(new, TRAIN)
        await measure(editor, new)
        await editor.until(lambda: bool(said(editor)))
        assert said(editor) == ["accel-advisor: new.py was never saved: save it, then measure it"]
        await measure(editor, path)
        await editor.until(lambda: len(said(editor)) == 3)
        assert said(editor)[1] == "accel-advisor: train.py is measured as it was saved last, without the changes since"
        assert said(editor)[2].startswith("train.py: ")
        path.write_bytes(b"\xef\xbb\xbfraise SystemExit('none')\r\n")
        editor.replace(path.as_uri(), path.read_bytes().decode("utf-8-sig"))
        await measure(editor, path)
        await editor.until(lambda: len(said(editor)) == 4)
        assert said(editor)[3].startswith("train.py: ")


@driven
async def test_a_record_that_cannot_be_kept_is_said(project: Path) -> None:
    path = project / "train.py"
    path.write_text(TRAIN)
    (project / ".accel_advisor_cache").write_text("a file where a folder should be")
    async with editing(project) as editor:
        await measure(editor, path)
        await editor.until(lambda: ended(editor) and bool(said(editor)))
        assert said(editor)[0].startswith("train.py: no trial can be started: ")
        assert ".accel_advisor_cache" in said(editor)[0]


def test_an_editor_that_dies_takes_its_trial_with_it(project: Path) -> None:
    path = project / "train.py"
    path.write_text(TRAIN)
    command = [sys.executable, "-m", "accel_advisor", "server"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project)
    assert server.stdin is not None
    assert server.stdout is not None
    start = {"processId": None, "rootUri": project.as_uri(), "capabilities": {}}
    run = {"command": "accel-advisor.tune", "arguments": [str(path)]}
    asked = [("initialize", start, {"id": 1}), ("initialized", {}, {}), ("workspace/executeCommand", run, {"id": 2})]
    for method, params, more in asked:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        server.stdin.flush()
    said = b""
    while b"starting the script" not in said:
        said += server.stdout.read(1)
    below = psutil.Process(server.pid).children(recursive=True)
    assert below
    server.stdin.close()
    _, left = psutil.wait_procs(below, timeout=60)
    server.stdout.close()
    assert server.wait(60) == 0
    assert not left
