"""The pages: what they say, that they are valid HTML, and that nothing from the outside becomes part of them.

With PAGES=FOLDER in the environment every page that is checked is written there, for a validator that is stricter.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import html5lib
import pytest
from click.testing import CliRunner

from accel_advisor.commands.tune_command import tune
from accel_advisor.finding import Price
from accel_advisor.machine.gpus import Sample
from accel_advisor.machine.machine import Accelerator
from accel_advisor.tuning.page.charts import legend, step_bars, throughput, timeline
from accel_advisor.tuning.page.line_costs import line_costs
from accel_advisor.tuning.page.loader_stages import ways
from accel_advisor.tuning.page.page import comparison_page, history_page, trial_page
from accel_advisor.tuning.probe.channel.wire import Settings
from accel_advisor.tuning.record.device_schema import DeviceUse, EnergyRecord
from accel_advisor.tuning.record.history import HISTORY, Entry, History
from accel_advisor.tuning.record.record_file import read_record, record_of
from accel_advisor.tuning.record.schema import (
    Explanation,
    FindingPrice,
    FunctionTime,
    LinePrice,
    ListedLine,
    Listing,
    Place,
    Prices,
    Record,
    StageTime,
)
from accel_advisor.tuning.record.turns_schema import FixesRecord, FixPlace, FixRecord, Ratio

from ...conftest import RECORDED

HOSTILE = (
    "<script>alert(1)</script>",
    "</style></title></textarea><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "]]><b>&lt;script&gt;&amp;",
    "{{ 7 * 7 }}{% raw %}",
    "a\u202etxt.exe\u2066",
    "\x00\x1b[31m\x0b\x85\ud800\ufdd0",
)
ALLOWED = (
    {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "footer",
        "section",
        "h1",
        "h2",
        "h3",
        "p",
        "bdi",
    }
    | {"div", "span", "strong", "code", "pre", "br", "figure", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"}
    | {"table", "thead", "tbody", "tr", "th", "td", "svg", "desc", "g", "rect", "line", "circle", "text"}
    | {"defs", "pattern"}
)


@pytest.fixture(scope="module")
def record() -> Record:
    """A run of which nobody asked where its time goes."""
    return replace(read_record(RECORDED), explained=(), prices=None)


def elements(page: str) -> list[Any]:
    """Every element of a page, which must be valid."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    tree = parser.parse(page)
    assert parser.errors == []
    return list(tree.iter())


def name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def check(page: str) -> None:
    """A page is valid, holds only what the templates write, and reaches for nothing."""
    if "PAGES" in os.environ:
        Path(os.environ["PAGES"], f"{sha256(page.encode()).hexdigest()[:16]}.html").write_text(page, encoding="utf-8")
    for element in elements(page):
        assert name(element) in ALLOWED
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            assert key not in ("href", "src", "action", "style")
            assert "url(" not in value
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert re.findall(r"url\(([^)]*)\)", page) in (["#hatch"], [])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page)
    page.encode()


def spoiled(record: Record, text: str) -> Record:
    """A record with ``text`` wherever a record takes a text."""

    def spoil(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: spoil(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [spoil(one, key) for one in value]
        return f"x{text}y" if isinstance(value, str) and key != "began" else value

    data = spoil(json.loads(json.dumps(asdict(priced(explained(record))))))
    data.update(refusals=[text], leaked=[text], contained=[text], notes=[text], diff=f"--- {text}\n+{text}\n-{text}\n")
    del data["blocks"][4:]
    data["ceilings"] = {text: {"ratio": 1.5, "low": 1.4, "high": 1.6}}
    data["verification"] = {"holds": False, "gain": None, "reason": text}
    data["tried"][-1].update(failed=text, rate=None)
    data["machine"]["devices"] = [{"kind": text, "name": text, "memory": 1 << 30}]
    turn = {"name": text, "setting": text, "gain": None, "loss": 0.0, "warm_up": 1.0, "refused": None}
    tried = [{**turn, "remedy": text, "caution": text, "diff": text}, {**turn, "refused": text}]
    data["turns"] = {"tried": tried, "diff": data["diff"], "changed": [text], "written": False}
    return record_of(data)


def explained(record: Record) -> Record:
    """A record of a run with --explain: 40 ms a batch in the data set, 10 in the collate function."""
    stages = (StageTime("data set", 0.04, 0.8), StageTime("collate", 0.01, 0.2), StageTime("hand-over", 0.0, 0.0))
    functions = (
        FunctionTime("data set", "Photos.__getitem__", "train.py", 31, "PIL.Image.open", 0.6, 0.5, 0.7, 0.03),
        FunctionTime("collate", "join", "train.py", 40, "", 0.2, 0.1, 0.3, 0.01),
    )
    found = Explanation(Settings(0), 17, 0.25, stages, functions, ("60 % of the fetching is decoding",))
    return replace(record, explained=(found, replace(found, settings=Settings(2), idle=0.0)))


def priced(record: Record) -> Record:
    """A record of a run with --explain: a save that takes 23 % of a step, and a value that costs nothing."""
    save, nothing = Price(0.23, 0.2, 0.26), Price(0.001, 0.0, 0.003)
    findings = (
        FindingPrice("ACC427", "save-every-step", "it writes", "train.py", 9, 9, "torch.save(model, path)", save),
        FindingPrice("ACC208", "host-sync-every-step", "it waits", "train.py", 8, 18, "loss.item()", nothing),
    )
    lines = (LinePrice("train.py", 7, "model(images)", Price(0.5, 0.47, 0.53)),)
    listing = (
        ListedLine(7, "    loss = model(images)", Price(0.5, 0.47, 0.53)),
        ListedLine(8, "    total += loss.item()", nothing),
        ListedLine(9, "    torch.save(model, path)", save),
        ListedLine(10, "", None),
    )
    return replace(record, prices=Prices(310, 0.008, 945, findings, lines, 2, Listing("train.py", listing)))


def entry(rate: float, text: str = "train.py", day: int = 1) -> Entry:
    return Entry(
        HISTORY, f"2026-11-{day:02}T02:00:00+00:00", "k", text, (text,), text, "f", text, text, text, rate,
        0.98 * rate, 1.02 * rate, Settings(2), 0.1, None, text,
    )  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_the_outside_becomes_part_of_a_page(record: Record, text: str) -> None:
    bad = spoiled(record, text)
    pages = [trial_page(bad), comparison_page([bad, record], [text, "b"]), history_page(History((entry(9, text),)))]
    for page in pages:
        check(page)
    if "<" in text:
        assert all(text not in page for page in pages)


def test_names_are_shown_as_they_are(record: Record) -> None:
    page = trial_page(replace(record, script="a<b>&c\u202e.py"))
    title = next(one for one in elements(page) if one.tag == "title")
    assert str(title.text).startswith("a<b>&c\\u202e.py: ")


def test_the_page_of_a_run_has_its_parts_in_order(record: Record) -> None:
    page = trial_page(record)
    check(page)
    assert record.sentence is not None
    parts = (record.sentence, "with ", "Where a step goes", "What was tried", "What was served when", "The change")
    places = [page.index(part) for part in (*parts, "How it was measured")]
    assert places == sorted(places)
    for row in record.tried:
        assert f"num_workers={row.settings.num_workers}" in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_every_picture_has_a_title_or_is_hidden_and_described_beside(record: Record) -> None:
    pages = [trial_page(record), comparison_page([record, record], ["a", "b"]), history_page(History((entry(9),)))]
    pages += [trial_page(explained(record)), trial_page(priced(record))]
    for page in pages:
        known = {one.attrib["id"] for one in elements(page) if "id" in one.attrib}
        assert len(known) == len([one for one in elements(page) if "id" in one.attrib])
        for picture in (one for one in elements(page) if name(one) == "svg"):
            if picture.attrib.get("aria-hidden") != "true":
                assert picture.attrib["role"] == "img"
                assert set(picture.attrib["aria-labelledby"].split()) <= known


def test_where_a_batch_comes_from_is_shown_where_it_was_asked_for(record: Record) -> None:
    assert "Where a batch comes from" not in trial_page(record)
    page = trial_page(explained(record))
    check(page)
    section = page[page.index("Where a batch comes from") : page.index("What was tried")]
    said = (
        "With no workers",
        "40 ms",
        "80 % of its way",
        "Photos.__getitem__",
        "train.py:31",
        "PIL.Image.open",
        "30 ms",
    )
    said += ("60 % (50-70)", "25 % of the fetching neither computes", "17 batches", "With 2 workers")
    places = [section.index(words) for words in said]
    assert places == sorted(places)
    assert section.count("neither computes nor waits for a core") == 1
    assert section.count("<li>60 % of the fetching is decoding.</li>") == 1
    assert "hand-over" not in section


def test_the_loop_is_listed_with_its_prices_where_they_were_measured(record: Record) -> None:
    assert "What the lines of a step cost" not in trial_page(record)
    page = trial_page(priced(record))
    check(page)
    section = page[page.index("What the lines of a step cost") : page.index("What was tried")]
    said = ("310 batches of 8 ms, 945 samples", "50 % (47-53)", "loss = model(images)", "23 % (20-26)", "ACC427")
    said += (
        "ACC427 train.py:9",
        "Nothing that could be measured here",
        "2 other findings are",
        "no finding train.py:7",
    )
    places = [section.index(words) for words in said]
    assert places == sorted(places)
    costs = line_costs(priced(record))
    assert costs is not None
    assert [(line.price, line.width, line.codes) for line in costs.lines] == [
        ("50 % (47-53)", 100, ""),
        ("", 0, "ACC208"),
        ("23 % (20-26)", 46, "ACC427"),
        ("", 0, ""),
    ]


def test_each_fix_that_was_raced_is_said(record: Record) -> None:
    assert "Fixes of lint" not in trial_page(record)
    place = FixPlace("ACC205", "create-on-cpu-then-move", "<b>.py", 40, "Create it there")
    pays = FixRecord((place,), True, "pays", "pays here (1.25 to 1.35)", Ratio(1.3, 1.25, 1.35), 0.0, 0.1, False)
    other = replace(pays, places=(replace(place, code="ACC414"),), safe=False, verdict="slower", said="slower here")
    fixes = FixesRecord(
        (pays, other), "--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n", ("b.py",), False, None, 2, ("x",)
    )
    page = trial_page(replace(record, fixes=fixes))
    check(page)
    section = page[page.index("<h2>Fixes of lint") :]
    said = ("ACC205 &lt;b&gt;.py:40", "1.30x (1.25-1.35)", "pays here (1.25 to 1.35); safe", "slower here; not safe")
    said += ("was not seen to run: 2", "Not raced: x.", "Run again with --apply to write this and verify it.")
    places = [section.index(words) for words in said]
    assert places == sorted(places)
    check(trial_page(replace(record, fixes=FixesRecord((), "", (), False))))


def test_functions_are_drawn_on_the_scale_of_their_stages(record: Record) -> None:
    now, _ = ways(explained(record))
    assert [one.kind for one in now.stretches] == ["stage", "function", "stage", "function"]
    assert [one.width for one in now.stretches] == [100, 75, 25, 25]
    assert (now.stretches[1].low, now.stretches[1].high) == (62.5, 87.5)
    assert now.stretches[0].low is None


@pytest.mark.parametrize(
    ("script", "args", "command"),
    [
        ("train.py", (), "accel-advisor tune train.py --apply"),
        ("-m package.train", ("--epochs", "9"), "accel-advisor tune -m package.train --apply -- --epochs 9"),
        ("torchrun --nproc-per-node 2 a.py", (), "accel-advisor tune --nproc-per-node 2 a.py --apply"),
    ],
)
def test_a_change_that_is_not_written_names_the_whole_command(
    record: Record, script: str, args: tuple[str, ...], command: str
) -> None:
    page = trial_page(replace(record, script=script, args=args, verification=None))
    assert f"<code>{command}</code> writes the change" in page
    if not script.startswith("torchrun"):
        return
    named, *_ = CliRunner().invoke(tune, shlex.split(command)[2:]).output.splitlines()[-1:]
    assert "a.py does not exist" in named, "it is a command that is understood"


def test_a_run_with_nothing_to_change_and_one_that_knows_nothing(record: Record) -> None:
    kept = replace(
        record,
        kept="no other settings are faster than those in the source",
        verdict="nothing_to_gain",
        diff="",
        notes=(),
    )
    assert "Nothing to gain: no other settings are faster" in trial_page(kept)
    first = replace(record.trained, recommended=record.trained.baseline, gain=None)
    empty = replace(
        record, sentence=None, shares=replace(record.shares, wait=None), ceilings={}, tried=(), blocks=(), diff="",
        kept="the search did not come to its end", interrupted=True, machine=None, began="", loaders=(first,),
        built=Place("train.py", 1),
    )  # fmt: skip
    page = trial_page(empty)
    check(page)
    assert "Interrupted" in page
    for heading in ("Where a step goes", "What was tried", "What was served when", "What it takes", "The change"):
        assert heading not in page


def test_a_step_is_drawn_to_scale(record: Record) -> None:
    now, best, ready = step_bars(replace(record, applied=False))
    assert [now.name, best.name, ready.name] == ["Now", "Recommended", "The ceiling"]
    assert sum(one.width for one in now.segments) == pytest.approx(100, abs=0.1)
    for bar, row in ((now, record.tried[0]), (best, record.tried[record.recommended or 0])):
        assert row.step is not None
        wait, compute = (next(one.width for one in bar.segments if one.part == part) for part in ("wait", "compute"))
        assert wait / compute == pytest.approx(row.step.known["wait"] / row.step.known["compute"], rel=0.01)
    assert next(iter(legend([now]))) == "wait"


def test_the_step_of_the_ceiling_is_as_long_as_the_sentence_says(record: Record) -> None:
    for ratio in (record.ceilings["no-wait"].ratio, 3.0):
        now, _, ready = step_bars(
            replace(record, ceilings={"no-wait": replace(record.ceilings["no-wait"], ratio=ratio)})
        )
        long, short = (sum(part.width for part in bar.segments) for bar in (now, ready))
        assert long / short == pytest.approx(ratio, rel=0.01)
        assert "wait" not in {part.part for part in ready.segments}
        old, new = ({one.part: one.width for one in bar.segments} for bar in (now, ready))
        assert new["compute"] / new["host"] == pytest.approx(old["compute"] / old["host"], rel=0.05)


def test_a_ceiling_beyond_the_picture_stands_at_its_edge(record: Record) -> None:
    chart = throughput(record)
    assert chart.bars[0].kind == "now"
    assert [bar.width for bar in chart.bars[1:]] == sorted((bar.width for bar in chart.bars[1:]), reverse=True)
    (line,) = chart.lines
    own, top = record.tried[0].rate, max(row.rate or 0.0 for row in record.tried)
    assert own is not None
    assert line.beyond == (own * record.ceilings["no-wait"].ratio > 1.8 * top)
    assert all(0 <= bar.width <= 100 for bar in chart.bars)


def test_blocks_stand_where_and_as_high_as_they_were(record: Record) -> None:
    lanes = timeline(record)
    assert lanes is not None
    assert sum(len(lane.slots) for lane in lanes.lanes) == len(record.blocks)
    assert [band.name for band in lanes.bands][:2] == ["startup", "ceilings"]
    assert lanes.bands[-1].name in ("old against new", "verification")
    for slot in (slot for lane in lanes.lanes for slot in lane.slots):
        assert 0 <= slot.left <= slot.left + slot.width <= 100.2
        assert slot.top >= 0


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_can_be_distinguished(record: Record, mode: str) -> None:
    """The contrasts that WCAG 2.2 AA asks for: 4.5 for text, 3 for what is drawn."""
    light, dark = re.findall(r":root \{(.*?)\}", trial_page(record), re.DOTALL)[:2]
    colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark if mode == "dark" else light))
    texts = [(text, ground) for text in ("ink", "soft", "accent", "cut") for ground in ("page", "raised")]
    texts += [(f"on-{part}", part) for part in ("wait", "transfer", "compute", "host")]
    texts += [("ink", "added"), ("ink", "removed"), ("soft", "raised"), ("ink", "line")]
    for text, ground in texts:
        assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    for mark in ("accent", "other", "now", "soft"):
        assert contrast(colour[mark], colour["track"]) >= 3, mark
    for mark in ("wait", "compute", "transfer", "host", "cut"):
        assert contrast(colour[mark], colour["page"]) >= 3, mark


def test_a_device_is_shown_where_its_driver_reports_it(record: Record) -> None:
    assert "Device busy" not in trial_page(record)
    assert "GPU busy" not in trial_page(record)
    assert record.machine is not None
    machine = replace(record.machine, devices=(Accelerator("cuda", "GPU", 80 << 30),))
    use = DeviceUse(0.53, 20 << 30, 400.0, 1980.0)
    samples = tuple(Sample(number / 5, 0.5, 20 << 30, None, None) for number in range(int(5 * record.seconds)))
    tried = (replace(record.tried[0], device=use), *record.tried[1:])
    page = trial_page(replace(record, machine=machine, tried=tried, samples=samples))
    check(page)
    assert page.count("50 % busy</title>") == 120
    assert "<dd>53 % busy, 20.0 GiB in use, 400 W, 1,980 MHz</dd>" in page
    assert "Device busy" in page
    assert '<div class="value">53 %</div>' in page
    assert 'width="25.0%"' in page


def test_energy_stands_in_the_pages_where_it_was_counted(record: Record) -> None:
    assert "Energy" not in trial_page(record)
    assert "J a sample" not in comparison_page([record, record], ["a", "b"])
    found = replace(record, energy=EnergyRecord(0.42, 0.31, Ratio(0.738, 0.72, 0.76), 8))
    page = trial_page(found)
    check(page)
    assert "<dt>Energy</dt><dd>0.42 J per sample now, 0.31 J with the recommended settings (26 % less, " in page
    page = comparison_page([record, found], ["a", "b"])
    check(page)
    assert '<th scope="row">J a sample now</th><td></td><td>0.42 J</td>' in page
    assert '<th scope="row">J a sample then</th><td></td><td>0.31 J</td>' in page
    assert "energy a sample" not in history_page(History((entry(9),)))
    page = history_page(History((entry(9), replace(entry(10), joules=0.31))))
    check(page)
    assert page.count("energy a sample") == 1
    assert page.count('<td class="number">0.31 J</td>') == 1


def test_a_history_is_drawn_with_its_best(record: Record) -> None:
    page = history_page(History(tuple(entry(rate, day=day) for day, rate in enumerate((100, 120, 90), 1))))
    check(page)
    assert "train.py reached 90 samples a second, 75\u00a0% of its best." in page
    assert page.count("<circle") == 4
    check(history_page(History(())))


def test_two_runs_stand_side_by_side(record: Record) -> None:
    page = comparison_page([record, replace(record, device="cuda")], ["before.json", "after.json"])
    check(page)
    assert "before.json" in page
    assert "no difference beyond doubt" in page or "times the rate of the first" in page


def test_without_jinja2_it_is_said_before_the_trial(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_text("raise SystemExit('it ran')\n")
    program = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from accel_advisor.cli import main; main(['tune', 'train.py', '--report', 'out.html'])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install '.[report]'" in done.stderr
    assert "it ran" not in done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.py"]


def test_a_page_that_cannot_be_written_is_refused_before_the_trial(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("raise SystemExit('it ran')\n")
    result = CliRunner().invoke(tune, [str(tmp_path / "train.py"), "--report", str(tmp_path / "no" / "a.html")])
    assert result.exit_code == 2
    assert "does not exist" in result.stderr
