"""Asks for every address on the pages and in the pages of the rules, and prints those that lead nowhere.

python ci/external_links.py    # exit status 1 where one does; needs a way to the internet, which CI has not
"""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 30
_ADDRESS = re.compile(r"https?://[^\s)>\"'`\]}|\\]+")
_OWN = ("OWNER", "localhost", "127.0.0.1", "www.w3.org/2000")
"""Parts of addresses that are not there to be followed: those of a copy that is not published, names of namespaces."""
_PROGRAM = "Mozilla/5.0 (accel-advisor; checks its links)"
"""Some sites answer browsers only."""


def addresses(root: Path) -> dict[str, list[str]]:
    """The addresses in the pages and the rules that git tracks, each with the files that have it."""
    patterns = ("*.md", "rules/*.py", "advisor/tool_pages.py")
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = {}
    for name in listed.stdout.splitlines():
        for address in _ADDRESS.findall((root / name).read_text(encoding="utf-8")):
            if not any(one in address for one in _OWN):
                found.setdefault(address.rstrip(".,;:"), []).append(name)
    return found


def dead(found: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The addresses that lead nowhere, each with the reason; a page is asked for once for all its headings."""
    headings: dict[str, list[str]] = {}
    for address in found:
        page, heading = urldefrag(address)
        headings.setdefault(page, []).append(heading)
    with ThreadPoolExecutor(8) as pool:
        for page, (text, lack) in zip(headings, pool.map(_page, headings), strict=True):
            for heading in headings[page]:
                if lack:
                    yield f"{page}#{heading}" if heading else page, lack
                elif heading and not re.search(rf"""(?:id|name)=["']?{re.escape(unquote(heading))}["'\s>]""", text):
                    yield f"{page}#{heading}", "the page has no such heading"


def _page(address: str) -> tuple[str, str]:
    """The text of a page, or why there is none."""
    request = urllib.request.Request(address, headers={"User-Agent": _PROGRAM})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.read().decode("utf-8", errors="replace"), ""
    except (urllib.error.URLError, OSError, ValueError) as error:
        return "", str(error)


def main() -> int:
    """Prints what leads nowhere."""
    found: Mapping[str, list[str]] = addresses(ROOT)
    wrong = list(dead(found))
    for address, why in wrong:
        print(f"{address}: {why} ({', '.join(sorted(set(found[address])))})")
    print(f"{len(found) - len(wrong)} of {len(found)} addresses lead to a page.", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
