"""The server in a real editor: Neovim without a screen, as Debian has it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..library.test_engine import FILES, TRAIN, save

SCRIPT = """
local said = {}
local function until_true(holds)
  if not vim.wait(60000, holds, 20) then error("waited in vain") end
end
local function codes(buffer)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do table.insert(found, one.code) end
  table.sort(found)
  return found
end
vim.cmd("edit train.py")
vim.bo.filetype = "python"
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({
  name = "accel-advisor",
  cmd = { PYTHON, "-m", "accel_advisor", "server" },
  root_dir = vim.fn.getcwd(),
  workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = "project" } },
})
vim.lsp.buf_attach_client(buffer, client)
until_true(function() return #vim.diagnostic.get(buffer) > 0 end)
said.first = codes(buffer)
local before = #vim.diagnostic.get(buffer)
vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "    torch.cuda.empty_cache()  # 😀", "(" })
until_true(function() return vim.tbl_contains(codes(buffer), "ACC001") end)
vim.api.nvim_buf_set_lines(buffer, -2, -1, false, {})
until_true(function() return not vim.tbl_contains(codes(buffer), "ACC001") and #vim.diagnostic.get(buffer) > 0 end)
local here = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
local whole = { start = { line = 0, character = 0 }, ["end"] = { line = 30, character = 0 } }
here.range = whole
here.context = { diagnostics = {}, only = { "source.fixAll" } }
local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", here, 60000)
local action = answers[client].result[1]
said.action = action.title
local resolved = vim.lsp.buf_request_sync(buffer, "codeAction/resolve", action, 60000)[client].result
vim.lsp.util.apply_workspace_edit(resolved.edit, vim.lsp.get_client_by_id(client).offset_encoding)
said.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\\n")
until_true(function() return not vim.tbl_contains(codes(buffer), "ACC201") end)
local position = { textDocument = here.textDocument, position = { line = 15, character = 15 } }
said.hover = vim.lsp.buf_request_sync(buffer, "textDocument/hover", position, 60000)[client].result.contents.value
local file = io.open("said.json", "w")
file:write(vim.json.encode(said))
file:close()
vim.lsp.stop_client(client)
vim.cmd("quitall!")
"""


def test_findings_fixes_and_pages(project: Path) -> None:
    program = shutil.which("nvim")
    if program is None:
        pytest.skip("there is no nvim: apt-get install neovim")
    save(project, FILES)
    (project / "drive.lua").write_text(SCRIPT.replace("PYTHON", json.dumps(sys.executable)))
    command = [program, "--headless", "-u", "NONE", "-n", "-c", "luafile drive.lua", "-c", "cquit!"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)
    assert (project / "said.json").exists(), done.stderr
    said = json.loads((project / "said.json").read_text())
    assert {"ACC201", "ACC208"} <= set(said["first"])
    assert said["action"] == "accel-advisor: make all safe fixes"
    assert "images.to(DEVICE, non_blocking=True)" in said["text"]
    assert said["text"].startswith(TRAIN.splitlines()[0])
    assert "ACC208" in said["hover"]
