"""The server in this process, where what it keeps can be counted."""

from __future__ import annotations

import asyncio
import gc
import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from accel_advisor.server.language_server import language_server

from .driven_server import driven


class Client:
    """Takes what the server sends."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def close(self) -> None:
        return None

    async def until_version(self, version: int) -> None:
        async with asyncio.timeout(60):
            while not any(one.get("params", {}).get("version") == version for one in self.sent):
                await asyncio.sleep(0.01)


@driven
async def test_nothing_is_kept_of_each_key(project: Path) -> None:
    server, client = language_server(), Client()
    server.protocol.set_writer(client, include_headers=False)

    def tell(method: str, params: dict[str, Any], **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        server.protocol.handle_message(server.protocol.structure_message(message))

    tell("initialize", {"processId": None, "rootUri": project.as_uri(), "capabilities": {}}, id=1)
    tell("initialized", {})
    uri = (project / "train.py").as_uri()
    opened = {"uri": uri, "languageId": "python", "version": 1, "text": "import torch\n"}
    tell("textDocument/didOpen", {"textDocument": opened})
    await client.until_version(1)
    before = _futures()
    start = {"line": 0, "character": 0}
    for version in range(2, 60):
        change = {"range": {"start": start, "end": start}, "text": "#\n"}
        tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]})
    await client.until_version(59)
    try:
        assert _futures() <= before + 2
    finally:
        tell("shutdown", {}, id=2)


def _futures() -> int:
    gc.collect()
    return sum(isinstance(one, Future) for one in gc.get_objects())
