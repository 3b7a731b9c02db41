"""Programs that look like training, made at random: what is found in them, what fixes and damage do to them."""

from __future__ import annotations

import ast
import os
import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from accel_advisor.config import Config
from accel_advisor.finding import Applicability, Finding
from accel_advisor.linting.checker import Checker
from accel_advisor.linting.fix_loop import FixOutcome, fix
from accel_advisor.linting.report import Program, Report
from accel_advisor.linting.ruleset import known_codes
from accel_advisor.selection import Selection, selectors

quickly = settings(max_examples=50)

IMPORTS = {
    "from torch.utils.data import DataLoader": "DataLoader",
    "from torch.utils.data import DataLoader as DL": "DL",
    "from torch.utils import data": "data.DataLoader",
    "import torch.utils.data as tud": "tud.DataLoader",
    "import torch.utils.data": "torch.utils.data.DataLoader",
}
NAMES = ("loader", "model", "batch", "loss", "options", "Photos", "step", "optimizer", "target")
OTHER_NAMES = ("dl2", "net_", "xb", "crit", "kw", "Größe", "advance", "opt", "y")
ARGUMENTS = (
    "batch_size=8",
    "num_workers=0",
    "num_workers=4",
    "shuffle=True",
    "pin_memory=False",
    "pin_memory=torch.cuda.is_available()",
    "persistent_workers=False",
    "prefetch_factor=None",
    "drop_last=True",
    "collate_fn=lambda rows: rows",
    "**options",
)
STEPS = (
    "batch = batch.cuda()",
    "batch, target = batch.to(device), target.to(device)",
    "batch = batch.to(device, non_blocking=True)",
    "loss = model(batch).sum()",
    "loss.backward()",
    "optimizer.zero_grad()",
    "optimizer.step()",
    "print(loss.item())",
    "total = total + loss",
    "seen.append(loss)",
    "seen.append(batch.cpu().numpy())",
    "torch.cuda.synchronize()",
    "torch.cuda.empty_cache()",
    "noise = torch.randn(8, 3).cuda()",
    "noise = torch.zeros(8).to(device)",
    "step(batch)",
    "if total:\n    break",
    "with torch.no_grad():\n    model(batch)",
    "with torch.autocast('cuda'):\n    loss = model(batch).mean()",
    'text = """a # b\n  c"""',
    "value = 1 + \\\n    2",
)
HEADS = (
    "for batch in loader:",
    "for batch, target in loader:",
    "for index, (batch, target) in enumerate(loader):",
    "while True:",
    "for epoch in range(3):",
    "if device:",
    "try:",
)


@st.composite
def programs(draw: st.DrawFn, imports: str | None = None) -> str:
    """A training script; its lines end with a line feed."""
    imports = imports or draw(st.sampled_from(sorted(IMPORTS)))
    loader = IMPORTS[imports]
    arguments = draw(st.lists(st.sampled_from(ARGUMENTS), max_size=4, unique_by=lambda one: one.partition("=")[0]))
    arguments.sort(key=lambda one: one.startswith("**"))
    joint, end = draw(
        st.sampled_from([(", ", ""), (",\n    ", ",\n"), (" ,  ", " "), (",  # why\n    ", "  # last\n")])
    )
    call = f"{loader}(Photos()" + "".join(joint + one for one in arguments) + end + ")"
    option = draw(
        st.sampled_from(["{}", "{'num_workers': 0}", "dict(num_workers=2, pin_memory=True)", "make_options()"])
    )
    used = draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=8))
    body = [f"loader = {call}", "total, seen = 0, []", *_blocks(draw, used)]
    if draw(st.booleans()):
        body = ["def train():", *_indented(body), "", "train()"]
    lines = [
        "import torch",
        imports,
        "",
        "class Photos(torch.utils.data.Dataset):",
        "    def __len__(self): return 100",
        "    def __getitem__(self, index):",
        f"        return {draw(st.sampled_from(['torch.rand(3)', 'self.rows[index]', 'open(index).read()']))}",
        "",
        "def step(batch):",
        f"    return {draw(st.sampled_from(['batch.cuda()', 'batch', 'batch.item()']))}",
        "",
        f"device = torch.device({draw(st.sampled_from(['chr(0)', repr('cuda'), repr('cpu')]))})",
        f"options = {option}",
        f"model = torch.nn.Linear(3, 2){draw(st.sampled_from(['', '.cuda()', '.to(device)']))}",
        "optimizer = torch.optim.SGD(model.parameters())",
        *body,
    ]
    return "\n".join(lines) + "\n"


def _blocks(draw: st.DrawFn, steps: list[str]) -> list[str]:
    lines = "\n".join(steps).split("\n")
    for head in draw(st.lists(st.sampled_from(HEADS), min_size=1, max_size=3)):
        inner = [head, *_indented(lines)]
        if head == "try:":
            inner += ["finally:", "    pass"]
        lines = [*lines, *inner] if draw(st.integers(0, 3)) == 0 else inner
    if any(line.strip() == "break" for line in lines):
        lines = ["for batch in loader:", *_indented(lines)]
    return lines


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@cache
def config() -> Config:
    """All rules, in a folder that has nothing else in it."""
    selection = Selection(extend_select=selectors(tuple(known_codes()), "test"))
    return Config(root=Path(tempfile.gettempdir(), "accel_advisor_has_no_such_folder"), selection=selection)


def lint(raw: bytes) -> Report:
    """A report on one file that lies nowhere."""
    name = str(config().root / "train.py")
    result = Checker().check(Program((name,), (config(),), str(config().root)), {name: raw}, {})
    return Report(list(result.findings), 1, {os.path.realpath(name): name}, {name: raw}, programs=[result.program])


def places(raw: bytes) -> list[tuple[str, int]]:
    """Code and row of all that is found, the tool's own findings excluded."""
    found = lint(raw).findings
    assert_clean(found)
    return [(one.code, one.span.start.row) for one in found]


def assert_clean(findings: list[Finding]) -> None:
    """Nothing was too odd for us."""
    assert not [one.message for one in findings if one.code in ("ACC001", "ACC003", "ACC004")]


def all_fixed(raw: bytes) -> FixOutcome:
    """What comes of all fixes."""
    return fix(lint(raw), frozenset(Applicability))


def keeps_other_lines(before: str, after: str, findings: list[Finding]) -> bool:
    """Whether all lines that no edit touches, nor a line beside them, are still there, in their order."""
    edits = [edit for one in findings if one.fix for edit in one.fix.edits]
    rows = {row for one in edits for row in range(one.span.start.row - 1, one.span.end.row + 2)}
    left = iter(after.splitlines())
    return all(line in left for row, line in enumerate(before.splitlines(), 1) if row not in rows)


@dataclass(frozen=True)
class Style:
    """How the lines of a program are written."""

    newline: str
    bom: bool
    tabs: bool

    def raw(self, text: str) -> bytes:
        """A program in this style."""
        if self.tabs:
            text = re.sub(r"^(?: {4})+", lambda spaces: "\t" * (len(spaces[0]) // 4), text, flags=re.MULTILINE)
        return (b"\xef\xbb\xbf" if self.bom else b"") + text.replace("\n", self.newline).encode()


styles = st.builds(Style, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())


WAITS = """\
import torch
from torch.utils.data import DataLoader

class Photos(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return torch.rand(3)

model = torch.nn.Linear(3, 2).cuda()
optimizer = torch.optim.SGD(model.parameters())
for batch in DataLoader(Photos(), num_workers=2):
    loss = model(batch.cuda()).sum()
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()
"""


@quickly
@given(programs(), styles)
@example(WAITS, Style("\r", False, False))
def test_fixes_parse_stay_in_their_places_and_are_done_once(text: str, style: Style) -> None:
    raw = style.raw(text)
    report = lint(raw)
    assert_clean(report.findings)
    outcome = fix(report, frozenset(Applicability))
    assert_clean(outcome.report.findings)
    for after in outcome.after.values():
        ast.parse(after)
        assert after.startswith(b"\xef\xbb\xbf") == style.bom
        assert set(re.findall(rb"\r\n|\r|\n", after)) == {style.newline.encode()}
        found = [*report.findings, *outcome.fixed]
        assert keeps_other_lines(raw.decode("utf-8-sig"), after.decode("utf-8-sig"), found)
        assert all_fixed(after).after == {}


@quickly
@given(programs(), styles)
def test_the_style_of_lines_means_nothing(text: str, style: Style) -> None:
    assert places(style.raw(text)) == places(text.encode())


@quickly
@given(programs(), st.data())
def test_lines_that_say_nothing_mean_nothing(text: str, data: st.DataObject) -> None:
    lines = text.split("\n")[:-1]
    starts = [node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    free = sorted({row for row in starts if lines[row - 1].strip() and not lines[row - 2].endswith("\\")})
    put = sorted(data.draw(st.lists(st.sampled_from(free), max_size=4, unique=True)))
    moved = {row: row + 4 * sum(one <= row for one in put) for row in range(1, len(lines) + 1)}
    longer = [
        part for row, line in enumerate(lines, 1) for part in (*(("", "# a note", "#", "") if row in put else ()), line)
    ]
    expected = [(code, moved[row]) for code, row in places(text.encode())]
    assert places(("\n".join(longer) + "\n").encode()) == expected


@quickly
@given(programs())
def test_names_mean_nothing(text: str) -> None:
    """Of values that are known: what a condition is named after (`if device:`) is evidence of what it decides."""
    renamed = text
    for old, new in zip(NAMES, OTHER_NAMES, strict=True):
        renamed = re.sub(rf"(?<![\w.]){old}\b(?!=)", new, renamed)
    assert ast.dump(ast.parse(renamed)) != ast.dump(ast.parse(text))
    assert places(renamed.encode()) == places(text.encode())


@quickly
@given(st.data(), st.sampled_from(sorted(IMPORTS)))
def test_how_a_loader_was_imported_means_nothing(data: st.DataObject, imports: str) -> None:
    plain = "from torch.utils.data import DataLoader"
    text = data.draw(programs(imports=plain))
    other = re.sub(r"(?<![\w.])DataLoader\(", f"{IMPORTS[imports]}(", text).replace(plain, imports)
    assert places(other.encode()) == places(text.encode())


def assert_no_harm(raw: bytes) -> None:
    """Whatever a file holds, there is a result, and fixes leave Python what was Python."""
    report = lint(raw)
    assert not [one.message for one in report.findings if one.code == "ACC003"]
    outcome = fix(report, frozenset(Applicability))
    assert not [one.message for one in outcome.report.findings if one.code == "ACC003"]
    for after in outcome.after.values():
        if _compiles(raw):
            assert _compiles(after)
        assert all_fixed(after).after == {}


def _compiles(raw: bytes) -> bool:
    try:
        ast.parse(raw)
    except (SyntaxError, ValueError):
        return False
    return True


@quickly
@given(programs(), st.data())
def test_damaged_lines_and_words_do_no_harm(text: str, data: st.DataObject) -> None:
    parts = text.splitlines(keepends=True) if data.draw(st.booleans()) else re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(data.draw(st.integers(1, 3))):
        at, other = (data.draw(st.integers(0, len(parts) - 1)) for _ in range(2))
        match data.draw(st.sampled_from(["delete", "repeat", "swap", "end"])):
            case "delete":
                parts[at] = ""
            case "repeat":
                parts[at] *= 2
            case "swap":
                parts[at], parts[other] = parts[other], parts[at]
            case "end":
                parts[max(at, 1) :] = [""]
    assert_no_harm("".join(parts).encode())


@quickly
@given(programs(), st.integers(0, 2000), st.binary(max_size=6), st.booleans())
@example("import torch\n", 6, b"\x00", False)
@example("import torch\n", 0, b"\xef\xbb\xbf", False)
@example("# torch\n", 0, b"# coding: utf-7\n", False)
@example("import torch\n", 13, b"\\", True)
@example("import torch\n", 13, b"\x0c\r", True)
def test_damaged_bytes_do_no_harm(text: str, at: int, put: bytes, cut: bool) -> None:
    raw = text.encode()
    assert_no_harm(raw[:at] + put + (b"" if cut else raw[at:]))
