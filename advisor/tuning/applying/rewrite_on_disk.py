"""Writing a rewrite, once it has been verified: until then the new source is shown to the child alone."""

from __future__ import annotations

from accel_advisor.editing.fixer import write_all
from accel_advisor.tuning.applying.rewrite import Rewrite, RewriteError
from accel_advisor.tuning.trial.interrupts import undisturbed


def check(rewrite: Rewrite) -> None:
    """Sees whether the files are those that the rewrite was made from.

    Raises:
        RewriteError: one of them is not, or cannot be read.
    """
    for path, content in rewrite.before.items():
        try:
            same = path.read_bytes() == content
        except OSError as error:
            raise RewriteError(f"{path.name} cannot be read any more: {error.strerror or error}") from error
        if not same:
            raise RewriteError(f"{path.name} changed while it was being measured: run again")


def write(rewrite: Rewrite) -> None:
    """Puts the new files in place, each in one step, all or none of them. Only a SIGKILL between two of these steps
    can part files that belong together.

    Raises:
        RewriteError: a file changed meanwhile, or cannot be written; none is changed then.
    """
    check(rewrite)
    with undisturbed():
        try:
            write_all(
                {str(path): content for path, content in rewrite.after.items()},
                expected={str(path): content for path, content in rewrite.before.items()},
            )
        except OSError as error:
            raise RewriteError(f"{error.filename or 'a file'} cannot be written: {error.strerror or error}") from error
