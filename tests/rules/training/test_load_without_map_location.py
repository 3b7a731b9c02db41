"""ACC426 load-without-map-location, silent cases first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel_advisor.analysis.project import analyze
from accel_advisor.rule import registry
from accel_advisor.source.document import Document

from ..checks import Pair, check_one, check_pair, findings_of, fixed
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
    ("host = 'cpu'\ntorch.save(model.to(host).state_dict(), 'm.pt')", "torch.save(model.state_dict(), 'm.pt')"),
]


@pytest.mark.parametrize(("saved", "instead"), LOADED)
def test_silent_where_the_file_was_saved_from_the_host(saved: str, instead: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{LEARNER}{saved}\nmodel.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source, saved, instead), tmp_path)


IN_PLACE = """
def save():
    model.train()
    model.cpu()
    torch.save(model.state_dict(), 'm.pt')
save()
model.load_state_dict(torch.load('m.pt'))
"""
PLACED = {
    "not moved": ("    model.cpu()\n", ""),
    "moved back": ("model.cpu()\n", "model.cpu()\n    model.cuda()\n"),
    "moved afterwards": (
        "model.cpu()\n    torch.save(model.state_dict(), 'm.pt')",
        "torch.save(model.state_dict(), 'm.pt')\n    model.cpu()",
    ),
    "moved on a condition": ("    model.cpu()", "    if input(): model.cpu()"),
    "another module": ("model.cpu()", "nn.Linear(2, 2).cpu()"),
    "another function": ("    model.cpu()\n", "    def move():\n        model.cpu()\n"),
    "another file": ("model.state_dict(), 'm.pt'", "model.state_dict(), 'n.pt'"),
    "an optimizer beside it": ("model.state_dict()", "[model.state_dict(), optimizer.state_dict()]"),
}


@pytest.mark.parametrize("case", PLACED)
def test_silent_where_the_model_was_moved_to_the_host_before(case: str, tmp_path: Path) -> None:
    optimizer = "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    check_pair("ACC426", Pair(IMPORTS + LEARNER + optimizer + IN_PLACE, *PLACED[case]), tmp_path)


IN_A_WRAPPER = """
net = nn.parallel.DistributedDataParallel(model)
def save():
    if input():
        net.to("cpu")
        state = net.module.state_dict() if hasattr(net, "module") else net.state_dict()
        torch.save(state, 'm.pt')
save()
model.load_state_dict(torch.load('m.pt'))
"""


def test_silent_where_the_wrapper_was_moved_to_the_host_before(tmp_path: Path) -> None:
    check_pair("ACC426", Pair(IMPORTS + LEARNER + IN_A_WRAPPER, 'net.to("cpu")', "net.eval()"), tmp_path)


LOADS = [
    ("torch.load('m.pt', map_location=conf.device)", "torch.load('m.pt')"),
    ("torch.load('m.pt', **conf.kw)", "torch.load('m.pt')"),
    ("conf.load_file('m.pt')", "torch.load('m.pt')"),
]


@pytest.mark.parametrize(("given", "instead"), LOADS)
def test_silent_for_one_reason(given: str, instead: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{LEARNER}import conf\nstate = {given}\nmodel.load_state_dict(state)\n"
    check_pair("ACC426", Pair(source, given, instead), tmp_path)


ON_THE_ONE_GPU = {
    "a state dict": "model.load_state_dict(torch.load('m.pt'))  # -> info unsafe",
    "asks": ASKS + "model.load_state_dict(torch.load('m.pt'))  # -> info unsafe",
    "an optimizer's": "state = torch.load('m.pt')  # -> info unsafe\noptimizer.load_state_dict(state['optimizer'])",
    "a key": "import conf\nstate = torch.load('m.pt')  # -> info none\nconf.restore(state['state_dict'])",
    "a key at once": "import conf\nconf.restore(torch.load('m.pt')['model'])  # -> info none",
    "a method of modules": "best = torch.load('m.pt')  # -> info none\nbest.eval()",
    "the name": "import conf\nmodel, loss, schedule = torch.load('m.pt')  # -> info none",
    "the name of the file": "model_path = 'm.pt'\nloaded = torch.load(str(model_path))  # -> info none\nprint(loaded)",
    "a function": "def load_checkpoint(path):\n    return torch.load(path)  # -> info none",
    "an open file": "with open('m.pt', 'rb') as f:\n    model = torch.load(f)  # -> info none\nmodel.train()",
}


@pytest.mark.parametrize("source", ON_THE_ONE_GPU.values(), ids=ON_THE_ONE_GPU.keys())
def test_reported_in_one_process_that_needs_the_gpu(source: str, tmp_path: Path) -> None:
    optimizer = "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    check_one("ACC426", IMPORTS + MODEL + optimizer + source + "\n", tmp_path)


CHECKPOINT = "checkpoint = torch.load(path)"
NOT_ON_THE_GPU = {
    "data": "data, slices = torch.load(path)",
    "data in a file named for the model": "model_path = path\nlabels = torch.load(model_path)",
    "a scheduler's state": "scheduler_state = torch.load(path)",
    "a tensor that is moved": "mel = torch.load(path)\nmel.cuda().half()",
    "an attribute": "corpus = torch.load(path)\ncorpus.train",
    "given elsewhere": f"{CHECKPOINT} if input() else torch.load(path, map_location='cpu')",
    "replaced": f"from functools import partial\ntorch.load = partial(torch.load, map_location='cpu')\n{CHECKPOINT}",
}


@pytest.mark.parametrize("source", NOT_ON_THE_GPU.values(), ids=NOT_ON_THE_GPU.keys())
def test_silent_about_what_is_no_checkpoint_on_the_gpu(source: str, tmp_path: Path) -> None:
    beginning = f"{IMPORTS}{MODEL}path = input()\n"
    check_pair("ACC426", Pair(f"{beginning}{source}\n", source, CHECKPOINT), tmp_path)


@pytest.mark.parametrize("name", ["scheduler", "grad_scaler"])
def test_silent_about_state_that_lies_on_the_host(name: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}{MODEL}import conf\nconf.{name}.load_state_dict(torch.load('m.pt'))\n"
    check_pair("ACC426", Pair(source, f".{name}.", ".net."), tmp_path)


RUNS = {
    "a script": "if __name__ == '__main__':\n    Net().restore('m.pt')\n",
    "a loop": "for (x,) in DataLoader(TensorDataset(torch.zeros(8, 8))):\n    Net()(x)\n",
}
MODULE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(x)
    def restore(self, pretrained):
        weights = torch.load(pretrained)
        self.load_state_dict(weights)
"""


@pytest.mark.parametrize("line", RUNS.values(), ids=RUNS.keys())
def test_silent_without_a_gpu_but_in_code_for_others(line: str, tmp_path: Path) -> None:
    check_pair("ACC426", Pair(IMPORTS + MODULE + line, line, ""), tmp_path)


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


ONE_GPU = """
model = nn.Linear(2, 2).cuda()
model.load_state_dict(torch.load("a"))
"""
RANKS = "torch.distributed.init_process_group('nccl')\n"
OTHERS = {
    "nothing else": "",
    "a question": "print(torch.cuda.is_available())\n",
    "a number for the workers": "loader = DataLoader([1], 2 * torch.cuda.device_count())\n",
    "a host": "torch.load('b', map_location='cpu')\n",
    "a device that may be the host": "device = torch.device('cuda' if input() else 'cpu')\n",
    "a move that an option decides": "import conf\nx = torch.zeros(2)\nif conf.gpu: x = x.cuda()\n",
}


@pytest.mark.parametrize("line", OTHERS.values(), ids=OTHERS.keys())
def test_minor_in_one_process(line: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC426", IMPORTS + line + ONE_GPU, tmp_path)
    assert found.minor
    (found,) = findings_of("ACC426", IMPORTS + line + RANKS + ONE_GPU, tmp_path)
    assert not found.minor


def _minor_beside(script: str, folder: Path) -> bool:
    """Of a load in a file of its own that a script calls, on a GPU in any case."""
    store, train = folder / "store.py", folder / "train.py"
    store.write_text("import torch\ndef load(m):\n    m.load_state_dict(torch.load('a'))\n")
    train.write_text(f"{IMPORTS}import store\n{script}store.load(nn.Linear(2, 2).cuda())\n")
    facts = analyze([Document.read(store), Document.read(train)], folder).facts[str(store)]
    (found,) = registry()["ACC426"].check(facts)
    return found.minor


STARTED = {
    "ranks": RANKS,
    "a wrapper": "net = nn.parallel.DistributedDataParallel(nn.Linear(2, 2).cuda())\n",
    "spawned": "import torch.multiprocessing as mp\nmp.spawn(print, nprocs=2)\n",
    "a framework": "from accelerate import Accelerator\naccelerator = Accelerator()\n",
}


@pytest.mark.parametrize("line", OTHERS.values(), ids=OTHERS.keys())
def test_minor_in_a_program_of_one_process(line: str, tmp_path: Path) -> None:
    assert _minor_beside(line, tmp_path)


@pytest.mark.parametrize("line", STARTED.values(), ids=STARTED.keys())
def test_not_minor_where_the_program_runs_in_several_processes(line: str, tmp_path: Path) -> None:
    assert not _minor_beside(line, tmp_path)


def test_minor_where_one_process_wraps_the_model(tmp_path: Path) -> None:
    assert _minor_beside("net = nn.DataParallel(nn.Linear(2, 2).cuda())\n", tmp_path)


@pytest.mark.parametrize("device", ["'cuda'", "'cuda' if conf.gpu else 'cpu'"])
def test_minor_wherever_all_goes_to(device: str, tmp_path: Path) -> None:
    source = f"{IMPORTS}import conf\ntorch.cuda.manual_seed(0)\nmodel = nn.Linear(2, 2).to({device})\n"
    for line, minor in (("", True), (RANKS, False)):
        (found,) = findings_of("ACC426", f"{source}{line}model.load_state_dict(torch.load('a'))\n", tmp_path)
        assert found.minor is minor


TRAINED = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)
def train(loader):
    for x, y in loader:
        model(x.to(device)).sum().backward()
    torch.save(model.state_dict(), "best.pt")
train(DataLoader([(1, 2)]))
model.load_state_dict(torch.load("best.pt"))
"""


def test_silent_where_the_run_saved_it_itself(tmp_path: Path) -> None:
    assert not findings_of("ACC426", IMPORTS + TRAINED, tmp_path)
    trains, loads = TRAINED.splitlines()[-2:]
    before = TRAINED.replace(f"{trains}\n{loads}", f"model.train()\n{loads}\n{trains}")
    ranks = f"torch.distributed.init_process_group('nccl')\n{TRAINED}"
    assert findings_of("ACC426", IMPORTS + before, tmp_path)
    assert findings_of("ACC426", IMPORTS + ranks, tmp_path)


def test_silent_behind_the_loop_of_the_training(tmp_path: Path) -> None:
    inline = TRAINED.replace("def train(loader):", "if True:").replace("train(DataLoader([(1, 2)]))\n", "")
    inline = inline.replace("in loader", "in DataLoader([(1, 2)])")
    assert not findings_of("ACC426", IMPORTS + inline, tmp_path)
    load = 'model.load_state_dict(torch.load("best.pt"))\n'
    before = inline.replace(load, "").replace("if True:", f"{load}if True:")
    assert findings_of("ACC426", IMPORTS + before, tmp_path)


OPTION = (
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--gpu')\nargs = parser.parse_args()\n"
)
MOVES = {
    "in any case": "model = model.cuda()",
    "if asked": "if args.gpu: model = model.cuda()",
    "something else if asked": "if not args.gpu == 'no':\n    x = torch.zeros(2).cuda()",
    "if there is one": "if args.ngpu > 0: model = model.cuda()",
    "one of several": "if args.kind == 'large': model = model.cuda()",
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_minor_whatever_an_option_decides(move: str, tmp_path: Path) -> None:
    chosen = ONE_GPU.replace(".cuda()", f"\n{move}")
    for line, minor in (("", True), (RANKS, False)):
        (found,) = findings_of("ACC426", IMPORTS + OPTION + line + chosen, tmp_path)
        assert found.minor is minor


def test_aside_where_nothing_is_trained(tmp_path: Path) -> None:
    load = IMPORTS + LEARNER + "model.load_state_dict(torch.load('m.pt'))\n"
    training = load + "for x, y in loader:\n    model(x.to(device)).sum().backward()\n"
    assert [one.aside for one in findings_of("ACC426", load, tmp_path)] == [True]
    assert [one.aside for one in findings_of("ACC426", training, tmp_path)] == [False]


@pytest.mark.parametrize(("name", "minor"), [("look.py", False), ("look.ipynb", True)])
def test_minor_in_a_notebook(name: str, minor: bool, tmp_path: Path) -> None:
    source = ON_HOST + ASKS + RANKS + "model.to(device).load_state_dict(torch.load('m.pt'))\n"
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / name).write_text(notebook if minor else source)
    document = Document.read(tmp_path / name)
    facts = analyze([document], tmp_path).facts[str(tmp_path / name)]
    assert [one.minor for one in registry()["ACC426"].check(facts)] == [minor]


FACES = """
import torch
from torch import nn
import conf

model = nn.Linear(8, 2).cuda()
def resume(conf):
    model.load_state_dict(torch.load(conf.path / "model"))  # -> info unsafe
def load_faces(conf):
    faces = torch.load(conf.path / "faces")
    return faces
resume(conf)
print(model(torch.zeros(1, 8).cuda()) - load_faces(conf))
"""


def test_another_file_of_which_nothing_is_known_is_not_taken_for_the_checkpoint(tmp_path: Path) -> None:
    (found,) = check_one("ACC426", FACES, tmp_path)
    assert found.related == ()
    after = fixed("ACC426", FACES, tmp_path)
    assert 'torch.load(conf.path / "model", map_location=' in after
    assert 'torch.load(conf.path / "faces")' in after


def test_what_a_function_hands_back_is_known_where_it_alone_loads(tmp_path: Path) -> None:
    source = (
        FACES[: FACES.index("def resume")]
        + """
def load(conf):
    states = torch.load(conf.path / "states")  # -> info unsafe
    return states
model.load_state_dict(load(conf))
"""
    )
    check_one("ACC426", source, tmp_path)


KEEPS = """
class Average:
    def __init__(self):
        self.shadow = {}
    def load_state_dict(self, states):
        self.shadow = states
average = Average()
states = torch.load("a.pt")  # -> info unsafe
"""
COPIES = {
    "all of it": "model.load_state_dict(states)",
    "items": "model.load_state_dict(states['model'])\nepoch = states['epoch']\naverage.epoch = states['epoch']",
    "a name": "weights = states['model']\nmodel.load_state_dict(weights)",
    "a function of that name": "model.load_state_dict(states['model'])\nd = {}\ndef states(x): pass\nstates(d)",
    "a number that is moved": "best = states['best']\nbest = best.to(device)\nmodel.load_state_dict(states['model'])",
    "a state of the generator": (
        "head = states['head']\nhead.eval()\ntorch.set_rng_state(states['rng'])\nmodel.load_state_dict(states['model'])"
    ),
    "a module that is moved": "head = states['head']\nhead.eval()\nhead.cuda()\nmodel.load_state_dict(states['model'])",
    "a scheduler": "model.load_state_dict(states['model'])\nscheduler = average\nscheduler.load_state_dict(states['s'])",
}


@pytest.mark.parametrize("case", COPIES)
def test_what_is_copied_may_be_loaded_to_the_host(case: str, tmp_path: Path) -> None:
    (found,) = check_one("ACC426", IMPORTS + LEARNER + KEEPS + COPIES[case], tmp_path)
    assert found.message.endswith('pass `map_location="cpu"`')


KEPT = {
    "an object": ("average.load_state_dict(states['ema'])", "states['ema']"),
    "an attribute": ("average.shadow = states.get('ema', {})", "average.shadow"),
    "on a condition": ("average.shadow = states['ema'] if 'ema' in states else {}", "average.shadow"),
    "a module": ("head = states['head']\nhead.eval()", "head"),
    "a module that was moved before": ("head = nn.Linear(2, 2)\nhead.cuda()\nhead = states['head']", "head"),
    "an optimizer": ("if input():\n    o = torch.optim.SGD([], 1)\nelse:\n    o = states['o']\n", "o"),
    "a module instead of another": ("head = nn.Linear(2, 2).cuda()\nhead = states['head']", "head"),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept_is_loaded_to_its_device(case: str, tmp_path: Path) -> None:
    code, kept = KEPT[case]
    source = KEEPS.replace("unsafe", "none") + "model.load_state_dict(states['model'])\n"
    (found,) = check_one("ACC426", IMPORTS + LEARNER + source + code, tmp_path)
    assert found.message.endswith(
        f"pass the device of this process as `map_location`: `{kept}` is kept as it was loaded"
    )


@pytest.mark.parametrize("use", ["evaluate(head)", "layers = head.layers", "model = nn.Sequential(*[head])"])
def test_what_is_handed_on_may_be_moved_there(use: str, tmp_path: Path) -> None:
    source = KEEPS.replace("unsafe", "none") + "def evaluate(model): pass\nhead = states['head']\nhead.eval()\n"
    (found,) = check_one(
        "ACC426", IMPORTS + LEARNER + source + "model.load_state_dict(states['model'])\n" + use, tmp_path
    )
    assert found.message.endswith('process as `map_location`, or `"cpu"` where `head` is moved afterwards')


def test_names_the_load_that_keeps_something(tmp_path: Path) -> None:
    first = "model.load_state_dict(torch.load('b.pt'))  # -> info unsafe\n"
    source = (
        IMPORTS + LEARNER + first + KEEPS.replace("# -> info unsafe", "") + "average.load_state_dict(states['ema'])\n"
    )
    (found,) = check_one("ACC426", source, tmp_path)
    assert 'pass `map_location="cpu"`, but in line 21 the device of this process' in found.message
    assert found.fix is not None
    assert len(found.fix.edits) == 1
