"""ACC605 hf-args-precision, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import check_one, check_pair
from .programs import HF_SETTINGS, hf

SILENT = (
    "a = TrainingArguments('o', bf16=True)",
    "a = TrainingArguments('o', fp16=conf.half)",
    "a = TrainingArguments('o', tf32=True)",
    "a = TrainingArguments('o', use_cpu=True)",
    "a = TrainingArguments('o', **conf.kw)",
    "import torch\ntorch.set_float32_matmul_precision('high')\na = TrainingArguments('o')",
    "import torch\nd = torch.device('mps')\na = TrainingArguments('o')",
    "import torch, transformers\nm = transformers.AutoModel.from_pretrained('x', dtype='auto')\na = TrainingArguments('o')",
)


@pytest.mark.parametrize("source", SILENT)
def test_silent(source: str, tmp_path: Path) -> None:
    check_one("ACC605", HF_SETTINGS + source + "\n", tmp_path)


PAIRS = {
    "bf16": hf(", bf16=True", ", bf16=True"),
    "fp16": hf(", fp16=conf.half", ", fp16=conf.half"),
    "tf32": hf(", tf32=True", ", tf32=True"),
    "on the CPU": hf(", use_cpu=True", ", use_cpu=True"),
    "mps": hf("", "device = torch.device('mps')\n", before="device = torch.device('mps')\n"),
    "loaded with dtype": hf(
        "",
        ", dtype=torch.bfloat16",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', dtype=torch.bfloat16)\n",
    ),
    "loaded with torch_dtype": hf(
        "",
        ", torch_dtype='auto'",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', torch_dtype='auto')\n",
    ),
    "quantized": hf(
        "",
        ", quantization_config=conf.q",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', quantization_config=conf.q)\n",
    ),
    "quantized to 4 bits": hf(
        "",
        ", load_in_4bit=True",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', load_in_4bit=True)\n",
    ),
    "precision of products": hf(
        "", "torch.set_float32_matmul_precision('high')\n", before="torch.set_float32_matmul_precision('high')\n"
    ),
    "TF32 by torch": hf(
        "", "torch.backends.cuda.matmul.allow_tf32 = True\n", before="torch.backends.cuda.matmul.allow_tf32 = True\n"
    ),
    "arguments unseen": hf(", **conf.kw", ", **conf.kw"),
    "set later": hf("", "a.bf16 = True\n", after="a.bf16 = True\n"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC605", PAIRS[case], tmp_path)


@pytest.mark.parametrize("source", ["a = TrainingArguments('o')  # -> info none"])
def test_reported(source: str, tmp_path: Path) -> None:
    check_one("ACC605", HF_SETTINGS + source + "\n", tmp_path)
