"""Runs a script with a fix of lint in its source, in turns with the source as it is, and says what each one gains.

The disk keeps the source as it is: the processes of a run find either source under the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from accel_advisor.finding import Applicability, Finding
from accel_advisor.tuning.applying import rewrite_on_disk
from accel_advisor.tuning.applying.project_code import display_name
from accel_advisor.tuning.applying.rewrite import Rewrite, RewriteError, rewritten
from accel_advisor.tuning.knobs.raced_fixes import RacedFix, RacedFixes, RaceVerdict, verdict_of_race
from accel_advisor.tuning.knobs.whole_runs import AS_IT_IS, WholeRun, WholeRuns, verified
from accel_advisor.tuning.racing.offered_fixes import OfferedFixes, has_fix, offered
from accel_advisor.tuning.search.paired_runs import MOST_PAIRS
from accel_advisor.tuning.search.statistics import WORTH
from accel_advisor.tuning.search.verification import Verification
from accel_advisor.tuning.trial.interrupts import undisturbed
from accel_advisor.tuning.trial.session import Session
from accel_advisor.tuning.trial.trial_errors import TrialError

STARTS_A_FIX = 2 * MOST_PAIRS
"""Starts of the script that a race takes at most."""


class FixRaces:
    """Races of the fixes for one command.

    Args:
        session: of the command; its trials end with every run.
        root: of the project, in which files may be edited.
        rules: those whose fixes are raced; none for all that are configured.
        memory: bytes that training may take.
        block: seconds that a block lasts at least.
        say: called with what is being done, in words.

    Attributes:
        result: what is known so far.
    """

    def __init__(
        self,
        session: Session,
        *,
        root: Path,
        rules: Sequence[str],
        memory: int,
        block: float,
        say: Callable[[str], None] = lambda _words: None,
    ) -> None:
        self._runs = WholeRuns(session, memory=memory, block=block, watch=True)
        self._root = root
        self._rules = rules
        self._say = say
        self._sources: Mapping[str, bytes] = {}
        self.result = RacedFixes(())

    def run(self, *, safe: bool, unsafe: bool) -> RacedFixes:
        """Races all of them, and then those that pay together.

        Args:
            safe, unsafe: which of these are written, where the gain of all that are shows once more.

        Raises:
            TrialError: the script could not be run as it is.
            ConfigError, SelectorError: a configuration cannot be used, or a rule is none.
        """
        self._say("fixes of lint: the source as it is")
        base = self._runs.first()
        fixes = self._offered(base)
        self._sources = {os.path.realpath(name): raw for name, raw in fixes.sources.items()}
        self.result = RacedFixes((), elsewhere=fixes.elsewhere, left_out=fixes.left_out)
        if fixes.safe:
            together = self._race(fixes.safe, base, safe=True)
            if together.verdict is RaceVerdict.REFUSED and len(fixes.safe) > 1:
                for one in fixes.safe:
                    self._add(self._race((one,), base, safe=True))
            else:
                self._add(together)
        for findings in fixes.alone:
            self._add(self._race(findings, base, safe=all(has_fix(one, Applicability.SAFE) for one in findings)))
        self.result = self._settled(safe=safe, unsafe=unsafe)
        return self.result

    def _offered(self, base: WholeRun) -> OfferedFixes:
        if base.watched is None or base.watched.lines is None:
            raise TrialError("it was not seen which lines the training loop runs")
        return offered(base.watched, base.info.stack, self._rules, self._root, device=base.device)

    def _add(self, fix: RacedFix) -> None:
        self.result = replace(self.result, raced=(*self.result.raced, fix))

    def _race(self, findings: tuple[Finding, ...], base: WholeRun, *, safe: bool) -> RacedFix:
        """Old source against new, both as they were when they were linted."""
        places = dict.fromkeys(f"{one.code} {display_name(one.filename, self._root)}:{_row(one)}" for one in findings)
        self._say(f"fixes of lint: {', '.join(places)}")
        self._runs.renew()
        result = RacedFix(findings, safe, RaceVerdict.REFUSED)
        try:
            rewrite = self._rewritten(findings)
            found, moved, runs = self._runs.race(
                AS_IT_IS, alike=True, before=rewrite.before, after=rewrite.after, worth=WORTH, beside=True
            )
            rewrite_on_disk.check(rewrite)
        except RewriteError as error:
            return replace(result, refused=str(error))
        except TrialError as error:
            return replace(result, refused=f"the script could not be run with it: {error.reason}")
        started, before = (min(one.start for one in side) for side in (runs[True], [*runs[False], base]))
        return replace(
            result,
            verdict=RaceVerdict.REFUSED if moved.reason else verdict_of_race(found),
            gain=found,
            loss=moved.share,
            warm_up=max(0.0, started - before),
            refused=moved.reason,
            rewrite=rewrite,
        )

    def _rewritten(self, findings: Sequence[Finding]) -> Rewrite:
        """What fixes make of the files that were linted.

        Raises:
            RewriteError: they cannot be made, or a file is another by now.
        """
        edits = [edit for one in findings if one.fix is not None for edit in one.fix.edits]
        rewrite = rewritten(edits, self._root)
        for path, content in rewrite.before.items():
            if self._sources.get(str(path), content) != content:
                raise RewriteError(f"{path.name} changed while it was being measured: run again")
        return rewrite

    # -- all that pay -------------------------------------------------------------------------------------------

    def _settled(self, *, safe: bool, unsafe: bool) -> RacedFixes:
        paying = [one for one in self.result.raced if one.pays]
        wanted = [one for one in paying if (safe if one.safe else unsafe)]
        chosen, rewrite = self._combined(wanted or paying)
        if not chosen or (not wanted and len(chosen) == 1):
            return replace(self.result, rewrite=rewrite)
        self._say("fixes of lint: all that pay, against the source as it is")
        verification = verified(self._runs, rewrite, alike=True, beside=True)
        result = replace(self.result, rewrite=rewrite, verification=verification)
        if not wanted or not verification.holds:
            return result
        try:
            with undisturbed():
                rewrite_on_disk.write(rewrite)
                raced = tuple(replace(one, written=one in chosen) for one in self.result.raced)
                self.result = replace(result, raced=raced)
        except RewriteError as error:
            return replace(result, verification=Verification(False, verification.gain, str(error)))
        return self.result

    def _combined(self, fixes: Sequence[RacedFix]) -> tuple[list[RacedFix], Rewrite]:
        """Those that can be made together, the ones that gain most before others, and what they make of the source."""
        chosen: list[RacedFix] = []
        rewrite = Rewrite()
        for one in sorted(fixes, key=_least_gain):
            try:
                rewrite = self._rewritten([each for fix in (*chosen, one) for each in fix.findings])
            except RewriteError:
                continue  # it changes what another one changes, and gains less
            chosen.append(one)
        return chosen, rewrite


def _row(finding: Finding) -> int:
    return finding.span.start.row


def _least_gain(fix: RacedFix) -> float:
    return -fix.gain.low if fix.gain is not None else 0.0
