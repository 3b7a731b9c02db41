"""ACC223 elements-read-one-by-one, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of

PROGRAM = """
import torch

model = torch.nn.Linear(8, 4).cuda().eval()
names = ["a", "b", "c", "d"]

def decode(scores, rows=1):
    found = scores.argmax(1)
    out = []
    for i in range(found.size(0)):
        out.append(names[found[i].item()])
    return out

with torch.no_grad():
    print(decode(model(torch.zeros(16, 8, device="cuda"))))
"""
READ = "names[found[i].item()]"
TRAINED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4):
    out = model(x.cuda(non_blocking=True)).sum(1)
    out.sum().backward()
    optimizer.step()
    read = [out[i].item() for i in range(out.size(0))]
"""


def pair(silent: str, here: str, program: str = PROGRAM) -> Pair:
    """A program that says ``silent`` where another one says ``here``."""
    assert here in program
    return Pair(program.replace(here, silent), silent, here)


PAIRS = {
    "copied before": pair("scores.argmax(1).cpu()", "scores.argmax(1)"),
    "copied by the caller": Pair(PROGRAM.replace('device="cuda"))))', 'device="cuda")).cpu()))'), ".cpu()", ""),
    "a list already": pair("names[values[i]]", READ, PROGRAM.replace("out = []", "out, values = [], found.tolist()")),
    "no GPU": Pair(PROGRAM.replace(".cuda()", ".float()").replace(', device="cuda"', ""), ".float()", ".cuda()"),
    "what is asked to be a list": Pair(
        PROGRAM.replace(
            "    for i in range(found.size(0)):\n        out.append(names[found[i].item()])",
            "    if isinstance(found, list):\n        for i in range(len(found)):\n            out.append(names[found[i].item()])",
        ),
        "isinstance(found, list)",
        "len(found)",
    ),
    "a few passes": pair("range(4)", "range(found.size(0))"),
    "a few things": pair("in (0, 1, 2)", "in range(found.size(0))"),
    "another element": pair("found[0].item()", "found[i].item()"),
    "what the loop computes": pair("(scores[i] * 2).argmax().item()", "found[i].item()"),
    "what the loop binds": pair(
        "        found = model(scores)\n        out",
        "        out",
        PROGRAM.replace('model(torch.zeros(16, 8, device="cuda"))', 'torch.zeros(16, 8, device="cuda")'),
    ),
    "a slice": pair("found[i:].sum().item()", "found[i].item()"),
    "a row that is copied": pair("scores[i].cpu()", "scores[i, 0].cpu()", PROGRAM.replace(READ, "scores[i, 0].cpu()")),
    "a list of tensors": pair(
        "[scores.argmax(1)[0], scores.sum()]", "scores.argmax(1)", PROGRAM.replace("found.size(0)", "9")
    ),
    "parts of a tensor": pair("scores.argmax(1).split(1)", "scores.argmax(1)", PROGRAM.replace("found.size(0)", "9")),
    "what works on the host alone": pair("out = [found.apply_(abs)]", "out = []"),
    "what is shown": pair("plot_names", "decode"),
    "over epochs": pair("epoch", "row", PROGRAM.replace("for i in", "for row in").replace("[i]", "[row]")),
}


@pytest.mark.parametrize("case", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(case: Pair, tmp_path: Path) -> None:
    check_pair("ACC223", case, tmp_path)


FROM_FILES = """
import lib
import numpy as np
import torch
from scipy.io import loadmat
model = torch.nn.Linear(8, 4).cuda()
entries = {read}
for at in range(lib.count()):
    print(entries[at][0].item())
    print(entries[at, 1].item())
"""


@pytest.mark.parametrize("read", ['loadmat("list.mat")["names"][0, :]', 'np.load("list.npy")', 'np.loadtxt("list")'])
def test_arrays_that_are_read_from_a_file_are_on_the_host(read: str, tmp_path: Path) -> None:
    check_pair("ACC223", Pair(FROM_FILES.format(read=read), read, "lib.entries()"), tmp_path)


def test_leaves_training_steps_to_the_rule_about_them(tmp_path: Path) -> None:
    assert not findings_of("ACC223", TRAINED, tmp_path)
    assert findings_of("ACC208", TRAINED, tmp_path)


READS = {
    "a number": "out.append(int(found[i]))",
    "a condition": "out += [1] if found[i] > 0 else []",
    "either side of a comparison": "out += [1] if 3 < found[i] else []",
    "a name for it": "one = found[i]\n        out.append(one.item())",
    "detached": "out.append(found[i].detach().item())",
    "two indices": "out.append(scores[i, 0].cpu())",
    "one after the other": "out.append(scores[i][0].item())",
    "by an index beside it": "out.append(found[i - 1].item())",
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_reads(read: str, tmp_path: Path) -> None:
    line = f"out.append({READ})"
    assert line in PROGRAM
    (found,) = findings_of("ACC223", PROGRAM.replace(line, read), tmp_path)
    whole = "scores" if "scores" in read else "found"
    assert f"one element of `{whole}`" in found.message
    assert f"`{whole}.{'cpu' if read.endswith('.cpu())') else 'tolist'}()`" in found.message


LOOPS = {
    "what it goes over": ("for one in found:", "names[one.item()]"),
    "what it counts beside": ("for i, one in enumerate(found):", "names[one.item()]"),
    "a list": ("if 1:", "[names[one.item()] for one in found]"),
    "a list by number": ("if 1:", "[names[found[i].item()] for i in range(len(found))]"),
}


@pytest.mark.parametrize(("loop", "read"), LOOPS.values(), ids=LOOPS.keys())
def test_loops(loop: str, read: str, tmp_path: Path) -> None:
    source = PROGRAM.replace("for i in range(found.size(0)):", loop).replace(READ, read)
    (found,) = findings_of("ACC223", source, tmp_path)
    assert "one element of `found`" in found.message


def test_is_a_warning_where_another_loop_repeats_it(tmp_path: Path) -> None:
    source = PROGRAM.replace("    print(decode", "    for batch in range(100):\n        print(decode")
    check_one("ACC223", source.replace(f"{READ})", f"{READ})  # -> warning none"), tmp_path)
    check_one("ACC223", PROGRAM.replace(f"{READ})", f"{READ})  # -> info none"), tmp_path)


def test_names_the_other_reads(tmp_path: Path) -> None:
    source = PROGRAM.replace(f"{READ})", f"{READ})\n        out.append(found[i].item() + 1)")
    (found,) = findings_of("ACC223", source, tmp_path)
    assert [one.span.start.row for one in found.related] == [found.span.start.row + 1]


GIVEN = """
import torch

model = torch.nn.Linear(8, 4).cuda().eval()

def text(sequence, size):
    return [sequence[i].item() for i in range({over})]

with torch.no_grad():
    print(text(model(torch.zeros(16, 8, device="cuda"))[0], 4))
"""


@pytest.mark.parametrize(("over", "says"), [("size", True), ("len(sequence)", False)])
def test_what_a_function_is_given_is_no_list_where_its_length_is_given_too(
    over: str, says: bool, tmp_path: Path
) -> None:
    assert bool(findings_of("ACC223", GIVEN.format(over=over), tmp_path)) == says
