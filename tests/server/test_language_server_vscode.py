"""The extension and the server in VS Code's workbench, as code-server ships it, driven in Chromium without a screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRY = ROOT / "editors" / "vscode" / "try"
INSTALLED = ROOT / "build" / "vscode"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.mark.alone
def test_what_a_person_does_in_the_workbench() -> None:
    node = INSTALLED / "node_modules" / ".bin" / "node"
    if not node.exists() or not (INSTALLED / "extension" / "accel-advisor.vsix").exists():
        pytest.skip("there is no VS Code here: editors/vscode/try/run.sh install")
    if "CHROMIUM" not in os.environ and not any(map(shutil.which, PROGRAMS)):
        pytest.skip("there is no Chromium here: apt-get install chromium")
    done = subprocess.run(
        [node, TRY / "checks.mjs"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 failed" in done.stdout
