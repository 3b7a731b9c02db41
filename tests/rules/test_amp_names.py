"""ACC402 and ACC403, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from accel_advisor.analysis.project import analyze
from accel_advisor.project.target import Target, Versions
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from .marked import fixed
from .programs import IMPORTS
from .single import check_one

SILENT_NAMES = {
    "new names": "s = torch.amp.GradScaler('cuda')\nwith torch.autocast('cuda'):\n    pass",
    "a choice between both": (
        "s = torch.amp.GradScaler('cuda') if hasattr(torch.amp, 'GradScaler') else torch.cuda.amp.GradScaler()"
    ),
    "torch_xla": "import torch_xla.core.xla_model as xm\nd = xm.xla_device()\ns = torch.cuda.amp.GradScaler()",
    "somebody else's": "from apex.amp import autocast\nwith autocast():\n    pass",
}


@pytest.mark.parametrize("source", SILENT_NAMES.values(), ids=SILENT_NAMES.keys())
def test_names_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC402", IMPORTS + source + "\n", tmp_path)


def test_names_silent_for_a_project_that_supports_older_torch(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch\ns = torch.cuda.amp.GradScaler()\nwith torch.cuda.amp.autocast():\n    pass\n")
    facts = analyze([Document.read(path)], tmp_path).facts[str(path)]
    facts.target = Target(torch=Versions((2, 1)))
    found = list(registry()["ACC402"].check(facts))
    assert [one.span.start.row for one in found] == [3], "torch.autocast is older than torch.amp.GradScaler"


@pytest.mark.filterwarnings("ignore")  # autocast and GradScaler say that there is no GPU
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.amp.autocast()", 'torch.autocast("cuda")'),
        ("torch.cuda.amp.autocast(False)", 'torch.autocast("cuda", enabled=False)'),
        ("torch.cuda.amp.autocast(True, torch.half)", 'torch.autocast("cuda", enabled=True, dtype=torch.half)'),
        ("torch.cuda.amp.autocast(dtype=torch.half)", 'torch.autocast("cuda", dtype=torch.half)'),
        ("torch.cpu.amp.autocast(False)", 'torch.autocast("cpu", enabled=False)'),
        ("torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")'),
        ("torch.cuda.amp.GradScaler(2.0)", 'torch.amp.GradScaler("cuda", 2.0)'),
        ("torch.cuda.amp.GradScaler(enabled=False)", 'torch.amp.GradScaler("cuda", enabled=False)'),
        (
            "torch.cuda.amp.custom_fwd(cast_inputs=torch.half)",
            'torch.amp.custom_fwd(cast_inputs=torch.half, device_type="cuda")',
        ),
    ],
)
def test_names_are_replaced_by_what_does_the_same(before: str, after: str, tmp_path: Path) -> None:
    check_one("ACC402", IMPORTS + f"x = {before}  # -> info safe\n", tmp_path)
    text = fixed(IMPORTS + f"x = {before}\n", tmp_path, "ACC402")
    assert text.endswith(f"x = {after}\n")
    exec(f"x = {after}", {"torch": torch})  # the recommended call exists


def test_names_that_were_imported(tmp_path: Path) -> None:
    source = """
import torch
from torch.cuda.amp import autocast as cast, custom_fwd

class F(torch.autograd.Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x):
        return x

with cast():
    pass
"""
    text = fixed(source, tmp_path, "ACC402")
    assert '    @torch.amp.custom_fwd(device_type="cuda")\n' in text
    assert 'with torch.autocast("cuda"):' in text


def test_names_have_no_fix_where_torch_is_not_imported_or_arguments_are_splatted(tmp_path: Path) -> None:
    check_one("ACC402", "from torch.cuda.amp import GradScaler\ns = GradScaler()  # -> info none\n", tmp_path)
    check_one("ACC402", IMPORTS + "import conf\ns = torch.cuda.amp.GradScaler(**conf.kw)  # -> info none\n", tmp_path)


SILENT_DEVICES = {
    "a string": "with torch.autocast('cuda:0'):\n    pass",
    "the type": "d = torch.device('cuda')\nwith torch.autocast(d.type):\n    pass",
    "a parameter": "def f(device):\n    with torch.autocast(device):\n        pass",
    "perhaps a string": "import conf\nd = torch.device('cuda') if conf.a else 'cuda'\nwith torch.autocast(d):\n    pass",
    "arguments that are not known": "import conf\nwith torch.autocast(**conf.kw):\n    pass",
    "the old name": "with torch.cuda.amp.autocast():\n    pass",
}


@pytest.mark.parametrize("source", SILENT_DEVICES.values(), ids=SILENT_DEVICES.keys())
def test_device_argument_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC403", IMPORTS + source + "\n", tmp_path)


def test_device_argument_reported(tmp_path: Path) -> None:
    source = """
    import torch
    from torch import autocast

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with autocast(device):  # -> error safe
        pass
    with torch.amp.autocast(device_type=device, dtype=torch.half):  # -> error safe
        pass
    with torch.autocast(enabled=True):  # -> error none
        pass

    def step(device, x):
        with torch.autocast(device):  # -> error safe
            return x

    step(torch.device("cuda"), 1)
    """
    check_one("ACC403", source, tmp_path)
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(torch.device("cpu"))
    torch.autocast(torch.device("cpu").type)
