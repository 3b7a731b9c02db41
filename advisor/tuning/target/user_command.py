"""Which command a person means: a script, a module, what the configuration names, or the one training script here."""

from __future__ import annotations

import re
from pathlib import Path

from accel_advisor.project.discovery import near
from accel_advisor.source.document import Document, is_notebook
from accel_advisor.source.parsing import DocumentError
from accel_advisor.tuning.target.command import Command
from accel_advisor.tuning.target.notebook_script import lack_of

_LOADER = re.compile(r"\b\w*DataLoader\b")
_TRAINS = re.compile(r"\.backward\(|\.fit\(|\.train\(\)")
_SCRIPTS = ("", ".py", ".pyw")
"""How the names of scripts end; one that a shell starts by its first line needs no ending."""
_NOT_SCRIPTS = re.compile(r"^(test_.*|.*_test|conftest|setup|__init__)\.py$")


class TargetError(Exception):
    """There is no script to run, and why: one sentence with the remedy."""


def checked_script(path: Path) -> Path:
    """``path``, absolute, if it is a file that Python can compile, or a notebook whose cells can be run.

    Raises:
        TargetError: it is missing, no Python file, has a syntax error, or is a notebook without cells in Python or with
            magics where IPython is not installed.
    """
    if path.is_dir():
        raise TargetError(f"{path} is a folder: name the training script in it{_such_as(path)}")
    if not path.exists():
        raise TargetError(f"{path} does not exist{near(str(path))}")
    if path.suffix not in _SCRIPTS and not is_notebook(str(path)):
        instead = _such_as(path.parent) or "; a script in Python under another name is to be renamed"
        raise TargetError(
            f"{path} is neither a script (.py) nor a notebook (.ipynb): name the training script{instead}"
        )
    try:
        document = Document.read(path)
    except DocumentError as error:
        raise TargetError(f"{path}:{error.row}: {error}") from error
    if document.notebook is not None:
        lack = lack_of(str(path), document.notebook)
        if lack:
            raise TargetError(lack)
        return path.absolute()
    try:
        compile(document.text, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise TargetError(f"{path}:{error.lineno or 1}: is not Python: {error.msg}") from error
    except ValueError as error:
        raise TargetError(f"{path}: is not Python: {error}") from error
    return path.absolute()


def script_command(path: Path, arguments: tuple[str, ...], folder: Path) -> Command:
    """What runs a script that :func:`checked_script` let pass: a notebook in its own folder, as Jupyter does.

    Raises:
        TargetError: a notebook is given arguments.
    """
    if not is_notebook(str(path)):
        return Command(path, None, arguments, folder)
    if arguments:
        raise TargetError(f"{path.name} is a notebook, which takes no arguments: leave out what stands behind `--`")
    return Command(path, None, (), path.parent)


def only_script(folder: Path) -> Path:
    """The one training script in ``folder``: a Python file that names a DataLoader and trains.

    Raises:
        TargetError: there is none, or there are several.
    """
    found = _scripts_in(folder)
    if not found:
        raise TargetError("no training script was found here: name one, as in `accel-advisor tune train.py`")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise TargetError(f"several training scripts are here: name one of {names}")
    return checked_script(found[0])


def _scripts_in(folder: Path) -> list[Path]:
    python = (path for path in sorted(folder.glob("*.py")) if not _NOT_SCRIPTS.match(path.name))
    return [path for path in python if is_training_script(path)]


def _such_as(folder: Path) -> str:
    found = _scripts_in(folder)
    return f", such as {found[0]}" if found else ""


def checked_module(name: str, folder: Path) -> str:
    """``name``, if it is the dotted name of a module.

    Raises:
        TargetError: it is no dotted name, or a module in ``folder`` that Python cannot compile.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise TargetError(f"{name!r} is no module: -m takes a dotted name, as in `-m package.train`")
    base = folder.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__main__.py"):
        if path.is_file():
            checked_script(path)
    return name


def is_training_script(path: Path) -> bool:
    """Whether a file names a DataLoader and trains, as far as its words show; false where it cannot be read."""
    try:
        text = Document.read(path).text
    except DocumentError:
        return False
    return bool(_LOADER.search(text)) and bool(_TRAINS.search(text))
