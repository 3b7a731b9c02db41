"""Prices of a record, at the findings of a lint."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from accel_advisor.commands.lint_command import lint
from accel_advisor.finding import Price
from accel_advisor.tuning.record.record_file import plain, write_record
from accel_advisor.tuning.record.schema import FindingPrice, Prices, Record

SOURCE = """\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for x, y in DataLoader(data, num_workers=4, pin_memory=True, persistent_workers=True):
    loss = model(x.cuda(non_blocking=True)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    torch.save(model.state_dict(), "last.pt")
"""
ITEM, SAVE = ("ACC208", 12, "loss.item()"), ("ACC427", 13, 'torch.save(model.state_dict(), "last.pt")')


def price(kind: tuple[str, int, str], share: float, filename: str = "train.py") -> FindingPrice:
    code, row, text = kind
    return FindingPrice(code, "a-rule", "", filename, row, 1, text, Price(share, max(share - 0.01, 0), share + 0.01))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    (tmp_path / "train.py").write_text(SOURCE)
    return tmp_path


def linted(record: Record, *findings: FindingPrice, style: str = "json") -> str:
    write_record(replace(record, prices=Prices(100, 0.01, 1000, findings, ())), Path("trial.json"))
    words = ["train.py", "--no-cache", "--exit-zero", "--select", "ACC208,ACC427", "--measured", "trial.json"]
    result = CliRunner().invoke(lint, [*words, "--output-format", style])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_findings_are_ranked_by_what_they_cost(record: Record, folder: Path) -> None:
    first, second = json.loads(linted(record, price(ITEM, 0.1), price(SAVE, 0.3)))
    assert (first["code"], first["price"]["share"]) == ("ACC427", 0.3)
    assert (second["code"], second["price"]["share"]) == ("ACC208", 0.1)


def test_what_was_not_measured_comes_last_and_says_so(record: Record, folder: Path) -> None:
    first, second = json.loads(linted(record, price(SAVE, 0.001)))
    assert (first["code"], first["price"]["share"]) == ("ACC427", 0.001)
    assert (second["code"], second["price"]) == ("ACC208", None)


@pytest.mark.parametrize("style", ["text", "concise"])
def test_a_price_is_shown_beside_its_finding(record: Record, folder: Path, style: str) -> None:
    assert "takes 30 % (29-31) of each step" in linted(record, price(SAVE, 0.3), style=style)
    assert "of each step" not in linted(record, style=style)


def test_a_line_that_moved_keeps_its_price(record: Record, folder: Path) -> None:
    (folder / "train.py").write_text(SOURCE.replace("total = 0.0\n", "total = 0.0\n\n\n"))
    assert json.loads(linted(record, price(SAVE, 0.3)))[0]["price"]["share"] == 0.3


@pytest.mark.parametrize("other", [price(SAVE, 0.3, "other.py"), price(("ACC427", 13, "torch.save(y, z)"), 0.3)])
def test_a_price_of_another_file_or_of_other_code_is_not_taken(
    record: Record, folder: Path, other: FindingPrice
) -> None:
    assert all(one["price"] is None for one in json.loads(linted(record, other)))


def test_a_price_that_is_no_share_is_refused(record: Record, folder: Path) -> None:
    data = plain(replace(record, prices=Prices(100, 0.01, 1000, (price(SAVE, 0.3),), ())))
    data["prices"]["findings"][0]["price"]["share"] = 1.5
    Path("trial.json").write_text(json.dumps(data))
    result = CliRunner().invoke(lint, ["train.py", "--measured", "trial.json"])
    assert result.exit_code == 2
    assert "has a price that is no share of a step" in result.output


@pytest.mark.parametrize(("text", "words"), [("{", "is not JSON"), (None, "has no prices of lines")])
def test_a_file_without_prices_costs_one_sentence(record: Record, folder: Path, text: str | None, words: str) -> None:
    if text is None:
        write_record(replace(record, prices=None), Path("trial.json"))
    else:
        Path("trial.json").write_text(text)
    result = CliRunner().invoke(lint, ["train.py", "--measured", "trial.json"])
    assert result.exit_code == 2
    assert "--measured: trial.json: " in result.output
    assert words in result.output
    assert "Traceback" not in result.output
