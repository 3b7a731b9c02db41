"""ACC102 about samples that take little: a transform that only wraps, and batches that are drawn while the GPU
computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_pair
from ..programs import IMPORTS, LOOP, MODEL

PICTURES = (
    IMPORTS
    + MODEL
    + """
import lib
import numpy as np
import torchvision
from torchvision import transforms

class Wrapped:
    def __call__(self, x): return torch.from_numpy(x)
class Padded:
    def __call__(self, x): return torch.from_numpy(np.pad(x, 4))
class Scaled:
    def __call__(self, x): return torch.from_numpy(x / 255)

class Pictures(torchvision.datasets.CIFAR10):
    def __init__(self, root, transform=None):
        super().__init__(root, train=True, transform=transform)
        self.data = self.data / 255
    def __getitem__(self, i):
        x = self.data[i]
        return (self.transform(x) if self.transform is not None else x), self.targets[i]

class Held(Dataset):
    def __init__(self, x, transform=None):
        self.x, self.transform = x, transform
    def __len__(self): return len(self.x)
    def __getitem__(self, i):
        x = self.x[i]
        if self.transform:
            x = self.transform(x)
        return x, i
"""
)
WRAPPED = "DataLoader(Pictures('d', transform=transforms.Compose([Wrapped()])))"
GPT = (
    IMPORTS
    + """
import functools, numpy as np
class Tokens(Dataset):
    def __len__(self): return 9
    def __getitem__(self, i):
        chunk = torch.from_numpy(np.arange(i, i + 9))
        return chunk[:-1], chunk[1:]
def batches(split):
    for x, y in DataLoader(Tokens(), batch_size=4, pin_memory=True, num_workers=0):
        yield x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)
model = nn.Embedding(8, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ahead = batches("train")
X, Y = next(ahead)
for step in range(1000):
    loss = model(X).mean()
    X, Y = next(ahead)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
)
PAIRS = {
    "a transform that only makes tensors": Pair(
        PICTURES + f"loader = {WRAPPED}" + LOOP, "Compose([Wrapped()])", "Compose([Padded(), Wrapped()])"
    ),
    "one that computes nothing": Pair(PICTURES + f"loader = {WRAPPED}" + LOOP, "[Wrapped()]", "[Scaled()]"),
    "that of this object, not of its class": Pair(
        PICTURES + f"other = DataLoader(Pictures('d', transform=Padded()))\nloader = {WRAPPED}" + LOOP,
        "loader = ",
        "loader = other or ",
    ),
    "no transform": Pair(
        PICTURES + "loader = DataLoader(Held(np.zeros((9, 8))))" + LOOP, "8))))", "8)), transform=Padded()))"
    ),
    "an array, and no other data set": Pair(
        PICTURES + "loader = DataLoader(Held(np.zeros((9, 8))))" + LOOP, "np.zeros((9, 8))", "lib.Photos('d')"
    ),
    "a function of torch": Pair(
        PICTURES + "loader = DataLoader(Held(np.zeros((9, 8)), transform=torch.from_numpy))" + LOOP,
        "transform=torch.from_numpy",
        "transform=transforms.ToTensor()",
    ),
    "drawn between the model and the backward pass": Pair(
        GPT,
        "    loss = model(X).mean()\n    X, Y = next(ahead)\n",
        "    X, Y = next(ahead)\n    loss = model(X).mean()\n",
    ),
    "drawn before the host has waited": Pair(
        GPT, "    loss = model(X).mean()\n", "    loss = model(X).mean()\n    print(loss.item())\n"
    ),
    "drawn there, of samples that take little": Pair(GPT, "np.arange(i, i + 9)", "np.load(str(i))"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC102", PAIRS[case], tmp_path)


ONE_IMAGE = (
    IMPORTS
    + MODEL
    + """
import numpy as np
from PIL import Image
class Picture(Dataset):
    def __init__(self, path): self.path = path
    def __len__(self): return 1
    def __getitem__(self, i): return torch.from_numpy(np.asarray(Image.open(self.path))), 1
class Scaled(Dataset):
    def __init__(self, inner): self.inner = inner
    def __len__(self): return len(self.inner)
    def __getitem__(self, i): return torch.from_numpy(np.load("b.npy")) + self.inner[i][0], 1
loader = DataLoader(DATA, pin_memory=True)
for x, y in loader:
    step(x.cuda(non_blocking=True), y)
"""
)


@pytest.mark.parametrize("data", ["Picture('a.png')", "Scaled(Picture('a.png'))"])
@pytest.mark.parametrize("length", ["2", "len(self.path)"])
def test_silent_about_a_data_set_of_one_sample(data: str, length: str, tmp_path: Path) -> None:
    check_pair("ACC102", Pair(ONE_IMAGE.replace("DATA", data), "return 1\n", f"return {length}\n"), tmp_path)
