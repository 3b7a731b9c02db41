"""Models and loaders that are known by their use, and what they compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ...rules.checks import Pair, check_pair, findings_of
from ...rules.programs import MODEL, PHOTOS

PINNED = "loader = DataLoader(photos, batch_size=8, num_workers=2, pin_memory=True)\n"
COPY = "for x, y in loader:\n    x = x.cuda()\n    model(x).sum().backward()\n"
UNKNOWN_MODEL = """
from elsewhere import build
model = build()
model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
SUM = """
total = 0
for x, y in loader:
    out = model(x.cuda(non_blocking=True))
    loss = out.mean()
    loss.backward()
    optimizer.step()
    total += loss
"""

REBOUND = {
    "a tuple": f"from elsewhere import wrap\nmodel, optimizer, loader = wrap(model, optimizer, loader)\n{COPY}",
    "keywords": f"from elsewhere import wrap\nmodel, loader = wrap(module=model, data_loader=loader)\n{COPY}",
    "on a condition": f"from elsewhere import wrap\nif input():\n    loader = wrap(loader)\n{COPY}",
    "another name": f"from elsewhere import wrap\nother = wrap(loader)\n{COPY}".replace("in loader", "in other"),
    "a class of a library": f"from progress.bar import Bar\nbar = Bar(loader)\n{COPY}".replace("in loader", "in bar"),
    "numbered on a condition": "from elsewhere import bar\nbatches = enumerate(loader)\n"
    + "if input():\n    batches = bar(batches)\n"
    + COPY.replace("for x, y in loader", "for i, (x, y) in batches"),
}
PAIRS = {
    "a name that says where batches go": Pair(
        PHOTOS
        + MODEL
        + PINNED
        + f"from elsewhere import prefetched\nother = prefetched(loader)\n{COPY}".replace("in loader", "in other"),
        "prefetched",
        "wrap",
    ),
    "what is not given": Pair(
        PHOTOS
        + MODEL
        + f"{PINNED}from elsewhere import wrap\nother = wrap(model)\n{COPY}".replace("in loader", "in other"),
        "wrap(model)",
        "wrap(loader)",
    ),
    "what is made of itself": Pair(
        PHOTOS
        + MODEL
        + f"{PINNED}a = enumerate(a)\nb = enumerate(c)\nc = zip(b)\nfor i, (x, y) in a:\n    x = x.cuda()\n",
        "enumerate(a)",
        "enumerate(loader)",
    ),
}
GRAPHS = {
    "a model by its use": UNKNOWN_MODEL + SUM,
    "a model of a library": UNKNOWN_MODEL.replace("from elsewhere import build", "import timm").replace(
        "build()", "timm.create_model('resnet18')"
    )
    + SUM,
    "a parameter": f"def train(model, optimizer):{SUM}".replace("\n", "\n    ") + "\n    model.train()\n",
    "a name, and gradients that flow back": "def f(model):" + SUM.replace("\n", "\n    ").replace("optimizer", "model"),
    "an attribute of its output": UNKNOWN_MODEL + SUM.replace("out.mean()", "out.loss"),
    "an entry of its output": UNKNOWN_MODEL + SUM.replace("out.mean()", "out['loss']"),
    "wrapped": UNKNOWN_MODEL + "model = nn.parallel.DistributedDataParallel(model, device_ids=[0])\n" + SUM,
    "a loss that is not known": "from elsewhere import criterion\n"
    + UNKNOWN_MODEL
    + SUM.replace("out.mean()", "criterion(out, y)"),
    "a loss that is not known, divided": "from elsewhere import criterion, n\n"
    + UNKNOWN_MODEL
    + SUM.replace("out.mean()", "criterion(out, y) / n"),
}
NO_GRAPHS = {
    "a name alone": "def f(model):" + SUM.replace("\n", "\n    ").replace("loss.backward()", "optimizer.zero_grad()"),
    "a number": "from elsewhere import accuracy\n"
    + UNKNOWN_MODEL
    + SUM.replace("total += loss", "total += accuracy(out, y)"),
}


def _program(text: str) -> str:
    return PHOTOS + PINNED + text


@pytest.mark.parametrize("case", REBOUND)
def test_what_is_given_and_bound_again_is_what_it_was(case: str, tmp_path: Path) -> None:
    found = findings_of("ACC201", PHOTOS + MODEL + PINNED + REBOUND[case], tmp_path)
    assert [one.confidence for one in found] == [Confidence.EVIDENT]
    assert "unknown calls hand back what they are given" in found[0].message


@pytest.mark.parametrize("case", PAIRS)
def test_nothing_else_is_kept(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", PAIRS[case], tmp_path)


@pytest.mark.parametrize("case", GRAPHS)
def test_a_model_by_its_use_gives_tensors_with_a_graph(case: str, tmp_path: Path) -> None:
    assert len(findings_of("ACC209", _program(GRAPHS[case]), tmp_path)) == 1


@pytest.mark.parametrize("case", NO_GRAPHS)
def test_without_use_there_is_none(case: str, tmp_path: Path) -> None:
    assert findings_of("ACC209", _program(NO_GRAPHS[case]), tmp_path) == []


@pytest.mark.parametrize("code", ["ACC301", "ACC302", "ACC303"])
@pytest.mark.parametrize("value", ["x * noise", "f(x)"])
def test_what_is_computed_from_evidence_is_no_proof(code: str, value: str, tmp_path: Path) -> None:
    """A tensor on the host meets one that is evidently on the GPU, and nothing is claimed."""
    begins = "from elsewhere import f, noise\nmodel = nn.Linear(8, 2).cuda()\nx = torch.zeros(8, 8).cuda()\n"
    for end in ("x + torch.zeros(8)", "nn.functional.mse_loss(x, torch.zeros(8))", "model(x)"):
        assert findings_of(code, f"{PHOTOS}{begins}x = {value}\n{end}", tmp_path) == []
