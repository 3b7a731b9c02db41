"""Which rules are on: codes, names and prefixes, and which of them goes before which."""

from __future__ import annotations

import pytest

from accel_advisor.selection import TOOL_CODES, Selection, SelectorError, selectors

KNOWN = {"ACC101": "missing-pin", "ACC102": "workers-zero", "ACC201": "blocking-copy", **TOOL_CODES}
DEFAULTS = ("ACC101", "ACC102")


def resolved(select: str | None = None, extend: str = "", ignore: str = "") -> set[str]:
    chosen = None if select is None else selectors([select], "--select")
    selection = Selection(chosen, selectors([extend], "--extend-select"), selectors([ignore], "--ignore"))
    return set(selection.resolve(KNOWN, DEFAULTS) - set(TOOL_CODES))


class TestSelection:
    def test_nothing_selected_means_the_defaults(self) -> None:
        assert resolved() == set(DEFAULTS)

    @pytest.mark.parametrize("text", ["ACC201", "acc201", "blocking-copy", "ACC2", "ACC20"])
    def test_by_code_name_and_prefix(self, text: str) -> None:
        assert resolved(text) == {"ACC201"}
        assert resolved(extend=text) == {"ACC101", "ACC102", "ACC201"}

    def test_all(self) -> None:
        assert resolved("ALL") == {"ACC101", "ACC102", "ACC201"}

    def test_the_more_exact_one_wins(self) -> None:
        assert resolved("ACC101", ignore="ACC1") == {"ACC101"}
        assert resolved("ACC1", ignore="ACC101") == {"ACC102"}
        assert resolved("ACC1", ignore="missing-pin") == {"ACC102"}
        assert resolved("ACC1", ignore="ACC1") == set()
        assert resolved(ignore="ACC") == set()

    def test_the_tools_own_codes_stay_on_unless_ignored(self) -> None:
        assert "ACC002" in Selection(selectors(["ACC101"], "")).resolve(KNOWN, DEFAULTS)
        assert "ACC002" not in Selection(None, (), selectors(["ACC002"], "")).resolve(KNOWN, DEFAULTS)

    def test_several_in_one_string(self) -> None:
        assert resolved("ACC101, ACC201") == {"ACC101", "ACC201"}

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("ACC999", "--select: no rule is called 'ACC999'; did you mean ACC"),
            ("missing-pins", "--select: no rule is called 'missing-pins'; did you mean missing-pin?"),
            ("zzz", "--select: no rule is called 'zzz'; `accel-advisor rule --all` lists them"),
        ],
    )
    def test_an_unknown_one_is_named(self, text: str, sentence: str) -> None:
        with pytest.raises(SelectorError) as caught:
            resolved(text)
        assert str(caught.value).startswith(sentence)
