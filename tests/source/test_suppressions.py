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
    return [one.span.start.row for one in Suppressions(document).apply(findings(document, code))]


def unused(
    text: str, *, code: str = "ACC102", ran: tuple[str, ...] = tuple(KNOWN), complete: bool = True
) -> list[Finding]:
    document = Document("a.py", text)
    suppressions = Suppressions(document)
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
            "Loader(a)  # accel: ignore(ACC102)",
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
