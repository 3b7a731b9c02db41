"""What workers that do not fork could not find, where the script is a notebook."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

CELLS = """\
import json, os, sys, types
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset
from accel_advisor.tuning.probe.measuring.cell_definitions import needs_cells

def needed(**names):
    cells = types.ModuleType("__main__")
    vars(cells).update(names)
    sys.modules["__main__"] = cells
    exec('''
from torch.utils.data import Dataset
class Data(Dataset):
    def __len__(self): return 3
    def __getitem__(self, i): return i
def collate(batch): return batch
''', cells.__dict__)
    own, known = cells.Data(), TensorDataset(torch.zeros(3))
    known_unsendable = TensorDataset(torch.zeros(3))
    known_unsendable.lock = open(__file__ if "__file__" in globals() else sys.executable)
    loaders = [
        DataLoader(own), DataLoader(Subset(own, [0])), DataLoader(known, collate_fn=cells.collate),
        DataLoader(known), DataLoader(known_unsendable),
    ]
    return [needs_cells(one) for one in loaders]

print(json.dumps([needed(), needed(__file__="/project/train.py")]), flush=True)
os._exit(0)  # the end of an interpreter with torch takes half a second
"""


@cache
def found() -> tuple[list[bool], list[bool]]:
    """Of the cells of a notebook, and of a script."""
    done = subprocess.run([sys.executable, "-c", CELLS], capture_output=True, text=True, check=True)
    cells, script = json.loads(done.stdout)
    return cells, script


def test_classes_and_functions_of_cells_are_found_by_no_other_process() -> None:
    assert found()[0] == [True, True, True, False, False]


def test_those_of_a_script_are() -> None:
    assert found()[1] == 5 * [False]
