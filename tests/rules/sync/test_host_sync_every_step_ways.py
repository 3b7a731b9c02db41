"""ACC208 in a function that a loop calls: from where in the loop."""

from __future__ import annotations

from pathlib import Path

from ..checks import findings_of
from ..programs import IMPORTS

METER = (
    IMPORTS
    + """
class Meter:
    def update(self, **values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                print(value.item())
def train(model, loader, optimizer):
    meter = Meter()
    for x, y in loader:
        loss = model(x.cuda(non_blocking=True)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss=loss)
        meter.update(lr=0.1)
        meter.update(norm=loss.detach().norm())
model = nn.Linear(8, 2).cuda()
loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=8, pin_memory=True)
train(model, loader, torch.optim.SGD(model.parameters(), lr=0.1))
"""
)


def test_names_the_calls_in_the_loop_that_lead_to_a_wait_elsewhere(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", METER, tmp_path)
    lines = METER.splitlines()
    ways = [lines[one.span.start.row - 1].strip() for one in found.related if "come there from here" in one.message]
    assert ways == ["meter.update(loss=loss)", "meter.update(norm=loss.detach().norm())"]


def test_names_none_where_the_wait_stands_in_the_loop(tmp_path: Path) -> None:
    inside = METER.replace("meter.update(loss=loss)", "print(loss.item())").replace("meter.update(norm", "print(dict")
    (found,) = findings_of("ACC208", inside, tmp_path)
    assert not any("come there from here" in one.message for one in found.related)


HELPER = (
    IMPORTS
    + """
def on_host(tensor):
    return tensor.detach().cpu()
def losses(out, y):
    loss = ((out - y) ** 2).mean()
    return loss, on_host(loss), on_host(out.max())
model = nn.Linear(8, 2).cuda()
for x, y in DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8, 2)), batch_size=8, pin_memory=True):
    loss, shown, largest = losses(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
    loss.backward()
"""
)


def test_names_the_calls_of_a_function_that_only_waits(tmp_path: Path) -> None:
    (found,) = findings_of("ACC208", HELPER, tmp_path)
    row = 1 + HELPER.splitlines().index("    return loss, on_host(loss), on_host(out.max())")
    called = [one.span.start for one in found.related if one.message == "it is called here"]
    assert [(one.row, one.column) for one in called] == [(row, 18), (row, 33)]
    longer = HELPER.replace("    return tensor.detach()", "    tensor = tensor.float()\n    return tensor.detach()")
    (other,) = findings_of("ACC208", longer, tmp_path)
    assert not any(one.message == "it is called here" for one in other.related)
