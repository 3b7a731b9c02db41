"""Settings that other libraries hold. They are not installed here: the programs are not run, and the stack that built a
loader is read from their source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from accel_advisor.editing.fixer import apply_edits
from accel_advisor.source.document import Document
from accel_advisor.tuning.applying.locate import EditPlan, plan_edits
from accel_advisor.tuning.probe.channel.wire import Frame

from .test_locate import ONE, write

IMPORTED = {
    "typer": (
        "import typer\ndef main(workers: int = typer.Option(0, '--workers')):\n"
        "    DataLoader([1], num_workers=workers)\ntyper.run(main)\n",
        "workers: int = typer.Option(3, '--workers')",
    ),
    "a command of typer": (
        "import typer\napp = typer.Typer()\n@app.command()\ndef main(workers: int = 0):\n"
        "    DataLoader([1], num_workers=workers)\napp()\n",
        "def main(workers: int = 3):",
    ),
    "fire": (
        "import fire\ndef main(workers=0):\n    DataLoader([1], num_workers=workers)\nfire.Fire(main)\n",
        "def main(workers=3):",
    ),
    "tyro": (
        "import tyro\nfrom dataclasses import dataclass\n@dataclass\nclass Config:\n    workers: int = 0\n"
        "config = tyro.cli(Config)\nDataLoader([1], num_workers=config.workers)\n",
        "    workers: int = 3",
    ),
    "tap": (
        "from tap import Tap\nclass Args(Tap):\n    workers: int = 0\nargs = Args().parse_args()\n"
        "DataLoader([1], num_workers=args.workers)\n",
        "    workers: int = 3",
    ),
    "absl": (
        "from absl import app, flags\nflags.DEFINE_integer('workers', 0, 'help')\nFLAGS = flags.FLAGS\n"
        "def main(argv):\n    DataLoader([1], num_workers=FLAGS.workers)\napp.run(main)\n",
        "flags.DEFINE_integer('workers', 3, 'help')",
    ),
    "pydantic": (
        "from pydantic import BaseModel\nclass Config(BaseModel):\n    workers: int = 0\n"
        "DataLoader([1], num_workers=Config().workers)\n",
        "    workers: int = 3",
    ),
    "a field of pydantic": (
        "from pydantic import BaseModel, Field\nclass Config(BaseModel):\n    workers: int = Field(default=0, ge=0)\n"
        "DataLoader([1], num_workers=Config().workers)\n",
        "    workers: int = Field(default=3, ge=0)",
    ),
    "an argument of pydantic": (
        "from pydantic import BaseModel\nclass Config(BaseModel):\n    workers: int = 9\n"
        "DataLoader([1], num_workers=Config(workers=0).workers)\n",
        "num_workers=Config(workers=3).workers",
    ),
    "attrs": (
        "import attr\n@attr.s\nclass Config:\n    workers: int = attr.ib(default=0)\n"
        "DataLoader([1], num_workers=Config().workers)\n",
        "attr.ib(default=3)",
    ),
    "easydict": (
        "from easydict import EasyDict\nc = EasyDict()\nc.loader = EasyDict(workers=0)\n"
        "DataLoader([1], num_workers=c.loader.workers)\n",
        "EasyDict(workers=3)",
    ),
    "omegaconf": (
        "from omegaconf import OmegaConf\nc = OmegaConf.create({'workers': 0})\n"
        "DataLoader([1], num_workers=c.workers)\n",
        "OmegaConf.create({'workers': 3})",
    ),
    "simple_parsing": (
        "from simple_parsing import ArgumentParser\np = ArgumentParser()\np.add_argument('--workers', default=0)\n"
        "DataLoader([1], num_workers=p.parse_args().workers)\n",
        "p.add_argument('--workers', default=3)",
    ),
}


def static_plan(
    folder: Path, source: str, wanted: dict[str, int | bool | None], callee: str = "DataLoader"
) -> EditPlan:
    """What is planned for a call in a program that is not run."""
    write(folder, {"train.py": source})
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if ast.unparse(node.func).endswith(callee))
    assert call.end_lineno is not None
    assert call.end_col_offset is not None
    place = (call.lineno, call.col_offset + 1, call.end_lineno, call.end_col_offset + 1)
    return plan_edits([Frame(str(folder / "train.py"), "<module>", *place)], wanted, root=folder)


def edited(folder: Path, made: EditPlan) -> str:
    return apply_edits(Document.read(folder / "train.py").text, made.edits)


@pytest.mark.parametrize(("source", "line"), IMPORTED.values(), ids=IMPORTED.keys())
def test_knows_libraries_that_hold_settings(source: str, line: str, tmp_path: Path) -> None:
    made = static_plan(tmp_path, ONE + source, {"num_workers": 3})
    assert not made.refusals
    after = edited(tmp_path, made)
    assert line in after
    assert [one for one in after.splitlines() if one not in (ONE + source).splitlines()] == [
        one for one in after.splitlines() if line.strip() in one
    ]


def test_names_the_file_and_the_override_of_hydra(tmp_path: Path) -> None:
    source = (
        "import hydra\n@hydra.main(version_base=None, config_path='conf', config_name='config')\n"
        "def main(cfg):\n    DataLoader([1], num_workers=cfg.loader.num_workers)\nmain()\n"
    )
    write(tmp_path, {"conf/config.yaml": "loader:\n  num_workers: 0\n"})
    made = static_plan(tmp_path, ONE + source, {"num_workers": 3})
    assert made.refusals[0].endswith(
        "is decided by `loader.num_workers` in conf/config.yaml, line 2; "
        "set it to 3 there, or run the script with `loader.num_workers=3`"
    )


TRAINER = "from transformers import Trainer, TrainingArguments\n"
SETTINGS = {
    "transformers": (
        TRAINER + "args = TrainingArguments('o', max_steps=9)\nTrainer(args=args).train()\n",
        "TrainingArguments('o', max_steps=9, dataloader_num_workers=3, dataloader_pin_memory=False)",
    ),
    "transformers by a constant": (
        TRAINER + "N = 0\nTrainer(args=TrainingArguments('o', dataloader_num_workers=N)).train()\n",
        "N = 3\n",
    ),
    "skorch": (
        "from skorch import NeuralNetClassifier\nnet = NeuralNetClassifier(None, max_epochs=2)\nnet.train()\n",
        "NeuralNetClassifier(None, max_epochs=2, iterator_train__num_workers=3)",
    ),
}


@pytest.mark.parametrize(("source", "line"), SETTINGS.values(), ids=SETTINGS.keys())
def test_uses_the_names_of_a_framework_that_builds_the_loader(source: str, line: str, tmp_path: Path) -> None:
    made = static_plan(tmp_path, source, {"num_workers": 3, "pin_memory": False}, callee=".train")
    assert not made.refusals
    assert line in edited(tmp_path, made)
