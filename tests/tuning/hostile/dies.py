"""Rank 1 dies before it imports torch, and the other would wait for it for ever."""

import os
import time

if os.environ["RANK"] == "1":
    os._exit(3)
time.sleep(1000)
