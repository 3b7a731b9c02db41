"""ACC127 whole-file-for-a-crop, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair, findings_of

SOURCE = """
import random
import numpy as np
import torch
import torchaudio
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Recordings(Dataset):
    def __init__(self, paths):
        self.paths, self.cache = paths, {}
    def __len__(self):
        return len(self.paths)
    def read(self, path):
        audio, rate = torchaudio.load(path)
        return audio.squeeze(0)
    def __getitem__(self, index):
        audio = self.read(self.paths[index])
        start = random.randint(0, len(audio) - 8)
        return audio[start:start + 8]

loader = DataLoader(Recordings([]), batch_size=16, num_workers=4)
model = nn.Linear(8, 2)
for x in loader:
    model(x).sum().backward()
"""
CUT = "audio[start:start + 8]"
COLLATED = (
    SOURCE.replace("        start = random.randint(0, len(audio) - 8)\n", "")
    .replace(CUT, "audio")
    .replace("workers=4", "workers=4, collate_fn=collate")
    .replace(
        "loader =",
        """def collate(samples):
    starts = [random.randint(0, len(one) - 8) for one in samples]
    return torch.stack([one[start:start + 8] for start, one in zip(starts, samples)])

loader =""",
    )
)
PAIRS = {
    "a piece that is read": Pair(
        SOURCE.replace("load(path)", "load(path, frame_offset=9, num_frames=9)"), ", frame_offset=9, num_frames=9"
    ),
    "an array that is mapped": Pair(
        SOURCE.replace("audio, rate = torchaudio.load(path)", 'audio = np.load(path, mmap_mode="r")'),
        ', mmap_mode="r"',
    ),
    "objects": Pair(
        SOURCE.replace("audio, rate = torchaudio.load(path)", "audio = np.load(path, allow_pickle=True)"),
        ", allow_pickle=True",
    ),
    "all of it is kept": Pair(SOURCE.replace(CUT, "audio"), "return audio\n\n", f"return {CUT}\n\n"),
    "from the start": Pair(SOURCE.replace(CUT, "audio[:8]"), "[:8]", "[start:start + 8]"),
    "at the same place": Pair(
        SOURCE.replace("random.randint(0, len(audio) - 8)", "len(audio) // 2"),
        "start = len(audio) // 2",
        "start = random.randint(0, len(audio) // 2)",
    ),
    "something needs all of it": Pair(
        SOURCE.replace("audio.squeeze(0)", "torchaudio.functional.vad(audio, rate).squeeze(0)"),
        "torchaudio.functional.vad(audio, rate)",
        "audio",
    ),
    "something needs all of it after it was read": Pair(
        SOURCE.replace("        start =", "        audio = torch.fft.rfft(audio)\n        start ="),
        "        audio = torch.fft.rfft(audio)\n",
    ),
    "a cache keeps it": Pair(
        SOURCE.replace(
            "audio = self.read(self.paths[index])",
            "if index not in self.cache:\n            self.cache[index] = self.read(self.paths[index])\n"
            "        audio = self.cache[index]",
        ),
        "if index not in self.cache:\n            self.cache[index] = self.read(self.paths[index])\n"
        "        audio = self.cache[index]",
        "audio = self.read(self.paths[index])",
    ),
    "read once": Pair(
        SOURCE.replace("self.read(self.paths[index])", "self.all[index]").replace(
            "paths, {}", "paths, {}\n        self.all = [self.read(one) for one in paths]"
        ),
        "self.all[index]",
        "self.read(self.paths[index])",
    ),
    "no training": Pair(SOURCE.replace(".sum().backward()", ""), "model(x)", "model(x).sum().backward()"),
    "no samples": Pair(SOURCE.replace("__getitem__", "play"), "play", "__getitem__"),
    "batches keep the start": Pair(
        COLLATED.replace("one[start:start + 8]", "one[:8]"), "one[:8]", "one[start:start + 8]"
    ),
}
PICTURES = """
import random
import cv2
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

def as_floats(picture):
    return picture.astype(np.float32) / 255.0

class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, index):
        picture = cv2.imread(self.paths[index])
        picture = as_floats(picture)
        top = random.randint(0, picture.shape[0] - 8)
        picture = picture[top:top + 8, top:top + 8]
        return torch.from_numpy(picture)

loader = DataLoader(Photos([]), batch_size=16, num_workers=4)
model = nn.Linear(3, 2)
for x in loader:
    model(x).sum().backward()
"""
WHOLE = "picture = as_floats(picture)"
TURNED = "picture[top:top + 8, top:top + 8]"
PICTURE_PAIRS = {
    "cut first": Pair(
        PICTURES.replace(f"        {WHOLE}\n", "").replace(TURNED, f"as_floats({TURNED})"),
        f"as_floats({TURNED})",
        f"as_floats(picture)\n        picture = {TURNED}",
    ),
    "nothing is cut": Pair(PICTURES.replace(TURNED, "picture"), "picture = picture\n", f"picture = {TURNED}\n"),
    "never converted": Pair(
        PICTURES.replace(f"        {WHOLE}\n", "        pass\n"), "        pass\n", f"        {WHOLE}\n"
    ),
    "a name of its own for what is cut": Pair(
        PICTURES.replace(WHOLE, "other = as_floats(picture)"), "other =", "picture ="
    ),
    "something needs all of it": Pair(
        PICTURES.replace(WHOLE, f"{WHOLE}\n        picture = cv2.GaussianBlur(picture, (9, 9), 0)"),
        "picture = cv2.GaussianBlur(picture, (9, 9), 0)",
        "pass",
    ),
    "whole numbers of another kind": Pair(
        PICTURES.replace("np.float32) / 255.0", "np.int16)"), "np.int16", "np.float32"
    ),
    "whole numbers that only look like floats": Pair(
        PICTURES.replace("np.float32) / 255.0", "table.float32)").replace("import torch\n", "import torch, table\n", 1),
        "table.float32",
        "np.float32",
    ),
    "a constant of the file that only looks like floats": Pair(
        PICTURES.replace("np.float32) / 255.0", "double)").replace("def as_floats", "double = np.int64\ndef as_floats"),
        "astype(double)",
        'astype("double")',
    ),
    "an option that is off": Pair(
        PICTURES.replace("as_floats(picture):", "as_floats(picture, float32):").replace(
            "= as_floats(picture)", "= as_floats(picture, float32=False)"
        ),
        "float32=False",
        "float32=True",
    ),
    "a size of its own": Pair(
        PICTURES.replace("cv2.imread(self.paths[index])", "load(self.paths[index])")
        .replace(f"        {WHOLE}\n", "")
        .replace(
            "class Photos",
            "def load(path):\n    return as_floats(cv2.resize(cv2.imread(path), (16, 16)))\n\nclass Photos",
        ),
        "cv2.resize(cv2.imread(path), (16, 16))",
        "cv2.imread(path)",
    ),
    "no picture": Pair(PICTURES.replace("cv2.imread", "open"), "open", "cv2.imread"),
    "decoded again, for the noise of its format": Pair(
        PICTURES.replace(
            "cv2.imread(self.paths[index])", 'cv2.imdecode(cv2.imencode(".jpg", self.paths[index])[1], 1)'
        ),
        'cv2.imencode(".jpg", self.paths[index])[1]',
        "self.paths[index]",
    ),
    "no samples": Pair(PICTURES.replace("__getitem__", "show"), "show", "__getitem__"),
    "no training": Pair(PICTURES.replace(".sum().backward()", ""), "model(x)", "model(x).sum().backward()"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC127", PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    ("read", "remedy"),
    [
        ("audio, rate = torchaudio.load(path)", "`frame_offset` and `num_frames`"),
        ("import librosa; audio, rate = librosa.load(path)", "`offset` and `duration`"),
        ("import soundfile; audio, rate = soundfile.read(path)", "`start` and `frames`"),
        ("from scipy.io import wavfile; rate, audio = wavfile.read(path)", "`mmap=True`"),
        ("audio = np.load(path)", '`mmap_mode="r"`'),
    ],
)
def test_each_library_has_its_way_to_read_a_piece(read: str, remedy: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC127", SOURCE.replace("audio, rate = torchaudio.load(path)", read), tmp_path)
    assert remedy in found.message


def test_it_is_told_at_the_call_that_gives_the_sample_what_is_cut(tmp_path: Path) -> None:
    (found,) = findings_of("ACC127", SOURCE, tmp_path)
    assert found.message.startswith(
        "`self.read(self.paths[index])` reads the whole file for each sample, of which the sample keeps a short piece"
    )
    assert SOURCE.splitlines()[found.span.start.row - 1].strip() == "audio = self.read(self.paths[index])"
    assert [SOURCE.splitlines()[one.span.start.row - 1].strip() for one in found.related] == [f"return {CUT}"]


def test_batches_that_keep_a_piece(tmp_path: Path) -> None:
    (found,) = findings_of("ACC127", COLLATED, tmp_path)
    assert "of which the batch keeps a short piece" in found.message
    assert COLLATED.splitlines()[found.related[0].span.start.row - 1].strip().startswith("return torch.stack")


def test_two_reads_of_a_file_are_one_remark(tmp_path: Path) -> None:
    source = SOURCE.replace("        start =", "        other = np.load(self.paths[index])\n        start =").replace(
        CUT, f"{CUT}, other[start:start + 8]"
    )
    found = findings_of("ACC127", source, tmp_path)
    assert len(found) == 2
    assert len({one.group for one in found} - {""}) == 1


@pytest.mark.parametrize("case", PICTURE_PAIRS)
def test_silent_about_a_picture_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC127", PICTURE_PAIRS[case], tmp_path)


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        ("as_floats(picture)", "as_floats(picture)"),
        ("np.float32(picture)", "np.float32(picture)"),
        ("picture / 127.5 - 1", "picture / 127.5"),
        ("torch.from_numpy(picture).float().numpy()", "torch.from_numpy(picture).float()"),
        ('np.array(picture, dtype="float32")', 'np.array(picture, dtype="float32")'),
        ("picture.astype(f32)", "picture.astype(f32)"),
        ("picture.astype(onp.float32)", "picture.astype(onp.float32)"),
        ("picture.astype(float)", "picture.astype(float)"),
    ],
)
def test_each_way_to_make_floats_of_a_picture(made: str, shown: str, tmp_path: Path) -> None:
    source = f"import numpy as onp\nfrom numpy import float32 as f32\n{PICTURES}"
    (found,) = findings_of(
        "ACC127", source.replace("as_floats(picture)\n        top", f"{made}\n        top"), tmp_path
    )
    assert found.message.startswith(f"`{shown}` makes floats of the whole picture for each sample")


def test_the_imports_of_another_file_say_what_it_converts_to(tmp_path: Path) -> None:
    here = PICTURES[PICTURES.index("def as_floats") : PICTURES.index("class Photos")]
    source = PICTURES.replace(here, "from convert import as_floats\n")
    others = {"convert.py": f"import table as onp\n{here.replace('np.float32) / 255.0', 'onp.float32)')}"}
    check_pair("ACC127", Pair(source, "import table", "import numpy", others), tmp_path)


@pytest.mark.parametrize("cut", ["random_crop(picture, 8)", "self.crop(picture)", "RandomCrop(8)(picture)"])
def test_a_cut_is_known_by_its_name(cut: str, tmp_path: Path) -> None:
    (found,) = findings_of("ACC127", PICTURES.replace(TURNED, cut), tmp_path)
    assert PICTURES.splitlines()[found.related[0].span.start.row - 1].strip() == f"picture = {TURNED}"


def test_a_function_that_reads_and_converts_is_where_it_is_told(tmp_path: Path) -> None:
    source = PICTURES.replace("picture = cv2.imread(self.paths[index])", "pass").replace(
        WHOLE, "picture = load(self.paths[index])"
    )
    source = source.replace("class Photos", "def load(path):\n    return as_floats(cv2.imread(path))\n\nclass Photos")
    (found,) = findings_of("ACC127", source, tmp_path)
    assert found.message.startswith("`load(self.paths[index])` makes floats of the whole picture")


def test_pictures_in_a_list(tmp_path: Path) -> None:
    source = PICTURES.replace(WHOLE, "pictures = []\n        pictures.append(as_floats(picture))").replace(
        f"picture = {TURNED}", "picture = random_crop(pictures)"
    )
    (found,) = findings_of("ACC127", source, tmp_path)
    assert found.message.startswith("`as_floats(picture)` makes floats")


def test_pictures_that_are_cut_together(tmp_path: Path) -> None:
    source = PICTURES.replace(WHOLE, f"{WHOLE}\n        mask = np.float32(cv2.imread('mask.png'))").replace(
        f"picture = {TURNED}", "picture, mask = random_crop(picture, mask)"
    )
    assert [one.message.split(" makes")[0] for one in findings_of("ACC127", source, tmp_path)] == [
        "`as_floats(picture)`",
        "`np.float32(cv2.imread('mask.png'))`",
    ]


def test_a_transform_that_is_given_pictures(tmp_path: Path) -> None:
    transform = """
import torchvision.transforms.functional as F

class Cut:
    def __call__(self, picture):
        picture = F.to_tensor(picture)
        return F.crop(picture, 0, 0, 8, 8)

class Photos"""
    source = PICTURES.replace(WHOLE, "return Cut()(picture)").replace("class Photos", transform, 1)
    (found,) = findings_of("ACC127", source, tmp_path)
    assert found.message.startswith("`F.to_tensor(picture)` makes floats of the whole picture")
    assert not findings_of("ACC127", source.replace("F.crop(picture, 0, 0, 8, 8)", "picture"), tmp_path)
    assert not findings_of("ACC127", source.replace("__getitem__", "show"), tmp_path)
