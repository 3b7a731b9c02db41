"""ACC221 literal-copied-every-step, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

HEAD = IMPORTS + "import conf\n"
LOOP = """
model = nn.Linear(8, 2).cuda()
for i in range(conf.steps):
    weight = {}
    (model(conf.batch(i)) * weight).sum().backward()
"""


def made(code: str) -> str:
    return HEAD + LOOP.format(code)


ONE = "torch.tensor([0.1, 0.9])"
PAIRS = {
    "numbers of the step": Pair(made("torch.tensor([0.1, i]).cuda()"), ", i]", ", 0.9]"),
    "numbers that are not written": Pair(made("torch.tensor(conf.weights).cuda()"), "conf.weights", "[0.1, 0.9]"),
    "a size": Pair(made("torch.FloatTensor(2).cuda()"), "(2)", "([2])"),
    "wants a gradient": Pair(made("torch.tensor([0.1, 0.9], requires_grad=True).cuda()"), ", requires_grad=True"),
    "stays on the host": Pair(made(f"{ONE}.cpu()"), ".cpu()", ".cuda()"),
    "now and then": Pair(
        made(f"1\n    if i % 100 == 0:\n        weight = {ONE}.cuda()"), "if i % 100 == 0", "with torch.enable_grad()"
    ),
    "a number where a sum begins": Pair(
        made("1\n    if conf.ramps:\n        weight = torch.tensor(0.0).cuda()"), "torch.tensor(0.0)", ONE
    ),
    "made on the host": Pair(made("torch.tensor([0.1, 0.9], device='cpu')"), "'cpu'", "'cuda'"),
    "a number that the GPU could fill in": Pair(made("torch.tensor(0.5, device='cuda')"), "(0.5,", "([0.5],"),
    "numbers of numpy that are not written": Pair(
        made("torch.from_numpy(np.array(conf.w)).cuda()").replace("import conf", "import conf\nimport numpy as np"),
        "conf.w",
        "[0.1, 0.9]",
    ),
    "changed before it is moved": Pair(
        HEAD
        + "class Net(nn.Module):\n    def forward(self, x):\n"
        + f"        w = {ONE}\n        w[0] = x.size(0)\n        w = w.cuda()\n        return x * w\n",
        "        w[0] = x.size(0)\n",
        "",
    ),
    "where no other type is the default": Pair(
        "import torch\n" + made("torch.Tensor([0.1, 0.9])"),
        "import torch\n",
        "import torch\ntorch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
    ),
    "before the loop": Pair(
        HEAD + f"weight = {ONE}.cuda()\n" + LOOP.format("weight"),
        "    weight = weight\n",
        f"    weight = {ONE}.cuda()\n",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC221", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "code",
    [
        f"{ONE}.cuda()",
        f"{ONE}.to('cuda')",
        "torch.tensor(0.5).cuda()",
        "torch.tensor(0).float().cuda()",
        "torch.FloatTensor([[0, -1, 0]]).cuda().unsqueeze(0)",
        "torch.tensor([0.1, 0.9], device='cuda')",
        "torch.cuda.FloatTensor([0.1, 0.9])",
        "torch.zeros(2, device='cuda').new_tensor([0.1, 0.9])",
    ],
)
def test_reported_as_information(code: str, tmp_path: Path) -> None:
    check_one("ACC221", made(f"{code}  # -> info none"), tmp_path)


def test_reported_in_a_forward_pass(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def forward(self, x):
        return x * torch.LongTensor([1, 2]).to("cuda")  # -> info none
"""
    check_one("ACC221", HEAD + source, tmp_path)


CHANGED = {
    "added up over processes": "torch.distributed.all_reduce(n)",
    "changed by a method": "n.add_(1)",
    "written to": "n[0] = 3",
    "added to": "n += 1",
    "added to a part": "n[0] += 1",
    "added to its data": "n.data += 1",
    "changed by a method of a part": "n[0].zero_()",
    "the result of another": "torch.add(x, 1, out=n)",
    "by another name": "m = n\n        m += 1",
    "in a list": "both = [x, n]\n        both[1] += 1",
}


@pytest.mark.parametrize("line", CHANGED.values(), ids=CHANGED.keys())
def test_silent_about_what_is_changed_in_place(line: str, tmp_path: Path) -> None:
    source = f"""
class Net(nn.Module):
    def forward(self, x):
        n = torch.LongTensor([1, 2]).to("cuda")  # MARK
        {line}
        return x * n
"""
    check_one("ACC221", HEAD + source, tmp_path)
    check_one("ACC221", HEAD + source.replace(line, "x = x * n").replace("# MARK", "# -> info none"), tmp_path)


BOUND = {
    "the second of two": ("m, n = torch.tensor(0.0), torch.tensor(0.0).cuda()", "n += x", "m += x"),
    "two at once": ("m = n = torch.tensor(0.0).cuda()", "m += x", "o = x"),
    "with a type": ("n: torch.Tensor = torch.tensor(0.0).cuda()", "n += x", "o = x"),
    "in a dict": ("n = {'sum': torch.tensor(0.0).cuda()}", "n['sum'] += x", "o = x"),
    "as an entry": ("n['sum'] = torch.tensor(0.0).cuda()", "n['sum'] += x", "n['other'] += x"),
}


@pytest.mark.parametrize(("made_and_bound", "line", "other"), BOUND.values(), ids=BOUND.keys())
def test_silent_about_sums_however_they_are_bound(made_and_bound: str, line: str, other: str, tmp_path: Path) -> None:
    source = f"""
class Net(nn.Module):
    def forward(self, x, n):
        {made_and_bound}
        {line}
        return x
"""
    check_pair("ACC221", Pair(HEAD + source, f"        {line}\n", f"        {other}\n"), tmp_path)


def test_says_where_the_numbers_are_that_another_statement_moves(tmp_path: Path) -> None:
    source = """
import numpy as np
model = nn.Linear(8, 8).cuda()
class Net(nn.Module):
    def forward(self, x):
        eye = torch.from_numpy(np.array([1, 0, 0, 1]).astype(np.float32)).view(1, 4).repeat(x.size(0), 1)
        if x.is_cuda:
            eye = eye.cuda()  # -> info none
        return x + eye
"""
    (found,) = check_one("ACC221", HEAD + source, tmp_path)
    assert "the same numbers that are written in line 11 " in found.message
    assert [one.span.start.row for one in found.related] == [11]


def test_follows_the_device_of_a_batch(tmp_path: Path) -> None:
    source = """
class Net(nn.Module):
    def forward(self, x):
        return x * torch.tensor([1, 2], device=x.device)  # -> info none
model = Net().cuda()
"""
    check_one("ACC221", HEAD + source, tmp_path)
    check_one("ACC221", HEAD + source.replace(".cuda()", "").replace("  # -> info none", ""), tmp_path)


@pytest.mark.parametrize(
    ("comment", "kept"),
    [("  # of each class", ""), ("  # 'a' and 'b'", " # 'a' and 'b'"), ("  # one, then `two`", " # one, then `two`")],
)
def test_a_comment_is_no_part_of_what_is_said(comment: str, kept: str, tmp_path: Path) -> None:
    """Unless what looks like one may be a part of a text."""
    (found,) = findings_of("ACC221", made(f"torch.tensor(\n        [0.1, 0.9]{comment}\n    ).cuda()"), tmp_path)
    assert f"`torch.tensor([0.1, 0.9]{kept}).cuda()` copies" in found.message
