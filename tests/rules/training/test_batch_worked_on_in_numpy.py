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
        other("a = conf.augment(a)", "print(a)\n    a = conf.other"), "a = conf.other", "pass"
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
