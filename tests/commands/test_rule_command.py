"""Pages of rules on the command line."""

from __future__ import annotations

import json

from accel_advisor.selection import TOOL_CODES

from ..conftest import Run


class TestRulePages:
    def test_one(self, run: Run) -> None:
        page = run("rule", "ACC102").out
        assert page.startswith("# dataloader-num-workers-zero (ACC102)\n")
        assert "## Use instead\n\n```python\n" in page
        assert run("rule", "dataloader-num-workers-zero").out == page
        assert run("rule", "acc102").out == page

    def test_the_codes_of_the_tool_itself(self, run: Run) -> None:
        for code, name in TOOL_CODES.items():
            page = run("rule", code)
            assert page.status == 0
            assert page.out.startswith(f"# {name} ({code})\n")
            assert run("rule", name) == page

    def test_all(self, run: Run) -> None:
        listed = run("rule", "--all").out
        assert "ACC102  dataloader-num-workers-zero" in listed
        as_json = json.loads(run("rule", "--all", "--output-format", "json").out)
        assert [one["code"] for one in as_json] == [line.split()[0] for line in listed.splitlines()]
