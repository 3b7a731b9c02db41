"""The command line. Only what a command needs is imported, and only when it runs."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from accel_advisor import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

LAZY: Mapping[str, tuple[str, str]] = {
    "lint": (
        "accel_advisor.commands.lint_command:lint",
        "Find what keeps an accelerator waiting, without running anything.",
    ),
    "tune": (
        "accel_advisor.commands.tune_command:tune",
        "Run a short trial of a training script, find its fastest settings and write them.",
    ),
    "report": (
        "accel_advisor.commands.report_command:report",
        "Show what tune recorded again, compare runs, or draw a history.",
    ),
    "doctor": (
        "accel_advisor.commands.doctor_command:doctor",
        "Show what this machine offers, what limits it, and how to lift that.",
    ),
    "server": (
        "accel_advisor.commands.server_command:server",
        "Serve editors: findings, fixes and measured figures as you type.",
    ),
    "rule": ("accel_advisor.commands.rule_command:rule", "Show the page of a rule."),
    "init": (
        "accel_advisor.commands.starting.init_command:init",
        "Write a commented configuration and the hook for pre-commit.",
    ),
    "completion": (
        "accel_advisor.commands.starting.completion_command:completion",
        "Install completion for bash, zsh or fish.",
    ),
    "man-page": ("accel_advisor.commands.starting.man_page_command:man_page", "Print the manual as a man page."),
    "new-rule": ("accel_advisor.commands.new_rule_command:new_rule", "Start a new rule: its file and its tests."),
}
"""Commands by name: where they are, and what the overview says of them."""
HIDDEN = frozenset({"man-page", "new-rule"})
PROGRAM = "accel-advisor"
DEBUG_VARIABLE = "ACCEL_ADVISOR_DEBUG"
"""Set in the environment, it shows the traceback of an internal error."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called: the overview imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._shown()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that are shown, without importing them, and the options."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=LAZY[name][1]) for name in self._shown() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in LAZY:
            return None
        module, _, attribute = LAZY[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in LAZY and not name.startswith("-"):
            import difflib

            close = difflib.get_close_matches(name, LAZY, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"the commands are {', '.join(self._shown())}"
            if not close and os.path.exists(name):
                hint = f"to lint it, say 'accel-advisor lint {name}'"
            ctx.fail(f"there is no command '{name}'; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, LAZY[name][1]) for name in self._shown()])

    def _shown(self) -> list[str]:
        return [name for name in LAZY if name not in HIDDEN]


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Finds what keeps your accelerator waiting in PyTorch training code, proves it by a short trial, and fixes it.

    Without a command it says what it sees in this folder, and which command to run next.
    """
    if ctx.invoked_subcommand is None:
        from accel_advisor.commands.starting.overview import overview, overview_lines

        click.echo("\n".join(overview_lines(overview())))


def main(args: list[str] | None = None) -> NoReturn:
    """Runs the command line and exits: 0 nothing found, 1 findings remain, 2 wrong use or an error, 130 Ctrl-C."""
    from accel_advisor.config import ConfigError
    from accel_advisor.project.discovery import DiscoveryError
    from accel_advisor.selection import SelectorError

    try:
        status: Any = cli.main(args=args, prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Abort:
        status = 130
    except click.ClickException as error:
        error.show()
        status = max(2, error.exit_code)
    except (ConfigError, SelectorError, DiscoveryError) as error:
        click.echo(f"Error: {error}", err=True)
        status = 2
    except BrokenPipeError:
        # The reader of our output left; Python would complain when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except OSError as error:
        click.echo(f"Error: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}", err=True)
        status = 2
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        what = f"{type(error).__name__}: {error}"
        click.echo(f"Internal error: {what}; set {DEBUG_VARIABLE}=1 to see where, and please report it", err=True)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def run() -> NoReturn:
    """The console script: :func:`main` in a process of its own. One that lints collects garbage only now and then, and
    ends without taking its syntax trees apart, which would take as long as to parse some of them again."""
    lints = sys.argv[1:2] == ["lint"]
    if lints:
        gc.disable()
    try:
        main()
    except SystemExit as end:
        if lints and isinstance(end.code, int):
            sys.stderr.flush()
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                os._exit(141)
            os._exit(end.code)
        raise
