"""Data sets of libraries: where their samples are, and how many there are.

From the documentation of torchvision (https://docs.pytorch.org/vision/stable/datasets.html), torch_geometric, litdata,
streaming and torchio.
"""

from __future__ import annotations

DATASET_BASES = frozenset(
    {"torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.TensorDataset"}
)
"""Classes that data sets inherit from."""

DISK_DATASETS = frozenset(
    "torchvision.datasets." + name
    for name in (
        "ImageFolder DatasetFolder CocoDetection CocoCaptions VOCDetection VOCSegmentation Cityscapes "
        "ImageNet LSUN Places365 CelebA Flickr8k Flickr30k Kinetics UCF101 HMDB51 OxfordIIITPet Food101 "
        "StanfordCars Flowers102 Caltech101 Caltech256 INaturalist SBDataset WIDERFace GTSRB DTD "
        "SUN397 FGVCAircraft Country211"
    ).split()
)
"""Library data sets that read and decode a file for each sample."""

STORED_DATASETS = frozenset({"litdata.StreamingDataset", "streaming.StreamingDataset", "torchio.SubjectsDataset"})
"""Library data sets that read each sample from files, whatever it is made of."""

MEMORY_DATASETS = frozenset(
    "torchvision.datasets." + name
    for name in ("MNIST FashionMNIST KMNIST EMNIST QMNIST CIFAR10 CIFAR100 SVHN STL10 USPS SEMEION FakeData").split()
)
"""Library vision data sets that are held in memory: only the transform costs time for each sample."""

GRAPHS_IN_FILES = frozenset({"PCQM4Mv2", "TrackMLParticleTrackingDataset"})
"""Data sets of torch_geometric that are not held in memory, as all others are."""

DATASET_LENGTHS = {
    f"torchvision.datasets.{name}": (train, 10_000)
    for names, train in (("MNIST FashionMNIST KMNIST", 60_000), ("CIFAR10 CIFAR100", 50_000))
    for name in names.split()
}
"""How many samples library data sets have for training, and for the test."""

DATASET_WRAPPERS = {
    "torch.utils.data.Subset": 0,
    "torch.utils.data.random_split": 0,
    "torch.utils.data.ConcatDataset": 0,
}
"""Data sets that are as costly as the data set in the given argument."""
