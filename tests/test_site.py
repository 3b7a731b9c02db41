"""The site of docs/: it builds strictly, with a page for each rule."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from accel_advisor.config import Config
from accel_advisor.rule import registry
from accel_advisor.tuning.record.schema import Record

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def test_the_site_builds_and_has_a_page_for_each_rule(tmp_path: Path) -> None:
    """Strictly: every link leads to a page and a heading, and every page is in the navigation."""
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.parent.name for path in tmp_path.glob("rules/ACC*/index.html")} >= set(registry())
    page = (tmp_path / "rules" / "ACC402" / "index.html").read_text(encoding="utf-8")
    assert "What the fix changes" in page
    assert "torch.amp.GradScaler" in page
    assert "on one NVIDIA H200" not in page
    measured = (tmp_path / "rules" / "ACC214" / "index.html").read_text(encoding="utf-8")
    assert "on one NVIDIA H200" in measured


def test_the_reference_is_that_of_the_code_and_the_pages_by_hand_have_all_of_it() -> None:
    made = "import json, site_pages; print(json.dumps(site_pages.generated()))"
    done = subprocess.run([sys.executable, "-c", made], cwd=DOCS, capture_output=True, text=True, check=True)
    pages = json.loads(done.stdout)
    keys = set(re.findall(r"^\| `([\w-]+)` \|", pages["reference/keys.md"], re.MULTILINE))
    assert keys == set(Config(Path()).settings()) - {"root", "config"}
    by_hand = (DOCS / "configuration.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (`[^|]+`) \|", by_hand, re.MULTILINE))
    assert {key for row in rows for key in re.findall(r"`([\w-]+)`", row)} == {
        *keys,
        "extend-ignore",
        "extend-per-file-ignores",
    }
    (block,) = re.findall(r"```json\n(.*?)```", pages["reference/finding.md"], re.DOTALL)
    (finding,) = json.loads(block)
    assert finding["filename"] == "train.py"
    described = (DOCS / "output.md").read_text(encoding="utf-8")
    inner = {*finding, *finding["fix"], *finding["fix"]["edits"][0], *finding["related"][0], *finding["location"]}
    assert {key for key in inner if not re.search(rf"`(?:fix\.)?{key}`|\"{key}\"", described)} == set()
    trial = pages["reference/trial.md"]
    assert {one.name for one in fields(Record)} <= set(re.findall(r"^\| `(\w+)` \|", trial, re.MULTILINE))
    assert "| `gain` | [Ratio](#ratio), or `null` | may be missing |" in trial
    statuses = re.findall(r"^\| (\d+) \|", pages["reference/exit-status.md"], re.MULTILINE)
    table = (DOCS / "lint.md").read_text(encoding="utf-8").partition("## Exit status")[2]
    assert statuses == re.findall(r"^\| (\d+) \|", table, re.MULTILINE)


def test_links_between_files_become_links_between_pages(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import site_pages; print(site_pages.for_site('[a](../benchmarks/recall/README.md#x) [b](json.md) "
            "[c](../pyproject.toml)', 'docs/guides.md', 'guides.md'))",
        ],
        cwd=DOCS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[a](evidence/recall.md#x) [b](json.md) c (`pyproject.toml`)"


def test_pages_that_a_rule_names_become_links() -> None:
    prose = "as measured (docs/measuring.md), https://example.org/docs/measuring.md and docs/nowhere.md"
    named = f"import site_pages; print(site_pages.with_links({prose!r}))"
    done = subprocess.run([sys.executable, "-c", named], cwd=DOCS, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == prose.replace("(docs/measuring.md)", "([docs/measuring.md](../measuring.md))")
