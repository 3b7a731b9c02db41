"""ACC109 cuda-in-dataset-or-collate, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, severities
from ..programs import FILES, PHOTOS_AND_MODEL, data_set
from .programs import WORKERS, points_data

WITH_WORKERS = "loader = DataLoader(Points(), num_workers=2)\n"
SILENT = {
    "only asks": points_data("return self.x[i] if torch.cuda.is_available() else i"),
    "the host": points_data("return self.x[i].to('cpu')"),
    "a dtype": points_data("return self.x[i].to(torch.float16)"),
    "an unknown device": points_data("return self.x[i].to(conf.device)"),
    "not for samples": points_data("return self.x[i]") + "    def show(self): return self.x.cuda()\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_samples_stay_on_the_host(source: str, tmp_path: Path) -> None:
    check_one("ACC109", WORKERS + source + WITH_WORKERS, tmp_path)


def test_silent_about_data_that_is_on_the_device_without_workers(tmp_path: Path) -> None:
    source = points_data("return self.x[i]", "self.x = torch.zeros(64, 8).cuda()")
    check_one("ACC109", WORKERS + source + "loader = DataLoader(Points())\n", tmp_path)


ONE = "\nfor x in loader:\n    model(x.to(device, non_blocking=True)).sum().backward()\n"
ON_THE_HOST = {
    "the host that it was given": data_set("return torch.load(str(i)).to(self.d)", "self.d = held", make="Data('cpu')"),
    "in the main process only": data_set(
        "x = torch.load(str(i))\n        if torch.utils.data.get_worker_info() is None:\n            x = x.cuda()\n        return x"
    ),
}


@pytest.mark.parametrize("source", ON_THE_HOST.values(), ids=ON_THE_HOST.keys())
def test_silent_about_whole_data_sets_that_stay_on_the_host(source: str, tmp_path: Path) -> None:
    check_one(
        "ACC109",
        PHOTOS_AND_MODEL + source + "loader = DataLoader(data, num_workers=2, pin_memory=True)" + ONE,
        tmp_path,
    )


HEAD = FILES + "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
args = parser.parse_args()
"""
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
    "a question": Pair(
        HEAD + points("return i if torch.cuda.is_available() else self.x[i]") + WITH_WORKERS,
        "is_available()",
        "synchronize()",
    ),
    "a question for the number": Pair(
        HEAD + points("return i if torch.cuda.device_count() else self.x[i]") + WITH_WORKERS,
        "device_count()",
        "synchronize()",
    ),
    "a seed": Pair(
        HEAD + points("torch.cuda.manual_seed(i)\n        return self.x[i]") + WITH_WORKERS,
        "manual_seed(i)",
        "synchronize()",
    ),
    "the host": Pair(HEAD + points("return self.x[i].to('cpu')") + WITH_WORKERS, "'cpu'", "'cuda'"),
    "a device of the host": Pair(
        HEAD + "d = torch.device('cpu')\n" + points("return self.x[i].to(d)") + WITH_WORKERS, "'cpu')\n", "'cuda')\n"
    ),
    "made on the host": Pair(
        HEAD + points("return torch.zeros(3, device='cpu')") + WITH_WORKERS, "'cpu')\n", "'cuda')\n"
    ),
    "mps": Pair(HEAD + points("return self.x[i].to('mps')") + WITH_WORKERS, "'mps'", "'cuda'"),
    "an unknown device": Pair(
        HEAD + points("return self.x[i].to(conf.device)") + WITH_WORKERS, "conf.device", "device"
    ),
    "an option": Pair(
        HEAD + OPTION + points("return self.x[i].to(args.device)") + WITH_WORKERS, 'default="cpu"', 'default="cuda"'
    ),
    "a dtype": Pair(HEAD + points("return self.x[i].to(torch.float16)") + WITH_WORKERS, "torch.float16", "'cuda'"),
    "not for samples": Pair(
        HEAD + points("return self.x[i]", more="    def show(self): return self.x.cuda()\n") + WITH_WORKERS,
        "return self.x[i]\n",
        "return self.show()[i]\n",
    ),
    "data that is there, without workers": Pair(
        HEAD + points("return self.x[i]", "self.x = torch.zeros(64, 8).cuda()") + "loader = DataLoader(Points())\n",
        "return self.x[i]",
        "return self.x[i].cuda()",
    ),
    "in the main process only": Pair(
        HEAD
        + points(
            "x = self.x[i]\n        if torch.utils.data.get_worker_info() is None:\n            x = x.cuda()\n        return x"
        )
        + WITH_WORKERS,
        "        if torch.utils.data.get_worker_info() is None:\n            x",
        "        x",
    ),
    "on a condition": Pair(
        HEAD
        + points(
            "x = self.x[i]\n        if self.gpu:\n            x = x.cuda()\n        return x",
            "self.x = torch.zeros(64, 8); self.gpu = given",
        )
        + WITH_WORKERS,
        "        if self.gpu:\n            x",
        "        x",
    ),
    "transfer_batch_to_device": Pair(HEAD + HOOKS, "self.collate)", "self.transfer_batch_to_device)"),
    "on_after_batch_transfer": Pair(HEAD + HOOKS, "self.collate)", "self.on_after_batch_transfer)"),
    "a transform on the host": Pair(
        HEAD
        + "from torchvision import datasets as tv, transforms\nDataLoader(tv.ImageFolder('r', transforms.Compose([transforms.Lambda(lambda t: t.to('cpu'))])), num_workers=2)\n",
        "to('cpu')",
        "cuda()",
    ),
    "a worker_init_fn on the host": Pair(
        HEAD + "def init(w): torch.set_num_threads(1)\nDataLoader(files, num_workers=2, worker_init_fn=init)\n",
        "torch.set_num_threads(1)",
        "torch.cuda.set_device(0)",
    ),
    "another loader": Pair(
        HEAD
        + "from timm.data import create_loader\n"
        + points("return self.x[i].cuda()")
        + "create_loader(Points(), num_workers=2)\n",
        "create_loader(Points",
        "DataLoader(Points",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC109", PAIRS[case], tmp_path)


REPORTED = {
    "cuda": points_data("return self.x[i].cuda()"),
    "to": points_data("return self.x[i].to(device)"),
    "created there": points_data("return torch.zeros(8, device='cuda')"),
    "in a helper": points_data("return self.one(i)") + "    def one(self, i): return self.x[i].to('cuda:0')\n",
    "waits for it": points_data("torch.cuda.synchronize()\n        return self.x[i]"),
}


@pytest.mark.parametrize("source", REPORTED.values(), ids=REPORTED.keys())
def test_reports_samples_that_need_the_device(source: str, tmp_path: Path) -> None:
    assert severities("ACC109", WORKERS + source + WITH_WORKERS, tmp_path) == ["error"]


def test_is_milder_where_nothing_is_forked(tmp_path: Path) -> None:
    source = points_data("return self.x[i].cuda()")
    assert severities("ACC109", WORKERS + source + "loader = DataLoader(Points())\n", tmp_path) == ["warning"]
    spawned = "loader = DataLoader(Points(), num_workers=2, multiprocessing_context='spawn')\n"
    assert severities("ACC109", WORKERS + source + spawned, tmp_path) == ["warning"]


def test_looks_into_the_collate_function(tmp_path: Path) -> None:
    source = "def collate(batch): return torch.stack(batch).to(device)\n"
    loader = "loader = DataLoader(data, collate_fn=collate, num_workers=2)\n"
    assert severities("ACC109", WORKERS + source + loader, tmp_path) == ["error"]


ON_THE_DEVICE = {
    "the device that it was given": data_set(
        "return torch.load(str(i)).to(self.d)", "self.d = held", make="Data('cuda')"
    ),
    "in a wrapper": data_set("return torch.load(str(i)).cuda()", make="torch.utils.data.Subset(Data(), [1])"),
    "in a transform that it keeps": "class ToGpu:\n    def __call__(self, x): return x.cuda()\n"
    + data_set("return self.transform(torch.load(str(i)))", "self.transform = held", make="Data(ToGpu())"),
    "in a library's transform": (
        "from torchvision import datasets, transforms\nclass ToGpu:\n    def __call__(self, x): return conf.tensor(x).cuda()\n"
        "data = datasets.ImageFolder('r', transforms.Compose([ToGpu()]))\n"
    ),
}


@pytest.mark.parametrize("source", ON_THE_DEVICE.values(), ids=ON_THE_DEVICE.keys())
def test_reports_samples_that_are_made_on_the_device(source: str, tmp_path: Path) -> None:
    check_one(
        "ACC109",
        PHOTOS_AND_MODEL + source + "loader = DataLoader(data, num_workers=2)  # -> error none" + ONE,
        tmp_path,
    )


BOUND = """
class Rays:
    def __init__(self, device):
        self.device = device
        self.images = conf.images()
    def collate(self, index):
        if index[0] > 9:
            return conf.random(index)
        poses = torch.zeros(9, 4)[index].to(self.device)
        if self.images is not None:
            images = torch.zeros(9, 3)[index].to(self.device)
        return poses, images
    def loader(self):
        return DataLoader(list(range(9)), collate_fn=self.collate, num_workers=WORKERS)
"""
CALLS = "".join(f"Rays(torch.device('cuda')).loader()  # {one}\n" for one in range(9))


def test_a_collate_function_on_a_condition_with_workers(tmp_path: Path) -> None:
    assert findings_of("ACC109", WORKERS + BOUND.replace("WORKERS", "2") + CALLS, tmp_path) == []


def test_lists_all_places_of_a_method_that_many_loaders_collate_with(tmp_path: Path) -> None:
    (found,) = findings_of("ACC109", WORKERS + BOUND.replace("WORKERS", "0") + CALLS, tmp_path)
    assert len(found.related) == 2
    assert "keeps the loading in the main process" in found.message
