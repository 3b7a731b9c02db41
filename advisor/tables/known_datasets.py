"""Data sets of libraries: where their samples are, and how many there are.

From the documentation of torchvision (https://docs.pytorch.org/vision/stable/datasets.html), torchaudio,
torch_geometric, monai, timm, litdata, streaming and torchio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TENSOR_DATASET = "torch.utils.data.TensorDataset"

DATASET_BASES = frozenset({"torch.utils.data.Dataset", "torch.utils.data.IterableDataset", TENSOR_DATASET})
"""Classes that data sets inherit from."""

DISK_DATASETS = frozenset(
    f"{library}.datasets.{name}"
    for library, names in {
        "torchvision": (
            "ImageFolder DatasetFolder CocoDetection CocoCaptions VOCDetection VOCSegmentation Cityscapes "
            "ImageNet LSUN Places365 CelebA Flickr8k Flickr30k Kinetics UCF101 HMDB51 OxfordIIITPet Food101 "
            "StanfordCars Flowers102 Caltech101 Caltech256 INaturalist SBDataset WIDERFace GTSRB DTD "
            "SUN397 FGVCAircraft Country211 CLEVRClassification EuroSAT Imagenette Kitti "
            "LFWPeople LFWPairs Omniglot PCAM RenderedSST2 SBU FlyingChairs FlyingThings3D HD1K KittiFlow Sintel "
            "Kitti2012Stereo Kitti2015Stereo CarlaStereo Middlebury2014Stereo CREStereo FallingThingsStereo "
            "SceneFlowStereo SintelStereo InStereo2k ETH3DStereo"
        ),
        "torchaudio": (
            "CMUARCTIC COMMONVOICE DR_VCTK FluentSpeechCommands GTZAN IEMOCAP LibriMix LIBRISPEECH LIBRITTS LJSPEECH "
            "MUSDB_HQ QUESST14 SNIPS SPEECHCOMMANDS TEDLIUM VCTK_092 VoxCeleb1Identification "
            "VoxCeleb1Verification YESNO"
        ),
    }.items()
    for name in names.split()
)
"""Library data sets that read and decode a file for each sample."""

STORED_DATASETS = frozenset(
    {"litdata.StreamingDataset", "streaming.StreamingDataset", "torchio.SubjectsDataset"}
    | {"timm.data.ImageDataset", "timm.data.create_dataset"}
)
"""Library data sets that read each sample from files, whatever it is made of."""

MEMORY_DATASETS = frozenset(
    "torchvision.datasets." + name
    for name in (
        "MNIST FashionMNIST KMNIST EMNIST QMNIST CIFAR10 CIFAR100 SVHN STL10 USPS SEMEION FakeData FER2013 MovingMNIST "
        "PhotoTour"
    ).split()
)
"""Library vision data sets that are held in memory: only the transform costs time for each sample."""

KEEPS_TRANSFORMS = frozenset({"transform", "target_transform"})
"""Arguments that data sets of torchvision keep as attributes of these names."""

STEADY_BASES = (
    DATASET_BASES | DISK_DATASETS | MEMORY_DATASETS | {"object", "torchvision.datasets.VisionDataset", "typing.Generic"}
)
"""Classes that have no method which changes their objects, so that what is called is a function that they hold."""


@dataclass(frozen=True, slots=True)
class TransformingDataset:
    """A library's data set that makes each sample with the transform that it is given.

    Attributes:
        transform: the position of that argument, which is called ``transform``.
        keeps: where the results of transforms are kept that do not draw at random; nowhere where it is empty.
    """

    transform: int
    keeps: Literal["", "memory", "disk"] = ""


TRANSFORMING_DATASETS = {
    "monai.data.Dataset": TransformingDataset(1),
    "monai.data.CacheDataset": TransformingDataset(1, "memory"),
    "monai.data.SmartCacheDataset": TransformingDataset(1, "memory"),
    "monai.apps.DecathlonDataset": TransformingDataset(3, "memory"),
    "monai.apps.MedNISTDataset": TransformingDataset(2, "memory"),
    "monai.apps.TciaDataset": TransformingDataset(3, "memory"),
    "monai.data.PersistentDataset": TransformingDataset(1, "disk"),
    "monai.data.CacheNTransDataset": TransformingDataset(1, "disk"),
    "monai.data.LMDBDataset": TransformingDataset(1, "disk"),
}
"""Library data sets of which the transform decides what a sample costs."""

SAMPLE_TRANSFORMS = ("torchvision.transforms.", "torchaudio.transforms.", "albumentations.", "monai.transforms.")
"""Beginnings of the names of transforms that data sets run for each sample."""

GRAPHS_IN_FILES = frozenset({"PCQM4Mv2", "TrackMLParticleTrackingDataset"})
"""Data sets of torch_geometric that are not held in memory, as all others are."""

ANY_VISION_DATASET = "torchvision.datasets.?"
"""The data set that a program looks up by a name which only the run tells, as ``datasets.__dict__[args.data]``."""

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
