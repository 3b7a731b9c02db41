"""ACC302 and ACC303: programs that forgot a move, as beginners write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import NET
from .single import check_one

FORGOTTEN: dict[str, tuple[str, str]] = {
    "notebook tutorial cifar": (
        "ACC302",
        """
import torchvision, torchvision.transforms as transforms
import torch.nn.functional as F
import torch.optim as optim
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
trainset = torchvision.datasets.CIFAR10(root='./data', train=True, transform=transforms.ToTensor())
trainloader = torch.utils.data.DataLoader(trainset, batch_size=4, shuffle=True, num_workers=2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.fc = nn.Linear(10, 10)
    def forward(self, x):
        x = F.relu(self.conv1(x))
        return self.fc(x)
net = Net()
net.to(device)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
for epoch in range(2):
    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        inputs, labels = data
        optimizer.zero_grad()
        outputs = net(inputs)  # -> error
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
""",
    ),
    "labels forgotten": (
        "ACC302",
        """
from torchvision import datasets, transforms, models
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(datasets.ImageFolder("d", transforms.ToTensor()), batch_size=4)
model = models.resnet18(pretrained=True)
model.fc = nn.Linear(512, 2)
model = model.to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def train_model(model, criterion, optimizer, num_epochs=25):
    for epoch in range(num_epochs):
        for inputs, labels in loader:
            inputs = inputs.to(device)
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, labels)  # -> error
            loss.backward()
            optimizer.step()
train_model(model, criterion, optimizer)
""",
    ),
    "main with train function (official mnist), batch not moved": (
        "ACC302",
        """
import argparse
import torch.nn.functional as F
from torchvision import datasets, transforms
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc = nn.Linear(784, 10)
    def forward(self, x):
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)
def train(args, model, device, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        output = model(data)  # -> error
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(loss.item())
def test(model, device, test_loader):
    model.eval()
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--no-cuda', action='store_true', default=False)
    parser.add_argument('--log-interval', type=int, default=10)
    args = parser.parse_args()
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    train_kwargs = {'batch_size': 64}
    if use_cuda:
        train_kwargs.update({'num_workers': 1, 'pin_memory': True})
    dataset1 = datasets.MNIST('../data', train=True, download=True, transform=transforms.ToTensor())
    train_loader = torch.utils.data.DataLoader(dataset1, **train_kwargs)
    model = Net().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    for epoch in range(1, 3):
        train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, train_loader)
if __name__ == '__main__':
    main()
""",
    ),
    "custom dataset": (
        "ACC302",
        """
from PIL import Image
class Photos(Dataset):
    def __init__(self, paths, transform=None):
        self.paths = paths
        self.transform = transform
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, i):
        img = Image.open(self.paths[i])
        if self.transform:
            img = self.transform(img)
        return img, 1
def main():
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    ds = Photos(["a"])
    dl = DataLoader(ds, batch_size=2, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(8, 2)).to(device)
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(model.parameters())
    for epoch in range(5):
        for images, labels in dl:
            preds = model(images)  # -> error
            loss = crit(preds, labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
main()
""",
    ),
    "validation loop forgotten": (
        "ACC302",
        """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tr = DataLoader(TensorDataset(torch.randn(8, 8), torch.zeros(8)), batch_size=4)
va = DataLoader(TensorDataset(torch.randn(8, 8), torch.zeros(8)), batch_size=4)
model = nn.Linear(8, 2).to(device)
opt = torch.optim.Adam(model.parameters())
for e in range(3):
    for x, y in tr:
        x, y = x.to(device), y.to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    model.eval()
    with torch.no_grad():
        for x, y in va:
            out = model(x)  # -> error
""",
    ),
    "dict batch": (
        "ACC302",
        """
class D(Dataset):
    def __init__(self, xs): self.xs = xs
    def __len__(self): return len(self.xs)
    def __getitem__(self, i):
        return {"image": torch.tensor(self.xs[i]), "label": 1}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tr = DataLoader(D([1]), batch_size=4)
model = nn.Linear(8, 2).to(device)
for batch in tr:
    out = model(batch["image"])  # -> error
    loss = nn.functional.cross_entropy(out, batch["label"].to(device))
    loss.backward()
""",
    ),
    "model not moved class trainer": (
        "ACC303",
        """
class Trainer:
    def __init__(self, loader):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = Net()  # -> error
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.model.parameters())
    def train_epoch(self):
        for x, y in self.loader:
            x, y = x.to(self.device), y.to(self.device)
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
Trainer(loader).train_epoch()
""",
    ),
    "noise on CPU in GAN": (
        "ACC302",
        """
class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(100, 784)
    def forward(self, z):
        return self.fc(z)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
g = G().to(device)
loader = DataLoader(TensorDataset(torch.zeros(8, 784)), batch_size=4)
for (x,) in loader:
    x = x.to(device)
    z = torch.randn(x.size(0), 100)
    fake = g(z)  # -> error
    loss = (x - fake).mean()
    loss.backward()
""",
    ),
    "full-batch tensors no loader": (
        "ACC302",
        """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
X = torch.randn(64, 8)
y = torch.randn(64, 1)
model = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1)).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    pred = model(X)  # -> error
    loss = nn.functional.mse_loss(pred, y)  # -> error
    opt.zero_grad(); loss.backward(); opt.step()
""",
    ),
    "model factory in the same file": (
        "ACC303",
        """
import torchvision
def build():
    m = torchvision.models.resnet50()  # -> error
    m.fc = nn.Linear(2048, 10)
    return m
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = build()
loader = DataLoader(TensorDataset(torch.zeros(8, 784), torch.zeros(8)), batch_size=4)
for x, y in loader:
    x = x.to(device)
    model(x).sum().backward()
""",
    ),
    "eval with image from dataset, unsqueeze": (
        "ACC302",
        """
from torchvision import datasets, transforms
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(datasets.MNIST("d", transform=transforms.ToTensor()), batch_size=64)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(28, 128, 2, batch_first=True)
        self.fc = nn.Linear(128, 10)
    def forward(self, x):
        h0 = torch.zeros(2, x.size(0), 128).to(x.device)
        out, _ = self.rnn(x, (h0, h0))
        return self.fc(out[:, -1])
model = Net().to(device)
for images, labels in loader:
    images = images.reshape(-1, 28, 28)
    outputs = model(images)  # -> error
    loss = nn.functional.cross_entropy(outputs, labels.to(device))
    loss.backward()
""",
    ),
    "inheritance of trainer": (
        "ACC302",
        """
class Base:
    def __init__(self, model, loader):
        self.device = torch.device("cuda")
        self.model = model.to(self.device)
        self.loader = loader
    def run(self):
        for batch in self.loader:
            self.step(batch)
    def step(self, batch):
        raise NotImplementedError
class Classify(Base):
    def step(self, batch):
        x, y = batch
        out = self.model(x)  # -> error
        nn.functional.cross_entropy(out, y).backward()
Classify(nn.Linear(8, 2), loader).run()
""",
    ),
    "loaders in a dict, phases": (
        "ACC302",
        """
from torchvision import datasets, transforms, models
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
tf = {x: transforms.ToTensor() for x in ["train", "val"]}
image_datasets = {x: datasets.ImageFolder("d/" + x, tf[x]) for x in ["train", "val"]}
dataloaders = {x: torch.utils.data.DataLoader(image_datasets[x], batch_size=4) for x in ["train", "val"]}
def train_model(model, criterion, optimizer, num_epochs=25):
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)  # -> error
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
    return model
model_ft = models.resnet18(weights="IMAGENET1K_V1")
model_ft.fc = nn.Linear(512, 2)
model_ft = model_ft.to(device)
train_model(model_ft, nn.CrossEntropyLoss(), torch.optim.SGD(model_ft.parameters(), lr=0.1))
""",
    ),
    "decorated main with hydra": (
        "ACC302",
        """
import hydra
@hydra.main(config_path="c")
def main(cfg):
    model = nn.Linear(8, 2).cuda()
    loader = DataLoader(TensorDataset(torch.zeros(8, 8), torch.zeros(8)), batch_size=4)
    for x, y in loader:
        model(x).sum().backward()  # -> error
if __name__ == "__main__":
    main()
""",
    ),
}


@pytest.mark.parametrize(("code", "source"), FORGOTTEN.values(), ids=FORGOTTEN.keys())
def test_forgotten(code: str, source: str, tmp_path: Path) -> None:
    check_one(code, NET + source, tmp_path)


def test_forgotten_in_another_file(tmp_path: Path) -> None:
    source = """
from net import Net
from data import get_loader
device = torch.device("cuda")
model = Net().to(device)
loader = get_loader("root", 32)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    out = model(x)  # -> error
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
"""
    net = """
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        return self.fc(x)
"""
    data = """
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
def get_loader(root, bs):
    ds = datasets.ImageFolder(root, transforms.ToTensor())
    return DataLoader(ds, batch_size=bs, shuffle=True)
"""
    check_one("ACC302", NET + source, tmp_path, {"net.py": net, "data.py": data})
