"""Runs Python files, each in a process and a folder of its own.

``python run.py`` reads a JSON object of texts by name from its standard input and writes one line of JSON for each: its
name, its exit status and what it printed.

One interpreter imports torch, trains a step and forks for every file, as what a first step imports costs seconds.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any
from unittest import mock
from weakref import WeakSet

import numpy as np
import torch
import torch._dynamo
import torch._inductor.compile_fx
import torch.distributed
import torch.nn.parallel
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader

sys.path.insert(0, str(Path(__file__).parent))
from accelerator import pretended

SECONDS = 120
ENVIRONMENT = {
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "0",
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_WORLD_SIZE": "1",
}


def write_files(folder: Path) -> None:
    """Makes a folder with the files that the pages read."""
    folder.mkdir()
    for name in ("a", "b"):
        Image.new("L", (8, 8)).save(folder / f"{name}.png")
        np.save(folder / f"{name}.npy", np.zeros(8, dtype="float32"))
        (folder / f"{name}.txt").write_text("one\ntwo\nthree\n")
    with zipfile.ZipFile(folder / "texts.zip", "w") as archive:
        archive.writestr("a", "one")
        archive.writestr("b", "two")
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("one\n")
    torch.save(nn.Linear(8, 2).state_dict(), folder / "model.pt")
    torch.save(torch.zeros(65, 8), folder / "samples.pt")
    for kind in ("cat", "dog"):
        (folder / "images" / kind).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(folder / "images" / kind / "a.png")


def use(names: dict[str, Any], iterated: WeakSet[DataLoader[Any]]) -> None:
    """Uses what a file defines and does not use by itself: loaders, modules, functions without parameters.

    Args:
        iterated: the loaders that it went over; workers that are spawned import torch, which takes seconds.
    """
    values = list(names.values())
    for value in values:
        if isinstance(value, DataLoader):
            if value not in iterated:
                next(iter(value))
        elif isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == "__main__":
            if not any(isinstance(one, value) for one in values):
                use_module(value())
        elif isinstance(value, FunctionType) and value.__module__ == "__main__" and not value.__code__.co_argcount:
            value()


def use_module(module: Any) -> None:
    """Calls a module on a batch of eight features."""
    if hasattr(module, "training_step"):
        module.training_step(torch.zeros(4, 8), 0)
    else:
        module.cuda()(torch.zeros(4, 8, device="cuda"))


def run(path: Path) -> None:
    """Runs a file as the program that it is, in the working directory."""
    iterated: WeakSet[DataLoader[Any]] = WeakSet()
    iterate = DataLoader.__iter__

    def noted(loader: DataLoader[Any]) -> Any:
        iterated.add(loader)
        return iterate(loader)

    with pretended(), mock.patch.object(DataLoader, "__iter__", noted):
        # Workers that are spawned, and what is pickled, look for the program under this name.
        main = ModuleType("__main__")
        main.__file__ = str(path)
        sys.modules["__main__"] = main
        sys.argv = [str(path)]
        exec(compile(path.read_text(), str(path), "exec"), main.__dict__)
        use(main.__dict__, iterated)


def child(text: str, files: Path, folder: Path, output: int) -> None:
    """The life of one forked process: runs a file beside a copy of ``files`` and leaves by its exit status."""
    status = 1
    try:
        os.setsid()
        signal.alarm(SECONDS)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.update(ENVIRONMENT)
        shutil.copytree(files, folder)
        os.chdir(folder)
        path = folder / "snippet.py"
        path.write_text(text)
        run(path)
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run_all(texts: dict[str, str], folder: Path) -> None:
    """Runs files in folders below the given one, as many at a time as there are cores."""
    files = folder / "files"
    write_files(files)
    running: dict[int, str] = {}
    waiting = list(texts)
    folders = {name: folder / str(number) for number, name in enumerate(texts)}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            with folders[name].with_suffix(".txt").open("wb") as output:
                process = os.fork()
                if not process:
                    child(texts[name], files, folders[name], output.fileno())
            running[process] = name
        process, status = os.wait()
        name = running.pop(process)
        said = folders[name].with_suffix(".txt").read_text(errors="replace")
        print(json.dumps([name, os.waitstatus_to_exitcode(status), said]), flush=True)


def train_once() -> None:
    """Imports what is imported with a first step."""
    model = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.zeros(4, 8)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    train_once()
    with tempfile.TemporaryDirectory() as scratch:
        run_all(json.load(sys.stdin), Path(scratch))
