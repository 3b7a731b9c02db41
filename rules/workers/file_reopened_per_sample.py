"""Files with many samples that are opened again for each of them."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.loaders.reopened_files import reopened_files
from accel_advisor.rule import Rule


class FileReopenedPerSample(Rule):
    """A data set opens the file that holds all its samples again for each of them.

    What it does
        Finds files of h5py, zarr, netCDF4, PyTables, LMDB and SQLite, and archives of zipfile and tarfile, that
        `__getitem__`, or a function that it calls, opens to read, where the same file is opened for every sample.

    Why it costs time
        To open such a file, its tables are read: for an archive a list of everything in it. What the library has cached
        is lost when it is closed, such as the chunks of HDF5, which are read and decompressed whole and hold the next
        samples, too. Opened once in each worker, a file costs this once. It must not be opened in `__init__`: an open
        file is shared by workers that are forked, and cannot be pickled for those that are spawned.

    Example
        import zipfile
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset

        class Signals(Dataset):
            def __init__(self, path, names):
                self.path, self.names = path, names
            def __len__(self):
                return len(self.names)
            def __getitem__(self, index):
                with zipfile.ZipFile(self.path) as archive:
                    signal = archive.read(self.names[index])
                return torch.frombuffer(bytearray(signal), dtype=torch.float32)

        model = nn.Linear(8, 2)
        for x in DataLoader(Signals("signals.zip", []), batch_size=16, num_workers=4):
            model(x).sum().backward()

    Use instead
        import zipfile
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset

        class Signals(Dataset):
            def __init__(self, path, names):
                self.path, self.names = path, names
                self.archive = None
            def __len__(self):
                return len(self.names)
            def __getitem__(self, index):
                if self.archive is None:
                    self.archive = zipfile.ZipFile(self.path)
                signal = self.archive.read(self.names[index])
                return torch.frombuffer(bytearray(signal), dtype=torch.float32)

        model = nn.Linear(8, 2)
        for x in DataLoader(Signals("signals.zip", []), batch_size=16, num_workers=4):
            model(x).sum().backward()

    When to ignore it
        Where something else writes the file meanwhile. The rule is silent where the file differs from sample to sample,
        where an attribute or a cache keeps it open, and where it is opened to be written.

    References
        - https://docs.h5py.org/en/stable/high/file.html
        - https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading
    """

    code = "ACC128"
    name = "file-reopened-per-sample"
    severity = Severity.INFO
    frequency = Frequency.STEP

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call; those of one file are one remark."""
        for one in reopened_files(facts):
            claim = f"`{facts.document.code(one.node)}` opens the same file again for each sample, which {one.cost}"
            remedy = "keep it open in an attribute that is None until the first `__getitem__` in each worker opens it"
            yield self.finding(facts, one.node, claim, remedy, group="reopened files")
