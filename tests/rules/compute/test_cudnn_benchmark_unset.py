"""ACC437 cudnn-benchmark-unset, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS

PHOTOS = """
import conf, cv2
from torchvision import datasets, transforms
import torch.nn.functional as F
class Photos(Dataset):
    def __init__(self, paths, size=64):
        self.paths, self.crop_size = paths, size
        self.transform = transforms.Compose([{transform}])
    def __len__(self): return len(self.paths)
    def __getitem__(self, i):
        image = cv2.imread(self.paths[i])
        {cut}
        return self.transform(image)
"""
NET = "net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 1, 3)).cuda()\n"
LOOP = """
o = torch.optim.SGD(net.parameters(), lr=0.1)
for x in DataLoader(Photos(conf.paths), batch_size=16):
    o.zero_grad()
    net(x.cuda()).sum().backward()
    o.step()
"""


def program(transform: str = "transforms.RandomCrop(64)", cut: str = "pass", before: str = "", net: str = NET) -> str:
    """A training on photos, with lines before it."""
    return IMPORTS + PHOTOS.format(transform=transform, cut=cut) + before + net + LOOP


CROPS = program()
COLLATE = """
def collate(batch):
    {body}
"""
PAIRS = {
    "set": Pair(program(before="torch.backends.cudnn.benchmark = True\n"), "torch.backends.cudnn.benchmark = True\n"),
    "switched off": Pair(
        program(before="torch.backends.cudnn.benchmark = False\n"), "torch.backends.cudnn.benchmark = False\n"
    ),
    "an option": Pair(
        program(before="torch.backends.cudnn.benchmark = conf.fast\n"), "torch.backends.cudnn.benchmark = conf.fast\n"
    ),
    "of a configuration": Pair(program(before="settings = {'cudnn_benchmark': 1}\n"), "cudnn_benchmark", "workers"),
    "deterministic": Pair(
        program(before="torch.use_deterministic_algorithms(True)\n"), "torch.use_deterministic_algorithms(True)\n"
    ),
    "a flag of determinism": Pair(
        program(before="torch.backends.cudnn.deterministic = True\n"), "torch.backends.cudnn.deterministic = True\n"
    ),
    "one side only": Pair(program("transforms.Resize(64)"), "Resize(64)", "Resize((64, 64))"),
    "a resize to the image's own size": Pair(
        program("conf.f", "h, w = image.shape[:2]; image = cv2.resize(image, (w // 2, h // 2))"),
        "(w // 2, h // 2)",
        "(64, 64)",
    ),
    "a crop of drawn size": Pair(
        program("conf.f", "h = w = conf.draw(); image = conf.crop(image, (h, w))"), "(h, w)", "(64, 64)"
    ),
    "no size at all": Pair(program("transforms.ToTensor()"), "transforms.ToTensor()", "transforms.CenterCrop(64)"),
    "for the evaluation": Pair(
        program("conf.f", before="val_transform = transforms.RandomCrop(64)\n"), "val_transform", "my_transform"
    ),
    "padded": Pair(
        program(before=COLLATE.format(body="return torch.stack([F.pad(x, (0, 1)) for x in batch])")),
        "F.pad(x, (0, 1))",
        "x",
    ),
    "left in a list": Pair(
        program(before=COLLATE.format(body="return list(batch)")), "list(batch)", "torch.stack(batch)"
    ),
    "an offset is no size": Pair(
        program("conf.f", "crop_offset = conf.a; image = conf.crop(image, crop_offset)"),
        "image, crop_offset",
        "image, crop_size",
    ),
    "several scales": Pair(program(before="multiscale_training = conf.a\n"), "multiscale_training", "a"),
    "a size that is drawn for each step": Pair(
        program(before="import random\ndef crop(x):\n    w = random.choice(range(8, 16))\n    return x[:, :w]\n"),
        "random.choice(range(8, 16))",
        "16",
    ),
    "single images": Pair(CROPS.replace("batch_size=16", "batch_size=1"), "batch_size=1", "batch_size=16"),
    "few convolutions": Pair(
        program(net=NET.replace(", nn.Conv2d(8, 8, 3), nn.Conv2d(8, 1, 3)", "")),
        "nn.Conv2d(3, 8, 3)",
        "nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3)",
    ),
    "single pixels": Pair(program(net=NET.replace(", 3)", ", 1)")), ", 1)", ", 3)"),
    "signals": Pair(program(net=NET.replace("Conv2d", "Conv1d")), "Conv1d", "Conv2d"),
    "on the host": Pair(CROPS.replace(".cuda()", ""), "nn.Conv2d(8, 1, 3))\n", "nn.Conv2d(8, 1, 3)).cuda()\n"),
    "the step resizes": Pair(
        CROPS.replace("net(x.cuda())", "net(F.interpolate(x.cuda(), size=conf.size()))"),
        "F.interpolate(x.cuda(), size=conf.size())",
        "x.cuda()",
    ),
    "nothing learns": Pair(
        CROPS.replace(".backward()", "").replace("    o.zero_grad()\n", "").replace("    o.step()\n", ""),
        ".sum()",
        ".sum().backward(); o.step()",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_silent_for_one_reason(pair: Pair, tmp_path: Path) -> None:
    check_pair("ACC437", pair, tmp_path)


def test_silent_with_a_framework_that_has_a_setting_of_its_own(tmp_path: Path) -> None:
    """Lightning has ``Trainer(benchmark=...)``; accelerate leaves it to the program."""
    uses = "import lightning\nfrom accelerate import Accelerator\nuse = {name}()\n"
    pair = Pair(program(before=uses.format(name="lightning.Trainer")), "lightning.Trainer()", "Accelerator()")
    check_pair("ACC437", pair, tmp_path)


@pytest.mark.parametrize(
    ("transform", "cut"),
    [
        ("transforms.RandomResizedCrop(64)", "pass"),
        ("transforms.Resize((64, 64))", "pass"),
        ("transforms.Resize(size=(conf.height, conf.width))", "pass"),
        ("conf.RandomScaleCrop(base_size=80, crop_size=64)", "pass"),
        ("conf.f", "image = cv2.resize(image, (64, 64))"),
        ("conf.f", "image = cv2.resize(image, (conf.img_size, conf.img_size))"),
        ("conf.f", "y = conf.y; image = image[y : y + self.crop_size, y : y + self.crop_size]"),
    ],
)
def test_reported_by_what_fixes_the_size(transform: str, cut: str, tmp_path: Path) -> None:
    source = program(transform, cut).replace("batch_size=16):", "batch_size=16):  # -> info none")
    (found,) = check_one("ACC437", source, tmp_path)
    assert "images of one size" in found.message
    assert [one.message for one in found.related] == ["this fixes the size", "a model moves to the GPU here"]


def test_reported_of_data_of_one_size(tmp_path: Path) -> None:
    source = program("transforms.ToTensor()").replace("Photos(conf.paths)", "datasets.CIFAR10('data')")
    (found,) = findings_of("ACC437", source, tmp_path)
    assert "`CIFAR10` are of one size" in found.message


def test_reported_once_a_program(tmp_path: Path) -> None:
    found = findings_of("ACC437", CROPS + LOOP, tmp_path)
    assert len(found) == 1


def test_reported_where_a_script_trains_and_another_file_holds_the_data(tmp_path: Path) -> None:
    data = IMPORTS + PHOTOS.format(transform="transforms.RandomCrop(64)", cut="pass")
    source = IMPORTS + "import conf\nfrom photos import Photos\n" + NET + LOOP.replace("16):", "16):  # -> info none")
    (found,) = check_one("ACC437", source, tmp_path, {"photos.py": data})
    assert found.related[0].filename.endswith("photos.py")
