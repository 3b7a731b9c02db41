"""Takes the pictures of docs/images that show where people meet findings: Neovim and Emacs in a terminal (tmux), and in
Chromium, headless, light and dark, VS Code's workbench and the site of the docs.

    python benchmarks/place_pictures.py [neovim] [emacs] [vscode] [site]

Needed are Debian's neovim, emacs-nox, elpa-eglot, tmux and chromium; for VS Code npm, too.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.report_pictures import PROGRAMS, ROOT, Picture, reduced, take

COLUMNS, LINES = 112, 34
PATIENCE_SECONDS = 60
NEOVIM = """\
vim.o.termguicolors = false
vim.o.number = true
vim.o.signcolumn = "yes"
vim.o.background = "dark"
vim.o.linebreak = true
vim.cmd("syntax on")
vim.cmd("highlight NormalFloat ctermbg=235 | highlight FloatBorder ctermfg=245 ctermbg=235")
vim.cmd("highlight SignColumn ctermbg=none | highlight LineNr ctermfg=240 | highlight DiagnosticInfo ctermfg=75")
vim.cmd("highlight DiagnosticWarn ctermfg=214 | highlight Constant ctermfg=180 | highlight Number ctermfg=180")
vim.cmd("highlight DiagnosticUnderlineInfo ctermfg=75 cterm=underline")
vim.api.nvim_create_autocmd("FileType", {
  pattern = "python",
  callback = function()
    local client = vim.lsp.start_client({
      name = "accel-advisor",
      cmd = { "accel-advisor", "server" },
      root_dir = vim.fn.getcwd(),
    })
    vim.lsp.buf_attach_client(0, client)
  end,
})
"""
NEOVIM_KEYS = (":lua vim.diagnostic.open_float({ scope = 'line', header = '', border = 'rounded' })", "Enter")
EMACS = """\
(setq inhibit-startup-screen t native-comp-async-report-warnings-errors nil)
(menu-bar-mode -1)
(global-display-line-numbers-mode)
(package-initialize)
(require 'eglot)
(add-to-list 'eglot-server-programs '(python-mode . ("accel-advisor" "server")))
(add-hook 'python-mode-hook 'eglot-ensure)
(set-face-attribute 'mode-line nil :background "color-237" :foreground "color-252")
(set-face-attribute 'mode-line-inactive nil :background "color-235" :foreground "color-246")
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class Terminal:
    """A program in a terminal of a fixed size.

    Args:
        command: what runs in it.
        folder: where.
    """

    def __init__(self, command: list[str], folder: Path) -> None:
        self._socket = str(folder / "tmux")
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        size = ["-x", str(COLUMNS), "-y", str(LINES)]
        start = ["new-session", "-d", "-s", "picture", *size, "-c", str(folder), *command]
        self._tmux("-f", "/dev/null", *start, env={**environment, "TERM": "xterm-256color"})

    def _tmux(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        command = ["tmux", "-2", "-S", self._socket, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env, timeout=60).stdout

    def press(self, *keys: str) -> None:
        """Types."""
        self._tmux("send-keys", "-t", "picture", *keys)

    @property
    def screen(self) -> str:
        """What it shows, with its colours as escape sequences."""
        return self._tmux("capture-pane", "-e", "-p", "-t", "picture")

    def until(self, holds: Callable[[str], bool]) -> str:
        """The screen as soon as it shows something.

        Raises:
            TimeoutError: it does not.
        """
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if holds(Text.from_ansi(self.screen).plain):
                return self.screen
            time.sleep(0.2)
        raise TimeoutError(f"the terminal does not show what it should:\n{Text.from_ansi(self.screen).plain}")

    def end(self) -> None:
        """Ends the program."""
        self._tmux("kill-server")


def neovim(folder: Path) -> str:
    """The screen of Neovim with the findings of a line in a window."""
    (folder / "init.lua").write_text(NEOVIM)
    terminal = Terminal(["nvim", "-n", "-u", "init.lua", "+60", "train.py"], folder)
    try:
        terminal.until(lambda text: "■" in text)
        terminal.press(*NEOVIM_KEYS)
        return terminal.until(lambda text: "╰" in text)
    finally:
        terminal.end()


def emacs(folder: Path) -> str:
    """The screen of Emacs with Eglot, the finding of a line below the text."""
    (folder / "init.el").write_text(EMACS)
    terminal = Terminal(["emacs", "-nw", "-q", "-l", "init.el", "+65:18", "train.py"], folder)
    try:
        terminal.until(lambda text: "Flymake[0 2 3]" in text)
        terminal.press("M-x", "flymake-show-buffer-diagnostics", "Enter")
        return terminal.until(lambda text: "ACC208" in text)
    finally:
        terminal.end()


def drawn(screen: str, name: str, program: str, scratch: Path) -> Path:
    """The picture of a screen."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(screen.rstrip("\n")), end="")
    style = "body { margin: 0; padding: 10px } pre { margin: 0; font: 14px/18px DejaVu Sans Mono !important }"
    page = scratch / f"{name}.html"
    page.write_text(
        f"<style>{style}</style>" + console.export_html(theme=MONOKAI, inline_styles=True), encoding="utf-8"
    )
    return take(program, page.as_uri(), Picture(name, round(COLUMNS * 8.43) + 20, LINES * 18 + 20, colours=32), scratch)


def site(program: str, scratch: Path) -> list[Path]:
    """Pictures of the first page of the site, of a rule, and of the first page on a phone."""
    build = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "--site-dir",
        str(scratch / "site"),
    ]
    subprocess.run(build, cwd=ROOT, check=True, timeout=300)
    handler = partial(Quiet, directory=str(scratch / "site"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    wanted = [
        (Picture("site", 1240, 900, colours=64), ""),
        (Picture("site-dark", 1240, 900, dark=True, colours=64), "rules/ACC102/"),
        (Picture("site-phone", 400, 900, colours=64), ""),
    ]
    try:
        return [take(program, f"{address}/{page}", picture, scratch) for picture, page in wanted]
    finally:
        server.shutdown()


def vscode(scratch: Path) -> list[Path]:
    """Pictures of the workbench: a quick fix, the page of a rule, and a notebook."""
    run = ROOT / "editors" / "vscode" / "try" / "run.sh"
    made = scratch / "vscode"
    subprocess.run([run, made], check=True, timeout=900, env={**os.environ, "PYTHON": sys.executable})
    return [reduced(path, 256) for path in sorted(made.iterdir())]


def main() -> None:
    """Takes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=["neovim", "emacs", "vscode", "site", []], metavar="NAME")
    names = parser.parse_args().names or ["neovim", "emacs", "vscode", "site"]
    program = next((one for one in PROGRAMS if shutil.which(one)), None)
    if program is None:
        sys.exit("no Chromium here: apt-get install chromium")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        made: list[Path] = site(program, scratch) if "site" in names else []
        made += vscode(scratch) if "vscode" in names else []
        for one, screen_of in (("neovim", neovim), ("emacs", emacs)):
            if one in names:
                folder = scratch / one
                folder.mkdir()
                shutil.copy(ROOT / "fixtures" / "demo" / "train.py", folder)
                made.append(drawn(screen_of(folder), one, program, scratch))
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
