"""ACC106 where the restart of workers does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import findings_of
from ..programs import MODEL, PHOTOS

TRAINING = (
    PHOTOS
    + MODEL
    + """
loader = DataLoader(photos, num_workers=8)
held = DataLoader(photos, num_workers=2)
for epoch in range(100):
    for x, y in loader:
        step(x.cuda(), y.cuda())
    for x, y in held:
        print(model(x.cuda()).sum().item())
"""
)


def _weights(source: str, folder: Path) -> list[tuple[bool, bool]]:
    return [(one.minor, one.aside) for one in findings_of("ACC106", source, folder)]


def test_a_loader_that_only_evaluates_is_beside_others(tmp_path: Path) -> None:
    assert _weights(TRAINING, tmp_path) == [(False, False), (True, True)]


@pytest.mark.parametrize(
    ("line", "minor"),
    [
        ("root = '/data/imagenet/train'", True),
        ("parser.add_argument('--data', help='path to ImageNet')", True),
        ("root = '/data/imagenet/train'; other = 'cifar10'", False),
        ("weights = 'IMAGENET1K_V1'", False),
        ("mean = IMAGENET_MEAN  # ImageNet", False),
        ("root = '/data/photos'", False),
    ],
)
def test_minor_in_files_whose_texts_name_large_data_alone(line: str, minor: bool, tmp_path: Path) -> None:
    assert _weights(f"{line}\n{TRAINING}", tmp_path)[0] == (minor, False)


@pytest.mark.parametrize(("name", "minor"), [("ImageNet", True), ("CIFAR10", False)])
def test_minor_for_large_data_sets_of_torchvision(name: str, minor: bool, tmp_path: Path) -> None:
    source = f"import torchvision\n{TRAINING}".replace(
        "loader = DataLoader(photos", f"loader = DataLoader(torchvision.datasets.{name}('data')"
    )
    assert _weights(source, tmp_path)[0] == (minor, False)


@pytest.mark.parametrize(
    ("loader", "weights"),
    [
        ("DataLoader(photos, num_workers=8)", (False, False)),
        ("DataLoader(photos, num_workers=4)", (False, True)),
        ("DataLoader(photos, num_workers=os.cpu_count())", (False, False)),
        ("DataLoader(photos, num_workers=4, multiprocessing_context='spawn')", (False, False)),
        ("DataLoader(photos, num_workers=4)  # the photos of 'cifar'", (False, False)),
        ("DataLoader(torchvision.datasets.MNIST('data'), 128, num_workers=2)", (False, False)),
        ("DataLoader(torchvision.datasets.MNIST('data'), 32, num_workers=8)", (True, False)),
    ],
)
def test_minor_where_the_restart_does_not_show_and_aside_where_nobody_knows(
    loader: str, weights: tuple[bool, bool], tmp_path: Path
) -> None:
    source = "import os\nimport torchvision\n" + TRAINING.replace("DataLoader(photos, num_workers=8)", loader, 1)
    assert _weights(source, tmp_path)[0] == weights


@pytest.mark.parametrize(
    ("epochs", "minor"),
    [
        ("range(100)", False),
        ("range(99)", True),
        ("tqdm.tqdm(range(1, 201), desc='epochs')", False),
        ("range(150, 200)", True),
        ("range(args.first, args.epochs)", False),
        ("tqdm.trange(1, args.epochs + 1)", False),
        ("range(args.first, args.short)", True),
        ("range(args.unknown)", True),
        ("itertools.count()", True),
        ("itertools.count()  # of 'cifar'", False),
    ],
)
def test_minor_where_few_epochs_are_known(epochs: str, minor: bool, tmp_path: Path) -> None:
    head = (
        "import argparse\nimport itertools\nimport tqdm\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--first', type=int, default=0)\nparser.add_argument('--epochs', type=int, default=120)\n"
        "parser.add_argument('--short', type=int, default=12)\nparser.add_argument('--unknown', type=int)\n"
        "args = parser.parse_args()\n"
    )
    source = head + TRAINING.replace("in range(100):", f"in {epochs.partition('  #')[0]}:")
    assert _weights(source + epochs.partition("  ")[2], tmp_path)[0] == (minor, False)


@pytest.mark.parametrize(
    ("made", "count", "minor"),
    [
        ("OmegaConf.load(conf.path)", "settings.loader.workers", True),
        ("OmegaConf.load(conf.path)", "int(settings['workers'])", True),
        ("OmegaConf.load('conf.yaml')", "settings.loader.workers", True),
        ("yaml.safe_load(open(conf.path))", "settings['workers']", True),
        ("yaml.safe_load(open(conf.path))", "settings['workers'] if conf.given else 8", False),
        ("OmegaConf.create({'workers': 8})", "settings.workers", False),
        ("conf.settings", "settings.workers", False),
    ],
)
def test_minor_where_only_a_file_of_settings_knows_of_workers(
    made: str, count: str, minor: bool, tmp_path: Path
) -> None:
    head = f"import conf\nimport yaml\nfrom omegaconf import OmegaConf\nsettings = {made}\n"
    source = head + TRAINING.replace("num_workers=8", f"num_workers={count}")
    assert _weights(source, tmp_path)[0][0] is minor


def test_minor_where_hydra_gives_the_settings(tmp_path: Path) -> None:
    head, loader, rest = TRAINING.partition("loader = ")
    inside = "".join(f"    {line}\n" for line in (loader + rest).splitlines())
    source = f"import hydra\n{head}\n@hydra.main(config_name='train')\ndef main(cfg):\n{inside}main()\n"
    filed = source.replace("num_workers=8", "num_workers=cfg.workers")
    (tmp_path / "filed").mkdir()
    (tmp_path / "written").mkdir()
    assert _weights(filed, tmp_path / "filed")[0] == (True, False)
    assert _weights(source, tmp_path / "written")[0] == (False, False)
