"""Ends in an error of its own."""

from plain import Samples
from torch.utils.data import DataLoader


def prepare(path):
    with open(path) as file:
        return file.read()


loader = DataLoader(Samples(), 8)
prepare("missing.json")
