"""Patterns in the notation of .gitignore."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from accel_advisor.project.gitignore import any_line_of, is_pattern, spec_of

LINE = st.text("ab/*!", max_size=6) | st.text("ab/*?.()P<> ", max_size=8) | st.sampled_from(["a[ab]", "[!a]b/", "**/a"])
LINES = st.lists(LINE, min_size=1)
NAME = st.text("ab.", min_size=1, max_size=4).filter(lambda name: name.strip("."))
PATHS = st.lists(NAME, min_size=1, max_size=3).map("/".join)
"""As `os.path.relpath` gives them: pathspec itself drops what an absolute one begins with."""


class TestAnyLine:
    @given(LINES, PATHS, st.booleans())
    def test_a_path_that_no_line_is_about_is_decided_by_none(self, lines: list[str], path: str, folder: bool) -> None:
        spec, relative = spec_of(lines), path + "/" * folder
        if spec is not None and not any_line_of(spec).search(relative):
            assert spec.check_file(relative).include is None

    def test_of_usual_lines_it_finds_the_paths_of_one_only(self) -> None:
        spec = GitIgnoreSpec.from_lines(["build/", "*.gen.py", "/one/two.py", "!kept.gen.py"])
        paths = ["build/a.py", "x/build/a.py", "a.gen.py", "kept.gen.py", "one/two.py", "x/one/two.py", "train.py"]
        assert [path for path in paths if any_line_of(spec).search(path)] == paths[:5]


class TestMeaningless:
    def test_a_lone_negation_is_no_pattern(self) -> None:
        assert not is_pattern("!")
        assert is_pattern("!kept.py")

    def test_it_is_skipped_beside_others(self) -> None:
        spec = spec_of(["!", "# a comment", "", "out/"])
        assert spec is not None
        assert len(list(spec.patterns)) == 1
        assert spec.match_file("out/a.py")

    def test_nothing_is_said_by_it_alone(self) -> None:
        assert spec_of(["!", "#", ""]) is None
