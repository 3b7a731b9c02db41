"""Its workers die while the loop computes; in the main process all is well."""

import os
import signal
import time

from plain import Samples, step
from torch.utils.data import DataLoader, get_worker_info


class Deadly(Samples):
    def __getitem__(self, index):
        if get_worker_info() is not None and index % 40 == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


loader = DataLoader(Deadly(), 8, shuffle=True)
while True:
    for x, y in loader:
        step(x, y)
        time.sleep(0.01)
