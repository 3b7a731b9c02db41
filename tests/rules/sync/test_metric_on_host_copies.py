"""ACC445 metric-on-host-copies, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

START = (
    IMPORTS
    + """
import numpy as np
from sklearn.metrics import confusion_matrix
model = nn.Conv2d(3, 5, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
train_loader = DataLoader(TensorDataset(torch.zeros(8, 3, 4, 4), torch.zeros(8, 4, 4)), batch_size=4)
val_loader = DataLoader(TensorDataset(torch.zeros(8, 3, 4, 4), torch.zeros(8, 4, 4)), batch_size=4)
total, kept = np.zeros(25), np.zeros(0)
def measure(out, y):
    return criterion(out.clamp(0, 1), y) + len(y)
def count(truth, guess):
    return np.bincount(5 * truth.ravel() + guess.ravel(), minlength=25)
"""
)
EPOCHS = """
for epoch in range(9):
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
    validate()
"""
SCORES = """
def validate():
    global total, kept
    for i, (x, y) in enumerate(val_loader):
        with torch.no_grad():
            out = model(x.cuda())
        scores = out.cpu().numpy()
        total += count(y.numpy(), np.argmax(scores, axis=1))
"""
LABELS = """
def validate():
    global total, kept
    for i, (x, y) in enumerate(val_loader):
        with torch.no_grad():
            out = model(x.cuda())
        guess = out.argmax(1).cpu().numpy()
        total += count(y.numpy(), guess)
"""
JOINS = """
def validate():
    global total, kept
    for i, (x, y) in enumerate(val_loader):
        with torch.no_grad():
            out = model(x.cuda())
        kept = np.append(kept, out.cpu().numpy(), axis=0)
"""
LOSSES = """
def validate():
    losses = []
    for i, (x, y) in enumerate(val_loader):
        with torch.no_grad():
            out = model(x.cuda())
        losses.append(criterion(out.cpu(), y))
"""


def _program(validate: str) -> str:
    return START + validate + EPOCHS


@pytest.mark.parametrize(
    ("validate", "condition", "instead"),
    [
        pytest.param(
            SCORES,
            "out.cpu().numpy()\n        total += count(y.numpy(), np.argmax(scores, axis=1))",
            "torch.bincount(out.argmax(1).flatten())\n        total += scores.cpu().numpy()",
            id="counted on the GPU",
        ),
        pytest.param(SCORES, "count(y.numpy(), np.argmax(scores, axis=1))", "scores.sum()", id="nothing is chosen"),
        pytest.param(SCORES, "np.argmax(scores, axis=1)", "np.argmax(scores)", id="over everything"),
        pytest.param(SCORES, "np.argmax(scores, axis=1)", "max(scores, 1)", id="the max of Python"),
        pytest.param(SCORES, "count(y.numpy(), ", "sum(", id="batch x classes, not counted"),
        pytest.param(SCORES, "out.cpu()", "x.cpu()", id="never on the GPU"),
        pytest.param(SCORES, "def validate", "def plot_results", id="for eyes"),
        pytest.param(SCORES, "        scores", "        if i % 9: continue\n        scores", id="some passes"),
        pytest.param(SCORES, "out = model(x.cuda())", "out = model(x.cuda()); out.sum().backward()", id="it learns"),
        pytest.param(LABELS, "count(y.numpy(), guess)", "confusion_matrix(y.numpy(), guess)", id="no histogram"),
        pytest.param(LABELS, "out.argmax(1)", "torch.max(out, out.flip(3))", id="the greater of two, each by each"),
        pytest.param(LABELS, "out.argmax(1)", "torch.max(out, x)", id="the greater of two with names"),
        pytest.param(LABELS, "total += count(y.numpy(), guess)", "np.save('a.npy', guess)", id="goes to a file"),
        pytest.param(LABELS, "out.argmax(1).cpu()", "np.argmax(y.numpy(), 1)", id="of the host"),
        pytest.param(JOINS, "kept = np.append(", "kept = y.numpy()\n        kept = np.append(", id="bound again"),
        pytest.param(
            JOINS, "np.append(kept, out.cpu().numpy(), axis=0)", "np.concatenate(kept + [out.cpu()])", id="parts"
        ),
        pytest.param(JOINS, "kept = np.append(kept", "other = np.append(kept", id="not to itself"),
        pytest.param(
            JOINS,
            "        kept = np.append(kept, out.cpu().numpy(), axis=0)\n",
            "        one = out.cpu().numpy()\n    kept = np.append(kept, one, axis=0)\n",
            id="after the loop",
        ),
        pytest.param(LOSSES, "criterion(out.cpu(), y)", "criterion(out, y.cuda()).cpu()", id="a loss on the GPU"),
        pytest.param(LOSSES, "criterion(out.cpu(), y)", "measure(out.cpu(), y)", id="a loss within a measure"),
        pytest.param(LOSSES, "criterion(out.cpu(), y)", "print(out.cpu(), y)", id="no loss"),
    ],
)
def test_silent(validate: str, condition: str, instead: str, tmp_path: Path) -> None:
    """``instead`` is what keeps it silent; with ``condition`` in its place it speaks."""
    program = _program(validate)
    assert condition in program
    check_pair("ACC445", Pair(program.replace(condition, instead), instead, condition), tmp_path)


def test_silent_without_gpu(tmp_path: Path) -> None:
    check_one("ACC445", _program(SCORES).replace(".cuda()", ""), tmp_path)


def test_joined_tensors_are_told_by_another_rule(tmp_path: Path) -> None:
    joins = JOINS.replace("np.append(kept, out.cpu().numpy(), axis=0)", "torch.cat([kept, out.cpu()])")
    assert not findings_of("ACC445", _program(joins), tmp_path)
    assert findings_of("ACC216", _program(joins), tmp_path)


@pytest.mark.parametrize(
    ("validate", "at", "says"),
    [
        (SCORES, "out.cpu()", "`np.argmax` keeps the best of them"),
        (
            SCORES.replace("count(y.numpy(), np.argmax(scores, axis=1))", "(scores.argmax(2) == y.numpy()).sum()"),
            "out.cpu()",
            "keeps the best of them",
        ),
        (
            SCORES.replace("out.cpu()", "torch.max(out, out.flip(3)).cpu()"),
            "torch.max(out, out.flip(3)).cpu()",
            "`np.argmax` keeps the best of them",
        ),
        (LABELS, "out.argmax(1).cpu()", "while `np.bincount` counts them"),
        (LABELS.replace("out.argmax(1)", "torch.max(out, dim)[1]"), "torch.max(out, dim)[1].cpu()", "counts them"),
        (LABELS.replace("out.argmax(1)", "torch.max(out, 1)[1]"), "torch.max(out, 1)[1].cpu()", "counts them"),
        (JOINS, "out.cpu()", "joined to all that was kept so far"),
        (LOSSES, "out.cpu()", "`criterion` computes a loss"),
    ],
)
def test_reported(validate: str, at: str, says: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC445", _program(validate), tmp_path)
    assert f"`{at}`" in found.message
    assert says in found.message
    assert not found.minor


KEEPS = """
def keep(out, least=0.5):
    return [one[one > least] for one in out]
"""
KEPT = """
def validate():
    for i, (x, y) in enumerate(val_loader):
        with torch.no_grad():
            kept = keep(model(x.cuda()))
        for j, (truth, boxes) in enumerate(zip(y, kept)):
            boxes = boxes.cpu().numpy()
            print(np.argmax(boxes, axis=1))
"""


@pytest.mark.parametrize("name", ["nms", "batched_nms", "nms2", "non_max_suppression", "NonMaxSuppression"])
def test_silent_about_the_boxes_that_a_suppression_left(name: str, tmp_path: Path) -> None:
    program = _program(KEEPS + KEPT)
    check_pair("ACC445", Pair(program.replace("keep(", f"{name}("), f"{name}(", "keep("), tmp_path)


def test_a_suppression_that_pools_leaves_the_whole_map(tmp_path: Path) -> None:
    pools = "\ndef nms(heat):\n    return heat * (F.max_pool2d(heat, 3, 1, 1) == heat)\n"
    program = _program(pools + KEPT.replace("keep(", "nms("))
    pooled = "heat * (F.max_pool2d(heat, 3, 1, 1) == heat)"
    check_pair("ACC445", Pair(program.replace(pooled, "heat[heat > 0.5]"), "heat[heat > 0.5]", pooled), tmp_path)


def test_what_a_function_returns_to_another_call_is_another_value(tmp_path: Path) -> None:
    """What the evaluation hands to a helper comes back to the evaluation, not to all that call the helper."""
    program = (
        "\ndef halve(a):\n    return a / 2\n"
        "def elsewhere(a):\n    return np.argmax(halve(a), axis=2)\n"
        + SCORES.replace("count(y.numpy(), np.argmax(scores, axis=1))", "halve(scores)")
    )
    back = "np.argmax(halve(scores), axis=2)"
    check_pair("ACC445", Pair(_program(program), "+= halve(scores)", f"+= {back}"), tmp_path)


def test_what_a_function_returns_to_another_function_that_handed_it_on(tmp_path: Path) -> None:
    program = (
        "\ndef halve(a):\n    return a / 2\n"
        "def choose(a):\n    return np.argmax(halve(a), axis=2)\n"
        + SCORES.replace("count(y.numpy(), np.argmax(scores, axis=1))", "choose(scores)")
    )
    (found,) = findings_of("ACC445", _program(program), tmp_path)
    assert "`np.argmax` keeps the best of them" in found.message


def test_image_by_image(tmp_path: Path) -> None:
    each = SCORES.replace("scores = out.cpu()", "for one in out:\n            scores = one.cpu()").replace(
        "        total += count(y.numpy(), np", "            print(np"
    )
    (found,) = findings_of("ACC445", _program(each), tmp_path)
    assert "`np.argmax` keeps the best of them" in found.message


def test_silent_in_a_loop_over_anything_else(tmp_path: Path) -> None:
    each = SCORES.replace("scores = out.cpu()", "for flip in (0, 1):\n            scores = out.cpu()").replace(
        "        total += count(y.numpy(), np", "            print(np"
    )
    assert not findings_of("ACC445", _program(each), tmp_path)


def test_a_file_reports_what_stands_in_it(tmp_path: Path) -> None:
    measure = """
    import numpy as np
    def add(total, out, y):
        guess = out.argmax(1).cpu().numpy()
        total += np.bincount(5 * y.numpy().ravel() + guess.ravel(), minlength=25)
    """
    calls = "from measure import add\n" + _program(
        LABELS.replace("        guess = out.argmax(1).cpu().numpy()\n", "").replace(
            "total += count(y.numpy(), guess)", "add(total, out, y)"
        )
    )
    assert not findings_of("ACC445", calls, tmp_path, {"measure.py": measure})
    documents = [Document.read(tmp_path / name) for name in ("train.py", "measure.py")]
    facts = analyze(documents, tmp_path).facts[str(tmp_path / "measure.py")]
    (found,) = registry()["ACC445"].check(facts)
    assert "`np.bincount` counts them" in found.message
    assert [(Path(one.filename).name, one.message) for one in found.related] == [
        ("train.py", "the loop of the evaluation")
    ]


def test_joined_but_in_the_first_pass(tmp_path: Path) -> None:
    first = JOINS.replace(
        "        kept = np.append(kept, out.cpu().numpy(), axis=0)\n",
        "        if kept is None:\n            kept = out.cpu().numpy()\n"
        "        else:\n            kept = np.append(kept, out.cpu().numpy(), axis=0)\n",
    )
    (found,) = findings_of("ACC445", _program(first), tmp_path)
    assert "joined to all that was kept so far" in found.message


def test_over_batches_of_an_unknown_iterator(tmp_path: Path) -> None:
    unknown = JOINS.replace("validate():", "validate(batches=conf.batches):").replace("val_loader", "batches")
    (found,) = findings_of("ACC445", "import conf\n" + _program(unknown), tmp_path)
    assert "joined to all that was kept so far" in found.message


def test_silent_where_the_steps_of_the_training_do_it(tmp_path: Path) -> None:
    measure = "\ndef measure(out, y):\n    return np.argmax(out.cpu().numpy(), 1), np.argmax(out.cpu().numpy(), 2)\n"
    evaluates = SCORES.replace("scores = out.cpu().numpy()", "measure(out, y)").replace(
        "        total += count(y.numpy(), np.argmax(scores, axis=1))\n", ""
    )
    step = EPOCHS.replace(
        "criterion(model(x.cuda())", "out = model(x.cuda())\n        measure(out, y)\n        criterion(out"
    )
    check_pair(
        "ACC445",
        Pair(START + measure + evaluates + step, "        measure(out, y)\n        criterion", "        criterion"),
        tmp_path,
    )


def test_through_what_a_function_returns(tmp_path: Path) -> None:
    through = "\ndef scores_of(x):\n    return model(x.cuda()).cpu().numpy()\n" + SCORES.replace(
        "scores = out.cpu().numpy()", "scores = scores_of(x)"
    )
    (found,) = findings_of("ACC445", _program(through), tmp_path)
    assert "`model(x.cuda()).cpu()`" in found.message


def test_one_finding_a_loop_with_the_other_copies(tmp_path: Path) -> None:
    copies = LABELS.replace("count(y.numpy(), guess)", "count(y.cpu().numpy(), guess)").replace(
        "x.cuda()", "x.cuda()); y = y.cuda("
    )
    (found,) = findings_of("ACC445", _program(copies), tmp_path)
    assert [one.message for one in found.related] == [
        "a part of the batch comes back from the GPU here; keep the tensor that the loader gave"
    ]


def test_numbers_of_the_same_loop_are_places_of_the_finding(tmp_path: Path) -> None:
    numbers = LABELS.replace("        guess", "        print(out.sum().item())\n        guess")
    (found,) = findings_of("ACC445", _program(numbers), tmp_path)
    assert [one.message for one in found.related] == ["a number is read here, too"]


def test_minor_where_it_runs_once(tmp_path: Path) -> None:
    (found,) = findings_of("ACC445", START + SCORES + "\nvalidate()\n", tmp_path)
    assert found.minor


def test_minor_where_only_the_batch_comes_back(tmp_path: Path) -> None:
    back = LABELS.replace("x.cuda()", "x.cuda()); y = y.cuda(").replace(
        "total += count(y.numpy(), guess)", "print(y.cpu().numpy(), guess)"
    )
    (found,) = findings_of("ACC445", _program(back), tmp_path)
    assert found.minor
    assert "brings back a part of the batch" in found.message
    assert not findings_of("ACC445", _program(back.replace("y = y.cuda()", "y = y")), tmp_path)


def test_off_the_step(tmp_path: Path) -> None:
    assert str(registry()["ACC445"].frequency) == "epoch"
