"""What workers that do not fork could not find, where the script is a notebook."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CELLS = """\
import json, sys, types
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset
from accel_advisor.tuning.probe.measuring.cell_definitions import needs_cells
cells = types.ModuleType("__main__")
{file}
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
print(json.dumps([needs_cells(one) for one in loaders]))
"""


def found(file: str) -> list[bool]:
    done = subprocess.run([sys.executable, "-c", CELLS.format(file=file)], capture_output=True, text=True, check=True)
    answers: list[bool] = json.loads(done.stdout)
    return answers


def test_classes_and_functions_of_cells_are_found_by_no_other_process() -> None:
    assert found("") == [True, True, True, False, False]


def test_those_of_a_script_are(tmp_path: Path) -> None:
    assert found(f"cells.__file__ = {str(tmp_path / 'train.py')!r}") == 5 * [False]
