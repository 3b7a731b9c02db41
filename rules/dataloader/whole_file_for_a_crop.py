"""Files that are read or converted whole where a sample keeps a piece."""

from __future__ import annotations

from collections.abc import Iterator

from accel_advisor.finding import Finding, Frequency, Severity
from accel_advisor.records.facts import Facts
from accel_advisor.records.queries.loaders.cropped_reads import cropped_reads
from accel_advisor.records.queries.loaders.early_floats import early_floats
from accel_advisor.rule import Rule, also_at


class WholeFileForACrop(Rule):
    """A data set reads a recording or converts a picture whole for each sample, and then keeps a piece of it.

    What it does
        Finds `torchaudio.load`, `librosa.load`, `soundfile.read`, `scipy.io.wavfile.read` and `numpy.load` in what
        makes samples for a training, whose result is next cut at a random place: in `__getitem__`, in a function that
        it calls, or in the function that makes batches. Also pictures that are made floats before they are cut.

    Why it costs time
        Reading, decoding and resampling take as long as the file is long. Where a second is kept of each minute, the
        workers do sixty times the work that the sample needs, and the GPU waits for them. A file of audio can be read
        from a place on (`frame_offset` and `num_frames`, `start` and `frames`), an array of numpy mapped into memory. A
        picture has to be decoded whole, but as floats it takes four times the memory, in each operation before the cut.

    Example
        import random
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset

        class Recordings(Dataset):
            def __init__(self, paths):
                self.paths = paths
            def __len__(self):
                return len(self.paths)
            def __getitem__(self, index):
                audio = np.load(self.paths[index])
                start = random.randint(0, len(audio) - 8)
                return torch.from_numpy(audio[start:start + 8])

        model = nn.Linear(8, 2)
        for x in DataLoader(Recordings([]), batch_size=16, num_workers=4):
            model(x).sum().backward()

    Use instead
        import random
        import numpy as np
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset

        class Recordings(Dataset):
            def __init__(self, paths):
                self.paths = paths
            def __len__(self):
                return len(self.paths)
            def __getitem__(self, index):
                audio = np.load(self.paths[index], mmap_mode="r")
                start = random.randint(0, len(audio) - 8)
                return torch.from_numpy(audio[start:start + 8].copy())

        model = nn.Linear(8, 2)
        for x in DataLoader(Recordings([]), batch_size=16, num_workers=4):
            model(x).sum().backward()

    When to ignore it
        Where files are hardly larger than what is kept, or in a format that cannot be read from the middle. The rule is
        silent where anything else needs all of it, such as a spectrogram or a blur, and where a cache keeps it.

    References
        - https://docs.pytorch.org/audio/stable/torchaudio.html
        - https://numpy.org/doc/stable/reference/generated/numpy.load.html
    """

    code = "ACC127"
    name = "whole-file-for-a-crop"
    severity = Severity.INFO
    frequency = Frequency.STEP

    def check(self, facts: Facts) -> Iterator[Finding]:
        """Reports each call; those of one file are one remark."""
        for one in cropped_reads(facts):
            where = "the batch keeps" if one.collated else "the sample keeps"
            claim = (
                f"`{facts.document.code(one.node)}` reads the whole file for each sample, of which {where} a short "
                "piece"
            )
            remedy = f"choose the piece first and read only that, with {one.remedy}"
            related = [also_at(one.document, one.cut, "keeps a piece of it")]
            yield self.finding(facts, one.node, claim, remedy, related=related, group="whole files")
        for early in early_floats(facts):
            claim = (
                f"`{facts.document.code(early.node)}` makes floats of the whole picture for each sample, which then "
                "keeps a piece of it"
            )
            remedy = "cut the piece first, and convert that"
            related = [also_at(facts.document, early.cut, "keeps a piece of it")]
            yield self.finding(facts, early.node, claim, remedy, related=related, group="whole pictures")
