"""The commands ``tune`` and ``doctor``: options in, exit status out."""

from __future__ import annotations

import math
import os
import shlex
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accel_advisor.commands.failure import Failure, console_here
from accel_advisor.commands.output_files import Outputs
from accel_advisor.commands.trials.only_trial import only_trial
from accel_advisor.commands.trials.tuning_nodes import (
    Interrupted,
    answer_of,
    asked_of,
    meeting_place,
    node_options,
    terminable,
    together,
)
from accel_advisor.source.document import is_notebook
from accel_advisor.tuning.nodes.rendezvous import Asked
from accel_advisor.tuning.search.settings import KNOBS, TRAINING_KNOB_NAMES, UnknownKnobError, fix_rules, parse_knobs
from accel_advisor.tuning.target.environment_remedies import environment_remedy, missing_torch
from accel_advisor.tuning.target.launcher import LaunchError, check_tasks, missing_rank, one_of_several, parse_ranks
from accel_advisor.tuning.target.remedies import remedy_for_memory, remedy_of
from accel_advisor.tuning.trial.interrupts import Interrupts

if TYPE_CHECKING:
    from rich.console import Console

    from accel_advisor.config import Config
    from accel_advisor.tuning.record.outcome import Outcome
    from accel_advisor.tuning.target.command import Command
    from accel_advisor.tuning.trial.trial_errors import ScriptFailed

_ARGUMENTS, _WORDS = "accel_advisor.arguments", "accel_advisor.words"
_NEAR = 0.8
"""Likeness of an option that is not there to one that may have been meant: those of scripts are often half alike."""
_FILE = click.Path(path_type=Path, dir_okay=False)


class _ScriptCommand(click.Command):
    """A command whose words after ``--`` belong to the user's script."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- ARGS]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, script = args, []
        if "--" in args:
            split = args.index("--")
            own, script = args[:split], args[split + 1 :]
        ctx.meta[_ARGUMENTS], ctx.meta[_WORDS] = tuple(script), args
        try:
            return super().parse_args(ctx, [*own])
        except click.NoSuchOption as error:
            near = get_close_matches(error.option_name, error.possibilities or (), 1, _NEAR)
            meant = f" (did you mean {near[0]}?)" if near else ""
            unknown = f"tune has no option {error.option_name}{meant}"
            raise click.UsageError(f"{unknown}; {_behind_dashes(own, f'{error.option_name} ...')}", ctx) from error
        except click.UsageError as error:
            if type(error) is not click.UsageError:
                raise
            # That there are too many words is all that click says in this way.
            raise click.UsageError(f"{error.message}; {_behind_dashes(own, 'ARGS')}", ctx) from error


def _behind_dashes(own: list[str], words: str) -> str:
    """How a script is given its own arguments, by an example."""
    named = next((word for word in own if word.endswith(".py")), "-m MODULE" if "-m" in own else "SCRIPT")
    return f"the script's own arguments stand after `--`, as in `accel-advisor tune {named} -- {words}`"


@click.command(cls=_ScriptCommand, name="tune", options_metavar="[OPTIONS]")
@click.argument("script", required=False, type=click.Path(path_type=Path))
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does.")
@click.option(
    "--nproc-per-node", "processes", metavar="N", help="Run the script under torchrun, in N processes, or gpu."
)
@node_options
@click.option("--apply", is_flag=True, help="Run the new source against the old one, and write it if the gain shows.")
@click.option(
    "--budget", type=float, default=60.0, show_default=True, metavar="SECONDS", help="For the search, beyond startup."
)
@click.option(
    "--start-timeout",
    "start_timeout",
    type=float,
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="For one startup of the script, until its training loop is warm.",
)
@click.option(
    "--knobs",
    default=",".join(KNOBS),
    metavar="NAMES",
    help=f"What may be changed, of: {', '.join(KNOBS)}; and of the training itself, only where it is named: "
    f"{', '.join(TRAINING_KNOB_NAMES)}. `all` is all but batch_size. `fixes` races each fix that lint offers for the "
    "training loop, `fixes:ACC205,ACC201` those of some rules.",
)
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --apply: write knobs of the training, and fixes that are not safe, too."
)
@click.option(
    "--explain",
    is_flag=True,
    help="Say what each line of a step costs, those that lint finds first, and where the loader spends its time.",
)
@click.option("--check", is_flag=True, help="Exit with status 1 when a measured gain is left on the table.")
@click.option(
    "--tolerance",
    metavar="SHARE",
    help="With --check: exit with status 1 only when the script is slower than its best run in the history by more "
    "than this, such as 5%.",
)
@click.option("--report", "page", type=_FILE, metavar="FILE", help="Write the report as a page: one HTML file.")
@click.option(
    "--json",
    "json_file",
    type=_FILE,
    metavar="FILE",
    help="Write everything that was found; docs/json.md says what each key means.",
)
@click.option("--trace", type=_FILE, metavar="FILE", help="Write the blocks as a trace that Perfetto opens.")
@click.option("--history", type=_FILE, metavar="FILE", help="Append what the script reached, as a line of JSON.")
@click.option("--wait", is_flag=True, help="Where another trial runs on this machine, begin when it has ended.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order in which candidates are visited.")
@click.pass_context
def tune(
    ctx: click.Context,
    script: Path | None,
    module: str | None,
    processes: str | None,
    apply: bool,
    budget: float,
    start_timeout: float,
    knobs: str,
    unsafe_fixes: bool,
    explain: bool,
    check: bool,
    tolerance: str | None,
    page: Path | None,
    json_file: Path | None,
    trace: Path | None,
    history: Path | None,
    wait: bool,
    seed: int,
) -> None:
    """Run a short trial of SCRIPT, find the loader settings that are fastest on this machine, and show the change.

    The script runs unmodified, as `python SCRIPT ARGS` would; its arguments stand after `--`. A notebook is run
    cell by cell. Nothing is run to its end, and nothing that it writes stays. Without SCRIPT, the script of the
    configuration is run (tune.script), or the one training script in this folder.
    """
    from accel_advisor.selection import SelectorError
    from accel_advisor.tuning.knobs.knob_trials import most_starts
    from accel_advisor.tuning.racing.fix_races import STARTS_A_FIX
    from accel_advisor.tuning.racing.offered_fixes import codes_of
    from accel_advisor.tuning.trial.trial_errors import ScriptFailed, TrialError
    from accel_advisor.tuning.tuner import Options, TuneError
    from accel_advisor.tuning.tuner import tune as run

    if not math.isfinite(budget) or budget < 5:
        raise Failure(f"--budget {budget:g} is too short: a search takes at least 5 seconds")
    if not math.isfinite(start_timeout) or start_timeout <= 0:
        raise Failure(f"--start-timeout {start_timeout:g}: give the seconds that the script may take to start")
    try:
        chosen = parse_knobs(knobs)
        rules = fix_rules(chosen)
        if rules:
            codes_of(rules)
    except UnknownKnobError as error:
        raise Failure(f"--knobs: {error}") from error
    except SelectorError as error:
        raise Failure(str(error)) from error
    if unsafe_fixes and not apply:
        raise Failure("--unsafe-fixes says what --apply may write: give both")
    outputs = Outputs(json_file, page, trace, history, _tolerance(tolerance, check))
    config, command = _command(script, module, ctx.meta[_ARGUMENTS])
    asked = asked_of(ctx)
    command = _launched(command, processes, asked)
    where = meeting_place(asked, ctx.meta[_WORDS])
    if where is None:
        outputs.check()
    launching = "--nproc-per-node" if where is None else "--nproc-per-node and --nnodes"
    if command.ranks is not None and chosen & set(TRAINING_KNOB_NAMES):
        names = ", ".join(sorted(chosen & set(TRAINING_KNOB_NAMES)))
        raise Failure(f"--knobs {names}: a knob of the training is tried in one process; leave out {launching}")
    if command.ranks is not None and rules is not None:
        raise Failure(f"--knobs fixes: a fix is raced in one process; leave out {launching}")
    if find_spec("torch") is None:
        raise Failure(missing_torch(os.environ))
    console = console_here()
    options = Options(chosen, budget, seed, apply, start_timeout, explain, unsafe_fixes)
    if chosen & set(TRAINING_KNOB_NAMES):
        starts = most_starts(chosen)
        click.echo(f"Knobs of the training start the script at most {starts} times, beside the search.", err=True)
    if rules is not None:
        click.echo(f"Each fix of lint starts the script at most {STARTS_A_FIX} times, beside the search.", err=True)
    with (
        Interrupts() as interrupts,
        only_trial(wait, interrupts),
        together(ctx, where, command, config.root, options, interrupts) as lead,
    ):
        try:
            if lead is not None:
                outputs.check()  # of the node that leads alone
            outcome = _watched(partial(run, lead=lead), command, options, config.root, console, interrupts)
        except ScriptFailed as error:
            if error.traceback:
                click.echo(error.traceback.rstrip(), err=True)
            raise Failure(f"{error.reason}: {_remedy(error, command)}") from error
        except TrialError as error:
            raise Failure(error.sentence) from error
        except TuneError as error:
            raise Failure(str(error)) from error
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was anything to report; nothing was changed") from None
        outcome.notes += _one_node(command) if lead is None else []
        if lead is not None:
            lead.answer, lead.changed = answer_of(outcome), outcome.verified is True
        _finish(ctx, outcome, console, outputs, check=check)


def _remedy(error: ScriptFailed, command: Command) -> str:
    """What to do about a script that does not run."""
    remedy = missing_rank(error.traceback, _own(command), os.environ) if command.ranks is None else ""
    if error.batches:
        own = _named(command) if command.ranks is None else _own(command)
        remedy = remedy or remedy_for_memory(error.traceback, error.status, own)
    remedy = remedy or remedy_of(error.traceback, _named(command), command.script, command.cwd)
    remedy = remedy or environment_remedy(
        error.traceback, shlex.join(["accel-advisor", "tune", *_target(command)]), os.environ
    )
    if remedy or not is_notebook(command.file.name):
        return remedy or f"make `{_spelled(command)}` run by itself, then tune it"
    return "make its cells run one after the other in a kernel of its own, then tune it"


def _tolerance(text: str | None, check: bool) -> float | None:
    from accel_advisor.tuning.record.history import parse_tolerance

    if text is None:
        return None
    if not check:
        raise Failure("--tolerance says when --check fails: give both")
    try:
        return parse_tolerance(text)
    except ValueError as error:
        raise Failure(f"--tolerance: {error}") from error


def _finish(ctx: click.Context, outcome: Outcome, console: Console, outputs: Outputs, *, check: bool) -> None:
    from accel_advisor.tuning.record.history import Rank
    from accel_advisor.tuning.showing.history_text import standing_text
    from accel_advisor.tuning.showing.remaining_text import remaining_text
    from accel_advisor.tuning.showing.summary import print_report

    print_report(outcome, console)
    standing = outputs.write(outcome)
    if outputs.replaced:
        click.echo(f"Wrote {' and '.join(outputs.replaced)}.", err=True)
    if standing is not None:
        click.echo(standing_text(standing))
    if outcome.interrupted:
        ctx.exit(Interrupted.exit_code)
    if not check:
        return
    if outputs.tolerance is not None:
        behind = standing is not None and standing.rank is Rank.BEHIND
        why = "the script has fallen behind its best run by more than is tolerated" if behind else ""
    else:
        why = remaining_text(outcome)
    if why:
        click.echo(f"--check fails: {why}.", err=True)
        ctx.exit(1)


def _watched(run: Any, command: Command, options: Any, root: Path, console: Console, interrupts: Interrupts) -> Outcome:
    from accel_advisor.tuning.showing.progress import Screen

    with terminable(), Screen(console) as screen:
        outcome: Outcome = run(command, options, root=root, watch=screen.show, interrupts=interrupts)
        return outcome


def _command(script: Path | None, module: str | None, arguments: tuple[str, ...]) -> tuple[Config, Command]:
    """The configuration that holds, and what to run.

    Raises:
        Failure: neither can be made out.
    """
    from accel_advisor.config import ConfigError
    from accel_advisor.configurations import Configurations
    from accel_advisor.tuning.target.command import Command
    from accel_advisor.tuning.target.user_command import (
        TargetError,
        checked_module,
        checked_script,
        only_script,
        script_command,
    )

    folder = Path.cwd()
    try:
        if script is not None and module is not None:
            raise Failure("name a script or a module with -m, not both")
        if script is not None:
            path = checked_script(script)
            return Configurations().of(path), script_command(path, arguments, folder)
        config = Configurations().of(folder)
        if module is not None:
            return config, Command(None, checked_module(module, folder), arguments, folder)
        if config.tune_script is not None:
            path = checked_script(config.root / config.tune_script)
            return config, script_command(path, arguments or config.tune_args, folder)
        return config, Command(only_script(folder), None, arguments, folder)
    except (ConfigError, TargetError) as error:
        raise Failure(str(error)) from error


def _launched(command: Command, processes: str | None, asked: Asked) -> Command:
    """The command as ``--nproc-per-node`` and ``--nnodes`` want it to be started."""
    several = asked.nodes != "1"
    try:
        ranks = parse_ranks(processes) if processes is not None else 1 if several else None
        if ranks is not None and is_notebook(command.file.name):
            option = "--nnodes" if processes is None else "--nproc-per-node"
            raise LaunchError(f"{option}: {command.file.name} is a notebook, and torchrun starts scripts only")
        command = replace(command, ranks=ranks)
        if not several:
            check_tasks(_own(command), os.environ)
    except LaunchError as error:
        raise Failure(str(error)) from error
    return command


def _one_node(command: Command) -> list[str]:
    """What to know of an answer that one node of several gave."""
    try:
        text = command.file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    said = one_of_several(_own(command), text, os.environ)
    return [said] if said else []


def _own(command: Command) -> list[str]:
    """The words that tune a command, as they stand behind ``accel-advisor tune``."""
    return ["--nproc-per-node", str(command.ranks or "N"), *_named(command)]


def _named(command: Command) -> list[str]:
    """What is to be run, as it stands behind ``accel-advisor tune``."""
    return [*_target(command), *(["--", *command.args] if command.args else [])]


def _target(command: Command) -> list[str]:
    return ["-m", command.module] if command.module else [_relative(command.script)]


def _spelled(command: Command) -> str:
    start = ["python"] if command.ranks is None else ["torchrun", "--nproc-per-node", str(command.ranks)]
    return shlex.join([*start, *_target(command), *command.args])


def _relative(path: Path | None) -> str:
    assert path is not None
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
