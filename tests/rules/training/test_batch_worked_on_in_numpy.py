"""ACC433 batch-worked-on-in-numpy, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS, MODEL

HEAD = IMPORTS + MODEL + "import numpy as np, conf\nloader = DataLoader(TensorDataset(torch.zeros(8, 8)))\n"
LOOP = """
for i, (x,) in enumerate(loader):
    a = x.numpy()
    a = conf.augment(a)
    x = torch.from_numpy(a)
    model(x).sum().backward()
"""


def other(before: str, after: str) -> str:
    """The loop with other lines."""
    return HEAD + LOOP.replace(before, after)


PAIRS = {
    "the array is only looked at": Pair(other("from_numpy(a)", "from_numpy(conf.b)"), "conf.b", "a"),
    "the name holds something else by then": Pair(
        other("a = conf.augment(a)", "a = conf.augment(a)\n    a = conf.other"), "a = conf.other", "pass"
    ),
    "now and then": Pair(
        other("    a = x.numpy()\n", "    if i % 100 == 0:\n        a = x.numpy()\n"),
        "if i % 100 == 0",
        "with conf.region",
    ),
    "an evaluation that keeps it for a metric": Pair(
        other("model(x).sum().backward()", "model(x)").replace("x = torch.from_numpy(a)", "m = torch.from_numpy(a)"),
        "m = torch.from_numpy(a)",
        "m = torch.from_numpy(a).to('cuda')",
    ),
    "no training": Pair(other(".backward()", ""), ".sum()", ".sum().backward()"),
    "what the model computed": Pair(other("x.numpy()", "model(x).detach().numpy()"), "model(x).detach()", "x"),
    "back from the GPU, in an evaluation": Pair(
        other("x.numpy()", "x.cuda().cpu().numpy()").replace(
            "(a)\n    model(x).sum().backward()", "(a).cuda()\n    model(x)"
        ),
        ".cuda().cpu()",
        ".cpu()",
    ),
    "back from the GPU": Pair(other("x.numpy()", "x.cuda().cpu().numpy()"), ".cuda().cpu()"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC433", PAIRS[case], tmp_path)


def test_reported_as_information(tmp_path: Path) -> None:
    (found,) = check_one("ACC433", other("x.numpy()", "x.numpy()  # -> info none"), tmp_path)
    assert "made a tensor again" in found.related[0].message


@pytest.mark.parametrize(
    "lines",
    [
        "x = torch.tensor(conf.augment(x.numpy()))",
        "out = []\n    for one in x.numpy():\n        out.append(conf.augment(one))\n    x = torch.from_numpy(np.stack(out))",
        "out = [torch.from_numpy(conf.augment(one)) for one in x.numpy()]\n    x = torch.stack(out)",
        "out, extra = conf.augment(x.numpy())\n    x = torch.FloatTensor(out)",
    ],
)
def test_knows_the_ways_back(lines: str, tmp_path: Path) -> None:
    source = f"{HEAD}for (x,) in loader:\n    {lines}\n    model(x).sum().backward()\n"
    assert len(findings_of("ACC433", source, tmp_path)) == 1


VIEWS = {
    "at once": "x = torch.from_numpy(x.numpy())",
    "a slice": "a = x.numpy()\n    part = a[:, 1:]\n    x = torch.from_numpy(part[..., None])",
    "another shape": "a = np.transpose(x.numpy(), (1, 0)).reshape(4, -1).T\n    x = torch.tensor(a)",
    "its parts": "x = torch.stack([torch.from_numpy(one) for one in x.numpy()])",
    "parts in a loop": (
        "a, out = x.numpy(), []\n    for i in range(len(a)):\n        out.append(torch.from_numpy(a[i]))\n"
        "    x = torch.stack(out)"
    ),
    "parts are handed on": (
        "a = x.numpy()\n    x = torch.from_numpy(a)\n    for i in range(8):\n        conf.attack(a[i], a[i] * 2)"
    ),
    "it is looked at": "a = x.numpy()\n    print(a.mean())\n    x = torch.from_numpy(a if a is not None else conf.a)",
    "only its shape": "a = x.numpy()\n    x = torch.from_numpy(np.zeros((len(a), 2 * a.shape[1])))",
}
WORK = {
    "arithmetic": "x = torch.from_numpy(x.numpy() / 255)",
    "arithmetic in place": "a = x.numpy()\n    a /= 255\n    x = torch.from_numpy(a)",
    "of a view": "a = x.numpy()\n    part = a[:, 1:]\n    part *= 2\n    x = torch.from_numpy(a)",
    "items": "a = x.numpy()\n    a[a > 1] = 1\n    x = torch.from_numpy(a)",
    "items of another": (
        "a, out = x.numpy(), np.zeros(8)\n    for i in range(8):\n        out[i] = a[i] * 2\n    x = torch.tensor(out)"
    ),
    "a sum": "a, out = x.numpy(), 0\n    out += a.T\n    x = torch.from_numpy(out)",
    "a function of numpy": "x = torch.from_numpy(np.pad(x.numpy(), 1))",
    "one that writes": "a = x.numpy()\n    np.clip(a, 0, 1, out=a)\n    x = torch.from_numpy(a)",
    "another order": "a = x.numpy()\n    np.random.shuffle(a)\n    x = torch.from_numpy(a)",
    "chosen parts": "x = torch.from_numpy(x.numpy()[:, [2, 1, 0]])",
    "a method": "x = torch.from_numpy(x.numpy().astype('float32'))",
    "each part": "x = torch.stack([torch.from_numpy(one - 1) for one in x.numpy()])",
}


@pytest.mark.parametrize("case", VIEWS)
def test_silent_where_nothing_is_computed(case: str, tmp_path: Path) -> None:
    source = f"{HEAD}for (x,) in loader:\n    {VIEWS[case]}\n    model(x).sum().backward()\n"
    assert not findings_of("ACC433", source, tmp_path)


@pytest.mark.parametrize("case", WORK)
def test_reported_where_something_is_computed(case: str, tmp_path: Path) -> None:
    source = f"{HEAD}for (x,) in loader:\n    {WORK[case]}\n    model(x).sum().backward()\n"
    assert len(findings_of("ACC433", source, tmp_path)) == 1
