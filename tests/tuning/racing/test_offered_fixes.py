"""What lint offers for a loop that was watched: what is raced together, what by itself, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.selection import SelectorError
from accel_advisor.tuning.probe.channel.wire import BASELINE, Block, LoopSamples
from accel_advisor.tuning.racing.offered_fixes import MOST_UNSAFE, OfferedFixes, codes_of, offered

SCRIPT = """\
import torch
from torch.utils.data import DataLoader

torch.autograd.set_detect_anomaly(True)
device = torch.device("cuda")
model = Model().to(device)
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler()
loader = DataLoader(Data(), batch_size=16, pin_memory=True)
for x, y in loader:
    x, y = x.to(device), y.to(device)
    mask = torch.zeros(8).to(device)
    loss = model(x, mask)
    scaler.scale(loss).backward(retain_graph=True)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
{more}
"""


def found(folder: Path, *rules: str, more: str = "", ran: range = range(10, 100)) -> OfferedFixes:
    """What is offered for a script in a folder of its own, whose loop ran some of its lines."""
    path = folder / "train.py"
    path.write_text(SCRIPT.format(more=more))
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    lines = LoopSamples((), ((0, 0.01),), tuple((str(path), row) for row in ran), ())
    block = Block(BASELINE, 8, 128, 1.0, 0.1, 0.0, 0.8, 0.1, 0.0, lines=lines)
    return offered(block, (), rules, folder, device="cuda")


def codes(fixes: OfferedFixes) -> tuple[list[str], list[list[str]]]:
    return [one.code for one in fixes.safe], [[one.code for one in fix] for fix in fixes.alone]


def test_safe_fixes_are_made_together_and_others_by_themselves(tmp_path: Path) -> None:
    safe, alone = codes(found(tmp_path))
    assert "ACC205" in safe
    assert ["ACC412"] in alone
    assert ["ACC414"] in alone


def test_what_is_about_results_is_not_raced(tmp_path: Path) -> None:
    fixes = found(tmp_path)
    assert any(reason.startswith("ACC404 ") and "not about speed" in reason for reason in fixes.left_out)
    assert not any(one.code == "ACC404" for fix in fixes.alone for one in fix)


def test_what_did_not_run_is_counted(tmp_path: Path) -> None:
    everything = found(tmp_path)
    assert everything.elsewhere == 0
    assert found(tmp_path, ran=range(10, 12)).elsewhere > 0


def test_only_rules_that_are_named_are_raced(tmp_path: Path) -> None:
    assert codes(found(tmp_path, "ACC414")) == ([], [["ACC414"]])
    assert codes(found(tmp_path, "create-on-cpu-then-move")) == (["ACC205"], [])
    assert codes_of(("ACC414",)) == {"ACC414"}
    with pytest.raises(SelectorError, match="no rule is called 'ACC999'"):
        codes_of(("ACC999",))


def test_no_more_than_some_are_raced_unless_their_rule_is_named(tmp_path: Path) -> None:
    more = "".join(f"    torch.cuda.empty_cache()  # {number}\n" for number in range(MOST_UNSAFE))
    fixes = found(tmp_path, more=more)
    assert len(fixes.alone) == MOST_UNSAFE
    assert any("is one more than" in reason for reason in fixes.left_out)
    named = found(tmp_path, "ACC214", "ACC412", "ACC414", more=more)
    assert sum(len(fix) for fix in named.alone) > MOST_UNSAFE
    assert named.left_out == ()


def test_a_project_elsewhere_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    path = tmp_path / "own" / "train.py"
    path.write_text(SCRIPT.format(more=""))
    lines = LoopSamples((), (), tuple((str(path), row) for row in range(10, 18)), ())
    block = Block(BASELINE, 8, 128, 1.0, 0.1, 0.0, 0.8, 0.1, 0.0, lines=lines)
    assert codes(offered(block, (), (), tmp_path / "other", device="cpu")) == ([], [])
    assert codes(offered(block, (), (), tmp_path / "own", device="cpu")) != ([], [])
