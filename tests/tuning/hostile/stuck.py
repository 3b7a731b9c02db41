"""Trains for a while, then its step never ends, and no signal is let in."""

import signal
import threading

from plain import Samples, step
from torch.utils.data import DataLoader

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
loader = DataLoader(Samples(1600), 8, shuffle=True, num_workers=1)
for count, (x, y) in enumerate(loader):
    step(x, y)
    if count > 18:
        threading.Event().wait()
