"""``accel-advisor man-page``: the manual, made of the commands' own help."""

from __future__ import annotations

import click

EXIT_STATUS = (
    (0, "Nothing at or above --fail-on remains, or --exit-zero was given."),
    (
        1,
        "Findings remain; with --diff, there is something to fix; with tune --check, something to gain or, with "
        "--tolerance, the script has fallen behind.",
    ),
    (2, "Wrong use, a wrong configuration, a script that cannot be measured, or an internal error."),
    (130, "tune was interrupted by Ctrl-C; what it knew and had done by then is printed."),
    (143, "tune was ended by SIGTERM; what it knew and had done by then is printed."),
)
"""What each exit status of the commands means."""


@click.command(name="man-page", short_help="Print the manual as a man page.", hidden=True)
@click.pass_context
def man_page(ctx: click.Context) -> None:
    """Print the manual as a man page, which is installed with the package: `man accel-advisor` shows it where the
    folder share/man of the environment is searched."""
    click.echo(manual(ctx.find_root()), nl=False)


def manual(root: click.Context) -> str:
    """The manual of all commands of a group that are shown, in the macros of man(7)."""
    from accel_advisor import __version__

    group = root.command
    assert isinstance(group, click.Group)
    program = str(root.info_name)
    parts = [
        f'.TH {program.upper()} 1 "" "{program} {__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(program)} \\- find what keeps an accelerator waiting in PyTorch training code, and fix it",
        ".SH SYNOPSIS",
        f".B {_text(program)}",
        "[COMMAND] [OPTIONS] [ARGS]",
        ".SH DESCRIPTION",
        *_paragraphs(group.help or ""),
        ".SH COMMANDS",
    ]
    for name in group.list_commands(root):
        command = group.get_command(root, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=root)
        usage = " ".join(command.collect_usage_pieces(inner))
        parts += [f".SS {_text(f'{program} {name} {usage}')}", *_paragraphs(command.help or "")]
        for parameter in command.get_params(inner):
            record = parameter.get_help_record(inner)
            if record is not None and record[1]:
                parts += [".TP", f".B {_text(record[0])}", _text(record[1])]
    parts.append(".SH EXIT STATUS")
    for status, meaning in EXIT_STATUS:
        parts += [".TP", f".B {status}", _text(meaning)]
    return "\n".join(parts) + "\n"


def _paragraphs(text: str) -> list[str]:
    blocks = [" ".join(block.split()) for block in text.replace("\b", "").split("\n\n")]
    return [line for block in blocks if block for line in (".PP", _text(block))]


def _text(text: str) -> str:
    """Text as roff prints it letter by letter."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    plain = plain.replace("'", "\\(aq")
    return f"\\&{plain}" if plain.startswith(".") else plain
