"""Each condition under which ACC109 and ACC112 to ACC114 are silent, and that they speak without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pairs import Pair, check_pair
from .programs import FILES

HEAD = FILES + "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
args = parser.parse_args()
"""
WITH_WORKERS = "loader = DataLoader(Points(), num_workers=2)\n"
LAMBDA = "DataLoader(data, num_workers=2, collate_fn=lambda b: b[0])"
SPAWNED = "loader = DataLoader(data, num_workers=2, multiprocessing_context='spawn')\n"
OVER = "for x in loader:\n    print(x)\n"
EPOCHS = "for e in range(9):\n    for x in loader:\n        model(x).sum().backward()\n"
INIT = "def init(worker):\n    {}\n"
SEEDED = INIT + "loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n" + EPOCHS
WORKER = SEEDED.format("np.random.seed(worker)")
SEEDS = [
    "torch.initial_seed() % 2**32",
    "torch.utils.data.get_worker_info().seed % 2**32",
    "np.random.get_state()[1][0] + worker",
    "conf.seed() + worker",
    "torch.initial_seed() % 2**32 + worker",
    "random.randint(0, 9)",
]
HOOKS = """
import lightning as L
class Data(L.LightningDataModule):
    def transfer_batch_to_device(self, batch, device, index): return batch.cuda()
    def on_after_batch_transfer(self, batch, index): return batch.cuda() * 2
    def collate(self, batch): return batch
    def train_dataloader(self): return DataLoader(files, num_workers=2, collate_fn=self.collate)
"""


def points(sample: str, init: str = "self.x = torch.zeros(64, 8)", more: str = "") -> str:
    return (
        f"class Points(Dataset):\n    def __init__(self, given=None):\n        {init}\n    def __len__(self): return 8\n"
        f"    def __getitem__(self, i):\n        {sample}\n{more}"
    )


PAIRS = {
    "ACC109: a question": Pair(
        HEAD + points("return i if torch.cuda.is_available() else self.x[i]") + WITH_WORKERS,
        "is_available()",
        "synchronize()",
    ),
    "ACC109: a question for the number": Pair(
        HEAD + points("return i if torch.cuda.device_count() else self.x[i]") + WITH_WORKERS,
        "device_count()",
        "synchronize()",
    ),
    "ACC109: a seed": Pair(
        HEAD + points("torch.cuda.manual_seed(i)\n        return self.x[i]") + WITH_WORKERS,
        "manual_seed(i)",
        "synchronize()",
    ),
    "ACC109: the host": Pair(HEAD + points("return self.x[i].to('cpu')") + WITH_WORKERS, "'cpu'", "'cuda'"),
    "ACC109: a device of the host": Pair(
        HEAD + "d = torch.device('cpu')\n" + points("return self.x[i].to(d)") + WITH_WORKERS, "'cpu')\n", "'cuda')\n"
    ),
    "ACC109: made on the host": Pair(
        HEAD + points("return torch.zeros(3, device='cpu')") + WITH_WORKERS, "'cpu')\n", "'cuda')\n"
    ),
    "ACC109: mps": Pair(HEAD + points("return self.x[i].to('mps')") + WITH_WORKERS, "'mps'", "'cuda'"),
    "ACC109: an unknown device": Pair(
        HEAD + points("return self.x[i].to(conf.device)") + WITH_WORKERS, "conf.device", "device"
    ),
    "ACC109: an option": Pair(
        HEAD + OPTION + points("return self.x[i].to(args.device)") + WITH_WORKERS, 'default="cpu"', 'default="cuda"'
    ),
    "ACC109: a dtype": Pair(
        HEAD + points("return self.x[i].to(torch.float16)") + WITH_WORKERS, "torch.float16", "'cuda'"
    ),
    "ACC109: not for samples": Pair(
        HEAD + points("return self.x[i]", more="    def show(self): return self.x.cuda()\n") + WITH_WORKERS,
        "return self.x[i]\n",
        "return self.show()[i]\n",
    ),
    "ACC109: data that is there, without workers": Pair(
        HEAD + points("return self.x[i]", "self.x = torch.zeros(64, 8).cuda()") + "loader = DataLoader(Points())\n",
        "return self.x[i]",
        "return self.x[i].cuda()",
    ),
    "ACC109: in the main process only": Pair(
        HEAD
        + points(
            "x = self.x[i]\n        if torch.utils.data.get_worker_info() is None:\n            x = x.cuda()\n        return x"
        )
        + WITH_WORKERS,
        "        if torch.utils.data.get_worker_info() is None:\n            x",
        "        x",
    ),
    "ACC109: on a condition": Pair(
        HEAD
        + points(
            "x = self.x[i]\n        if self.gpu:\n            x = x.cuda()\n        return x",
            "self.x = torch.zeros(64, 8); self.gpu = given",
        )
        + WITH_WORKERS,
        "        if self.gpu:\n            x",
        "        x",
    ),
    "ACC109: transfer_batch_to_device": Pair(HEAD + HOOKS, "self.collate)", "self.transfer_batch_to_device)"),
    "ACC109: on_after_batch_transfer": Pair(HEAD + HOOKS, "self.collate)", "self.on_after_batch_transfer)"),
    "ACC109: a transform on the host": Pair(
        HEAD
        + "from torchvision import datasets as tv, transforms\nDataLoader(tv.ImageFolder('r', transforms.Compose([transforms.Lambda(lambda t: t.to('cpu'))])), num_workers=2)\n",
        "to('cpu')",
        "cuda()",
    ),
    "ACC109: a worker_init_fn on the host": Pair(
        HEAD + "def init(w): torch.set_num_threads(1)\nDataLoader(files, num_workers=2, worker_init_fn=init)\n",
        "torch.set_num_threads(1)",
        "torch.cuda.set_device(0)",
    ),
    "ACC109: another loader": Pair(
        HEAD
        + "from timm.data import create_loader\n"
        + points("return self.x[i].cuda()")
        + "create_loader(Points(), num_workers=2)\n",
        "create_loader(Points",
        "DataLoader(Points",
    ),
    **{f"ACC112: {one}": Pair(HEAD + SEEDED.format(f"np.random.seed({one})"), one, "worker") for one in SEEDS},
    "ACC112: a name": Pair(
        HEAD + SEEDED.format("seed = torch.initial_seed() % 2**32\n    np.random.seed(seed)"),
        "np.random.seed(seed)",
        "np.random.seed(worker)",
    ),
    "ACC112: the epoch of the script": Pair(
        HEAD
        + "epoch = 0\n"
        + SEEDED.format("np.random.seed(epoch * 100 + worker)").replace("for e in", "for epoch in"),
        "epoch * 100 + worker",
        "worker",
    ),
    "ACC112: the epoch, assigned": Pair(
        HEAD
        + "epoch = 0\n"
        + SEEDED.format("np.random.seed(epoch + worker)").replace("range(9):\n", "range(9):\n    epoch = e\n"),
        "epoch + worker",
        "worker",
    ),
    "ACC112: the epoch of a function": Pair(
        HEAD
        + "epoch = 0\ndef init(worker):\n    np.random.seed(epoch + worker)\ndef main():\n    global epoch\n    loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n    for epoch in range(9):\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + worker",
        "worker",
    ),
    "ACC112: an epoch that is counted": Pair(
        HEAD
        + "epoch = 0\ndef init(worker):\n    np.random.seed(epoch + worker)\ndef main():\n    global epoch\n    loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n    for e in range(9):\n        epoch += 1\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + worker",
        "worker",
    ),
    "ACC112: an epoch that is closed over": Pair(
        HEAD
        + "def main():\n    for epoch in range(9):\n        def init(worker): np.random.seed(epoch + worker)\n        loader = DataLoader(data, num_workers=2, worker_init_fn=init)\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + worker",
        "worker",
    ),
    "ACC112: an epoch in a lambda": Pair(
        HEAD
        + "def main():\n    for epoch in range(9):\n        loader = DataLoader(data, num_workers=2, worker_init_fn=lambda w: np.random.seed(epoch + w))\n        for x in loader:\n            model(x).sum().backward()\nmain()\n",
        "epoch + w",
        "w",
    ),
    "ACC112: an epoch that a partial gives": Pair(
        HEAD
        + "def init(epoch, worker): np.random.seed(epoch)\nfor e in range(9):\n    loader = DataLoader(data, num_workers=2, worker_init_fn=functools.partial(init, e))\n    for x in loader:\n        model(x).sum().backward()\n",
        "(epoch)",
        "(4)",
    ),
    "ACC112: an epoch by default": Pair(
        HEAD
        + "for e in range(9):\n    loader = DataLoader(data, num_workers=2, worker_init_fn=lambda w, e=e: np.random.seed(e + w))\n    for x in loader:\n        model(x).sum().backward()\n",
        "e + w)",
        "w)",
    ),
    "ACC112: an epoch of an object": Pair(
        HEAD
        + "class Seeds:\n    epoch = 0\n    def init(self, worker): np.random.seed(self.epoch + 3)\nseeds = Seeds()\n"
        + SEEDED.format("pass").replace("=init", "=seeds.init"),
        "self.epoch + 3",
        "3",
    ),
    "ACC112: workers that live on": Pair(
        HEAD + WORKER.replace("=init", "=init, persistent_workers=True"), ", persistent_workers=True"
    ),
    "ACC112: perhaps live on": Pair(
        HEAD + WORKER.replace("=init", "=init, persistent_workers=conf.p"), ", persistent_workers=conf.p"
    ),
    "ACC112: no training": Pair(
        HEAD + WORKER.replace("model(x).sum().backward()", "model(x)"),
        "        model(x)",
        "        model(x).sum().backward()",
    ),
    "ACC112: one epoch": Pair(HEAD + WORKER.replace("(9)", "(1)"), "range(1)", "range(9)"),
    "ACC112: no workers": Pair(HEAD + WORKER.replace("=2", "=0"), "num_workers=0", "num_workers=2"),
    "ACC112: no seed": Pair(HEAD + SEEDED.format("print(worker)"), "print(worker)", "random.seed(worker)"),
    "ACC112: a seed elsewhere": Pair(
        HEAD + SEEDED.format("pass") + "np.random.seed(0)\n", "    pass", "    np.random.seed(0)"
    ),
    "ACC113: no workers": Pair(HEAD + LAMBDA.replace("2", "0"), "=0", "=2"),
    "ACC113: workers not given": Pair(HEAD + LAMBDA.replace("num_workers=2, ", ""), "data, ", "data, num_workers=2, "),
    "ACC113: a setting": Pair(HEAD + LAMBDA.replace("2", "conf.n"), "conf.n", "2"),
    "ACC113: forked": Pair(
        HEAD + LAMBDA[:-1] + ", multiprocessing_context='fork')", ", multiprocessing_context='fork'"
    ),
    "ACC113: a context that forks": Pair(
        HEAD + "import multiprocessing as mp\n" + LAMBDA[:-1] + ", multiprocessing_context=mp.get_context('fork'))",
        ", multiprocessing_context=mp.get_context('fork')",
    ),
    "ACC113: a program that forks": Pair(
        HEAD + "torch.multiprocessing.set_start_method('fork')\n" + LAMBDA,
        "torch.multiprocessing.set_start_method('fork')\n",
    ),
    "ACC113: a function of the module": Pair(
        HEAD + LAMBDA.replace("lambda b: b[0]", "take"), "take)", "lambda b: b[0])"
    ),
    "ACC113: a partial of one": Pair(
        HEAD + LAMBDA.replace("lambda b: b[0]", "functools.partial(take)"), "partial(take)", "partial(lambda b: b[0])"
    ),
    "ACC113: a bound method": Pair(
        HEAD + "class C:\n    def all(self, b): return b\n" + LAMBDA.replace("lambda b: b[0]", "C().all"),
        "C().all",
        "lambda b: b[0]",
    ),
    "ACC113: an object": Pair(
        HEAD + "class C:\n    def __call__(self, b): return b\n" + LAMBDA.replace("lambda b: b[0]", "C()"),
        "C()",
        "lambda b: b[0]",
    ),
    "ACC113: a generator of torch": Pair(
        HEAD + "class G(Files):\n    def __init__(self): self.g = torch.Generator()\nDataLoader(G(), num_workers=2)",
        "torch.Generator()",
        "threading.Lock()",
    ),
    "ACC113: a generator for the loader": Pair(
        HEAD + "DataLoader(data, num_workers=2, generator=torch.Generator())",
        "generator=torch.Generator()",
        "collate_fn=lambda b: b",
    ),
    "ACC113: a class of the module": Pair(
        HEAD + "class G(Files): pass\nDataLoader(G(), num_workers=2)",
        "class G(Files): pass\nDataLoader(G(), num_workers=2)",
        "def main():\n    class G(Files): pass\n    DataLoader(G(), num_workers=2)\nmain()",
    ),
    "ACC113: a function that is used in another": Pair(
        HEAD + "def c(b): return b\ndef main():\n    DataLoader(data, num_workers=2, collate_fn=c)\nmain()",
        "def c(b): return b\ndef main():\n",
        "def main():\n    def c(b): return b\n",
    ),
    "ACC113: a worker_init_fn of the module": Pair(
        HEAD + "def c(w): pass\nDataLoader(data, num_workers=2, worker_init_fn=c)", "=c)", "=lambda w: None)"
    ),
    "ACC113: a function of the module inside": Pair(
        HEAD + "class G(Files):\n    def __init__(self): self.g = take\nDataLoader(G(), num_workers=2)",
        "self.g = take",
        "self.g = lambda b: b",
    ),
    "ACC113: a class that pickles itself": Pair(
        HEAD
        + "class G(Files):\n    def __init__(self): self.g = lambda b: b\n    def __getstate__(self): return {}\nDataLoader(G(), num_workers=2)",
        "__getstate__",
        "state",
    ),
    "ACC114: a function": Pair(
        HEAD + SPAWNED + "def main():\n    for x in loader:\n        print(x)\n", "def main()", "if True"
    ),
    "ACC114: guarded": Pair(
        HEAD + SPAWNED + "if __name__ == '__main__':\n    for x in loader:\n        print(x)\n",
        "if __name__ == '__main__'",
        "if True",
    ),
    "ACC114: guarded the other way round": Pair(
        HEAD + SPAWNED + "if '__main__' == __name__:\n    for x in loader:\n        print(x)\n",
        "if '__main__' == __name__",
        "if True",
    ),
    "ACC114: a function that is called under the guard": Pair(
        HEAD
        + SPAWNED
        + "def main():\n    for x in loader:\n        print(x)\nif __name__ == '__main__':\n    main()\n",
        "def main():\n    for x in loader:\n        print(x)\nif __name__ == '__main__':\n    main()\n",
        OVER,
    ),
    "ACC114: a call under the guard": Pair(
        HEAD
        + SPAWNED
        + "def main():\n    for x in loader:\n        print(x)\nif __name__ == '__main__':\n    main()\n",
        "if __name__ == '__main__':\n    main()\n",
        "main()\n",
    ),
    "ACC114: forked": Pair(
        HEAD + "loader = DataLoader(data, num_workers=2, multiprocessing_context='fork')\n" + OVER, "'fork'", "'spawn'"
    ),
    "ACC114: forked by default": Pair(
        HEAD + "loader = DataLoader(data, num_workers=2)\n" + OVER, "=2)", "=2, multiprocessing_context='spawn')"
    ),
    "ACC114: no workers": Pair(HEAD + SPAWNED.replace("2", "0") + OVER, "=0", "=2"),
    "ACC114: a setting": Pair(HEAD + SPAWNED.replace("2", "conf.n") + OVER, "conf.n", "2"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair(case[:6], PAIRS[case], tmp_path)
