"""``accel-advisor completion``: completion in the shell, installed by one command."""

from __future__ import annotations

import os
from pathlib import Path

import click

from accel_advisor.commands.failure import Failure
from accel_advisor.editing.fixer import write_atomically

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ACCEL_ADVISOR_COMPLETE"
_BEGIN = "# accel-advisor: completion"
_ZSH_FIRST = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }"


@click.command(name="completion", short_help="Install completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--show", is_flag=True, help="Print the script, and write nothing.")
@click.pass_context
def completion(ctx: click.Context, shell: str | None, show: bool) -> int:
    """Install completion of commands, options and rules for SHELL, which is the one of $SHELL by default.

    The script is kept in a file of its own, which ~/.bashrc or ~/.zshrc is made to read by one more line; fish finds it
    by itself. To run it again is harmless, and brings the script of a newer version.
    """
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS:
        raise Failure(f"$SHELL is '{name}': name the shell, as in `accel-advisor completion {SHELLS[0]}`")
    source = _source(name, ctx.find_root())
    if show:
        click.echo(source)
        return 0
    path, reader = _places(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, source.encode())
        click.echo(f"Wrote {path}")
        if reader is not None:
            line = f"[ -f '{path}' ] && . '{path}'  {_BEGIN}"
            old = reader.read_text(encoding="utf-8") if reader.exists() else ""
            if line not in old:
                kept = [one for one in old.splitlines(keepends=True) if _BEGIN not in one]
                gap = "" if not kept or kept[-1].endswith("\n") else "\n"
                write_atomically(reader, f"{''.join(kept)}{gap}{line}\n".encode())
                click.echo(f"Added a line to {reader} that reads it")
    except (OSError, UnicodeDecodeError) as error:
        where = getattr(error, "filename", None) or reader
        raise Failure(f"{where}: {getattr(error, 'strerror', None) or error}; `--show` prints the script") from error
    click.echo("Open a new shell, then press Tab behind `accel-advisor`.")
    return 0


def _source(name: str, root: click.Context) -> str:
    from click.shell_completion import get_completion_class

    found = get_completion_class(name)
    assert found is not None
    source = found(root.command, {}, str(root.info_name), VARIABLE).source()
    return f"{_ZSH_FIRST}\n{source}" if name == "zsh" else source


def _places(name: str) -> tuple[Path, Path | None]:
    """Where a script is kept, and what is to read it; None where the shell looks there by itself."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "accel-advisor"
    if name == "fish":
        return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "fish/completions/accel-advisor.fish", None
    if name == "zsh":
        return data / "completion.zsh", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
    return data / "completion.bash", home / ".bashrc"
