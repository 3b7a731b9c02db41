"""What a trial takes of the processor: its script, its workers and whatever else they started."""

from __future__ import annotations

import sys

import psutil


def processor_seconds(pid: int | None) -> float | None:
    """Processor time of a process and everything below it so far, in seconds, those that have ended and were waited for
    included; None where it is not known. The system's own figures are not taken: on a shared machine they lie."""
    if pid is None or not sys.platform.startswith("linux"):  # elsewhere the time of ended children is not told
        return None
    try:
        root = psutil.Process(pid)
        return sum(_seconds(process) for process in (root, *root.children(recursive=True)))
    except psutil.Error:
        return None


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
