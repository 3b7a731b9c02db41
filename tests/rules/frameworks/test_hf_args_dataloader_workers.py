"""ACC601 hf-args-dataloader-workers, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS
from .programs import HF, HF_SETTINGS, hf

SILENT = (
    "a = TrainingArguments('o', dataloader_num_workers=2)",
    "a = TrainingArguments('o', dataloader_num_workers=0)",
    "a = TrainingArguments('o', dataloader_num_workers=conf.n)",
    "a = TrainingArguments('o', **conf.kw)",
    "a = TrainingArguments('o', use_cpu=True)",
    "from datasets import load_dataset\nd = load_dataset('x', streaming=True)\na = TrainingArguments('o')",
    "from transformers import HfArgumentParser\na = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC601", HF_SETTINGS + source + "\n", tmp_path)


SILENT_PROGRAMS = {
    "given by kwargs": """
from transformers import TrainingArguments
def f(**kw):
    return TrainingArguments("o", **kw)
""",
    "parser": """
from transformers import TrainingArguments, HfArgumentParser
args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
""",
    "given": """
from transformers import TrainingArguments
a = TrainingArguments("o", dataloader_num_workers=2)
""",
    "streaming": """
from transformers import TrainingArguments
from datasets import load_dataset
d = load_dataset("x", streaming=True)
a = TrainingArguments("o")
""",
}


@pytest.mark.parametrize("case", SILENT_PROGRAMS)
def test_silent_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC601", IMPORTS + SILENT_PROGRAMS[case], tmp_path)


PAIRS = {
    "given": hf(", dataloader_num_workers=2", ", dataloader_num_workers=2"),
    "given as 0": hf(", dataloader_num_workers=0", ", dataloader_num_workers=0"),
    "a setting": hf(", dataloader_num_workers=conf.n", ", dataloader_num_workers=conf.n"),
    "arguments unseen": hf(", **conf.kw", ", **conf.kw"),
    "a command line": Pair(
        HF
        + "from transformers import HfArgumentParser\na, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n",
        "a, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()",
        "a = TrainingArguments('o')",
    ),
    "set later": hf("", "a.dataloader_num_workers = 4\n", after="a.dataloader_num_workers = 4\n"),
    "set on an unknown object": hf(
        "",
        "conf.a.dataloader_num_workers = 4\n",
        "# conf.a.dataloader_num_workers = 4\n",
        after="conf.a.dataloader_num_workers = 4\n",
    ),
    "set by a method": hf("", "a.set_dataloader(num_workers=4)\n", after="a.set_dataloader(num_workers=4)\n"),
    "streamed": hf(
        "", ", streaming=True", before="from datasets import load_dataset\nd = load_dataset('x', streaming=True)\n"
    ),
    "a stream of a generator": hf(
        "",
        "IterableDataset.from_generator",
        "Dataset.from_generator",
        before="import datasets\nd = datasets.IterableDataset.from_generator(conf.rows)\n",
    ),
    "made a stream": hf(
        "",
        ".to_iterable_dataset()",
        before="from datasets import load_dataset\nd = load_dataset('x', split='train').to_iterable_dataset()\n",
    ),
    "a stream of its own": hf(
        "",
        "class Rows(IterableDataset)",
        "class Rows(Dataset)",
        before="class Rows(IterableDataset):\n    def __iter__(self):\n        yield from conf.rows()\n",
        after="Trainer(args=a, train_dataset=Rows())\n",
    ),
    "tokenized beforehand": hf(
        "",
        ".map(conf.tokenize)",
        before="from datasets import load_dataset\nd = load_dataset('x', split='train').map(conf.tokenize)\n",
    ),
    "transformed beforehand, not when it is read": hf(
        "",
        ".map(conf.crop)",
        ".map(conf.crop).with_transform(conf.decode)",
        before="from datasets import load_dataset\nd = load_dataset('x', split='train').map(conf.crop)\n",
    ),
    "on the CPU": hf(", use_cpu=True", ", use_cpu=True"),
    "without CUDA": hf(", no_cuda=True", ", no_cuda=True"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC601", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    "source",
    [
        "a = TrainingArguments('o')  # -> info unsafe",
        "kw = {'learning_rate': 1e-4}\na = Seq2SeqTrainingArguments('o', **kw)  # -> info none",
    ],
)
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC601", HF_SETTINGS + source + "\n", tmp_path)


REPORTED_PROGRAMS = {
    "plain": """
from transformers import TrainingArguments, Trainer
a = TrainingArguments("o", per_device_train_batch_size=8)  # -> info unsafe
""",
}


@pytest.mark.parametrize("case", REPORTED_PROGRAMS)
def test_reported_programs(case: str, tmp_path: Path) -> None:
    check_one("ACC601", IMPORTS + REPORTED_PROGRAMS[case], tmp_path)


def test_its_fix_says_how_many_workers_it_gives(tmp_path: Path) -> None:
    (found,) = findings_of("ACC601", HF_SETTINGS + "a = TrainingArguments('o')\n", tmp_path)
    assert found.fix is not None
    assert found.fix.workers == 4
