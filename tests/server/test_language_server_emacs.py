"""The server in Emacs with Eglot, as Debian has them: the findings that Flymake shows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..library.test_engine import FILES, save

SCRIPT = """
(package-initialize)
(require 'eglot)
(require 'json)
(defun until-true (holds)
  (let ((end (time-add nil 60)))
    (while (not (funcall holds))
      (when (time-less-p end nil) (error "waited in vain"))
      (accept-process-output nil 0.05))))
(defun said () (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\\n"))
(defun says (code) (string-match-p (regexp-quote code) (said)))
(add-to-list 'eglot-server-programs '(python-mode . (PYTHON "-m" "accel_advisor" "server")))
(setq eglot-sync-connect 60)
(find-file "train.py")
(apply #'eglot (append (eglot--guess-contact) nil))
(until-true (lambda () (says "ACC208")))
(let ((first (said)))
  (goto-char (point-max))
  (insert "(\\n")
  (eglot--signal-textDocument/didChange)
  (until-true (lambda () (says "ACC001")))
  (let ((broken (said)))
    (with-temp-file "said.json" (insert (json-encode (list (cons 'first first) (cons 'broken broken))))))
  (set-buffer-modified-p nil))
(kill-emacs 0)
"""


def test_findings_are_shown_and_follow_the_text(project: Path) -> None:
    program = shutil.which("emacs")
    if program is None:
        pytest.skip("there is no emacs: apt-get install emacs-nox elpa-eglot")
    with_eglot = [program, "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    if subprocess.run(with_eglot, capture_output=True, timeout=120, check=False).returncode != 0:
        pytest.skip("this emacs has no eglot: apt-get install elpa-eglot")
    save(project, FILES)
    (project / "drive.el").write_text(SCRIPT.replace("PYTHON", json.dumps(sys.executable)))
    command = [program, "--batch", "-q", "-l", "drive.el"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)
    assert (project / "said.json").exists(), done.stderr
    said = json.loads((project / "said.json").read_text())
    assert "ACC201" in said["first"]
    assert "ACC208" in said["first"]
    assert "ACC001" not in said["first"]
    assert "ACC001" in said["broken"]
