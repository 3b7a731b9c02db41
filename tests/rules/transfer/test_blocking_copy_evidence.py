"""ACC201 where evidence, and no proof, says that a batch is copied to a GPU; silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.finding import Confidence

from ..checks import Pair, check_one, check_pair, findings_of
from ..programs import IMPORTS, MODEL, PHOTOS

PINNED = "import conf, time\nloader = DataLoader(photos, num_workers=2, pin_memory=True)\n"
EACH = "for x, y in loader:\n    "
TIMED = (
    "start = time.time()\nfor step, (x, y) in enumerate(loader):\n    x = x.cuda()\n"
    "{}torch.cuda.synchronize()\n{}print(time.time() - start)\n"
)
EVERY_HUNDRED = "    if step % 100 == 0:\n        "
PAIRS = {
    "no GPU is named": Pair(
        PHOTOS
        + PINNED.replace(", pin_memory=True", "")
        + "model = nn.Linear(8, 2).to(conf.device)\n"
        + EACH
        + "model(x.to(conf.device))",
        ".Linear(8, 2).to(conf.device)",
        ".Linear(8, 2).cuda()",
    ),
    "memory that nobody would pin": Pair(
        IMPORTS
        + MODEL
        + "import conf\nloader = DataLoader(TensorDataset(torch.zeros(9)))\nfor (x,) in loader:\n    step(x.cuda(), x)",
        "TensorDataset(torch.zeros(9))",
        "conf.data",
    ),
    "never a batch": Pair(
        PHOTOS + MODEL + PINNED + "z = torch.zeros(8)\ndef move(t): return t.cuda()\n" + EACH + "step(move(z), y)",
        "move(z)",
        "move(z), move(x)",
    ),
    "a part of a batch is written": Pair(
        PHOTOS + MODEL + PINNED + "for b in loader:\n    z = b.cuda()\n    b[0] = 1", "b[0] = 1", "b['x'] = z"
    ),
    "a class in a batch": Pair(
        PHOTOS
        + MODEL
        + "import conf\nclass Masked:\n    def __init__(self, x): self.x = x\n"
        + "    def to(self, device): return Masked(self.x.to(device))\n"
        + "def collate(items): return conf.joined(Masked(items))\n"
        + "for b, y in DataLoader(photos, num_workers=2, pin_memory=True, collate_fn=collate):\n    step(b.to('cuda'), 1)",
        "conf.joined(Masked(items))",
        "conf.joined(items)",
    ),
    "timed in every pass": Pair(
        PHOTOS + MODEL + PINNED + TIMED.format("    ", "    "),
        "    torch.cuda.synchronize()",
        EVERY_HUNDRED + "torch.cuda.synchronize()",
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", PAIRS[case], tmp_path)


def test_a_device_that_is_not_known_is_a_gpu_where_the_program_names_one(tmp_path: Path) -> None:
    source = PHOTOS + MODEL + PINNED + EACH + "x = x.to(conf.device)  # -> info unsafe\n"
    found = check_one("ACC201", source, tmp_path)
    assert found[0].confidence is Confidence.EVIDENT
    assert "until the copy is done, assuming that the device is a GPU;" in (found[0].message)


def test_a_device_of_the_command_line(tmp_path: Path) -> None:
    options = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--device', default='cuda')\n"
    source = PHOTOS + MODEL + PINNED + options + "a = p.parse_args()\n" + EACH + "x = x.to(a.device)"
    assert findings_of("ACC201", source, tmp_path)


def test_a_data_set_that_is_not_known_needs_no_workers(tmp_path: Path) -> None:
    source = """
import conf
from monai.data import CacheDataset
from monai.data import DataLoader as Volumes
for b in DataLoader(conf.data):
    step(b["x"].cuda(), 1)  # -> info unsafe
for b in Volumes(CacheDataset([], None), batch_size=8):
    step(b["x"].cuda(), 1)  # -> info unsafe
for b in Volumes(CacheDataset([], None), batch_size=8, pin_memory=True):
    step(b["x"].cuda(), 1)  # -> warning unsafe
"""
    check_one("ACC201", IMPORTS + MODEL + source, tmp_path)


def test_entries_that_are_put_back_into_the_batch(tmp_path: Path) -> None:
    source = """
for b in loader:
    for k in b:
        b[k] = b[k].cuda()  # -> warning unsafe
for b in loader:
    b[0] = b[0].cuda()  # -> warning unsafe
    b["x"] = b["x"].to(conf.device)  # -> info unsafe
"""
    program = IMPORTS + MODEL + "import conf\nloader = DataLoader(conf.data, num_workers=2, pin_memory=True)\n" + source
    check_one("ACC201", program, tmp_path)


def test_one_way_to_reach_a_copy_does_not_silence_the_others(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    for flipped in range(2):
        if flipped:
            x = torch.flip(x, (3,))
        z = x.cuda()  # -> warning unsafe
def move(t): return t.cuda()  # -> warning safe
fixed = move(torch.zeros(8))
for x, y in loader:
    step(move(x), fixed)
"""
    check_one("ACC201", PHOTOS + MODEL + PINNED + source, tmp_path)


def test_a_cast_on_the_host_belongs_behind_the_copy(tmp_path: Path) -> None:
    source = """
for x, y in loader:
    y = y.type(torch.LongTensor).cuda()  # -> info none
    step(x.float().cuda(), y)  # -> info none
for x, y in loader:
    step(x.cuda().float(), y)  # -> warning safe
"""
    found = check_one("ACC201", PHOTOS + MODEL + PINNED + source, tmp_path)
    assert found[0].message.endswith(
        "copy first, with `non_blocking=True`, and cast on the GPU: what a cast makes is not pinned"
    )
    assert found[0].message.startswith("for the batches of `loader`,")


TYPED = PHOTOS + MODEL + PINNED + "kind = torch.cuda.HalfTensor if conf.half else torch.cuda.FloatTensor\n" + EACH
TYPES = {
    "a type on the host": Pair(
        TYPED.replace("cuda.HalfT", "HalfT").replace("cuda.FloatT", "FloatT") + "step(x.type(kind), 0)",
        "torch.FloatTensor",
        "torch.cuda.FloatTensor",
    ),
    "a dtype": Pair(TYPED + "step(x.type(torch.float32), 0)", "torch.float32", "kind"),
    "a type that is not known": Pair(TYPED + "step(x.type(conf.kind), 0)", "conf.kind", "kind"),
    "asynchronous": Pair(TYPED + "step(x.type(kind, non_blocking=True), 0)", ", non_blocking=True"),
    "of no batch": Pair(TYPED + "step(torch.zeros(8).type(kind), 0)", "torch.zeros(8)", "x"),
}


@pytest.mark.parametrize("case", TYPES)
def test_silent_about_types_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC201", TYPES[case], tmp_path)


@pytest.mark.parametrize("kind", ["kind", "'torch.cuda.FloatTensor'"])
def test_reports_a_copy_by_type_without_a_fix(kind: str, tmp_path: Path) -> None:
    (found,) = check_one("ACC201", TYPED + f"step(x.type({kind}), 0)  # -> warning none\n", tmp_path)
    assert "copy by `.to(device, non_blocking=True)`, and cast on the GPU" in found.message


OPTION = "import argparse\nq = argparse.ArgumentParser()\nq.add_argument('--fast', action='store_true')\n"
OPTION += "args = q.parse_args()\nsettings = conf.load()\n"


@pytest.mark.parametrize(
    ("fast", "mark"),
    [("settings.get('fast', False)", "  # -> info none"), ("settings.get('fast', True)", ""), ("args.fast", "")],
)
def test_reports_a_setting_that_is_off_by_default(fast: str, mark: str, tmp_path: Path) -> None:
    copy = f"step(x.cuda(non_blocking={fast}), y){mark}\n"
    check_one("ACC201", PHOTOS + MODEL + PINNED + OPTION + EACH + copy, tmp_path)


@pytest.mark.parametrize(("given", "advised"), [("conf.pin", False), ("bool(conf.pin)", False), ("False", True)])
def test_says_nothing_of_pinning_where_the_program_decides_about_it(given: str, advised: bool, tmp_path: Path) -> None:
    loader = f"import conf\nloader = DataLoader(photos, num_workers=2, pin_memory={given})\n"
    source = IMPORTS + MODEL + loader + "for x, y in loader:\n    model(x.cuda())\n"
    (found,) = findings_of("ACC201", source, tmp_path)
    assert ("let the loader pin" in found.message) is advised


WRAPPER = """
class Ahead:
    def __init__(self, loader): self.loader = loader
    def __iter__(self):
        for x, y in self.loader:
            yield x.cuda(non_blocking=True), y.cuda(non_blocking=True)
loader = DataLoader(conf.data, batch_size=8, pin_memory=True)
if conf.ahead:
    loader = Ahead(loader)
model = nn.Linear(8, 2).cuda()
for x, y in loader:
    if not conf.ahead:
        x, y = x.cuda(), y.cuda()
    model(x).sum().backward()
"""


def test_a_batch_that_a_wrapper_may_have_copied_is_still_a_batch(tmp_path: Path) -> None:
    (found,) = findings_of("ACC201", IMPORTS + "import conf\n" + WRAPPER, tmp_path)
    assert "`x.cuda()` and `y.cuda()` wait until the copies are done" in found.message
    always = WRAPPER.replace("if conf.ahead:\n    ", "")
    assert findings_of("ACC201", IMPORTS + "import conf\n" + always, tmp_path) == []


def test_speaks_of_a_training_whose_steps_are_timed(tmp_path: Path) -> None:
    timed = PHOTOS + MODEL + PINNED + TIMED.format("    ", "    ")
    assert findings_of("ACC201", timed, tmp_path) == []
    assert findings_of(
        "ACC201", timed.replace("    x = x.cuda()", "    x = x.cuda()\n    model(x).sum().backward()"), tmp_path
    )
