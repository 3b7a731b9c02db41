"""The site of docs/: it builds strictly, with a page for each rule."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from accel_advisor.rule import registry

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
