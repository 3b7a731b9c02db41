"""Comments that silence findings."""

from __future__ import annotations

import pytest

from accel_advisor.editing.fixer import apply_edits
from accel_advisor.finding import Finding, Severity
from accel_advisor.selection import UNUSED_SUPPRESSION
from accel_advisor.source.document import Document
from accel_advisor.source.suppressions import Suppressions

KNOWN = {"ACC101": "missing-pin", "ACC102": "workers-zero", "ACC201": "blocking-copy"}


def findings(document: Document, code: str = "ACC102") -> list[Finding]:
    """A finding at each ``Loader(...)``."""
    import libcst as cst
    import libcst.matchers as m

    calls = m.findall(document.tree, m.Call(func=m.Name("Loader")))
    places = sorted((document.span(call) for call in calls if isinstance(call, cst.Call)), key=lambda one: one.start)
    return [Finding(code, KNOWN[code], "Slow.", Severity.WARNING, document.filename, place) for place in places]


def kept_rows(text: str, code: str = "ACC102") -> list[int]:
    document = Document("a.py", text)
    return [one.span.start.row for one in Suppressions(document, KNOWN).apply(findings(document, code))]


def unused(
    text: str, *, code: str = "ACC102", ran: tuple[str, ...] = tuple(KNOWN), complete: bool = True
) -> list[Finding]:
    document = Document("a.py", text)
    suppressions = Suppressions(document, KNOWN)
    suppressions.apply(findings(document, code))
    return list(suppressions.unused(KNOWN, ran, complete=complete, code=UNUSED_SUPPRESSION))


class TestKept:
    @pytest.mark.parametrize(
        "text",
        [
            "Loader(a)",
            "Loader(a)  # a comment",
            "Loader(a)  # accel: ignore[ACC101]",
            "Loader(a)  # accel: ignore[]",
            "Loader(a)  # accel: ignored",
            "Loader('# accel: ignore')",
            'x = """\n# accel: ignore\n"""; Loader(a)',
            "Loader(a)  # noqa: E501",
            "Loader(a)  # noqa:E501,F401",
            "Loader(a)  # noqa: ACC101",
            "Loader(a)  # noqanothing",
            "x = 1  # accel: ignore\nLoader(a)",
            "Loader(a)\nx = 1  # accel: ignore",
            "Loader(a)\n# accel: ignore\nx = 1",
            "# accel: ignore\n\nLoader(a)",
            "# noqa\nLoader(a)",
            "if x:  # accel: ignore\n    Loader(a)",
            "# accel: ignore-file[ACC101]\nLoader(a)",
        ],
    )
    def test_what_does_not_silence(self, text: str) -> None:
        assert len(kept_rows(text)) == 1

    def test_only_its_own_line_of_a_statement(self) -> None:
        assert kept_rows("f(Loader(a),  # accel: ignore\n  Loader(b))") == [2]

    def test_only_its_own_line_below_a_comment_inside_a_statement(self) -> None:
        assert kept_rows("d = {\n    # accel: ignore\n    'a': Loader(a),\n    'b': Loader(b),\n}") == [4]


class TestSilenced:
    @pytest.mark.parametrize(
        "text",
        [
            "Loader(a)  # accel: ignore",
            "Loader(a)  #accel:ignore",
            "Loader(a)  # accel: ignore[ACC102]",
            "Loader(a)  # accel: ignore[ACC102] the data is in memory",
            "Loader(a)  # accel: ignore[ACC101, ACC102]",
            "Loader(a)  # accel: ignore[workers-zero]",
            "Loader(a)  # accel: ignore[ACC1]",
            "Loader(a)  # accel: ignore[acc102]",
            "Loader(a)  # accel: ignore -- in memory",
            "Loader(a)  # type: ignore[arg-type]  # accel: ignore[ACC102] why",
            "Loader(a)  # noqa",
            "Loader(a)  # NOQA: ACC102",
            "Loader(a)  # noqa: E501, ACC102",
            "Loader(a)  # noqa: E501 ACC102",
            "Loader(a)  # noqa: workers-zero",
            "Loader(\n    a,  # accel: ignore\n)",
            "Loader(\n    a,\n)  # accel: ignore[ACC102]",
            "Loader(\n    a,\n)  # noqa: ACC102",
            "# accel: ignore[ACC102]\nLoader(a)",
            "# accel: ignore[ACC102] why\n# another comment\nLoader(a)",
            "if x:\n    # accel: ignore\n    Loader(a)",
            "# accel: ignore\nf(\n    Loader(a),\n)",
            "# accel: ignore\nx = 1; Loader(a)",
            "Loader(a)\n\n# accel: ignore-file",
            "x = 1  # accel: ignore-file[workers-zero]\nLoader(a)",
            "x = 'é𝒳'; Loader(a)  # accel: ignore",
        ],
    )
    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_what_silences(self, text: str, newline: str) -> None:
        assert kept_rows(text.replace("\n", newline)) == []

    def test_a_comment_reaches_the_header_of_a_compound_statement_only(self) -> None:
        assert kept_rows("# accel: ignore\nfor x in Loader(a):\n    Loader(b)") == [3]

    def test_every_finding_of_a_statement(self) -> None:
        assert kept_rows("# accel: ignore\nf(\n    Loader(a),\n    Loader(b),\n)\nLoader(c)") == [6]


class TestUnused:
    @pytest.mark.parametrize(
        "text",
        [
            "Loader(a)  # accel: ignore",
            "Loader(a)  # accel: ignore[ACC102]",
            "Loader(a)  # accel: ignore[ACC1]",
            "# accel: ignore-file\nLoader(a)",
            "x = 1  # noqa: ACC102",
            "x = 1  # noqa",
            "x = '# accel: ignore'",
        ],
    )
    def test_used_ones_and_foreign_ones_are_left_in_peace(self, text: str) -> None:
        assert unused(text) == []

    def test_rules_that_did_not_run_are_left_in_peace(self) -> None:
        assert unused("x = 1  # accel: ignore[ACC101]", ran=("ACC102",)) == []
        assert unused("x = 1  # accel: ignore", ran=("ACC102",), complete=False) == []

    @pytest.mark.parametrize(
        ("text", "message", "after"),
        [
            ("x = 1  # accel: ignore\n", "it silences nothing", "x = 1\n"),
            ("x = 1  # accel: ignore[ACC102] why\n", "'ACC102' is not reported here", "x = 1\n"),
            ("x = 1  # accel: ignore[ACC999]\n", "no rule is called 'ACC999'", "x = 1\n"),
            ("# accel: ignore-file[ACC101]\r\nx = 1", "'ACC101' is not reported here", "x = 1"),
            ("    # accel: ignore\n", "it silences nothing", ""),
            ("x = 1  # accel: ignore  # noqa: E501\n", "it silences nothing", "x = 1  # noqa: E501\n"),
            ("x = 1  # noqa: E501  # accel: ignore\n", "it silences nothing", "x = 1  # noqa: E501\n"),
            (
                "Loader(a)  # accel: ignore[ACC101, ACC102] why\n",
                "'ACC101' is not reported here",
                "Loader(a)  # accel: ignore[ACC102] why\n",
            ),
        ],
    )
    def test_useless_ones_are_reported_and_can_be_removed(self, text: str, message: str, after: str) -> None:
        (found,) = unused(text)
        assert (found.code, found.message) == ("ACC002", f"Unused suppression: {message}; remove it.")
        assert found.fix is not None
        assert apply_edits(text, found.fix.edits) == after


def test_text_that_cannot_be_tokenized_is_read_as_far_as_it_goes() -> None:
    document = Document("a.py", "x = 1  # accel: ignore\ny = (\n")
    assert [one.rows for one in Suppressions(document)] == [(1, 1)]


class TestMisspelt:
    """A comment that is nearly one of ours silences what it names and no more, and is reported with its spelling."""

    @pytest.mark.parametrize(
        "comment",
        [
            "# accel: ignore ACC102",
            "# accel: ignore: ACC102",
            "# accel: ignore=ACC102",
            "# accel: ignore(ACC102)",
            "# accel: ignor[ACC102]",
            "# accel: ingore[ACC102]",
            "# accel: ignores[ACC102]",
            "# accel: ignore-line[ACC102]",
            "# accel ignore[ACC102]",
            "# accel-advisor: ignore[ACC102]",
            "# accel: disable=ACC102",
            "# accel: noqa: ACC102",
            "# accel: ignore[ACC102",
        ],
    )
    def test_what_it_names_is_silenced_and_nothing_else(self, comment: str) -> None:
        text = f"Loader(a)  {comment} few samples\n"
        assert kept_rows(text) == []
        assert kept_rows(text, "ACC201") == [1]
        (reported,) = unused(text)
        means = "is read as `# accel: ignore[ACC102]`; write it so."
        assert reported.message == f"Misspelt suppression: `{comment}` {means}"
        assert reported.fix is not None
        after = apply_edits(text, reported.fix.edits)
        assert after == "Loader(a)  # accel: ignore[ACC102] few samples\n"
        assert unused(after) == []

    def test_names_of_rules_and_several(self) -> None:
        (reported,) = unused("Loader(a)  # accel: ignore workers-zero, ACC201 both\n")
        assert "write it so" in reported.message
        assert "`# accel: ignore[workers-zero, ACC201]`" in reported.message
        assert kept_rows("Loader(a)  # accel: ignore workers-zero, ACC201 both\n") == []

    def test_files(self) -> None:
        text = "# accel: ignore-file ACC102\nLoader(a)\nLoader(b)\n"
        assert kept_rows(text) == []
        assert "`# accel: ignore-file[ACC102]`" in unused(text)[0].message

    def test_one_that_names_nothing_silences_nothing(self) -> None:
        text = "Loader(a)  # accel: ignor[]\n"
        assert kept_rows(text) == [1]
        (reported,) = unused(text)
        assert reported.message.endswith("silences nothing; write `# accel: ignore[CODE]`.")
        assert reported.fix is None

    @pytest.mark.parametrize(
        "comment",
        [
            "# accel: ignore",
            "# accel: ignore one-off script",
            "# accel: ignore, since ACC102 is wrong here",
            "# accel: ignore[ACC102] see ACC101",
        ],
    )
    def test_a_reason_is_no_list_of_rules(self, comment: str) -> None:
        assert kept_rows(f"Loader(a)  {comment}\n") == []
        assert unused(f"Loader(a)  {comment}\n") == []

    @pytest.mark.parametrize("comment", ["# accel: 9.81", "# accel: forward [m/s^2]", "# accelerate(x)", "# accel = v"])
    def test_other_comments_about_acceleration_are_left_alone(self, comment: str) -> None:
        assert kept_rows(f"Loader(a)  {comment}\n") == [1]
        assert unused(f"Loader(a)  {comment}\n") == []
