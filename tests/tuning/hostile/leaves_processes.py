"""Starts processes that would outlive it, in sessions of their own, and shared memory that nobody frees."""

import multiprocessing.shared_memory
import os
import subprocess
import sys

import torch
from plain import Samples, step
from torch.utils.data import DataLoader

torch.multiprocessing.set_sharing_strategy("file_system")
subprocess.Popen(["sleep", "1000"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)"])
    os._exit(0)
segment = multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 16)
loader = DataLoader(Samples(), 8, shuffle=True, num_workers=1, persistent_workers=True)
while True:
    for x, y in loader:
        step(x, y)
