"""``accel-advisor init``: a commented configuration and the hook for pre-commit."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

import click

from accel_advisor.commands.failure import Failure
from accel_advisor.commands.starting.configuration_keys import commented
from accel_advisor.config import TABLE, Config
from accel_advisor.project.roots import Roots

CONFIGURATION = commented()
HOOK = """\
# Runs the accel-advisor of the environment that is active at the commit.
- repo: local
  hooks:
    - id: accel-advisor
      name: accel-advisor
      entry: accel-advisor lint --force-exclude --output-format concise
      language: system
      types_or: [python, pyi, jupyter]
      require_serial: true
"""
HOOKS = ".pre-commit-config.yaml"
_ITEM = re.compile(r"^(?P<indentation> *)- ", re.MULTILINE)
_REPOS = re.compile(r"^repos:[ \t]*(?:#.*)?\n", re.MULTILINE)
_TOP = re.compile(r"^(?![ \t#\n-])\S", re.MULTILINE)


@click.command(short_help="Write a commented configuration and the hook for pre-commit.")
@click.option("--yes", "-y", is_flag=True, help="Write without a question.")
def init(yes: bool) -> int:
    """Write a commented configuration to pyproject.toml, and a hook to .pre-commit-config.yaml.

    Both are written in the root of the project, below what stands there already: nothing is overwritten. What would
    change is shown first.
    """
    from accel_advisor.editing.fixer import unified_diff, write_atomically

    root = Path(Roots().of(os.getcwd()))
    texts: dict[Path, tuple[bytes, bytes]] = {}
    for path, change in ((root / "pyproject.toml", _with_configuration), (root / HOOKS, _with_hook)):
        if path.name == HOOKS and not (root / ".git").exists():
            click.echo(f"{root} is no git repository, so there is no hook to write.", err=True)
            continue
        raw = _read(path)
        text = raw.decode("utf-8") if raw is not None else ""
        new = change(path, text)
        if new is not None:
            texts[path] = (raw or b"", new.encode())
    if not texts:
        click.echo("Nothing to write.", err=True)
        return 0
    for path, (old, after) in texts.items():
        click.echo(unified_diff(os.path.relpath(path), old.decode(), after.decode()), nl=False)
    if not yes:
        if not sys.stdin.isatty():
            raise Failure("nothing was written, since nobody can be asked here: say `accel-advisor init --yes`")
        if not click.confirm("Write this?"):
            click.echo("Nothing was written.", err=True)
            return 0
    for path, (_, after) in texts.items():
        try:
            write_atomically(path, after)
        except OSError as error:
            raise Failure(f"{path}: cannot be written: {error.strerror or error}") from error
        click.echo(f"Wrote {os.path.relpath(path)}", err=True)
    click.echo(
        "Next: `accel-advisor lint`"
        + (", then `pre-commit install` (pip install pre-commit)" if root / HOOKS in texts else ""),
        err=True,
    )
    return 0


def _read(path: Path) -> bytes | None:
    """A file's bytes; None where there is none.

    Raises:
        Failure: it cannot be read, or is not UTF-8.
    """
    try:
        raw = path.read_bytes()
        raw.decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Failure(f"{path}: is not UTF-8") from error
    return raw


def _with_configuration(path: Path, text: str) -> str | None:
    """A pyproject.toml with our table at its end; None where it has one.

    Raises:
        ConfigError: the table that is there is wrong.
        Failure: the file is not TOML.
    """
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise Failure(f"{path}: is not valid TOML: {error}") from error
    if Config.read(path) is not None or (isinstance(tools, dict) and TABLE.partition(".")[2] in tools):
        click.echo(f"{os.path.relpath(path)} has [{TABLE}] already; it is left as it is.", err=True)
        return None
    return _below(text, CONFIGURATION, "\n")


def _with_hook(path: Path, text: str) -> str | None:
    """A configuration of pre-commit with our hook as the last of its repositories; None where it has ours, or where
    it has a form in which a person must find the place."""
    if "accel-advisor" in text:
        click.echo(f"{os.path.relpath(path)} names accel-advisor already; it is left as it is.", err=True)
        return None
    if not text.strip():
        return _below(text, f"repos:\n{_indented(HOOK, '  ')}", "")
    begin = _REPOS.search(text)
    item = _ITEM.search(text, begin.end()) if begin is not None else None
    if begin is None or item is None:
        click.echo(f"{os.path.relpath(path)}: put this below `repos:` yourself:\n{HOOK}", err=True)
        return None
    after = _TOP.search(text, begin.end())
    end = after.start() if after is not None else len(text)
    own = text[:end].rstrip("\n")
    return f"{own}\n{_indented(HOOK, item['indentation'])}{text[len(own) :].lstrip() if after is not None else ''}"


def _below(text: str, addition: str, gap: str) -> str:
    return f"{text.rstrip()}\n{gap}{addition}" if text.strip() else addition


def _indented(text: str, indentation: str) -> str:
    return "".join(f"{indentation}{line}" for line in text.splitlines(keepends=True))
