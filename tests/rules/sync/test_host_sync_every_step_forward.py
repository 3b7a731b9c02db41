"""ACC208 host-sync-every-step within the ``forward`` of a model, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import IMPORTS

NET = (
    IMPORTS
    + """
import numpy as np
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 2)
    def forward(self, x, rois):
        h = self.l(x)
        BODY
        return h
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, rois in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=8):
    loss = model(x.cuda(), rois.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
)
"""A model whose steps do not wait, but for what its ``forward`` does."""

PAIRS = {
    "a number, perhaps": ("if rois > 0: h = h + 1", "if rois.sum() > 0: h = h + 1"),
    "a list, perhaps": ("if rois: h = h + 1", "if rois.any(): h = h + 1"),
    "what may be numbers": ("a = int(rois[0])", "a = int(rois[0].mean())"),
    "a condition on the size": ("if h.size(0) > 3: h = h + 1", "if h.max() > 3: h = h + 1"),
    "a number that a size is made with": (
        "h = nn.functional.interpolate(h, size=(rois + 1, 4))\n        if rois % 2 == 1: h = h + 1",
        "h = nn.functional.grid_sample(h, rois)\n        if rois.mean() > 1: h = h + 1",
    ),
    "numbers that are padded by": (
        "h = nn.functional.pad(h, (0, rois % 2))\n        if rois * rois == 4: h = h + 1",
        "h = nn.functional.pad(rois, (0, 2))\n        if rois * rois == 4: h = h + 1",
    ),
    "a number among tensors": (
        "h = torch.cat([h, h], rois)\n        if rois > 0: h = h + 1",
        "h = torch.cat([h, rois], 0)\n        if rois > 0: h = h + 1",
    ),
    "whether it is there": ("if h is None: return x", "if torch.isnan(h).any(): return x"),
    "what stays as large": ("h = torch.where(h > 0, h, 0 * h)", "h = h[h > 0]"),
    "a copy on the host": ("a = bool(h.size(0))", "a = bool(h.sum() > 3)"),
    "arrays": ("a = rois.numpy().sum()", "a = rois.cpu().numpy().sum()"),
    "counts": ("a = torch.where(rois > 0, rois, rois)", "a = torch.nonzero(rois > 0)"),
    "a mask that numbers fill": ("h[h > 9] = 0", "h[h > 9] = 2 * h[0]"),
    "a mask for a number": ("h[0, h[0] > 9] = 0.5", "h = h[0, h[0] > 9]"),
    "a mask on the host": (
        "here = torch.ones(8); here[here > 3] = 0",
        "here = torch.ones(8); here[x[0] > 3] = 0",
    ),
    "a mask that goes through views": (
        "m = (x > 3).flatten(1).to(torch.float); h = x[m.long()]",
        "m = (x > 3).flatten(1).to(torch.bool); h = x[m]",
    ),
    "a mask that is made so": (
        "m = torch.eye(8, dtype=torch.long).to(h.device); h = h[m]",
        "m = torch.eye(8, dtype=torch.bool).to(h.device); h = h[m]",
    ),
    "all but the masked": ("m = x.long(); h = x[m]", "m = x.long(); h = x[~m]"),
    "whether any is": ("h = h[torch.argmax(h, 1)]", "h = h[(h > 9).any(1)]"),
    "a sum of Python's": ("a = int(sum([1, 2]) / 2)", "a = int(sum(h[0] > 3) / 2)"),
    "what is new": ("a = int(h.new_ones(3).size(0))", "a = int(h.new_ones(3).sum())"),
    "an array of the host": (
        "a = np.asarray(rois)\n        if a.sum() > 0: h = h + 1",
        "if torch.sum(rois) > 0: h = h + 1",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_reports_what_certainly_reads_a_tensor(case: str, tmp_path: Path) -> None:
    silent, spoken = (NET.replace("BODY", one) for one in PAIRS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", spoken, tmp_path)
    assert "at every step, at" in found.message
    assert "assuming that the device is a GPU" in found.message


def test_what_is_computed_of_two_inputs_is_a_tensor_where_one_of_them_is(tmp_path: Path) -> None:
    """H and W of an image that is given as rows are numbers as a rule."""
    program = NET.replace("def forward(self, x, rois):", "def forward(self, x, rois, rows):").replace(
        "rois.cuda()", "rois.cuda(), rois.cuda()"
    )
    body = "if x.size(1) == rois * rows: h = h + 1"
    assert findings_of("ACC208", program.replace("BODY", body), tmp_path) == []
    (_,) = findings_of("ACC208", program.replace("BODY", f"rows.mean()\n        {body}"), tmp_path)


@pytest.mark.parametrize("case", ["a number, perhaps", "a list, perhaps", "all but the masked"])
def test_follows_what_is_handed_on_as_it_was_given(case: str, tmp_path: Path) -> None:
    handed = "def forward(self, *given):\n        return self.go(*given)\n    def go(self, x, rois):"
    program = NET.replace("def forward(self, x, rois):", handed)
    silent, spoken = (program.replace("BODY", one) for one in PAIRS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", spoken, tmp_path)
    assert "at every step, at" in found.message


def test_counts_them_all(tmp_path: Path) -> None:
    body = "k = torch.nonzero(h > 0)\n        if h.sum() > 0: h = h + 1\n        v = h[h > 0]"
    (found,) = findings_of("ACC208", NET.replace("BODY", body), tmp_path)
    assert str(found.severity) == "warning"
    assert "3 times at every step" in found.message


STEP = (
    IMPORTS
    + """
import re, conf
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def log(losses):
    with torch.no_grad():
        return {name: value.mean().item() for name, value in losses.items()}
def evaluate(losses):
    return log(losses)
def scale():
    for p in model.parameters():
        if conf.clips: p.grad.mul_(2)
def first(out):
    return out.argsort().item(0)
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=8):
    out = model(x.cuda())
    loss = out.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    AFTER
"""
)
IN_STEPS = {
    "no_grad in a helper": ("evaluate(dict(a=loss))", "log(dict(a=loss))"),
    "an item of an array": ("first(y)", "a = out.argsort().sum().item()"),
}


@pytest.mark.parametrize("case", IN_STEPS)
def test_silent_about_a_step_for_one_reason(case: str, tmp_path: Path) -> None:
    silent, spoken = (STEP.replace("AFTER", one) for one in IN_STEPS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    assert findings_of("ACC208", spoken, tmp_path)


def test_counts_comprehensions_over_different_tensors(tmp_path: Path) -> None:
    both = "a = [v.item() for v in out]; b = [v.item() for v in loss.view(-1)]"
    (found,) = findings_of("ACC208", STEP.replace("AFTER", both), tmp_path)
    assert "2 times" in found.message
    (found,) = findings_of("ACC208", STEP.replace("AFTER", both.replace("loss.view(-1)", "out")), tmp_path)
    assert "2 times" not in found.message


def test_warns_of_a_wait_for_each_sample(tmp_path: Path) -> None:
    made = "sizes = torch.tensor([[1.0], [2.0]], device='cuda')\n    for i in range(len(sizes))"
    for source, each in (("for i in range(3)", False), (made, False), ("for i in range(out.size(0))", True)):
        (found,) = findings_of("ACC208", STEP.replace("AFTER", f"{source}: print(out[i].max().item())"), tmp_path)
        assert str(found.severity) == ("warning" if each else "info")
        assert ("at every step, for each sample, at" in found.message) == each


EPOCHS = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
features = torch.zeros(9, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(epoch):
    optimizer.zero_grad()
    out = model(features)
    loss = out.sum()
    loss.backward()
    optimizer.step()
    print(loss.item(), out.max().item(), out.min().item())
for epoch in range(200):
    train(epoch)
"""
)


@pytest.mark.parametrize(
    "silent",
    [
        EPOCHS.replace(", out.max().item(), out.min().item()", ""),
        EPOCHS + "for x in DataLoader(TensorDataset(features), batch_size=3): print(x)\n",
    ],
    ids=["one wait", "a loader"],
)
def test_epochs_of_one_step_are_steps(silent: str, tmp_path: Path) -> None:
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", EPOCHS, tmp_path)
    assert str(found.severity) == "info"
    assert "each pass is one step here" in found.message


NUMBERS = {
    "the end of a slice": ("a = out.view(-1)[:3]", "a = out.view(-1)[: out.argmax()]"),
    "a size": ("a = torch.arange(out.size(0))", "a = torch.arange(out.argmax())"),
    "a size among others": ("a = torch.zeros((3, len(out)))", "a = torch.zeros((3, out.argmax()))"),
    "what a tensor is expanded to": ("a = out[:1].expand(x.size(0), 2)", "a = out[:1].expand(out.argmax(), 2)"),
    "what a tensor is filled with": ("a = x.new_full((2,), 3)", "a = x.new_full((2,), out.max())"),
    "an index": ("a = x[:, out.argmax(1)]", "a = x[:, out.argmax()]"),
    "a range": ("for i in range(len(out)): pass", "for i in range(out.argmax()): pass"),
    "bounds": ("a = out.clamp(0, 3)", "a = out.clamp(0, out.max())"),
    "both bounds on the device": ("a = out.clamp(out.min(), out.max())", "a = out.clamp(0, out.max())"),
    "a factor": ("out.data.add_(loss.detach())", "out.data.add_(out, alpha=loss.detach())"),
    "a factor before": ("out.data.add_(2, out)", "out.data.add_(loss.detach(), out)"),
    "a root": ("a = torch.sqrt(loss)", "import math; a = math.sqrt(loss)"),
    "the smaller one": ("a = loss.clamp(max=1)", "a = min(1, loss)"),
    "gradients": (
        "for p in model.parameters(): p.grad.mul_(2)",
        "for p in model.parameters():\n        if not torch.isfinite(p.grad).all(): break",
    ),
    "norms": (
        "for p in model.parameters(): a = torch.norm(p.data)",
        "for p in model.parameters():\n        a = torch.norm(p.data)\n        if a > 3: p.grad.mul_(a)",
    ),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_reports_what_python_needs_as_a_number(case: str, tmp_path: Path) -> None:
    silent, spoken = (STEP.replace("AFTER", one) for one in NUMBERS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", spoken, tmp_path)
    assert "at every step, " in found.message


@pytest.mark.parametrize(
    ("waits", "words"),
    [
        (
            "a = out.view(-1)[: out.argmax()]",
            "Python needs a number here: take it from a shape, or from what the host has",
        ),
        (
            "a = torch.zeros(3, out.argmax())",
            "Python needs a number here: take it from a shape, or from what the host has",
        ),
        ("a = x[:, out.argmax()]", "let tensors compute it (`torch.sqrt`, `index_select`"),
    ],
)
def test_the_remedy_follows_from_what_the_number_is_for(waits: str, words: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", STEP.replace("AFTER", waits), tmp_path)
    assert words in found.message


@pytest.mark.parametrize(
    ("library", "base"),
    [
        ("transformers", "BertPreTrainedModel"),
        ("transformers", "BertForSequenceClassification"),
        ("torch_geometric.nn", "MessagePassing"),
        ("torchvision.models", "ResNet"),
    ],
)
def test_reports_models_that_derive_from_those_of_libraries(library: str, base: str, tmp_path: Path) -> None:
    derived = NET.replace("class Net(nn.Module)", f"from {library} import {base}\nclass Net({base})")
    waits = derived.replace("BODY", "h = h[h > 0]").replace("Net().cuda()", "conf.pick(Net).cuda()")
    assert findings_of("ACC208", "import conf" + waits, tmp_path)
    assert not findings_of("ACC208", "import conf" + waits.replace(f"Net({base})", "Net(conf.Config)"), tmp_path)


FLAGGED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
        self.register_buffer("flags", torch.zeros(2))
    def forward(self, x):
        if self.flags[0].item() == 0:
            x = x + 1
        return self.layer(x)

model = Net().cuda()
for (x,) in DataLoader(TensorDataset(torch.zeros(64, 8)), batch_size=16, pin_memory=True):
    model(x.cuda(non_blocking=True)).sum().backward()
"""


@pytest.mark.parametrize("flags", ["self.flags[0]", "self.flags.data[0]"])
def test_what_a_module_keeps_for_itself_is_asked_of_python(flags: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", FLAGGED.replace("self.flags[0]", flags), tmp_path)
    assert found.advice.startswith(
        "ask a Python attribute beside the buffer, set wherever that changes, `_load_from_state_dict` included"
    )
    (computed,) = findings_of("ACC208", FLAGGED.replace("self.flags[0].item()", "x[0].sum().item()"), tmp_path)
    assert computed.advice.startswith("take the value from the batch")


MASKED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)
    def forward(self, x, rows):
        self.device = x.device
        chosen = torch.zeros(len(x), device=self.device).bool()
        chosen[rows] = True
        return self.layer(x)[chosen]

model = Net().cuda()
for x, rows in DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64)), batch_size=16, pin_memory=True):
    model(x.cuda(non_blocking=True), rows.tolist()).sum().backward()
"""


def test_a_mask_that_is_made_on_a_device(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", MASKED, tmp_path)
    assert "`self.layer(x)[chosen]`" in found.message
    assert not findings_of("ACC208", MASKED.replace("len(x), device=self.device", "len(x)"), tmp_path)


DRAWN = "k = torch.multinomial(h.softmax(1)[0], 1).item()"
REDUCED = "n = h.sum(); torch.distributed.all_reduce(n); n = torch.clamp(n / 2, min=1).item()"
REMEDIES = {
    "a draw for each sample": (f"for i in range(4): {DRAWN}", "draw for the whole batch at once"),
    "a draw for each sample, by a name": (
        "for i in range(4): k = torch.multinomial(h.softmax(1)[0], 1); k = k.item()",
        "draw for the whole batch at once",
    ),
    "a draw": (DRAWN, "draw it on the host"),
    "what a draw goes into": ("k = (h + torch.rand(8, 2).cuda()).max().item()", "take the value from the batch"),
    "a sum over processes": (REDUCED, "compute with it as a tensor, since the other processes had a part in it"),
    "no sum": (REDUCED.replace("torch.distributed.all_reduce(n); ", ""), "take the value from the batch"),
    "another sum": (REDUCED.replace("all_reduce(n)", "all_reduce(h)"), "take the value from the batch"),
}


@pytest.mark.parametrize("case", REMEDIES)
def test_what_is_in_no_batch_is_not_taken_from_it(case: str, tmp_path: Path) -> None:
    body, remedy = REMEDIES[case]
    (found,) = findings_of("ACC208", NET.replace("BODY", body), tmp_path)
    assert remedy in found.message
