"""``%accel`` in a real kernel: through nbclient, and through a client that names its cells as JupyterLab does.

nbclient, nbformat and the client are imported by the tests that use them: that takes a second, and each process of a
run collects every file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

IMPORTS = """\
%pip --version
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
"""
LOADER = """\
data = TensorDataset(torch.randn(64, 3), torch.zeros(64, dtype=torch.long))
loader = DataLoader(data, batch_size=4)"""
TRAIN = """\
def train(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in loader:
        x, y = x.to("cuda"), y.to("cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item())"""
MENDED = TRAIN.replace("print(loss.item())", "print()")


def notebook_of(cells: Sequence[str]) -> Any:
    from nbformat.v4 import new_code_cell, new_notebook

    return new_notebook(cells=[new_code_cell(one) for one in cells])  # type: ignore[no-untyped-call]


def outputs(folder: Path, *cells: str, timeout: int = 120) -> list[list[Any]]:
    """Those of each cell of a notebook that was run as nbclient runs it."""
    from nbclient import NotebookClient

    notebook = notebook_of(cells)
    client = NotebookClient(notebook, allow_errors=True, timeout=timeout, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return [cell.outputs for cell in notebook.cells]


@dataclass(frozen=True)
class Linted:
    """What `%accel lint` showed in one kernel, by MIME type: before a cell that is no Python and the training, and
    after both; and what all cells but that one printed."""

    folder: Path
    silent: dict[str, str]
    spoken: dict[str, str]
    printed: str


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What each of these cells of one notebook came to."""
    return outputs(
        tmp_path_factory.mktemp("words"),
        "%load_ext accel_advisor",
        "%accel lint --select NOPE",
        "%accel mend",
        "%accel lint --ignore ACC208",
        "open('pyproject.toml', 'w').write('[tool.accel-advisor]\\nselekt = []\\n')",
        "%accel lint",
        "import os; os.remove('pyproject.toml')",
        "%unload_ext accel_advisor",
        "%accel lint",
        "%load_ext accel_advisor",
        "%accel lint",
    )


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(tmp_path))
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def shown(client: BlockingKernelClient, code: str, cell: str) -> dict[str, Any]:
    """What a cell shows, by MIME type, run as JupyterLab runs it: with the identity of the cell."""
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = client.session.msg("execute_request", content, metadata={"cellId": cell})
    client.shell_channel.send(message)
    data: dict[str, Any] = {}
    while True:
        answer = client.get_iopub_msg(timeout=60)
        if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if answer["msg_type"] == "display_data":
            data = answer["content"]["data"]
        if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
            client.get_shell_msg(timeout=60)
            return data


def found_by_lint(folder: Path, cells: Sequence[str]) -> list[tuple[str, int, int]]:
    """Code, cell and line of what the command finds in a notebook."""
    (folder / "train.ipynb").write_text(json.dumps(notebook_of(cells)), encoding="utf-8")
    command = [sys.executable, "-m", "accel_advisor", "lint", "train.ipynb", "--output-format", "json", "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return [(one["code"], one["cell"], one["location"]["row"]) for one in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Linted:
    folder = tmp_path_factory.mktemp("linted")
    cells = [IMPORTS, LOADER, "%load_ext accel_advisor", "%accel lint", "x = )", TRAIN, "%accel lint"]
    *before, silent, _, train, spoken = outputs(folder, *cells)
    printed = "".join(one.get("text", "") for each in (*before, silent, train, spoken) for one in each)
    return Linted(folder, silent[0]["data"], spoken[0]["data"], printed)


def test_the_cells_run_so_far_are_linted_as_the_notebook_of_them_is(linted: Linted) -> None:
    assert linted.silent["text/plain"] == "Nothing found: 3 cells run so far"
    assert "Error" not in linted.printed
    text = linted.spoken["text/plain"]
    expected = found_by_lint(linted.folder, [IMPORTS, LOADER, "", "", "", TRAIN])
    assert expected
    said = [line for line in text.splitlines() if line.startswith("In [")]
    assert [line.split(":")[0] for line in said] == [f"In [{cell}], line {row}" for _, cell, row in expected]
    assert [line.split(": ")[1].split()[0] for line in said] == [code for code, _, _ in expected]
    assert "    print(loss.item())" in text
    markup = linted.spoken["text/html"]
    assert "<pre>print(loss.item())</pre>" in markup
    assert "<a href" not in markup  # nbclient does not say which cell it runs


def test_a_cell_that_python_cannot_read_was_not_run(linted: Linted) -> None:
    assert "ACC001" not in linted.spoken["text/plain"]
    assert "In [6], line 9: ACC208" in linted.spoken["text/plain"]


def test_wrong_words_are_answered_with_a_sentence(words: list[list[Any]]) -> None:
    (said,) = words[1]
    assert said["text"].startswith("UsageError: select: no rule is called 'NOPE'")
    (said,) = words[2]
    assert said["text"].startswith("UsageError: argument command: invalid choice: 'mend'")
    assert words[3][0]["data"]["text/plain"] == "Nothing found: 3 cells run so far"


def test_a_configuration_that_cannot_be_used_is_named(words: list[list[Any]]) -> None:
    assert words[5][0]["text"].startswith("UsageError: ")
    assert "selekt" in words[5][0]["text"]


def test_the_extension_is_taken_out_whole(words: list[list[Any]]) -> None:
    assert "UsageError: Line magic function `%accel` not found" in words[8][0]["text"]
    assert words[10][0]["data"]["text/plain"] == "Nothing found: 10 cells run so far"


def test_findings_link_to_cells_that_have_an_identity_and_follow_what_was_run_last(
    kernel: BlockingKernelClient,
) -> None:
    shown(kernel, "%load_ext accel_advisor", "first")
    shown(kernel, IMPORTS, "imports")
    shown(kernel, LOADER, "loader")
    shown(kernel, TRAIN, "train 1")
    before = shown(kernel, "%accel lint", "lint")
    assert "In [4], line 9: ACC208" in before["text/plain"]
    assert '<a href="#cell-id=train%201">In&nbsp;[4]</a>, line 9' in before["text/html"]
    shown(kernel, MENDED, "train 1")
    assert "Nothing found" in shown(kernel, "%accel lint", "lint")["text/plain"]
