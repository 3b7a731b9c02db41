"""ACC403 autocast-device-argument, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS

SILENT = {
    "a string": "with torch.autocast('cuda:0'):\n    pass",
    "the type": "d = torch.device('cuda')\nwith torch.autocast(d.type):\n    pass",
    "a parameter": "def f(device):\n    with torch.autocast(device):\n        pass",
    "perhaps a string": "import conf\nd = torch.device('cuda') if conf.a else 'cuda'\nwith torch.autocast(d):\n    pass",
    "arguments that are not known": "import conf\nwith torch.autocast(**conf.kw):\n    pass",
    "the old name": "with torch.cuda.amp.autocast():\n    pass",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC403", IMPORTS + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "device.type": """
device = torch.device("cuda")
with torch.autocast(device.type):
    pass
""",
    "device string name": """
device = "cuda" if torch.cuda.is_available() else "cpu"
with torch.autocast(device):
    pass
""",
    "parameter": """
def f(device):
    with torch.autocast(device):
        pass
""",
    "str()": """
device = torch.device("cuda")
with torch.autocast(str(device)):
    pass
with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
    pass
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC403", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


REGION = IMPORTS + "import conf\nd = torch.device('cuda')\nwith torch.autocast({}):\n    pass\n"
STRINGS = ("d.type", "str(d)", "'cuda:0'", "conf.device", "d.type if conf.x else 'cpu'", "*conf.a", "**conf.kw")


@pytest.mark.parametrize("given", STRINGS)
def test_silent_for_one_reason(given: str, tmp_path: Path) -> None:
    check_pair("ACC403", Pair(REGION.format(given), f"torch.autocast({given})", "torch.autocast(d)"), tmp_path)


def test_silent_for_a_parameter_that_may_be_a_string(tmp_path: Path) -> None:
    source = IMPORTS + "def step(device):\n    with torch.autocast(device):\n        pass\nstep('cuda')\n"
    check_pair("ACC403", Pair(source, "step('cuda')", "step(torch.device('cuda'))"), tmp_path)


def test_reported(tmp_path: Path) -> None:
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
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(torch.device("cpu"))
    torch.autocast(torch.device("cpu").type)


REPORTED_PROGRAMS = {
    "device object": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
with torch.autocast(device_type=device, dtype=torch.float16):  # -> error safe
    pass
""",
    "missing": """
with torch.autocast(enabled=True):  # -> error none
    pass
""",
    "amp alias": """
from torch.amp import autocast
device = torch.device("cuda")
with autocast(device):  # -> error safe
    pass
""",
    "self.device": """
class T:
    def __init__(self):
        self.device = torch.device("cuda:0")
    def run(self):
        with torch.autocast(self.device):  # -> error safe
            pass
T().run()
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC403", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
