"""ACC208 host-sync-every-step, where the host computes with what it reads and the step goes on with the result: no
read can be put off there, and the finding says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Severity

from ..checks import findings_of

HEAD = """
import numpy as np
import torch
from scipy.spatial import ConvexHull
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import lib

device = torch.device("cuda")
model = nn.Linear(8, 2).to(device)
loader = DataLoader(TensorDataset(torch.zeros(64, 8), torch.zeros(64, 2)), batch_size=16)
"""
LATER = "keep the value as a tensor (`.detach()`) and read it once an epoch"
NOW = "the host computes with it and the step needs the result"

HULL = """
def area(corners):
    points = torch.cat((corners, corners), dim=0)
    hull = ConvexHull(points.detach().cpu().numpy())
    points = points[hull.vertices]
    return points.sum()
for x, y in loader:
    area(model(x.to(device))).backward()
"""
PLAN = """
class Plan:
    def __init__(self, method):
        self.solve = lib.exact if method == "exact" else lib.fast
    def plan(self, a, b):
        cost = torch.cdist(a, b)
        return self.solve(cost.detach().cpu().numpy())
    def pairs(self, a, b):
        plan = self.plan(a, b)
        drawn = np.random.choice(plan.size, p=plan.flatten())
        i, j = np.divmod(drawn, plan.shape[1])
        return a[i], b[j]
plan = Plan("exact")
for x, y in loader:
    a, b = plan.pairs(model(x.to(device)), y.to(device))
    nn.functional.mse_loss(a, b).backward()
"""
SAMPLER = """
class Sampler:
    def __init__(self):
        self._history = np.ones(10)
    def weights(self):
        return np.sqrt(self._history)
    def sample(self, count):
        indices = np.random.choice(10, size=(count,), p=self.weights())
        return torch.from_numpy(indices).to(device)
    def update(self, steps, losses):
        for step, loss in zip(steps, losses):
            self._history[step] = loss
sampler = Sampler()
for x, y in loader:
    t = sampler.sample(16)
    losses = model(x.to(device) * t).mean(1)
    losses.mean().backward()
    sampler.update(t.tolist(), losses.tolist())
"""
MATCHING = """
from scipy.optimize import linear_sum_assignment
class Matcher(nn.Module):
    def forward(self, a, b):
        cost = (2 * torch.cdist(a, b)).cpu()
        i, j = linear_sum_assignment(cost)
        return torch.as_tensor(i), torch.as_tensor(j)
matcher = Matcher()
for x, y in loader:
    out, y = model(x.to(device)), y.to(device)
    i, j = matcher(out, y)
    nn.functional.mse_loss(out[i], y[j]).backward()
"""

UNSEEN = (
    PLAN.replace('plan = Plan("exact")\n', "def train(plan):\n  ")
    .replace("\n    a, b", "\n        a, b")
    .replace("\n    nn.fun", "\n        nn.fun")
)
CYTHON = """
from extension import path_c
def path(cost, mask):
    values = np.ascontiguousarray(cost.detach().cpu().numpy())
    found = np.zeros(values.shape, dtype=np.int32)
    path_c(found, values, np.ascontiguousarray(mask.sum(1).cpu().numpy()))
    return torch.from_numpy(found).to(cost.device)
for x, y in loader:
    out = model(x.to(device))
    (path(out, out > 0) * out).sum().backward()
"""
RATE = """
def rate(out):
    right = np.arange(len(out))
    target = torch.from_numpy(right).to(device)
    error = lib.roc(out.detach().cpu().numpy(), right)
    return nn.functional.cross_entropy(out, target), error
for x, y in loader:
    loss, error = rate(model(x.to(device)))
    loss.backward()
    print(error)
"""
HEADS = """
def loss_of(tasks, outputs):
    loss = 0
    for task in np.unique(tasks.data.cpu().numpy()):
        loss += outputs[task].sum()
    return loss
for x, y in loader:
    out = model(x.to(device))
    loss_of(out.argmax(1), [out, out]).backward()
"""
TABLE = """
class Words:
    def __init__(self):
        self.spelled = []
        for word in lib.words():
            self.spelled.append(lib.letters(word))
    def spell(self, batch):
        batch = batch.data.cpu().numpy().tolist()
        return [[self.spelled[w] for w in words] for words in batch]
words = Words()
for x, y in loader:
    letters = torch.LongTensor(words.spell(y.to(device))).to(device)
    model(letters).sum().backward()
"""
SCORER = """
scorer = lib.Scorer()
def text_of(row):
    out = ""
    for i in range(len(row)):
        out += str(row[i]) + " "
    return out
def reward(drawn):
    drawn = drawn.data.cpu().numpy()
    texts = {}
    for i in range(len(drawn)):
        texts[i] = [text_of(drawn[i])]
    _, scores = scorer.score(texts)
    return scores
for x, y in loader:
    out = model(x.to(device))
    (out * torch.from_numpy(reward(out.argmax(1))).to(device)).sum().backward()
"""
SIZES = """
class Folded(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        x = self.fc(x)
        _, top = torch.topk(torch.fft.rfft(x).abs().mean(0), 1)
        top = top.detach().cpu().numpy()
        period = 8 // top
        return x.reshape(-1, period[0])
folded = Folded().to(device)
for x, y in loader:
    folded(x.to(device)).sum().backward()
"""
NEEDED = {
    "heads": HEADS,
    "a table": TABLE,
    "a scorer": SCORER,
    "sizes": SIZES,
    "a hull": HULL,
    "a plan": PLAN,
    "a plan of whomever": UNSEEN,
    "a sampler": SAMPLER,
    "an extension": CYTHON,
    "a matching": MATCHING,
}


@pytest.mark.parametrize("case", NEEDED)
def test_what_the_step_needs_of_the_host_is_not_read_later(case: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HEAD + NEEDED[case], tmp_path)
    assert NOW in found.message
    assert found.severity is Severity.INFO


SHOWN = {
    "heads": HEADS.replace("loss += outputs[task].sum()", "print(outputs[task].sum())").replace(
        "    return loss", "    return outputs[0].sum()"
    ),
    "a table": TABLE.replace("model(letters)", "model(x.to(device))").replace(
        "letters = torch.LongTensor(words.spell(y.to(device))).to(device)", "print(words.spell(y.to(device)))"
    ),
    "a scorer": SCORER.replace("out * torch.from_numpy(reward(out.argmax(1))).to(device)", "out").replace(
        ".backward()", ".backward(); print(reward(out.argmax(1)))"
    ),
    "a hull": HULL.replace("points = points[hull.vertices]", "print(hull.vertices)"),
    "a plan": PLAN.replace(
        "a, b = plan.pairs(model(x.to(device)), y.to(device))", "a, b = model(x.to(device)), y.to(device)"
    ).replace("mse_loss(a, b).backward()", "mse_loss(a, b).backward(); print(plan.plan(a, b))"),
    "a rate beside an array": RATE,
    "a sampler": SAMPLER.replace("p=self.weights()", "p=None"),
}


@pytest.mark.parametrize("case", SHOWN)
def test_what_the_host_only_shows_is_read_later(case: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HEAD + SHOWN[case], tmp_path)
    assert LATER in found.message


def test_an_average_of_an_epoch_that_is_made_a_tensor_is_no_part_of_the_step(tmp_path: Path) -> None:
    source = """
losses = []
for x, y in loader:
    loss = model(x.to(device)).mean()
    loss.backward()
    losses.append(loss.item())
print(torch.tensor(np.mean(losses)))
"""
    (found,) = findings_of("ACC208", HEAD + source, tmp_path)
    assert LATER in found.message


def test_one_copy_of_all_that_a_function_reads_is_enough(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HEAD + SAMPLER, tmp_path)
    assert "copy all that is read for it at once" in found.message
    (found,) = findings_of("ACC208", HEAD + HULL, tmp_path)
    assert "copy all that is read for it at once" not in found.message


def test_a_loss_that_is_shown_beside_it_is_named_first(tmp_path: Path) -> None:
    shown = HULL.replace(".backward()\n", ".backward(); print(model.weight.sum().item())\n")
    (found,) = findings_of("ACC208", HEAD + shown, tmp_path)
    assert LATER in found.message
    assert "2 times" in found.message


def test_many_such_reads_are_no_warning(tmp_path: Path) -> None:
    many = HULL.replace(
        "    points = points[hull",
        "    more = lib.f(corners.tolist(), corners.std().item())\n    points = points[torch.tensor(more)][hull",
    )
    (found,) = findings_of("ACC208", HEAD + many, tmp_path)
    assert "3 times" in found.message
    assert found.severity is Severity.INFO


def test_what_was_copied_is_read_before_the_copy(tmp_path: Path) -> None:
    """The host has what the step moved; what a model gave, it has not."""
    moved = HEADS.replace("    loss_of(out.argmax(1)", "    tasks = y.to(device)\n    loss_of(tasks")
    (found,) = findings_of("ACC208", HEAD + moved, tmp_path)
    assert "take the value from the batch before it is copied" in found.message
    (found,) = findings_of("ACC208", HEAD + HEADS, tmp_path)
    assert NOW in found.message


SOLVED = """
def project(gradient):
    values = gradient.cpu().numpy()
    gradient.copy_(torch.Tensor(lib.solve(values)))
for x, y in loader:
    out = model(x.to(device))
    out.sum().backward()
    gradient = model.weight.grad
    if (gradient < 0).sum() != 0:
        project(gradient)
"""


def test_a_question_for_what_the_host_solves_is_asked_in_each_step(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HEAD + SOLVED, tmp_path)
    assert NOW in found.message
    shown = SOLVED.replace("gradient.copy_(torch.Tensor(lib.solve(values)))", "print(lib.solve(values))")
    (found,) = findings_of("ACC208", HEAD + shown, tmp_path)
    assert "let the GPU decide" in found.message


def test_lengths_of_the_batch_are_sizes_that_the_host_has(tmp_path: Path) -> None:
    lengths = """
class Padded(nn.Module):
    def forward(self, x, lengths):
        sizes = (lengths - 1).tolist()
        return x.new_zeros(max(sizes)).sum() + x.sum()
padded = Padded().to(device)
for x, y in loader:
    padded(model(x.to(device)), y.to(device)).backward()
"""
    (found,) = findings_of("ACC208", HEAD + lengths, tmp_path)
    assert "take the value from the batch before it is copied" in found.message


def test_places_in_an_array_of_which_the_target_is_made_are_needed_in_each_step(tmp_path: Path) -> None:
    one_hot = """
def one_hot(y, classes):
    made = np.zeros((len(y), classes), dtype="float32")
    made[range(len(y)), y] = 1
    return torch.from_numpy(made)
for x, y in loader:
    out = model(x.to(device))
    best = out.detach().argmax(1)
    target = one_hot(best.cpu(), 2).to(device)
    nn.functional.binary_cross_entropy_with_logits(out, target).backward()
"""
    (found,) = findings_of("ACC208", HEAD + one_hot, tmp_path)
    assert NOW in found.message
    (found,) = findings_of("ACC208", HEAD + one_hot.replace(", y] = 1", ", 0] = y"), tmp_path)
    assert LATER in found.message


PICKED = """
class Part(lib.Part):
    def learn(self, x, y):
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.net(x), y).backward()
        self.optimizer.step()
parts = lib.parts(Part)
for x, y in loader:
    x, y = x.to(device), y.to(device)
    model(x).sum().backward()
    parts[0].learn(x[y[:, 0] > 0], y)
"""


def test_what_something_trains_on_cannot_be_kept_at_a_fixed_size(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HEAD + PICKED, tmp_path)
    assert found.message.endswith("only a mask of values that the host has, or a fixed number, spares that")
    (found,) = findings_of("ACC208", HEAD + PICKED.replace("[0].learn(", "[0].show("), tmp_path)
    assert "keep the size fixed, as `torch.where` and masks do" in found.message


def test_what_a_loss_is_of_can(tmp_path: Path) -> None:
    masked = """
for x, y in loader:
    x, y = x.to(device), y.to(device)
    out = model(x)
    nn.functional.mse_loss(out[y > 0], y[y > 0]).backward()
"""
    (found,) = findings_of("ACC208", HEAD + masked, tmp_path)
    assert "keep the size fixed, as `torch.where` and masks do" in found.message
    called = masked.replace("model(x)", "model(x[y[:, 0] > 0])").replace("out[y > 0], y[y > 0]", "out, y")
    (found,) = findings_of("ACC208", HEAD + called, tmp_path)
    assert "a model is called on what it picks" in found.message
