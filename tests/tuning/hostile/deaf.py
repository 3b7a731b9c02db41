"""Swallows everything, ignores every polite signal, starts the loop again, answers its end with a file, gives up late, and
exits with a status of its own."""

import atexit
import signal
import sys

from plain import Samples, step
from torch.utils.data import DataLoader

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, lambda *_: open("refused", "w").close())
atexit.register(lambda: open("ended", "w").close())
loader = DataLoader(Samples(), 8, shuffle=True)
iterator = iter(loader)
failures = 0
try:
    while True:
        try:
            x, y = next(iterator)
            step(x, y)
        except:  # noqa: E722
            failures += 1
            if failures > 200_000:
                raise
            iterator = iter(loader)
except BaseException:
    print("cleaning up")
    sys.exit(3)
