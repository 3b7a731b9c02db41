"""Ignores every polite signal, and answers its end with a file."""

import atexit
import signal

from plain import Samples, step
from torch.utils.data import DataLoader

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, lambda *_: open("refused", "w").close())
atexit.register(lambda: open("ended", "w").close())
loader = DataLoader(Samples(), 8, shuffle=True)
while True:
    for x, y in loader:
        step(x, y)
