"""Whatever happens, something of it wants to save, and a thread of it never ends."""

import atexit
import signal
import threading
import time
from pathlib import Path

from plain import Samples, step
from torch.utils.data import DataLoader


def save(*_):
    Path("saved.txt").write_text("half trained")
    time.sleep(30)


atexit.register(save)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, save)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
threading.Thread(target=lambda: time.sleep(10_000)).start()
try:
    while True:
        for x, y in DataLoader(Samples(), 8, shuffle=True):
            step(x, y)
finally:
    save()
