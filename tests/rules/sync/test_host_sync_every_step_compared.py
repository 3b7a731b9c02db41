"""ACC208 host-sync-every-step where Python compares tensors of a list, or asks for parameters, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import findings_of
from ..programs import IMPORTS

PROGRAM = (
    IMPORTS
    + """
model = nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8)), batch_size=8):
    loss = model(x.cuda(non_blocking=True)).sum()
    optimizer.zero_grad()
    loss.backward()
    BODY
    optimizer.step()
"""
)
PAIRS = {
    "one alone": ("a = max([loss])", "a = max([loss, 2 * loss])"),
    "as a tensor": (
        "a = torch.stack([p.grad.max() for p in model.parameters()]).max()",
        "a = max([p.grad.max() for p in model.parameters()])",
    ),
    "numbers of tensors": (
        "a = min(p.numel() for p in model.parameters())",
        "a = min(p.sum() for p in model.parameters())",
    ),
    "the largest, for the GPU": ("a = torch.maximum(loss, loss) * 2", "a = max((loss, loss + 1)) * 2"),
    "whether it has a gradient": (
        "for p in model.parameters():\n        if p.grad is not None: p.grad.mul_(2)",
        "for p in model.parameters():\n        if p.grad.norm() > 2: p.grad.mul_(2)",
    ),
    "a parameter's size": (
        "a = [p for p in model.parameters() if p.dim() > 1]",
        "a = [p for p in model.parameters() if p.norm() > 1]",
    ),
    "a parameter's name": (
        "a = [n for n, p in model.named_parameters() if n > 'a']",
        "a = [n for n, p in model.named_parameters() if p.mean() > 0]",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_reports_what_python_compares(case: str, tmp_path: Path) -> None:
    silent, spoken = (PROGRAM.replace("BODY", one) for one in PAIRS[case])
    assert findings_of("ACC208", silent, tmp_path) == []
    (found,) = findings_of("ACC208", spoken, tmp_path)
    assert "at every step" in found.message
    assert found.confidence is Confidence.PROVEN


def test_the_largest_is_a_tensor_itself(tmp_path: Path) -> None:
    asked = PROGRAM.replace("BODY", "a = max(EACH)\n    if a > 3: print('large')")
    assert findings_of("ACC208", asked.replace("EACH", "[x.size(0), 3]"), tmp_path) == []
    (found,) = findings_of("ACC208", asked.replace("EACH", "[loss, 2 * loss]"), tmp_path)
    assert "2 times" in found.message
