"""ACC102 about data sets of libraries, and about workers that an option decides; silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair
from ..programs import IMPORTS, LOOP, MODEL, PHOTOS

VOLUMES = (
    IMPORTS
    + MODEL
    + """
import conf
from monai.apps import DecathlonDataset
from monai.data import CacheDataset, Dataset as Volumes, PersistentDataset
from monai.data import DataLoader as VolumeLoader, ThreadDataLoader
from monai.transforms import Compose, LoadImaged, RandFlipd, Spacingd
fixed = Compose([LoadImaged("x"), Spacingd("x", (1, 1, 2))])
random = Compose([LoadImaged("x"), RandFlipd("x")])
"""
)
EACH = "\nfor b in loader: step(b['x'].cuda(non_blocking=True), 1)\n"
OPTION = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--workers", type=int, default=0)
args = p.parse_args()
"""
PAIRS = {
    "volumes that are kept": Pair(
        VOLUMES + "loader = VolumeLoader(CacheDataset(conf.files, fixed))" + EACH, ", fixed", ", random"
    ),
    "kept by default": Pair(
        VOLUMES + "loader = VolumeLoader(DecathlonDataset('d', 't', 's', transform=fixed))" + EACH,
        "transform=fixed",
        "transform=fixed, cache_rate=0.0",
    ),
    "no transform": Pair(
        VOLUMES + "loader = VolumeLoader(Volumes(conf.files))" + EACH, "(conf.files)", "(conf.files, fixed)"
    ),
    "a thread prepares them": Pair(
        VOLUMES + "loader = ThreadDataLoader(Volumes(conf.files, fixed), num_workers=0)" + EACH,
        "= ThreadDataLoader",
        "= VolumeLoader",
    ),
    "a name alone": Pair(
        IMPORTS
        + MODEL
        + "from mine import Photos\nfrom torchvision import transforms as T\nloader = DataLoader(Photos(root='p'))"
        + EACH,
        "root='p'",
        "root='p', transform=T.Compose([T.ToTensor()])",
    ),
    "an option with workers": Pair(
        PHOTOS + MODEL + OPTION.replace("=0", "=2") + "loader = DataLoader(photos, num_workers=args.workers)" + LOOP,
        "default=2",
        "default=0",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC102", PAIRS[case], tmp_path)


LIBRARIES = {
    "volumes": ("Volumes(conf.files, fixed)", "warning unsafe"),
    "volumes, some of them kept": ("CacheDataset(conf.files, fixed, cache_rate=0.0)", "warning unsafe"),
    "volumes, made different each time": ("CacheDataset(conf.files, random)", "info none"),
    "volumes on disk": ("PersistentDataset(conf.files, fixed, conf.folder)", "warning unsafe"),
    "speech": ("torchaudio.datasets.SPEECHCOMMANDS('d')", "warning unsafe"),
    "images": ("timm.data.create_dataset('d', root='r')", "warning unsafe"),
    "depth": ("torchvision.datasets.Kitti('d')", "warning unsafe"),
    "images of a class that is not in sight": ("other.Photos(transform=albumentations.Resize(8, 8))", "info none"),
}


@pytest.mark.parametrize("case", LIBRARIES)
def test_knows_what_samples_of_libraries_cost(case: str, tmp_path: Path) -> None:
    made, mark = LIBRARIES[case]
    imports = "import albumentations, other, timm, torchaudio, torchvision\n"
    check_one("ACC102", f"{VOLUMES}{imports}loader = DataLoader({made})  # -> {mark}{EACH}", tmp_path)


def test_an_option_that_is_zero_unless_it_is_given(tmp_path: Path) -> None:
    source = """
loader = DataLoader(photos, num_workers=args.workers)  # -> info display
test = DataLoader(photos, num_workers=args.workers)
for x, y in test:
    step(x.cuda(non_blocking=True), 1)
"""
    found = check_one("ACC102", PHOTOS + MODEL + OPTION + source + LOOP, tmp_path)
    assert found[0].message.startswith("the workers of `loader` are decided by `--workers`, 0 by default, so its")
    (default,) = found[0].related
    assert default.span.start.row < found[0].span.start.row


def test_a_data_set_that_works_in_one_of_the_ways_in_which_it_is_built(tmp_path: Path) -> None:
    source = """
def make(rate):
    return VolumeLoader(CacheDataset(conf.files, fixed, cache_rate=rate))  # -> info none
for loader in (make(0.0), make(1.0)):
    for b in loader:
        step(b["x"].cuda(non_blocking=True), 1)
"""
    check_one("ACC102", VOLUMES + source, tmp_path)


SHARDED = (
    PHOTOS
    + MODEL
    + """
from torch.utils.data import DistributedSampler
def built(dataset, shuffle=False):
    if shuffle:
        return DataLoader(dataset, sampler=DistributedSampler(dataset), num_workers=4)
    else:
        return DataLoader(dataset)  # -> warning unsafe
training = built(photos, shuffle=True)
checking = built(photos)
for x, y in training: step(x.cuda(), y.cuda())
for x, y in checking: model(x.cuda())
"""
)


def test_names_what_the_call_builds(tmp_path: Path) -> None:
    (found,) = check_one("ACC102", SHARDED, tmp_path)
    assert found.message.startswith("`checking` has no worker processes")
    either = SHARDED.replace("if shuffle:", "if conf.ranks:").replace("def built", "import conf\ndef built")
    (found,) = check_one("ACC102", either, tmp_path)
    assert found.message.startswith("`training` has no worker processes")


def test_says_once_that_data_is_built_in_several_ways(tmp_path: Path) -> None:
    either = "import conf\ndata = photos if conf.a else TensorDataset(torch.zeros(8, 8))\n"
    part = "if conf.b:\n    data = torch.utils.data.Subset(data, [0])\n"
    source = f"{PHOTOS}{MODEL}{either}{part}loader = DataLoader(data)  # -> info\n{LOOP}"
    (found,) = check_one("ACC102", source, tmp_path)
    assert found.message.count("in one of the ways in which it is built") == 1
