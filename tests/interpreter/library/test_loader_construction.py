"""Loaders of data sets that are put together, as the rule about loaders without workers (ACC102) sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...rules.checks import findings_of
from ...rules.programs import FILES

SETS = """
import PIL.Image
class Files(Dataset):
    def __init__(self, paths): self.paths = paths
    def __len__(self): return len(self.paths)
    def __getitem__(self, i): return torch.tensor(PIL.Image.open(self.paths[i]).getdata())
class Many(Files):
    def __rmul__(self, count):
        self.paths = count * self.paths
        return self
net = nn.Linear(8, 2).cuda()
"""
LOOP = "\nfor x in loader:\n    net(x.cuda(non_blocking=True)).sum().backward()\n"
SUMS = {
    "two data sets": "Files(['a']) + Files(['b'])",
    "three data sets": "Files(['a']) + Files(['b']) + Files(['c'])",
    "one that is repeated": "100 * Many(['a'])",
    "some that are repeated": "100 * Many(['a']) + 10 * Many(['b']) + Files(['c'])",
    "one of several": "(Files(['a']) if conf.first else Files(['b'])) + Files(['c'])",
}


@pytest.mark.parametrize("case", SUMS)
def test_a_sum_of_data_sets_is_one(case: str, tmp_path: Path) -> None:
    loader = f"loader = DataLoader({SUMS[case]}, batch_size=4)"
    assert len(findings_of("ACC102", FILES + SETS + loader + LOOP, tmp_path)) == 1


@pytest.mark.parametrize("sum_", ["Files(['a']) - Files(['b'])", "conf.more() + Files(['a'])", "2 * Files(['a'])"])
def test_what_is_no_sum_of_data_sets_is_not_known(sum_: str, tmp_path: Path) -> None:
    loader = f"loader = DataLoader({sum_}, batch_size=4)"
    assert not findings_of("ACC102", FILES + SETS + loader + LOOP, tmp_path)
