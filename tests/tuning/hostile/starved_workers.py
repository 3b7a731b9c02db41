"""Its workers come to grief, by their number: shared memory runs out (1), memory does (2), the system kills one (3), one
raises (4), or one dies while the loop computes (5)."""

import os
import resource
import signal
import time

import torch
from plain import Samples, step
from torch.utils.data import DataLoader, get_worker_info


class Large(Samples):
    def __getitem__(self, index):
        worker = get_worker_info()
        if worker is not None and worker.num_workers == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, resource.RLIM_INFINITY))
        elif worker is not None and worker.num_workers == 2:
            torch.empty(1 << 46, dtype=torch.uint8)
        elif worker is not None and worker.num_workers == 3 and worker.id == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        elif worker is not None and worker.num_workers == 4:
            raise KeyError("the handle was opened in another process")
        elif worker is not None and worker.num_workers == 5 and index % 40 == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)[0].repeat(1000), index % 3


loader = DataLoader(Large(), 8, shuffle=True)
while True:
    for x, y in loader:
        step(x[:, :8], y)
        time.sleep(0.005)
