"""Drives the language server as an impatient person would: random edits, saves, renames, questions and cancellations in
a generated project, and checks that it neither crashes nor grows, and that each answer is that of a fresh lint.

    python -m benchmarks.server --seconds 600 --files 300 --json benchmarks/results/server.json

Exits with 1 where any of that does not hold. Recorded are the times from the last key to the findings of that text, the
time from the start to the first findings, and the server's memory.

The times are those of a machine on which nothing else runs; where something does, the recorded load says so.

The server keeps the trees of the files that it read last, two texts of each, so that a key costs only what it changes:
its memory rises until it has seen the project. Memory that it would lose rises forever. To distinguish the two, every
script is first opened, edited and closed once; growth counts from there to the end of the run, and the memory at each
tenth of the run is recorded, too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil
from lsprotocol import types

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accel_advisor.configurations import Configurations
from accel_advisor.linting.joining import joined
from accel_advisor.linting.linter import lint
from accel_advisor.project.discovery import Found
from accel_advisor.server.open_texts import Places
from benchmarks.recording import processor, today
from tests.server.driven_server import Editor, editing

OPEN = 6
"""Files that are open at a time."""
MOST_GROWTH = 1.2
LINES = (
    "import torch\n",
    "x = 1\n",
    "    torch.cuda.synchronize()\n",
    "        print(loss.item())\n",
    "WORKERS = 4\n",
    "def broken(:\n",
    "# accel: ignore[ACC208]\n",
    "name = 'grüße 😀'\n",
    "\n",
)
TRAIN = """\
import torch
from torchvision.datasets import ImageFolder

from package{group}.loaders import build
from package{group}.models import Net{number}

model = Net{number}().cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
loader = build(ImageFolder("photos"))
for epoch in range(10):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = model(images.cuda()).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
LOADERS = """\
from torch.utils.data import DataLoader


def build(data, workers=0):
    return DataLoader(data, batch_size=32, num_workers=workers)
"""
MODEL = """\

class Net{number}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.layers(x)

"""
SCRIPTS = 8
"""Scripts of a group, which share a package of three files."""


@dataclass(slots=True)
class Result:
    """What a run came to."""

    files: int
    actions: int = 0
    compared: int = 0
    cancelled: int = 0
    differences: list[str] = field(default_factory=list)
    first_seconds: float = 0.0
    seconds: list[float] = field(default_factory=list)
    start_bytes: int = 0
    warm_bytes: int = 0
    tenths_bytes: list[int] = field(default_factory=list)
    end_bytes: int = 0

    @property
    def holds(self) -> bool:
        """Whether all answers were right, and memory stayed."""
        return not self.differences and self.compared > 0 and self.end_bytes <= MOST_GROWTH * self.warm_bytes


def generate(root: Path, count: int) -> list[Path]:
    """A project of so many files; those that train."""
    scripts: list[Path] = []
    made = group = 0
    while made < count:
        package = root / f"package{group}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "loaders.py").write_text(LOADERS)
        models = "".join(MODEL.format(number=number) for number in range(SCRIPTS))
        (package / "models.py").write_text("from torch import nn\n\n" + models)
        made += 3
        for number in range(SCRIPTS):
            if made < count:
                script = root / f"train{group}_{number}.py"
                script.write_text(TRAIN.format(group=group, number=number))
                scripts.append(script)
                made += 1
        group += 1
    return scripts


def fresh(path: Path, texts: dict[Path, str]) -> list[tuple[object, str, int, int]]:
    """What a lint says that knows nothing from before."""
    configurations = Configurations()
    sources = {str(one): text.encode() for one, text in texts.items()}
    report = lint([Found(str(path), named=True)], configurations, sources=sources)
    places = Places(texts[path], "utf-16")
    found = joined(one for one in report.findings if configurations.shows(one))
    ranges = [(one, places.range(one.span.start.offset, one.span.end.offset)) for one in found]
    return [(one.code, one.message, at.start.line, at.start.character) for one, at in ranges]


class Person:
    """Who edits at random."""

    def __init__(self, editor: Editor, scripts: list[Path], seed: int, result: Result) -> None:
        self._editor = editor
        self._closed = list(scripts)
        self._opened: dict[str, Path] = {}
        self._random = random.Random(seed)
        self._result = result

    async def see_everything(self) -> None:
        """Opens, edits and closes every script."""
        for path in self._closed:
            uri = self._editor.open(path, path.read_text(encoding="utf-8"))
            await self._editor.diagnostics(uri)
            end = len(self._editor.texts[uri].text)
            self._editor.type(uri, end, end, "#\n")
            await self._editor.diagnostics(uri)
            self._editor.close(uri)

    async def act(self) -> None:
        """Does one thing."""
        self._result.actions += 1
        if len(self._opened) < OPEN:
            self._open()
            return
        uri = self._random.choice(list(self._opened))
        what = self._random.choices(
            [self._type, self._save, self._rename, self._close, self._ask, self._compare], [60, 6, 2, 4, 14, 14]
        )[0]
        await what(uri)

    def _open(self) -> None:
        path = self._closed.pop(self._random.randrange(len(self._closed)))
        self._opened[self._editor.open(path, path.read_text(encoding="utf-8"))] = path

    async def _type(self, uri: str) -> None:
        text = self._editor.texts[uri].text
        lines = text.splitlines(keepends=True)
        at = self._random.randrange(len(lines) + 1)
        offset = sum(map(len, lines[:at]))
        if self._random.random() < 0.5 and at < len(lines):
            self._editor.type(uri, offset, offset + len(lines[at]), "")
        else:
            self._editor.type(uri, offset, offset, self._random.choice(LINES))
        if self._random.random() < 0.2:
            await asyncio.sleep(self._random.random() / 10)

    async def _save(self, uri: str) -> None:
        self._opened[uri].write_text(self._editor.texts[uri].text, encoding="utf-8")
        self._editor.save(uri)

    async def _rename(self, uri: str) -> None:
        old = self._opened.pop(uri)
        text = self._editor.texts[uri].text
        new = old.with_name(f"renamed{self._random.randrange(10**6)}_{old.name[-24:]}")
        old.rename(new)
        self._editor.close(uri)
        self._opened[self._editor.open(new, text)] = new

    async def _close(self, uri: str) -> None:
        self._editor.close(uri)
        self._closed.append(self._opened.pop(uri))

    async def _ask(self, uri: str) -> None:
        document = types.TextDocumentIdentifier(uri)
        asked = [
            ("textDocument/codeLens", types.CodeLensParams(document)),
            ("textDocument/hover", types.HoverParams(document, types.Position(9, 12))),
        ]
        method, params = self._random.choice(asked)
        protocol = self._editor.client.protocol
        number = f"asked{self._result.actions}"
        answer = protocol.send_request(method, params, msg_id=number)
        if self._random.random() < 0.6:
            protocol.notify("$/cancelRequest", types.CancelParams(number))
            self._result.cancelled += 1
        async with asyncio.timeout(120):
            await asyncio.gather(asyncio.wrap_future(answer), return_exceptions=True)

    async def _compare(self, uri: str) -> None:
        """Types, waits for the findings of that text, and compares them with those of a fresh lint."""
        editor = self._editor
        end = len(editor.texts[uri].text)
        began = time.perf_counter()
        editor.type(uri, end, end, "#\n")
        await editor.diagnostics(uri)
        self._result.seconds.append(time.perf_counter() - began)
        await editor.client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
        said = [
            (one.code, one.message, one.range.start.line, one.range.start.character)
            for one in editor.client.diagnostics[uri]
        ]
        texts = {path: editor.texts[one].text for one, path in self._opened.items()}
        wanted = fresh(self._opened[uri], texts)
        self._result.compared += 1
        if said != wanted:
            self._result.differences.append(f"{self._opened[uri].name}: {said} instead of {wanted}")


async def soak(root: Path, files: int, seconds: float, seed: int, actions: float = math.inf) -> Result:
    """A run of so many seconds, and at most so many actions, in a project of so many files."""
    scripts = generate(root, files)
    result = Result(files)
    with contextlib.chdir(root):
        async with editing(root) as editor:
            server = _server_of(editor)
            person = Person(editor, scripts, seed, result)
            began = time.perf_counter()
            editor.open(scripts[0], scripts[0].read_text(encoding="utf-8"))
            await editor.until(lambda: bool(editor.published))
            result.first_seconds = round(time.perf_counter() - began, 3)
            editor.close(scripts[0].as_uri())
            result.start_bytes = server.memory_info().rss
            await person.see_everything()
            result.warm_bytes = server.memory_info().rss
            began = time.perf_counter()
            while (passed := time.perf_counter() - began) < seconds and result.actions < actions:
                await person.act()
                if passed > seconds / 10 * (len(result.tenths_bytes) + 1):
                    result.tenths_bytes.append(server.memory_info().rss)
            result.end_bytes = server.memory_info().rss
            if editor.client.messages:
                result.differences += [one.message for one in editor.client.messages]
    return result


def _server_of(editor: Editor) -> psutil.Process:
    process = editor.client._server
    assert process is not None
    return psutil.Process(process.pid)


def main() -> int:
    """Runs, prints and records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(soak(Path(os.path.realpath(folder)), given.files, given.seconds, given.seed))
    times = sorted(result.seconds)
    found = {
        **{key: value for key, value in asdict(result).items() if key != "seconds"},
        "ran_seconds": given.seconds,
        "seed": given.seed,
        "median_seconds": round(statistics.median(times), 3) if times else None,
        "p95_seconds": round(times[int(len(times) * 0.95)], 3) if times else None,
        "growth": round(result.end_bytes / result.warm_bytes, 3) if result.warm_bytes else None,
        "holds": result.holds,
        "load_average": [round(one, 2) for one in os.getloadavg()],
        "processor": processor(),
        "date": today(),
    }
    print(json.dumps(found, indent=2))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0 if result.holds else 1


if __name__ == "__main__":
    sys.exit(main())
