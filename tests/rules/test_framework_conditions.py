"""Each condition under which ACC601 to ACC612 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import IMPORTS

HF = IMPORTS + "import conf\nfrom transformers import Trainer, TrainingArguments\n"


def hf(arguments: str, condition: str, instead: str = "", before: str = "", after: str = "") -> Pair:
    """The settings of a Trainer."""
    return Pair(f"{HF}{before}a = TrainingArguments('o'{arguments})\n{after}", condition, instead)


LATE = "Trainer(args=a)\n"
PAIRS = {
    "ACC601: given": hf(", dataloader_num_workers=2", ", dataloader_num_workers=2"),
    "ACC601: given as 0": hf(", dataloader_num_workers=0", ", dataloader_num_workers=0"),
    "ACC601: a setting": hf(", dataloader_num_workers=conf.n", ", dataloader_num_workers=conf.n"),
    "ACC601: arguments unseen": hf(", **conf.kw", ", **conf.kw"),
    "ACC601: a command line": Pair(
        HF
        + "from transformers import HfArgumentParser\na, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n",
        "a, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()",
        "a = TrainingArguments('o')",
    ),
    "ACC601: set later": hf("", "a.dataloader_num_workers = 4\n", after="a.dataloader_num_workers = 4\n"),
    "ACC601: set by a method": hf("", "a.set_dataloader(num_workers=4)\n", after="a.set_dataloader(num_workers=4)\n"),
    "ACC601: streamed": hf(
        "", ", streaming=True", before="from datasets import load_dataset\nd = load_dataset('x', streaming=True)\n"
    ),
    "ACC601: a stream of a generator": hf(
        "",
        "IterableDataset.from_generator",
        "Dataset.from_generator",
        before="import datasets\nd = datasets.IterableDataset.from_generator(conf.rows)\n",
    ),
    "ACC601: made a stream": hf(
        "",
        ".to_iterable_dataset()",
        before="from datasets import load_dataset\nd = load_dataset('x', split='train').to_iterable_dataset()\n",
    ),
    "ACC601: a stream of its own": hf(
        "",
        "class Rows(IterableDataset)",
        "class Rows(Dataset)",
        before="class Rows(IterableDataset):\n    def __iter__(self):\n        yield from conf.rows()\n",
        after="Trainer(args=a, train_dataset=Rows())\n",
    ),
    "ACC601: on the CPU": hf(", use_cpu=True", ", use_cpu=True"),
    "ACC601: without CUDA": hf(", no_cuda=True", ", no_cuda=True"),
    "ACC602: not given": hf("", "TrainingArguments('o')", "TrainingArguments('o', dataloader_pin_memory=False)"),
    "ACC602: a setting": hf(", dataloader_pin_memory=conf.pin", "conf.pin", "False"),
    "ACC602: on the CPU": hf(", dataloader_pin_memory=False, use_cpu=True", ", use_cpu=True"),
    "ACC602: without CUDA": hf(", dataloader_pin_memory=False, no_cuda=True", ", no_cuda=True"),
    "ACC602: mps": hf(
        ", dataloader_pin_memory=False", "device = torch.device('mps')\n", before="device = torch.device('mps')\n"
    ),
    "ACC602: mps if there is one": hf(
        ", dataloader_pin_memory=False",
        "'mps' if torch.backends.mps.is_available() else 'cpu'",
        "'cpu'",
        before="device = 'mps' if torch.backends.mps.is_available() else 'cpu'\n",
    ),
    "ACC602: collated on the GPU": hf(
        ", dataloader_pin_memory=False",
        ".cuda()",
        before="def collate(some):\n    return {'x': torch.stack(some).cuda()}\n",
        after="Trainer(args=a, data_collator=collate)\n",
    ),
    "ACC602: a data set on the GPU": hf(
        ", dataloader_pin_memory=False",
        ", device='cuda'",
        before="class D(Dataset):\n    def __getitem__(self, i):\n        return {'x': torch.zeros(1, device='cuda')}\n",
        after="Trainer(args=a, train_dataset=D())\n",
    ),
    "ACC603: workers": hf(", dataloader_prefetch_factor=2, dataloader_num_workers=2", ", dataloader_num_workers=2"),
    "ACC603: workers from a setting": hf(
        ", dataloader_prefetch_factor=2, dataloader_num_workers=conf.n", ", dataloader_num_workers=conf.n"
    ),
    "ACC603: none": hf(", dataloader_prefetch_factor=None", "None", "2"),
    "ACC603: a setting": hf(", dataloader_prefetch_factor=conf.n", "conf.n", "2"),
    "ACC603: arguments unseen": hf(", dataloader_prefetch_factor=2, **conf.kw", ", **conf.kw"),
    "ACC603: one precision": hf(", fp16=True, bf16=False", "bf16=False", "bf16=True"),
    "ACC603: one precision or the other": hf(
        ", fp16=not conf.b, bf16=conf.b", "fp16=not conf.b, bf16=conf.b", "fp16=True, bf16=True"
    ),
    "ACC604: given": hf(
        ", dataloader_num_workers=2, dataloader_persistent_workers=False", ", dataloader_persistent_workers=False"
    ),
    "ACC604: no workers": hf(", dataloader_num_workers=0", "=0", "=2"),
    "ACC604: workers from a setting": hf(", dataloader_num_workers=conf.n", "conf.n", "2"),
    "ACC604: one epoch": hf(
        ", dataloader_num_workers=2, num_train_epochs=1", "num_train_epochs=1", "num_train_epochs=2"
    ),
    "ACC604: epochs from a setting": hf(", dataloader_num_workers=2, num_train_epochs=conf.n", "conf.n", "2"),
    "ACC604: steps": hf(", dataloader_num_workers=2, max_steps=9", ", max_steps=9"),
    "ACC604: arguments unseen": hf(", dataloader_num_workers=2, **conf.kw", ", **conf.kw"),
    "ACC604: set later": hf(
        ", dataloader_num_workers=2",
        "a.dataloader_persistent_workers = True\n",
        after="a.dataloader_persistent_workers = True\n",
    ),
    "ACC604: a data set that changes": hf(
        ", dataloader_num_workers=2",
        "on_epoch_begin",
        "on_log",
        before="class D(Dataset):\n    level = 1\n    def __getitem__(self, i):\n        return {'x': self.level}\ndata = D()\n",
        after="from transformers import TrainerCallback\nclass Next(TrainerCallback):\n    def on_epoch_begin(self, *some, **others):\n        data.level = 2\nTrainer(args=a, train_dataset=data, callbacks=[Next()])\n",
    ),
    "ACC604: an epoch that is set": hf(
        ", dataloader_num_workers=2",
        "on_epoch_begin",
        "on_log",
        after="from transformers import TrainerCallback\nclass Next(TrainerCallback):\n    def on_epoch_begin(self, args, state, control, train_dataset, **others):\n        train_dataset.set_epoch(state.epoch)\n",
    ),
    "ACC604: a transform that is set": hf(
        ", dataloader_num_workers=2",
        "on_epoch_end",
        "on_log",
        after="from transformers import TrainerCallback\nclass Next(TrainerCallback):\n    def on_epoch_end(self, args, state, control, **kw):\n        kw['train_dataloader'].dataset.set_transform(conf.t)\n",
    ),
    "ACC605: bf16": hf(", bf16=True", ", bf16=True"),
    "ACC605: fp16": hf(", fp16=conf.half", ", fp16=conf.half"),
    "ACC605: tf32": hf(", tf32=True", ", tf32=True"),
    "ACC605: on the CPU": hf(", use_cpu=True", ", use_cpu=True"),
    "ACC605: mps": hf("", "device = torch.device('mps')\n", before="device = torch.device('mps')\n"),
    "ACC605: loaded with dtype": hf(
        "",
        ", dtype=torch.bfloat16",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', dtype=torch.bfloat16)\n",
    ),
    "ACC605: loaded with torch_dtype": hf(
        "",
        ", torch_dtype='auto'",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', torch_dtype='auto')\n",
    ),
    "ACC605: quantized": hf(
        "",
        ", quantization_config=conf.q",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', quantization_config=conf.q)\n",
    ),
    "ACC605: quantized to 4 bits": hf(
        "",
        ", load_in_4bit=True",
        before="from transformers import AutoModel\nm = AutoModel.from_pretrained('x', load_in_4bit=True)\n",
    ),
    "ACC605: precision of products": hf(
        "", "torch.set_float32_matmul_precision('high')\n", before="torch.set_float32_matmul_precision('high')\n"
    ),
    "ACC605: TF32 by torch": hf(
        "", "torch.backends.cuda.matmul.allow_tf32 = True\n", before="torch.backends.cuda.matmul.allow_tf32 = True\n"
    ),
    "ACC605: arguments unseen": hf(", **conf.kw", ", **conf.kw"),
    "ACC605: set later": hf("", "a.bf16 = True\n", after="a.bf16 = True\n"),
    "ACC606: given": hf(", accelerator_config={'non_blocking': True}", ", accelerator_config={'non_blocking': True}"),
    "ACC606: given otherwise": hf(", accelerator_config=conf.c", ", accelerator_config=conf.c"),
    "ACC606: not pinned": hf(", dataloader_pin_memory=False", ", dataloader_pin_memory=False"),
    "ACC606: a setting": hf(", dataloader_pin_memory=conf.pin", ", dataloader_pin_memory=conf.pin"),
    "ACC606: on the CPU": hf(", use_cpu=True", ", use_cpu=True"),
    "ACC606: without CUDA": hf(", no_cuda=True", ", no_cuda=True"),
    "ACC606: mps": hf("", "device = torch.device('mps')\n", before="device = torch.device('mps')\n"),
    "ACC606: arguments unseen": hf(", **conf.kw", ", **conf.kw"),
    "ACC606: set later": hf(
        "", "a.accelerator_config.non_blocking = True\n", after="a.accelerator_config.non_blocking = True\n"
    ),
}

ACCELERATE = IMPORTS + "import conf\nfrom accelerate import Accelerator, DataLoaderConfiguration\n"
LOADER = "model = nn.Linear(8, 2)\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)), pin_memory=True)\n"


def accelerate(body: str, condition: str, instead: str = "") -> Pair:
    return Pair(ACCELERATE + LOADER + body, condition, instead)


PREPARE = "model, loader = a.prepare(model, loader)\n"
RAW = "for (x,) in loader:\n    model(x).sum().backward()\n"
PAIRS |= {
    "ACC607: its own": accelerate(
        "a = Accelerator()\n" + PREPARE + "for (x,) in loader:\n    a.backward(model(x).sum())\n",
        "a.backward(model(x).sum())",
        "model(x).sum().backward()",
    ),
    "ACC607: no loader is prepared": accelerate("a = Accelerator()\nprint(a)\n" + RAW, "print(a)\n", PREPARE),
    "ACC607: a second model": accelerate(
        "a = Accelerator()\nother = nn.Linear(8, 2)\nmodel, loader = a.prepare(model, loader)\nfor (x,) in loader:\n    other(x).sum().backward()\n",
        "other(x)",
        "model(x)",
    ),
    "ACC607: in the same loop": accelerate(
        "a = Accelerator()\n" + PREPARE + RAW + "    a.backward(conf.loss(x))\n", "    a.backward(conf.loss(x))\n"
    ),
    "ACC608: configured": accelerate(
        "a = Accelerator(dataloader_config=DataLoaderConfiguration())\n" + PREPARE,
        "dataloader_config=DataLoaderConfiguration()",
    ),
    "ACC608: arguments unseen": accelerate("a = Accelerator(**conf.kw)\n" + PREPARE, "**conf.kw"),
    "ACC608: on the CPU": accelerate("a = Accelerator(cpu=True)\n" + PREPARE, "cpu=True"),
    "ACC608: without placement": accelerate(
        "a = Accelerator(device_placement=False)\n" + PREPARE, "device_placement=False"
    ),
    "ACC608: not pinned": accelerate(
        "a = Accelerator()\nloader = DataLoader(TensorDataset(torch.zeros(64, 8)))\n" + PREPARE,
        "loader = DataLoader(TensorDataset(torch.zeros(64, 8)))\n",
    ),
    "ACC608: not prepared": accelerate("a = Accelerator()\nprint(a)\n", "print(a)\n", PREPARE),
    "ACC608: mps": accelerate(
        "device = torch.device('mps')\na = Accelerator()\n" + PREPARE, "device = torch.device('mps')\n"
    ),
    "ACC608: TPU": accelerate(
        "import torch_xla.core.xla_model as xm\na = Accelerator()\n" + PREPARE,
        "import torch_xla.core.xla_model as xm\n",
    ),
}

L = IMPORTS + "import conf\nimport lightning as L\nfrom torch.utils.data import DistributedSampler\n"
DATA = "class D(L.LightningDataModule):\n    def train_dataloader(self):\n        return DataLoader(conf.d, sampler=DistributedSampler(conf.d))\n"
STEP = "class M(L.LightningModule):\n    def training_step(self, b, i):\n        loss = self.net(b).sum()\n"
TIMM = IMPORTS + "import conf\nfrom timm.data import create_loader\n"
PAIRS |= {
    "ACC609: the new name": Pair(L + "L.Trainer(precision='16-mixed')\n", "'16-mixed'", "16"),
    "ACC609: 32": Pair(L + "L.Trainer(precision=32)\n", "32", "16"),
    "ACC609: a setting": Pair(L + "L.Trainer(precision=conf.p)\n", "conf.p", "16"),
    "ACC609: not given": Pair(L + "L.Trainer()\n", "Trainer()", "Trainer(precision=16)"),
    "ACC609: the old package": Pair(
        L + "import pytorch_lightning as pl\npl.Trainer(precision=16)\n", "import pytorch_lightning as pl\npl.", "L."
    ),
    "ACC609: both packages": Pair(
        L.replace(
            "import lightning as L",
            "try:\n    import lightning as L\nexcept ImportError:\n    import pytorch_lightning as L",
        )
        + "L.Trainer(precision=16)\n",
        "import pytorch_lightning as L",
        "raise",
    ),
    "ACC609: version 1": Pair(
        L + "L.Trainer(precision=16)\n", "lightning<2\n", "lightning>=2\n", {"requirements.txt": "lightning<2\n"}
    ),
    "ACC610: told not to": Pair(
        L + DATA + "L.Trainer(use_distributed_sampler=False)\n", "use_distributed_sampler=False"
    ),
    "ACC610: told not to, of old": Pair(
        L + DATA + "L.Trainer(replace_sampler_ddp=False)\n", "replace_sampler_ddp=False"
    ),
    "ACC610: arguments unseen": Pair(L + DATA + "L.Trainer(**conf.kw)\n", "**conf.kw"),
    "ACC610: no Trainer": Pair(L + DATA + "print(1)\n", "print(1)", "L.Trainer()"),
    "ACC610: outside": Pair(
        L + DATA.replace("class D(L.LightningDataModule)", "class D") + "L.Trainer()\n",
        "class D:",
        "class D(L.LightningDataModule):",
    ),
    "ACC611: the tensor": Pair(L + STEP + "        self.log('x', loss)\n", "'x', loss", "'x', loss.item()"),
    "ACC611: at times": Pair(
        L + STEP + "        if i % 50 == 0:\n            print(loss.item())\n",
        "        if i % 50 == 0:\n            print",
        "        print",
    ),
    "ACC611: validation": Pair(
        L + STEP.replace("training_step", "validation_step") + "        print(loss.item())\n",
        "validation_step",
        "training_step",
    ),
    "ACC611: on the host": Pair(
        L + STEP + "        n = torch.zeros(1)\n        print(n.item())\n", "n.item()", "loss.item()"
    ),
    "ACC611: no module of Lightning": Pair(
        L + STEP.replace("L.LightningModule", "nn.Module") + "        print(loss.item())\n",
        "nn.Module",
        "L.LightningModule",
    ),
    "ACC611: of numpy": Pair(
        L + "import numpy as np\n" + STEP + "        print(np.mean([1.0]).item())\n",
        "np.mean([1.0]).item()",
        "loss.item()",
    ),
    "ACC611: when debugging": Pair(
        L + STEP + "        if conf.debug:\n            print(loss.item())\n",
        "        if conf.debug:\n            print",
        "        print",
    ),
    "ACC612: given": Pair(
        TIMM + "create_loader([], 3, 4, pin_memory=False)\ntorch.zeros(3).cuda()\n", ", pin_memory=False"
    ),
    "ACC612: arguments unseen": Pair(
        TIMM + "create_loader([], 3, 4, **conf.kw)\ntorch.zeros(3).cuda()\n", ", **conf.kw"
    ),
    "ACC612: no GPU in sight": Pair(TIMM + "create_loader([], 3, 4)\nprint(1)\n", "print(1)", "torch.zeros(3).cuda()"),
    "ACC612: on the CPU": Pair(
        TIMM + "create_loader([], 3, 4, device=torch.device('cpu'))\ntorch.zeros(3).cuda()\n",
        ", device=torch.device('cpu')",
    ),
    "ACC612: only mps": Pair(TIMM + "create_loader([], 3, 4, device=torch.device('mps'))\n", "'mps'", "'cuda'"),
}


MACOS = {"pyproject.toml": '[project]\nname = "x"\nclassifiers = ["Operating System :: MacOS"]\n'}
ON_GPU = {
    "ACC602": HF + "TrainingArguments('o', dataloader_pin_memory=False)\n",
    "ACC606": HF + "TrainingArguments('o')\n",
    "ACC608": ACCELERATE + LOADER + "a = Accelerator()\n" + PREPARE,
    "ACC612": TIMM + "create_loader([], 3, 4)\ntorch.zeros(3).cuda()\n",
}
PAIRS |= {
    f"{code}: only for macOS": Pair(source, ":: MacOS", ":: POSIX :: Linux", MACOS) for code, source in ON_GPU.items()
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
