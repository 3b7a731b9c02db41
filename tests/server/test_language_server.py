"""The server as editors use it: a real process, a real client, the texts that people type."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from accel_advisor.library.engine import Engine
from accel_advisor.server.open_texts import Places

from ..conftest import RECORDED, Run
from ..forked import Forks
from ..library.test_engine import FILES, LOADERS, SETTINGS, TRAIN, save
from .driven_server import SERVED, driven, editing


def codes(diagnostics: Sequence[types.Diagnostic]) -> list[object]:
    return [one.code for one in diagnostics]


def fresh(project: Path, name: str, text: str) -> list[tuple[str, str, int, int]]:
    """What an engine that knows nothing says of a text, as the protocol counts."""
    engine = Engine(project)
    engine.update(name, text)
    places = Places(text, "utf-16")
    ranges = [(one, places.range(one.span.start.offset, one.span.end.offset)) for one in engine.findings(name)]
    return [(one.code, one.message, at.start.line, at.start.character) for one, at in ranges]


def shown(diagnostics: Sequence[types.Diagnostic]) -> list[tuple[object, str, int, int]]:
    return [(one.code, one.message, one.range.start.line, one.range.start.character) for one in diagnostics]


@pytest.fixture
def trained(project: Path) -> Path:
    save(project, FILES)
    return project


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Servers whose start is not asked about: that is one of the first test, and of those of trials."""
    forks = Forks(SERVED)
    yield forks
    forks.close()


@driven
async def test_diagnostics_follow_the_keys_and_the_latest_text_wins(trained: Path) -> None:
    async with editing(trained) as editor:
        uri = editor.open(trained / "train.py", TRAIN)
        assert shown(await editor.diagnostics(uri)) == fresh(trained, "train.py", TRAIN) != []
        line = "    torch.cuda.empty_cache()  # 😀\f é\n"
        for number in range(len(line)):
            at = len(TRAIN) + number
            editor.type(uri, at, at, line[number])
        last = await editor.diagnostics(uri)
        text = editor.texts[uri].text
        assert text == TRAIN + line
        assert shown(last) == fresh(trained, "train.py", text)
        assert "ACC204" in codes(last) or len(last) > len(fresh(trained, "train.py", TRAIN))
        versions = [one.version for one in editor.published if one.uri == uri]
        assert len(versions) < len(line)  # keys that follow each other are checked together
        editor.replace(uri, "import torch\n(\n")
        assert codes(await editor.diagnostics(uri)) == ["ACC001"]
        editor.close(uri)
        await editor.until(lambda: not editor.client.diagnostics[uri])


@driven
async def test_an_unsaved_text_counts_for_the_files_that_import_it(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        train = editor.open(trained / "train.py", TRAIN)
        loaders = editor.open(trained / "pkg/loaders.py", LOADERS)
        assert "ACC102" in codes(await editor.diagnostics(loaders))
        editor.replace(train, TRAIN.replace("num_workers=WORKERS", "num_workers=4"))
        await editor.diagnostics(train)
        await editor.until(lambda: "ACC102" not in codes(editor.client.diagnostics[loaders]))
        editor.close(train)
        await editor.until(lambda: "ACC102" in codes(editor.client.diagnostics[loaders]))
        (trained / "settings.py").write_text('DEVICE = "cpu"\n')
        editor.save(loaders)
        await editor.until(lambda: "ACC101" not in codes(editor.client.diagnostics[loaders]))


@driven
async def test_fixes_comments_and_all_safe_fixes(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "train.py", TRAIN)
        before = codes(await editor.diagnostics(uri))
        actions = await editor.actions(uri)
        titles = [one.title for one in actions]
        assert "ACC201: Pass `non_blocking=True`" in titles
        assert "ACC208: silence host-sync-every-step with a comment" in titles
        assert {one.kind for one in await editor.actions(uri, ["quickfix"])} == {"quickfix"}
        [everything] = await editor.actions(uri, ["source.fixAll"])
        assert everything.edit is None
        assert everything.kind == "source.fixAll.accel-advisor"
        resolved = await editor.client.code_action_resolve_async(everything)
        [fixed] = editor.edited(resolved.edit).values()
        assert "non_blocking=True" in fixed
        edits = [(one.title[:6], editor.edited(one.edit)) for one in actions if one.edit is not None]
        assert len(edits) == len(actions) - 1
        for code, edit in edits:
            editor.replace(uri, edit[uri])
            assert code not in codes(await editor.diagnostics(uri))
            editor.replace(uri, TRAIN)
            assert codes(await editor.diagnostics(uri)) == before


@driven
async def test_an_unsafe_fix_says_so_and_older_clients_get_plain_edits(trained: Path, forks: Forks) -> None:
    async with editing(trained, capabilities="neovim@0.6.1", plain=True, forks=forks) as editor:
        text = TRAIN.replace("from pkg.loaders import WORKERS, build", "from torch.utils.data import DataLoader")
        text = text.replace('build(ImageFolder("photos"), num_workers=WORKERS)', 'DataLoader(ImageFolder("photos"))')
        uri = editor.open(trained / "one.py", text)
        assert "ACC102" in codes(await editor.diagnostics(uri))
        actions = await editor.actions(uri)
        assert any(one.title.endswith("(unsafe: may change what a run does)") for one in actions)
        [everything] = [one for one in actions if one.kind != "quickfix"]
        assert not [one for one in actions if one.edit is None or one.edit.document_changes]
        assert "non_blocking=True" in editor.edited(everything.edit)[uri]


@driven
async def test_hover_shows_the_page_of_the_rule(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "train.py", TRAIN)
        [copy, *_] = [one for one in await editor.diagnostics(uri) if one.code == "ACC201"]

        async def hover(position: types.Position) -> types.Hover | None:
            return await editor.client.text_document_hover_async(
                types.HoverParams(types.TextDocumentIdentifier(uri), position)
            )

        found = await hover(copy.range.start)
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.kind == "markdown"
        assert found.contents.value.startswith("# blocking-host-to-device-copy (ACC201)")
        assert await hover(types.Position(0, 0)) is None


@driven
async def test_a_cancelled_request_is_answered_and_nothing_else_suffers(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "train.py", TRAIN)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        protocol = editor.client.protocol
        asked = [protocol.send_request("textDocument/codeLens", params, msg_id=f"lens{one}") for one in range(5)]
        for number in (0, 2, 4):
            protocol.notify("$/cancelRequest", types.CancelParams(f"lens{number}"))
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*map(asyncio.wrap_future, asked), return_exceptions=True)
        for answer in answers:
            assert not isinstance(answer, BaseException) or "cancel" in str(answer).lower()
        assert not isinstance(answers[1], (JsonRpcException, asyncio.CancelledError))
        assert codes(await editor.diagnostics(uri))


def cell(uri: str, kind: types.NotebookCellKind) -> types.NotebookCell:
    return types.NotebookCell(kind, uri)


@driven
async def test_notebooks_have_findings_in_their_cells(trained: Path, forks: Forks) -> None:
    head, _, loop = TRAIN.partition("total = 0.0\n")
    notebook = (trained / "train.ipynb").as_uri()
    first, text, second = (f"vscode-notebook-cell:{notebook}#{name}" for name in ("a", "b", "c"))
    code, markup = types.NotebookCellKind.Code, types.NotebookCellKind.Markup
    async with editing(trained, forks=forks) as editor:
        assert editor.capabilities.notebook_document_sync is not None
        document = types.NotebookDocument(
            notebook, "jupyter-notebook", 1, [cell(text, markup), cell(first, code), cell(second, code)]
        )
        cells = [
            types.TextDocumentItem(text, "markdown", 1, "# title"),
            types.TextDocumentItem(first, "python", 1, head),
            types.TextDocumentItem(second, "python", 1, "%time\ntotal = 0.0\n" + loop),
        ]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, cells))
        await editor.until(lambda: bool(editor.client.diagnostics.get(second)))
        [copy] = [one for one in editor.client.diagnostics[second] if one.code == "ACC201"]
        assert copy.range.start.line == 4
        fixes = [one for one in await editor.actions(second, ["quickfix"]) if "non_blocking" in one.title]
        [change] = fixes[0].edit.document_changes if fixes[0].edit else []
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.uri == second
        [action] = await editor.actions(second, ["source"])
        resolved = await editor.client.code_action_resolve_async(action)
        assert [one.text_document.uri for one in resolved.edit.document_changes] == [second]
        structure = types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(2, 1, []), did_close=[types.TextDocumentIdentifier(second)]
        )
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure))
        version = types.VersionedNotebookDocumentIdentifier(2, notebook)
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(version, event))
        await editor.until(lambda: not editor.client.diagnostics[second])
        whole = types.TextDocumentContentChangePartial(
            types.Range(types.Position(0, 0), types.Position(99, 0)), "x = ("
        )
        content = types.NotebookDocumentCellContentChanges(types.VersionedTextDocumentIdentifier(2, first), [whole])
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content]))
        version = types.VersionedNotebookDocumentIdentifier(3, notebook)
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(version, event))
        await editor.until(lambda: editor.published[-1].version == 2 and not editor.client.diagnostics[first])


@driven
async def test_a_lens_has_the_figures_of_the_last_trial_and_a_command(trained: Path, forks: Forks) -> None:
    record = json.loads(RECORDED.read_text())
    record["loaders"][0]["site"] = {"filename": "pkg/loaders.py", "row": 7}
    (trained / "trial.json").write_text(json.dumps(record))
    (trained / "data.json").write_text('{"schema": "mine"}')
    async with editing(trained, forks=forks) as editor:
        train = editor.open(trained / "train.py", TRAIN)
        loaders = editor.open(trained / "pkg/loaders.py", LOADERS)

        async def lenses(uri: str) -> list[tuple[int, str]]:
            params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
            found = await editor.client.text_document_code_lens_async(params)
            return [(one.range.start.line, one.command.title) for one in found or () if one.command]

        offer = "measure this training: accel-advisor tune"
        [(row, figures), command] = await lenses(loaders)
        assert (row, command) == (6, (6, offer))
        assert f"measured {record['began'][:10]}" in figures
        assert "samples/s" in figures
        assert "times as fast" in figures
        assert [one[0] for one in await lenses(train)] == [10, 10]
        (trained / "trial.json").unlink()
        assert await lenses(train) == [(10, offer)]
        editor.replace(loaders, TRAIN.replace("in loader:", "in torch.utils.data.DataLoader(ImageFolder('photos')):"))
        record["loaders"][0]["site"] = {"filename": "pkg/loaders.py", "row": 11}
        (trained / "trial.json").write_text(json.dumps(record))
        assert [one[0] for one in await lenses(loaders)] == [10, 10]
        assert (await lenses(loaders))[0][1].startswith("measured ")


@driven
async def test_the_command_runs_a_trial_and_says_how_it_ended(trained: Path, forks: Forks) -> None:
    (trained / "train.py").write_text("raise SystemExit('there are no photos')\n")
    async with editing(trained, forks=forks) as editor:
        params = types.ExecuteCommandParams("accel-advisor.tune", [str(trained / "train.py")])
        await editor.client.workspace_execute_command_async(params)
        await editor.until(lambda: bool(editor.client.messages))
        assert editor.client.messages[-1].message.startswith("train.py: ")
        assert "train" in editor.client.messages[-1].message


@driven
async def test_settings_of_several_folders(trained: Path, forks: Forks, tmp_path: Path) -> None:
    other = tmp_path / "other"
    save(other, FILES)
    settings = {other.as_uri(): {"select": ["ACC102"]}}
    async with editing(trained, other, settings=settings, forks=forks) as editor:
        one = editor.open(trained / "pkg/loaders.py", LOADERS)
        two = editor.open(other / "pkg/loaders.py", LOADERS)
        await editor.until(lambda: codes(editor.client.diagnostics.get(two, ())) == ["ACC102"])
        assert len(await editor.diagnostics(one)) > 1
        (trained / "pyproject.toml").write_text('[tool.accel-advisor]\nignore = ["ACC1"]\n')
        editor.save(one)
        await editor.until(lambda: not {"ACC101", "ACC102"} & set(codes(editor.client.diagnostics[one])))
        (trained / "pyproject.toml").write_text('[tool.accel-advisor]\nignore = ["ACC999"]\n')
        editor.save(one)
        await editor.until(lambda: bool(editor.client.messages))
        assert "no rule is called 'ACC999'" in editor.client.messages[-1].message
        version = editor.replace(two, LOADERS + "# typed\n")
        assert codes(await editor.diagnostics(two, version)) == ["ACC102"]
        editor.replace(one, LOADERS + "# typed\n")
        version = editor.replace(two, LOADERS)
        assert await editor.diagnostics(two, version)
        assert len(editor.client.messages) == 1
        (trained / "pyproject.toml").write_text("")
        editor.save(one)
        await editor.diagnostics(one)


@driven
async def test_a_program_without_a_suffix(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "launch", "#!/usr/bin/env python3\n" + TRAIN)
        beside = editor.open(trained / "train.py", TRAIN)
        assert codes(await editor.diagnostics(uri)) == codes(await editor.diagnostics(beside)) != []


@driven
async def test_a_python_text_in_a_file_of_another_kind(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        editor.open(trained / "launch.txt", TRAIN)
        beside = editor.open(trained / "train.py", TRAIN)
        assert await editor.diagnostics(beside)
        assert {one.uri for one in editor.published} == {beside}


@driven
async def test_folders_come_and_go(trained: Path, forks: Forks, tmp_path: Path) -> None:
    other = tmp_path / "other"
    save(other, {**FILES, "pyproject.toml": '[tool.accel-advisor]\nselect = ["ACC102"]\n'})
    added = types.WorkspaceFolder(other.as_uri(), "other")
    async with editing(trained, settings={other.as_uri(): {"ignore": ["ACC102"]}}, forks=forks) as editor:
        folders = editor.capabilities.workspace and editor.capabilities.workspace.workspace_folders
        assert folders
        assert folders.supported
        assert folders.change_notifications
        uri = editor.open(other / "pkg/loaders.py", LOADERS)
        assert codes(await editor.diagnostics(uri)) == ["ACC102"]  # its own configuration holds outside of all folders
        event = types.WorkspaceFoldersChangeEvent(added=[added], removed=[])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await editor.until(lambda: codes(editor.client.diagnostics[uri]) == [])
        event = types.WorkspaceFoldersChangeEvent(added=[], removed=[added])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await editor.until(lambda: codes(editor.client.diagnostics[uri]) == ["ACC102"])


@driven
async def test_a_notebook_that_was_never_saved(trained: Path, forks: Forks) -> None:
    cell = "vscode-notebook-cell:Untitled-1#a"
    async with editing(trained, forks=forks) as editor:
        document = types.NotebookDocument(
            "untitled:Untitled-1", "jupyter-notebook", 1, [types.NotebookCell(types.NotebookCellKind.Code, cell)]
        )
        texts = [types.TextDocumentItem(cell, "python", 1, TRAIN)]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, texts))
        await editor.until(lambda: "ACC208" in codes(editor.client.diagnostics.get(cell, ())))


@driven
async def test_a_syntax_error_stands_where_it_is(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "train.py", "# é\nprint(a=1, (2))\n")
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.range.start.line, found.range.start.character) == ("ACC001", 1, 14)
        version = editor.replace(uri, "def go():\n")
        (found,) = await editor.diagnostics(uri, version)
        assert (found.code, found.range.start.line) == ("ACC001", 0)


@driven
async def test_a_changed_setting_counts_where_only_those_who_asked_are_told(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "train.py", TRAIN)
        await editor.until(lambda: "ACC208" in codes(editor.client.diagnostics.get(uri, ())))
        await editor.until(lambda: types.WORKSPACE_DID_CHANGE_CONFIGURATION in editor.registered)
        editor.client._configuration = {"": {"accel-advisor": {"ignore": ["ACC208"]}}}
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await editor.until(lambda: "ACC208" not in codes(editor.client.diagnostics[uri]))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"selct": ["ACC1"]}, "accel-advisor.selct: there is no such setting"),
        ({"select": "ACC1"}, "accel-advisor.select: must be a list of words"),
        ({"minSeverity": "big"}, "accel-advisor.minSeverity: 'big' is none of error, warning, info"),
        ({"minConfidence": "sure"}, "accel-advisor.minConfidence: 'sure' is none of proven, evident"),
    ],
)
@driven
async def test_a_wrong_setting_is_said_in_one_sentence(
    trained: Path, forks: Forks, settings: dict[str, object], sentence: str
) -> None:
    async with editing(trained, settings={"": settings}, forks=forks) as editor:
        await editor.until(lambda: bool(editor.client.messages))
        assert sentence in editor.client.messages[0].message
        uri = editor.open(trained / "train.py", TRAIN)
        assert await editor.diagnostics(uri)


@driven
async def test_a_text_that_was_never_saved(trained: Path, forks: Forks) -> None:
    async with editing(trained, forks=forks) as editor:
        uri = editor.open(trained / "new.py", TRAIN)
        assert shown(await editor.diagnostics(uri)) == fresh(trained, "new.py", TRAIN)
        notes = editor.open(trained / "notes.md", "# notes", "markdown")
        (trained / "settings.py").write_text(SETTINGS)
        editor.save(uri)
        await editor.until(lambda: len([one for one in editor.published if one.uri == uri]) > 1)
        assert notes not in editor.client.diagnostics


def test_without_the_extra_one_sentence_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    done = run("server")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "Error: the language server needs pygls, which is not installed: install accel-advisor with its "
        "extra [server], in a clone of it with `pip install '.[server]'`\n"
    )
