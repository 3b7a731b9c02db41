"""A bare except, a finally that saves, atexit and SIGTERM handlers, checkpoints and logs in the loop."""

import atexit
import json
import os
import pathlib
import shutil
import signal
import sqlite3

import numpy
import torch
from plain import model, step
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        if index == 3:
            with open("worker.log", "a") as log:
                log.write("seen\n")
        return torch.full((8,), float(index % 5)), index % 3


def refuse(*_):
    torch.save(model.state_dict(), "terminated.pt")


loader = DataLoader(Samples(), batch_size=8, shuffle=True)
signal.signal(signal.SIGTERM, refuse)
signal.signal(signal.SIGINT, refuse)
atexit.register(lambda: pathlib.Path("atexit.txt").write_text("left"))

pathlib.Path("old.ckpt").unlink()
os.remove("notes/keep.txt")
os.rename("results.json", "results.bak")
with open("config.json", "r+") as config:
    config.write("!!")
os.makedirs("runs/1", exist_ok=True)
database = sqlite3.connect("runs/history.db")
database.execute("create table steps (loss real)")
try:
    for epoch in range(1000):
        for x, y in loader:
            try:
                loss = step(x, y)
            except:  # noqa: E722
                pathlib.Path("swallowed.txt").write_text("!")
        torch.save(model.state_dict(), "runs/1/next.pt")
        os.replace("runs/1/next.pt", "runs/1/best.pt")
        assert torch.load("runs/1/best.pt").keys() == model.state_dict().keys()
        assert sorted(os.listdir("runs/1"))[0] == "best.pt"
        assert not os.path.exists("results.json")
        assert os.path.isfile("results.bak")
        numpy.save("runs/1/loss.npy", numpy.array([loss]))
        assert numpy.load("runs/1/loss.npy").shape == (1,)
        database.execute("insert into steps values (?)", (loss,))
        database.commit()
        with open("log.jsonl", "a") as log:
            log.write(json.dumps({"epoch": epoch}) + "\n")
        assert len(pathlib.Path("log.jsonl").read_text().splitlines()) == epoch + 2
        shutil.copy("log.jsonl", "runs/1/log.jsonl")
        shutil.rmtree("cache", ignore_errors=True)
        os.makedirs("cache/a/b")
        os.chdir("cache/a")
        pathlib.Path("here.txt").write_text(os.getcwd())
        os.chdir("../..")
        assert pathlib.Path("cache/a/here.txt").read_text().endswith("/cache/a")
except:
    torch.save(model.state_dict(), "crash.pt")
    raise
finally:
    torch.save(model.state_dict(), "last.pt")
    pathlib.Path(__file__).with_name("done.txt").write_text("done")
