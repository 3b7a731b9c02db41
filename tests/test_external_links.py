"""ci/external_links.py: which addresses it finds, and what it says of those that lead nowhere."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import ModuleType

import pytest

from accel_advisor.rule import registry
from accel_advisor.rule_page import rule_page

from .pages import ROOT


@pytest.fixture(scope="module")
def links() -> ModuleType:
    spec = importlib.util.spec_from_file_location("external_links", ROOT / "ci" / "external_links.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Site(BaseHTTPRequestHandler):
    """Two pages, one of them with a heading."""

    def do_GET(self) -> None:
        pages = {"/page": b'<h2 class="x" id="a.b">A</h2>', "/bare": b"nothing"}
        body = pages.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_what_leads_nowhere_is_named(links: ModuleType, site: str) -> None:
    good = [f"{site}/page", f"{site}/page#a.b", f"{site}/bare"]
    assert list(links.dead(good)) == []
    said = dict(links.dead([*good, f"{site}/page#a", f"{site}/gone", f"{site}/gone#x", "http://127.0.0.1:1/"]))
    assert said.pop("http://127.0.0.1:1/")
    assert said == {
        f"{site}/page#a": "the page has no such heading",
        f"{site}/gone": "HTTP Error 404: Not Found",
        f"{site}/gone#x": "HTTP Error 404: Not Found",
    }


def test_the_references_of_all_rules_are_found(links: ModuleType) -> None:
    found = links.addresses(ROOT)
    references = " ".join(rule_page(one).sections.get("References", "") for one in registry().values())
    assert {one for one in references.split() if one.startswith("http")} <= set(found)
    assert "docs/tune.md" not in found
    assert not [one for one in found if "OWNER" in one or one.endswith((".", ","))]
