"""Magic commands of notebooks, hidden from the parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_advisor.source.magics import masked


class TestMasks:
    @pytest.mark.parametrize(
        "text",
        [
            "x = 1\nprint('%s'\n      % x)\n",
            "y = (a\n  ! b)",  # not Python, but not a magic either
            "s = '''\n%matplotlib inline\n!ls\nwhat?\n'''\n",
            "s = 'why?'  # really?\n",
            "x = a \\\n  % b\n",
            "a != b\n",
            'f"{x!r}"\n',
            "cd ..x",
            "cd = ...\ncd\n",
            "await model.train()\nmodel;\n",
            "\tif x: y",
            "",
        ],
    )
    def test_what_is_no_magic_stays(self, text: str) -> None:
        assert masked(text) == text

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("%load_ext x\nx = 1", "0          \nx = 1"),
            ("!pip install \\\n  torch\nx", "0             \n       \nx"),
            ("if x:\n    !ls {x}\ny", "if x:\n    0      \ny"),
            ("files = !ls -l\n", "files = _0    \n"),
            ("t = %timeit -o f()", "t = _0            "),
            ("?model\nmodel??\nnn.L*?  # all\n", "0     \n0      \n0            \n"),
            ("x = f(1,\n  2)\nx.shape?", "x = f(1,\n  2)\n0       "),
            ("%time y = f(x)\n", "0    ;y = f(x)\n"),
            ("%time for x in y: f(x)", "0                     "),
            ("/f 1\n,f a b\n;f a b", "0   \n0     \n0     "),
            ("pip install torch\r\nx = 1\r\n", "0                \r\nx = 1\r\n"),
            ("cd ..", "0    "),
            ("cd .. \nx = 1", "0     \nx = 1"),
            ("ls ../data\nx", "0         \nx"),
            ("%%time\nx = f()", "0     \nx = f()"),
            ("# @title\n\n%%capture out\nx", "# @title\n\n0            \nx"),
            ("%%bash\npip install x\n", "      \n             \n"),
            ("%%writefile a.py\nimport torch", "                \n            "),
            ("%sql select 1\nfrom x", "             \n      "),
        ],
    )
    def test_magics(self, text: str, expected: str) -> None:
        assert masked(text) == expected

    @given(st.text(st.sampled_from("%!?xy =()'\"\\\n\r\t#;,/"), max_size=40))
    def test_length_and_lines_stay(self, text: str) -> None:
        after = masked(text)
        assert len(after) == len(text)
        newlines = [index for index, one in enumerate(text) if one in "\r\n"]
        assert [index for index, one in enumerate(after) if one in "\r\n"] == newlines
