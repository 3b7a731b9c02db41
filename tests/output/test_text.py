"""The format for people."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accel_advisor.finding import Applicability, Finding, Fix, Frequency, Location, Related, Severity, Span
from accel_advisor.linting.report import Report
from accel_advisor.machine.cores import usable_cores
from accel_advisor.output import Screen, text
from accel_advisor.source.document import Document

from .findings import SOURCE, finding, report


class TestText:
    def test_nothing(self) -> None:
        asked = {"/train.py": "train.py"}
        assert text.render(Report(checked=1, asked=asked), Screen()) == "1 file checked, nothing found.\n"
        two = [finding("f(a", ")"), finding("b,", ",")]
        assert (
            text.render(Report(checked=1234, asked=asked, fixed=two), Screen())
            == "Made 2 fixes. 1,234 files checked, nothing left.\n"
        )

    def test_no_file_that_mentions_torch(self) -> None:
        assert text.render(Report(checked=1), Screen()) == "1 file checked, nothing found: it does not mention torch.\n"
        shown = text.render(Report(checked=12), Screen())
        assert shown == "12 files checked, nothing found: none of them mentions torch.\n"

    def test_tabs_wide_characters_and_several_lines(self) -> None:
        assert text.render(report(finding("f(a", ")")), Screen()) == (
            "train.py:2:11: ACC102 dataloader-num-workers-zero (warning)\n"
            "  It waits.\n"
            "    |\n"
            "  2 |     x = '表'; f(a,\n"
            "    |               ^^^^\n"
            "  3 |         b,\n"
            "    |         ^^\n"
            "  4 | )\n"
            "    | ^\n"
            "    = other.py:4:2: the model is moved here\n"
            "    = fix: Do it (safe, --fix makes it)\n"
            "\n"
            "`accel-advisor rule ACC102` says why, what to write instead, and when to ignore it.\n"
            "1 finding (warning) in 1 of 3 files; 1 fixable with --fix.\n"
        )

    def test_places_about_which_the_same_is_said_stand_together_and_each_once(self) -> None:
        def at(filename: str, row: int, message: str) -> Related:
            return Related(filename, Span(Location(0, row, 5), Location(1, row, 6)), message)

        beside = [at("net.py", 3, "it waits, too"), at("train.py", 4, "it waits, too"), at("net.py", 1, "the loop")]
        again = [at("net.py", row, "it waits, too") for row in (3, 7)]
        shown = text.render(report(replace(finding("f(a", ")"), related=(*beside, *again))), Screen())
        assert [line for line in shown.splitlines() if line.startswith("    = ")][:-1] == [
            "    = net.py:3:5, 7:5: it waits, too",
            "    = train.py:4:5: it waits, too",
            "    = net.py:1:5: the loop",
        ]
        many = tuple(at("net.py", row, "it waits, too") for row in range(1, 12))
        shown = text.render(report(replace(finding("f(a", ")"), related=many)), Screen())
        assert "    = net.py:1:5, 2:5, 3:5, 4:5, 5:5, 6:5, 7:5, 8:5 and 3 more: it waits, too\n" in shown

    def test_the_middle_of_a_long_span_is_left_out(self) -> None:
        shown = text.render(report(finding("import", "z = ")), Screen())
        assert "   4 | )\n" in shown
        assert "     | ...\n  13 | z = " in shown
        assert "y = 1" not in shown

    @pytest.mark.parametrize(
        ("source", "shown"),
        [
            ("for x in y:\n\n    f(x)\n", ["for x in y:", "^^^^^^^^^^^"]),
            ("f(x,\n\n  y)\n", ["f(x,", "^^^^", "", "  y)", "  ^^"]),
        ],
    )
    def test_a_loop_is_shown_by_its_head_and_no_empty_line_is_marked(self, source: str, shown: list[str]) -> None:
        place = Span(Location(0, 1, 1), Location(len(source), source.count("\n") + 1, 1))
        one = Finding("ACC102", "rule", "It waits.", Severity.WARNING, "train.py", place)
        lines = text.render(replace(report(one), sources={"train.py": source.encode()}), Screen()).splitlines()
        assert [line[6:] for line in lines if line[4:5] == "|"][1:] == shown

    def test_a_long_line_is_cut_around_the_place(self) -> None:
        shown = text.render(report(finding("w\n", "w")), Screen()).splitlines()
        line = next(one for one in shown if one.startswith("  13 |"))
        caret = next(one for one in shown if one.endswith("^"))
        assert len(line) < 170
        assert line[caret.index("^")] == "w"

    def test_an_empty_span_and_one_past_the_end(self) -> None:
        place = Location(len(SOURCE), 14, 1)
        one = Finding("ACC001", "syntax-error", "Odd.", Severity.ERROR, "train.py", Span(place, place))
        assert "  Odd.\n" in text.render(report(one), Screen())
        place = Location(0, 99, 1)
        far = Finding("ACC001", "syntax-error", "Far.", Severity.ERROR, "train.py", Span(place, place))
        assert "  Far.\n" in text.render(report(far), Screen())

    def test_messages_are_wrapped_where_a_width_is_known(self) -> None:
        shown = text.render(report(finding("f(a", ")", message="one `two-three` " * 9)), Screen(width=40)).splitlines()
        assert shown[1:5] == ["  one `two-three` one `two-three` one"] + ["  `two-three` one `two-three` one"] * 3

    def test_nothing_steers_the_terminal(self) -> None:
        evil = Document("train.py", "x = 1  # \x1b[2J\x07\n")
        one = Finding(
            "ACC102", "n", "It \x1b[31m waits.", Severity.INFO, "train.py", Span(evil.location(0), evil.location(1))
        )
        shown = text.render(Report([one], 1, sources={"train.py": evil.text.encode()}), Screen())
        assert "\x1b" not in shown
        assert "\x07" not in shown

    def test_the_summary_counts(self) -> None:
        findings = [finding("f(a", ")", severity=one) for one in (Severity.INFO, Severity.ERROR, Severity.ERROR)]
        assert text.summary(replace(report(*findings), fixed=findings[:1])) == (
            "Made 1 fix. 3 findings (2 errors, 1 info) in 1 of 3 files; 3 fixable with --fix."
        )

    def test_the_summary_counts_what_was_given_up(self) -> None:
        left = {f"/p/{folder}/{name}.py": folder for folder in ("old", "nets/legacy") for name in ("a", "b")}
        assert text.summary(Report([], 1, left_out={"/p/old/a.py": "old"})).endswith(
            "1 file in old not checked, as given up (name the folder to check it)."
        )
        assert text.summary(replace(report(finding("f(a", ")")), left_out=left)).endswith(
            "; 4 files in old, nets/legacy not checked, as given up (name a folder to check it)."
        )
        left |= {f"/p/{folder}/old/a.py": f"{folder}/old" for folder in "abc"}
        assert "7 files in old, nets/legacy, a/old and 2 folders more not" in text.summary(Report([], 1, left_out=left))

    def test_the_summary_counts_what_was_given_up_by_its_name(self) -> None:
        left = {"/p/run_old.py": "run_old.py"}
        assert text.summary(Report([], 1, left_out=left)).endswith(
            "; 1 file called run_old.py not checked, as given up (name the file to check it)."
        )
        left |= {"/p/src/a_old.py": "src/a_old.py"}
        assert text.summary(Report([], 1, left_out=left)).endswith(
            "; 2 files such as run_old.py not checked, as given up (name a file to check it)."
        )
        left |= {"/p/old/a.py": "old"}
        assert text.summary(Report([], 1, left_out=left)).endswith(
            "; 1 file in old and 2 files such as run_old.py not checked, as given up "
            "(name the folder or a file to check it)."
        )

    def test_what_to_do_first_stands_before_the_summary(self) -> None:
        long = finding("f(a", ")", message=f"It waits; {'say more ' * 20}")
        findings = [
            finding("f(a", ")"),
            finding("b,", ","),
            replace(finding("f(a", ")", severity=Severity.INFO), code="ACC205", frequency=Frequency.ONCE),
            replace(long, advice="say more " * 20, code="ACC401", frequency=Frequency.EPOCH, fix=None, related=()),
        ]
        lines = text.render(report(*findings), Screen()).splitlines()
        assert lines[lines.index("What to do first:") + 1 : -3] == [
            "  1. train.py:2:11: Do it (ACC102, at every step, 2 findings)",
            f"  2. train.py:2:11: Say more {'say more ' * 10}... (ACC401, once an epoch)",
            "  3. train.py:2:11: Do it (ACC205)",
        ]
        assert lines[-1].startswith("4 findings (3 warnings, 1 info)")

    @pytest.mark.parametrize("more", [0, 1])
    def test_workers_that_were_written_are_held_against_the_cores(self, more: int) -> None:
        cores = usable_cores()
        own = finding("b,", ",")
        assert own.fix is not None
        fix = Fix("Give it workers", own.fix.edits, Applicability.UNSAFE, cores + more)
        shown = text.render(Report(checked=1, fixed=[replace(own, fix=fix)]), Screen())
        assert "train.py:3: Give it workers (ACC102)" in shown
        assert (f"; this machine has {cores} usable core" in shown) == bool(more)

    def test_two_findings_need_no_order(self) -> None:
        shown = text.render(report(finding("f(a", ")"), finding("b,", ",")), Screen())
        assert "What to do first" not in shown
