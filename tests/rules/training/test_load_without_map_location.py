"""ACC426 load-without-map-location, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, fixed
from ..programs import IMPORTS, MODEL
from .programs import NO_GPU

SILENT = {
    "given": "model.load_state_dict(torch.load('m.pt', map_location='cpu'))",
    "given by position": "model.load_state_dict(torch.load('m.pt', 'cpu'))",
    "not a checkpoint": "data = torch.load('data.pt')",
    "perhaps given": "import conf\nmodel.load_state_dict(torch.load('m.pt', **conf.kw))",
    "safetensors": "from safetensors.torch import load_file\nmodel.load_state_dict(load_file('m'))",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC426", IMPORTS + MODEL + source + "\n", tmp_path)


def test_silent_on_the_host(tmp_path: Path) -> None:
    check_one("ACC426", IMPORTS + "m = nn.Linear(8, 2)\nm.load_state_dict(torch.load('m.pt'))\n", tmp_path)


SILENT_PROGRAMS = {
    "map location given": """
model = nn.Linear(2, 2).cuda()
model.load_state_dict(torch.load("a", map_location=lambda s, l: s))
""",
    "no gpu": """
model = nn.Linear(2, 2)
model.load_state_dict(torch.load("a"))
""",
    "cpu-saved artefact": """
stats = torch.load("stats.pt")
model = nn.Linear(2, 2).cuda()
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC426", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


ASKS = "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
LEARNER = MODEL + ASKS
ON_HOST = IMPORTS + "model = nn.Linear(8, 2)\n"


@pytest.mark.parametrize("line", NO_GPU)
def test_silent_where_nothing_shows_a_gpu(line: str, tmp_path: Path) -> None:
    source = f"{ON_HOST}{line}\nmodel.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source, line, f"{ASKS}model.to(device)"), tmp_path)


LOADED = [
    ("torch.save(model.cpu().state_dict(), 'm.pt')", "torch.save(model.state_dict(), 'm.pt')"),
    (
        "torch.save({k: v.cpu() for k, v in model.state_dict().items()}, 'm.pt')",
        "torch.save(model.state_dict(), 'm.pt')",
    ),
    ("torch.save(model.to('cpu').state_dict(), 'm.pt')", "torch.save(model.cpu().state_dict(), 'n.pt')"),
]


@pytest.mark.parametrize(("saved", "instead"), LOADED)
def test_silent_where_the_file_was_saved_from_the_host(saved: str, instead: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{LEARNER}{saved}\nmodel.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source, saved, instead), tmp_path)


LOADS = [
    ("torch.load('m.pt', map_location=conf.device)", "torch.load('m.pt')"),
    ("torch.load('m.pt', **conf.kw)", "torch.load('m.pt')"),
    ("conf.load_file('m.pt')", "torch.load('m.pt')"),
]


@pytest.mark.parametrize(("given", "instead"), LOADS)
def test_silent_for_one_reason(given: str, instead: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{LEARNER}import conf\nstate = {given}\nmodel.load_state_dict(state)\n"
    check_pair("ACC426", Pair(source, given, instead), tmp_path)


HOSTS = {
    "asks": ASKS,
    "an option": "import conf\nmodel.to(conf.device)\n",
    "several processes": "torch.distributed.init_process_group('nccl')\n",
}


@pytest.mark.parametrize("line", HOSTS.values(), ids=HOSTS.keys())
def test_silent_in_one_process_that_needs_the_gpu(line: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{MODEL}{line}model.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source.replace(line, "pass\n"), "pass\n", line), tmp_path)


def test_reported(tmp_path: Path) -> None:
    source = "model.load_state_dict(torch.load('m.pt', weights_only=True), strict=False)  # -> info unsafe\n"
    source += "other = nn.Linear(8, 2)\nother.load_state_dict(torch.load('n.pt'))\n"
    found = check_one("ACC426", IMPORTS + LEARNER + source, tmp_path)
    assert len(found[0].related) == 1
    assert fixed("ACC426", IMPORTS + LEARNER + source, tmp_path).count("map_location='cpu'") == 2


REPORTED_PROGRAMS = {
    "then moved": """
model = nn.Linear(2, 2)
state = torch.load("a")  # -> info unsafe
model.load_state_dict(state["model"])
model.to("cuda" if torch.cuda.is_available() else "cpu")
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC426", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)
