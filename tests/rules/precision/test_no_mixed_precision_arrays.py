"""ACC417 names where numpy is given what is bfloat16 under autocast, which raises."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Finding

from ..checks import findings_of
from ..programs import IMAGE_LOADER, IMPORTS

READ = "numpy cannot read bfloat16: `.float()` first"
TRAINING = (
    IMPORTS
    + IMAGE_LOADER
    + """
import numpy as np
from sklearn.metrics import roc_auc_score
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Conv2d(3, 3, 3) for _ in range(8)])
        self.last = nn.Conv2d(3, 3, 1)
    def forward(self, x):
        return self.last(self.body(x))
def score(out, x):
    out = torch.sigmoid(out).view(-1).data.cpu()
    return (out.numpy() > 0.5).mean()
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in loader:
    out = net(x.cuda())
    out.sum().backward()
    optimizer.step()
    print(score(out, x))
"""
)
SILENT = {
    "a cast": ("torch.sigmoid(out)", "torch.sigmoid(out).float()"),
    "a cast by its dtype": (".data.cpu()", ".data.to('cpu', torch.float32)"),
    "what autocast computes in float32": ("torch.sigmoid(out)", "torch.softmax(out, 1)"),
    "the place of the best": (".data.cpu()", ".data.max(0)[1].cpu()"),
    "the place of the best, unpacked": ("    return (out", "    _, out = out.max(0)\n    return (out"),
    "a decision": ("out.numpy() > 0.5", "(out > 0.5).numpy()"),
    "the batch": ("print(score(out, x))", "print(score(x, x))"),
    "what the loss is": ("print(score(out, x))", "print(score(nn.functional.mse_loss(out, x.cuda()), x))"),
    "a model that ends in float32": ("return self.last(self.body(x))", "return self.last(self.body(x)).softmax(1)"),
    "numbers": ("out.numpy() > 0.5", "np.float32(out.max().item()) > 0.5"),
}


@pytest.mark.parametrize("case", SILENT)
def test_names_no_reading_of_what_is_no_bfloat16(case: str, tmp_path: Path) -> None:
    assert reads_in(TRAINING, tmp_path) == 1
    instead, condition = SILENT[case]
    assert instead in TRAINING
    assert reads_in(TRAINING.replace(instead, condition), tmp_path) == 0


@pytest.mark.parametrize(
    ("instead", "condition"),
    [
        ("out.numpy() > 0.5", "np.asarray(out) > 0.5"),
        ("(out.numpy() > 0.5).mean()", "roc_auc_score(x.cpu(), out)"),
        ("torch.sigmoid(out).view(-1)", "torch.cat([out.tanh(), out]).view(-1)"),
        ("print(score(out, x))", "print(score(out=out, x=x))"),
        ("    print(score(out, x))", "    outs = []\n    outs.append(out)\n    print(score(torch.cat(outs), x))"),
    ],
    ids=["asarray", "sklearn", "joined", "by name", "out of a list"],
)
def test_names_each_way_of_reading(instead: str, condition: str, tmp_path: Path) -> None:
    assert instead in TRAINING
    assert reads_in(TRAINING.replace(instead, condition), tmp_path) == 1


def test_says_where(tmp_path: Path) -> None:
    found = only(TRAINING, tmp_path)
    expected = ", and call `.float()` before numpy reads the results, as in `score`, since it has no bfloat16"
    assert found.message.endswith(expected)


EVALUATION = """
def evaluate(net):
    net.eval()
    with torch.no_grad():
        return net(torch.zeros(1, 3, 8, 8).cuda()).cpu().numpy()
evaluate(net)
"""


def test_an_evaluation_is_named_where_autocast_stands_in_the_forward(tmp_path: Path) -> None:
    source = TRAINING.replace("    print(score(out, x))\n", EVALUATION)
    assert reads_in(source, tmp_path) == 0
    threads = source.replace("net = Net().cuda()", "net = nn.DataParallel(Net()).cuda()")
    found = only(threads, tmp_path)
    assert "as in `evaluate`," in found.message
    assert [one.message for one in found.related][-1] == READ
    (general,) = findings_of("ACC417", threads.replace(EVALUATION, ""), tmp_path)
    assert general.message.endswith("and `.float()` wherever numpy reads what it returns")


def test_an_evaluation_within_the_loop_is_no_part_of_the_step(tmp_path: Path) -> None:
    inside = "    with torch.no_grad():\n        print(score(net(x.cuda()), x))"
    source = TRAINING.replace("    print(score(out, x))", inside)
    assert reads_in(source, tmp_path) == 0
    assert reads_in(source.replace("torch.no_grad()", "conf.timer()"), tmp_path) == 1


def test_says_nothing_in_general_of_a_library_model_where_nothing_asks_numpy(tmp_path: Path) -> None:
    source = TRAINING.replace("    print(score(out, x))\n", "").replace("net = Net().cuda()", "net = conf.wrap(Net())")
    source = source.replace("conf.wrap(Net())", "nn.DataParallel(nn.Sequential(*[nn.Conv2d(3, 3, 3)] * 8)).cuda()")
    assert "wherever numpy reads what it returns" in only(source, tmp_path).message
    quiet = source.replace("out.numpy() > 0.5", "out > 0.5")
    assert "numpy" not in only(quiet, tmp_path).message


def test_numpy_has_float16(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\ndependencies = ["torch==1.8.1"]\n')
    assert reads_in(TRAINING, tmp_path) == 0


def only(source: str, folder: Path) -> Finding:
    (found,) = findings_of("ACC417", source, folder)
    return found


def reads_in(source: str, folder: Path) -> int:
    found = only(source, folder)
    count = sum(one.message == READ for one in found.related)
    assert ("before numpy reads" in found.message) == bool(count)
    return count
