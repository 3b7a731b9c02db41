"""Each condition under which ACC115, ACC117 and ACC121 to ACC124 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import FILES

HEAD = FILES
CUDA = "\nfor (x,) in loader:\n    model(x.cuda(non_blocking=True)).sum().backward()\n"
TENSORS = HEAD + "model.cuda()\ntensors = TensorDataset(conf.x)\n"
TRAINED = TENSORS + "loader = DataLoader(tensors, pin_memory=True, batch_size=256, shuffle=True)" + CUDA
TRAIN = "\nfor x in loader:\n    model(x).sum().backward()\n"
PARALLEL = """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import FakeData
rank = int(os.environ["LOCAL_RANK"])
fake = FakeData()
dist.init_process_group("nccl")
model = DDP(nn.Linear(8, 2).to(rank), device_ids=[rank])
"""
WHOLE = HEAD + PARALLEL + "loader = DataLoader(fake)\n" + TRAIN
LOADED = "DataLoader(Texts('a'), num_workers=2)"
FRAMEWORKS = {
    "Accelerate": "import accelerate\na = accelerate.Accelerator()\n",
    "Lightning": "import lightning as L\nL.Trainer()\n",
    "Fabric": "import lightning as L\nL.Fabric()\n",
    "transformers": "import transformers\ntransformers.Trainer()\n",
    "DeepSpeed": "import deepspeed\ndeepspeed.initialize()\n",
}


def listed(body: str, method: str = "return open(self.files[i]).read()") -> str:
    return f"class Texts(Dataset):\n    def __init__(self, root):\n        {body}\n    def __getitem__(self, i):\n        {method}\n"


PAIRS = {
    "ACC115: few rows": Pair(TRAINED.replace("conf.x", "torch.zeros(1000, 8)"), "1000", "50_000"),
    "ACC115: few rows, as a tuple": Pair(TRAINED.replace("conf.x", "torch.zeros((1000, 8))"), "1000", "50_000"),
    "ACC115: a collate function": Pair(
        TRAINED.replace("shuffle=True", "collate_fn=conf.c"), "collate_fn=conf.c", "shuffle=True"
    ),
    "ACC115: a sampler": Pair(TRAINED.replace("shuffle=True", "sampler=conf.c"), "sampler=conf.c", "shuffle=True"),
    "ACC115: a batch sampler": Pair(
        TRAINED.replace("shuffle=True", "batch_sampler=conf.c"), "batch_sampler=conf.c", "shuffle=True"
    ),
    "ACC115: a transform around it": Pair(
        HEAD
        + "model.cuda()\nclass Noisy(Dataset):\n    def __init__(self, inner): self.inner = inner\n    def __len__(self): return 9\n    def __getitem__(self, i): return (self.inner[i][0] + torch.rand(1),)\ntensors = Noisy(TensorDataset(conf.x))\nloader = DataLoader(tensors, pin_memory=True, batch_size=256)"
        + CUDA,
        "= Noisy(TensorDataset(conf.x))",
        "= TensorDataset(conf.x)",
    ),
    "ACC115: a part": Pair(
        TRAINED.replace("TensorDataset(conf.x)", "Subset(TensorDataset(conf.x), [1])"),
        "Subset(TensorDataset(conf.x), [1])",
        "TensorDataset(conf.x)",
    ),
    "ACC115: Lightning": Pair(
        HEAD
        + "import lightning as L\nclass M(L.LightningDataModule):\n    def train_dataloader(self):\n        loader = DataLoader(TensorDataset(conf.x), pin_memory=True, batch_size=256)\n        for (x,) in loader:\n            model(x.cuda()).sum().backward()\n        return loader\n",
        "(L.LightningDataModule)",
    ),
    "ACC115: Accelerate": Pair(
        TRAINED.replace(CUDA, "\nimport accelerate\nloader = accelerate.Accelerator().prepare(loader)" + CUDA),
        "accelerate.Accelerator().prepare(loader)",
        "loader",
    ),
    "ACC115: a small batch": Pair(TRAINED.replace("256", "32"), "=32", "=256"),
    "ACC115: a setting": Pair(TRAINED.replace("256", "conf.n"), "conf.n", "256"),
    "ACC115: no training": Pair(
        TRAINED.replace(".sum().backward()", ""), "non_blocking=True))", "non_blocking=True)).sum().backward()"
    ),
    "ACC115: the host": Pair(
        TRAINED.replace("model.cuda()\n", "").replace(".cuda(non_blocking=True)", ""), "model(x)", "model(x.cuda())"
    ),
    "ACC115: unknown keywords": Pair(TRAINED.replace("shuffle=True", "**conf.kw"), ", **conf.kw"),
    "ACC117: no model in parallel": Pair(
        WHOLE.replace("DDP(nn.Linear(8, 2).to(rank), device_ids=[rank])", "nn.Linear(8, 2)"),
        "model = nn.Linear(8, 2)\nloader",
        "model = DDP(nn.Linear(8, 2))\nloader",
    ),
    "ACC117: no group": Pair(
        WHOLE.replace('dist.init_process_group("nccl")', "pass"), "pass\n", "dist.init_process_group('nccl')\n"
    ),
    "ACC117: a sampler": Pair(
        WHOLE.replace("(fake)", "(fake, sampler=DistributedSampler(fake))"), ", sampler=DistributedSampler(fake)"
    ),
    "ACC117: an unknown sampler": Pair(
        WHOLE.replace("(fake)", "(fake, sampler=conf.S(fake))"), ", sampler=conf.S(fake)"
    ),
    "ACC117: a batch sampler": Pair(
        WHOLE.replace("(fake)", "(fake, batch_sampler=conf.S(fake))"), ", batch_sampler=conf.S(fake)"
    ),
    "ACC117: a sampler on some paths": Pair(
        WHOLE.replace(
            "loader = DataLoader(fake)",
            "s = DistributedSampler(fake) if conf.d else None\nloader = DataLoader(fake, sampler=s)",
        ),
        ", sampler=s",
    ),
    "ACC117: a stream": Pair(
        HEAD
        + PARALLEL
        + "class Mine(IterableDataset):\n    def __iter__(self): return iter([1])\n    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine())\n"
        + TRAIN,
        "Mine(IterableDataset)",
        "Mine(Dataset)",
    ),
    "ACC117: evaluation": Pair(WHOLE.replace(".sum().backward()", ""), "model(x)\n", "model(x).sum().backward()\n"),
    "ACC117: evaluation on one rank": Pair(
        HEAD
        + PARALLEL
        + "loader = DataLoader(fake, sampler=DistributedSampler(fake))\nval = DataLoader(fake)\n"
        + TRAIN
        + "if rank == 0:\n    for x in val:\n        model(x)\n",
        "        model(x)\n",
        "        model(x).sum().backward()\n",
    ),
    "ACC117: a part by rank": Pair(
        WHOLE.replace("(fake)\n\n", "(Subset(fake, range(rank, 100, 4)))\n\n"),
        "Subset(fake, range(rank, 100, 4))",
        "fake",
    ),
    "ACC117: use_ddp of dgl": Pair(
        HEAD
        + "from dgl.dataloading import GraphDataLoader\n"
        + PARALLEL
        + "loader = GraphDataLoader(fake, use_ddp=True)\n"
        + TRAIN,
        "use_ddp=True",
        "use_ddp=False",
    ),
    "ACC117: use_ddp by position": Pair(
        HEAD
        + "from dgl.dataloading import GraphDataLoader\n"
        + PARALLEL
        + "loader = GraphDataLoader(fake, None, True)\n"
        + TRAIN,
        ", True)",
        ")",
    ),
    "ACC117: unknown data": Pair(WHOLE.replace("(fake)\n\n", "(conf.d)\n\n"), "(conf.d)", "(fake)"),
    "ACC117: data that knows its rank": Pair(
        HEAD
        + PARALLEL
        + "class Mine(Dataset):\n    def __init__(self): self.rank = rank\n    def __getitem__(self, i): return torch.load(str(i))\nloader = DataLoader(Mine())\n"
        + TRAIN,
        "self.rank = rank",
        "pass",
    ),
    "ACC117: unknown keywords": Pair(WHOLE.replace("(fake)\n\n", "(fake, **conf.kw)\n\n"), ", **conf.kw"),
    "ACC117: a loader of litdata": Pair(
        WHOLE.replace("loader = DataLoader", "import litdata\nloader = litdata.StreamingDataLoader"),
        "litdata.StreamingDataLoader",
        "DataLoader",
    ),
    **{f"ACC117: {name}": Pair(source + WHOLE, source) for name, source in FRAMEWORKS.items()},
    "ACC121: no workers": Pair(
        HEAD + listed("self.files = sorted(glob.glob(root))") + "DataLoader(Texts('a'))", "'a')", "'a'), num_workers=2"
    ),
    "ACC121: spawned": Pair(
        HEAD + listed("self.files = sorted(glob.glob(root))") + LOADED[:-1] + ", multiprocessing_context='spawn')",
        ", multiprocessing_context='spawn'",
    ),
    "ACC121: an array": Pair(
        HEAD + listed("self.files = np.array(glob.glob(root))") + LOADED, "np.array(glob.glob(root))", "glob.glob(root)"
    ),
    "ACC121: arrow": Pair(
        HEAD + "import pyarrow as pa\n" + listed("self.files = pa.array(glob.glob(root))") + LOADED,
        "pa.array(glob.glob(root))",
        "glob.glob(root)",
    ),
    "ACC121: pandas": Pair(
        HEAD + "import pandas as pd\n" + listed("self.files = pd.read_csv(root)") + LOADED,
        "pd.read_csv(root)",
        "glob.glob(root)",
    ),
    "ACC121: replaced by an array": Pair(
        HEAD + listed("self.files = glob.glob(root)\n        self.files = np.array(self.files)") + LOADED,
        "\n        self.files = np.array(self.files)",
    ),
    "ACC121: not read": Pair(
        HEAD + listed("self.files = glob.glob(root)", "return i") + LOADED, "return i", "return self.files[i]"
    ),
    "ACC121: unknown": Pair(
        HEAD + listed("self.files = conf.files(root)") + LOADED, "conf.files(root)", "glob.glob(root)"
    ),
    "ACC122: one, written out": Pair(HEAD + "loader = DataLoader(files, batch_size=1)" + TRAIN, ", batch_size=1"),
    "ACC122: none": Pair(HEAD + "loader = DataLoader(files, batch_size=None)" + TRAIN, ", batch_size=None"),
    "ACC122: a setting": Pair(HEAD + "loader = DataLoader(files, batch_size=conf.n)" + TRAIN, ", batch_size=conf.n"),
    "ACC122: a batch sampler": Pair(
        HEAD + "loader = DataLoader(files, batch_sampler=conf.s)" + TRAIN, ", batch_sampler=conf.s"
    ),
    "ACC122: a stream": Pair(
        HEAD
        + "class Rows(IterableDataset):\n    def __iter__(self): return iter(conf.rows())\n    def __getitem__(self, i): return i\nloader = DataLoader(Rows())"
        + TRAIN,
        "(IterableDataset)",
        "(Dataset)",
    ),
    "ACC122: evaluation": Pair(
        HEAD + "loader = DataLoader(files)" + TRAIN.replace(".sum().backward()", ""),
        "model(x)",
        "model(x).sum().backward()",
    ),
    "ACC122: graphs": Pair(
        HEAD + "from torch_geometric.loader import DataLoader as G\nloader = G(files)" + TRAIN, "= G(", "= DataLoader("
    ),
    "ACC122: graphs of dgl": Pair(
        HEAD + "from dgl.dataloading import GraphDataLoader as G\nloader = G(files)" + TRAIN, "= G(", "= DataLoader("
    ),
    "ACC122: graphs in a loader of torch": Pair(
        HEAD + "from torch_geometric.datasets import TUDataset\nloader = DataLoader(TUDataset('x', 'MUTAG'))" + TRAIN,
        "TUDataset('x', 'MUTAG')",
        "files",
    ),
    "ACC122: pictures with boxes": Pair(
        HEAD + "from torchvision.datasets import CocoDetection\nloader = DataLoader(CocoDetection('a', 'b'))" + TRAIN,
        "CocoDetection('a', 'b')",
        "files",
    ),
    "ACC122: a collate function": Pair(
        HEAD + "loader = DataLoader(files, collate_fn=lambda b: tuple(zip(*b)))" + TRAIN,
        ", collate_fn=lambda b: tuple(zip(*b))",
    ),
    "ACC122: unknown keywords": Pair(HEAD + "loader = DataLoader(files, **conf.kw)" + TRAIN, ", **conf.kw"),
    "ACC123: in order": Pair(
        HEAD + "loader = DataLoader(files, num_workers=2, in_order=True)" + TRAIN, "in_order=True", "in_order=False"
    ),
    "ACC123: no workers": Pair(
        HEAD + "loader = DataLoader(files, in_order=False)" + TRAIN, "files, ", "files, num_workers=2, "
    ),
    "ACC123: a stream": Pair(
        HEAD
        + "class Rows(IterableDataset):\n    def __iter__(self): return iter(conf.rows())\nloader = DataLoader(Rows(), num_workers=2, in_order=False)"
        + TRAIN,
        "(IterableDataset)",
        "(Dataset)",
    ),
    "ACC123: a stream of datasets": Pair(
        HEAD + "loader = DataLoader(datasets.load_dataset('a', streaming=True), num_workers=2, in_order=False)" + TRAIN,
        "datasets.load_dataset('a', streaming=True)",
        "files",
    ),
    "ACC123: evaluation": Pair(
        HEAD + "loader = DataLoader(files, num_workers=2, in_order=False)" + TRAIN.replace(".sum().backward()", ""),
        "model(x)",
        "model(x).sum().backward()",
    ),
    "ACC123: a setting": Pair(
        HEAD + "loader = DataLoader(files, num_workers=2, in_order=conf.o)" + TRAIN, "conf.o", "False"
    ),
    "ACC124: numbers": Pair(HEAD + "torch.tensor([1.0, 2.0])", "1.0, 2.0", "np.zeros(3), np.ones(3)"),
    "ACC124: a list of numbers": Pair(HEAD + "torch.tensor([float(x) for x in conf.rows()])", "float(x)", "np.load(x)"),
    "ACC124: unknown": Pair(HEAD + "torch.tensor([conf.load(x) for x in data])", "conf.load(x)", "np.load(x)"),
    "ACC124: stacked": Pair(
        HEAD + "torch.tensor(np.stack([np.load(x) for x in conf.names]))",
        "np.stack([np.load(x) for x in conf.names])",
        "[np.load(x) for x in conf.names]",
    ),
    "ACC124: numbers of arrays": Pair(HEAD + "torch.tensor([np.load(x)[0] for x in conf.names])", "[0]"),
    "ACC124: lists": Pair(HEAD + "torch.tensor([np.load(x).tolist() for x in conf.names])", ".tolist()"),
    "ACC124: numbers among arrays": Pair(HEAD + "torch.tensor([np.zeros(3), 1.0])", ", 1.0", ", np.ones(3)"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
