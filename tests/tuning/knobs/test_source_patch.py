"""The patch of each knob of the training: where it lands, and what is said where no place is certain."""

from pathlib import Path

import pytest

from accel_advisor.tuning.applying.rewrite import rewritten
from accel_advisor.tuning.knobs.source_patch import Patch, patch
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Settings, Site, Turned
from accel_advisor.tuning.probe.knobs.activation_checkpointing_knob import ActivationCheckpointing
from accel_advisor.tuning.probe.knobs.autocast_knob import Autocast
from accel_advisor.tuning.probe.knobs.batch_size_knob import BatchSize
from accel_advisor.tuning.probe.knobs.channels_last_knob import ChannelsLast
from accel_advisor.tuning.probe.knobs.compile_knob import Compile
from accel_advisor.tuning.probe.knobs.fused_optimizer_knob import FusedOptimizer
from accel_advisor.tuning.probe.knobs.knob import Knob
from accel_advisor.tuning.probe.knobs.tf32_knob import Tf32
from accel_advisor.tuning.probe.knobs.thread_binding_knob import ThreadBinding
from accel_advisor.tuning.probe.knobs.threads_knob import Threads
from accel_advisor.tuning.probe.knobs.training_knobs import TRAINING_KNOBS

MAIN = """\
import argparse
import torch
from torch.utils.data import DataLoader
from build import make

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
args = parser.parse_args()
loader = DataLoader(data, batch_size=args.batch)


def train(net, optimizer):
    for (inputs,) in loader:
        net(inputs).sum().backward()


def main():
    model, optimizer = make()
    for epoch in range(3):
        train(model, optimizer)


main()
"""
BUILD = """\
from torch import optim


def make(**more):
    model = Model()
    spread = optim.SGD(model.parameters(), **more)
    return model, optim.AdamW(
        model.parameters(),
        lr=1e-3,
    )
"""
TRAINER = """\
class Trainer:
    def epoch(self):
        for (inputs,) in self.loader:
            self.model(inputs)

    def named(self):
        model = self.model
        for (inputs,) in self.loader:
            model(inputs)

    def fit(self):
        for epoch in range(3):
            self.epoch()

    def once(self):
        self.named()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {"main.py": MAIN, "build.py": BUILD, "trainer.py": TRAINER}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def site(root: Path, name: str, call: str, *names: str, function: str = "<module>") -> Site:
    """The frame that executes the only place of ``call`` in a file."""
    text = (root / name).read_text()
    assert text.count(call) == 1
    start = text.index(call)
    end = start + len(call)
    row, end_row = (text.count("\n", 0, place) + 1 for place in (start, end))
    column, end_column = (place - text.rfind("\n", 0, place) for place in (start, end))
    return Site(Frame(str(root / name), function, row, column, end_row, end_column), names)


def planned(root: Path, knob: Knob, *sites: Site, argv: tuple[str, ...] = (), blocks: str = "{}.layers") -> Patch:
    stack = (site(root, "main.py", "DataLoader(data, batch_size=args.batch)").frame,)
    info = LoaderInfo(0, "train", stack, Settings(), 16, 40, 1024, "__main__.Data", "fork")
    reached = (blocks,) if isinstance(knob, ActivationCheckpointing) else ()
    turned = Turned((), (sites,) if sites else (), 1, "highest", False, 1, reached)
    return patch(knob, turned, info, device="cpu", root=root, argv=argv)


def added(root: Path, found: Patch) -> dict[str, list[str]]:
    """The lines that a patch adds, by file."""
    rewrite = rewritten(found.edits, root)
    return {
        path.name: [line for line in after.decode().splitlines() if line not in rewrite.before[path].decode()]
        for path, after in rewrite.after.items()
    }


def test_settings_of_the_process_stand_behind_the_imports(root: Path) -> None:
    assert added(root, planned(root, Threads(4))) == {"main.py": ["torch.set_num_threads(4)"]}
    assert added(root, planned(root, Tf32())) == {"main.py": ['torch.set_float32_matmul_precision("high")']}


def test_without_torch_by_name_it_is_said(root: Path) -> None:
    (root / "main.py").write_text(MAIN.replace("import torch\n", ""))
    found = planned(root, Threads(4))
    assert found == Patch(remedy="write `torch.set_num_threads(4)` behind the imports")


SPLIT = ThreadBinding((0, 1, 2), (3, 4), 3)
BOUND = [
    "import os",
    "os.sched_setaffinity(0, range(0, 3))",
    "torch.set_num_threads(3)",
    "loader = DataLoader(data, batch_size=args.batch,",
    "                    worker_init_fn=lambda _: os.sched_setaffinity(0, {3, 4}))",
]


def bound(root: Path, start_method: str = "fork", call: str = "DataLoader(data, batch_size=args.batch)") -> Patch:
    stack = (site(root, "main.py", call).frame,)
    info = LoaderInfo(0, "train", stack, Settings(), 16, 40, 1024, "__main__.Data", start_method)
    turned = Turned((), (), 1, "highest", False, 1)
    return patch(SPLIT, turned, info, device="cpu", root=root, argv=())


def test_threads_are_bound_behind_the_imports_and_workers_at_the_loader(root: Path) -> None:
    assert added(root, bound(root)) == {"main.py": BOUND}
    (root / "main.py").write_text("import os\n" + MAIN)
    assert added(root, bound(root)) == {"main.py": BOUND[1:]}


def test_what_binds_threads_is_said_where_it_cannot_be_written(root: Path) -> None:
    said = Patch(
        remedy="write `os.sched_setaffinity(0, range(0, 3)); torch.set_num_threads(3)` behind the imports, and let "
        "each worker of the loader start with `os.sched_setaffinity(0, {3, 4})`"
    )
    assert bound(root, "spawn") == said
    for arguments in ("data, worker_init_fn=seed", "data, **settings", "*settings"):
        call = f"DataLoader({arguments})"
        (root / "main.py").write_text(MAIN.replace("DataLoader(data, batch_size=args.batch)", call))
        assert bound(root, call=call) == said
    (root / "main.py").write_text(MAIN.replace("import torch\n", ""))
    assert bound(root) == said


def test_an_optimizer_is_changed_where_it_is_built(root: Path) -> None:
    text = "optim.AdamW(\n        model.parameters(),\n        lr=1e-3,\n    )"
    sites = site(root, "main.py", "make()", function="main"), site(root, "build.py", text, function="make")
    assert added(root, planned(root, FusedOptimizer(), *sites)) == {"build.py": ["        fused=True,"]}


def test_an_optimizer_with_a_splat_is_named(root: Path) -> None:
    sites = (site(root, "build.py", "optim.SGD(model.parameters(), **more)", function="make"),)
    assert planned(root, FusedOptimizer(), *sites) == Patch(remedy="pass fused=True to the optimizer (build.py:6)")


@pytest.mark.parametrize("knob", [Compile(), ChannelsLast(), Autocast()])
def test_a_model_is_changed_before_the_outermost_loop(root: Path, knob: Knob) -> None:
    inner = site(root, "main.py", "net(inputs)", "net", function="train")
    outer = site(root, "main.py", "train(model, optimizer)", "model", function="main")
    found = planned(root, knob, site(root, "main.py", "\nmain()"), outer, inner)
    (after,) = rewritten(found.edits, root).after.values()
    assert f"    {knob.shown('cpu')}\n    for epoch in range(3):\n" in after.decode()


def test_a_model_without_a_name_is_named(root: Path) -> None:
    sites = site(root, "trainer.py", "self.epoch()", function="fit"), site(root, "trainer.py", "self.model(inputs)")
    assert planned(root, Compile(), *sites) == Patch(
        remedy="write `model.compile()` once before the training loop, for the model, which is called in trainer.py:4"
    )


def test_a_name_that_is_come_by_in_a_loop_is_no_place(root: Path) -> None:
    inner = site(root, "trainer.py", " model(inputs)", "model", function="named")
    assert planned(root, Compile(), site(root, "trainer.py", "self.epoch()", function="fit"), inner).edits == ()
    once = planned(root, Compile(), site(root, "trainer.py", "self.named()", function="once"), inner)
    assert added(root, once) == {"trainer.py": ["        model.compile()"]}


def test_what_names_torch_needs_its_name(root: Path) -> None:
    inner = site(root, "trainer.py", " model(inputs)", "model", function="named")
    assert "write `model.forward = torch.autocast" in planned(root, Autocast(), inner).remedy


LOOP = [
    "    for block in model.layers:",
    "        block.forward = functools.partial(torch.utils.checkpoint.checkpoint, block.forward, use_reentrant=False)",
]
IMPORTS = ["import functools", "import torch.utils.checkpoint"]
REMEDY = (
    "write `for block in model.layers: block.forward = functools.partial(torch.utils.checkpoint.checkpoint, "
    "block.forward, use_reentrant=False)` once before the training loop"
)


def outer(root: Path) -> tuple[Site, Site]:
    return site(root, "main.py", "\nmain()"), site(root, "main.py", "train(model, optimizer)", "model", function="main")


def test_blocks_are_computed_again_by_a_loop_of_their_own(root: Path) -> None:
    found = planned(root, ActivationCheckpointing(), *outer(root))
    assert added(root, found) == {"main.py": [*IMPORTS, *LOOP]}
    (after,) = rewritten(found.edits, root).after.values()
    assert "import functools\nimport torch.utils.checkpoint\nfrom build import make\n" in after.decode()
    assert "\n".join([*LOOP, "    for epoch in range(3):\n"]) in after.decode()


def test_a_name_that_is_taken_is_left_alone(root: Path) -> None:
    (root / "main.py").write_text(f"import functools\n{MAIN}\nblock = None\n")
    found = planned(root, ActivationCheckpointing(), *outer(root))
    assert added(root, found) == {
        "main.py": [
            IMPORTS[1],
            *(line.replace("block", "part", 1) for line in LOOP[:1]),
            LOOP[1].replace("block.forward", "part.forward"),
        ]
    }


def test_a_model_with_a_method_of_its_own_is_used(root: Path) -> None:
    found = planned(root, ActivationCheckpointing(), *outer(root), blocks="{}.gradient_checkpointing_enable")
    statement = 'model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})'
    assert added(root, found) == {"main.py": [f"    {statement}"]}


def test_a_larger_batch_goes_with_it_or_neither_is_changed(root: Path) -> None:
    both = planned(root, ActivationCheckpointing(32), *outer(root))
    batch = 'parser.add_argument("--batch", type=int, default=32)'
    assert added(root, both) == {"main.py": [*IMPORTS, batch, *LOOP]}
    given = planned(root, ActivationCheckpointing(32), *outer(root), argv=("--batch", "16"))
    assert given.edits == ()
    assert given.remedy.startswith(f"{REMEDY}, and ")
    assert "run the script with `--batch 32`" in given.remedy
    unnamed = site(root, "trainer.py", "self.epoch()", function="fit"), site(root, "trainer.py", "self.model(inputs)")
    hidden = planned(root, ActivationCheckpointing(32), *unnamed)
    assert hidden.edits == ()
    assert (
        hidden.remedy
        == f"{REMEDY}, for the model, which is called in trainer.py:4, and pass batch_size=32 to the loader"
    )


def test_the_size_of_a_batch_is_changed_where_it_is_decided(root: Path) -> None:
    found = planned(root, BatchSize(32))
    assert added(root, found) == {"main.py": ['parser.add_argument("--batch", type=int, default=32)']}
    given = planned(root, BatchSize(32), argv=("--batch", "16"))
    assert given.edits == ()
    assert "run the script with `--batch 32`" in given.remedy


def test_a_source_that_cannot_be_parsed_is_named(root: Path) -> None:
    place = site(root, "main.py", "net(inputs)", "net", function="train")
    (root / "main.py").write_text("def broken(:\n")
    stack = (place.frame,)
    info = LoaderInfo(0, "train", stack, Settings(), 16, 40, 1024, "__main__.Data", "fork")
    turned = Turned((), ((place,),), 1, "highest", False, 1)
    values = {Threads: Threads(2), ThreadBinding: SPLIT, BatchSize: BatchSize(2)}
    for kind in TRAINING_KNOBS:
        knob = values.get(kind, kind())
        found = patch(knob, turned, info, device="cpu", root=root, argv=())
        assert found.edits == ()
        assert found.remedy.startswith(f"write `{knob.shown('cpu')}` by hand, since the source cannot be read: ")
