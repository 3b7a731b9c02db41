"""Two nodes of one trial, in real processes on this machine: one answer, one edit, and nothing left on either."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from accel_advisor.tuning.follower import Follower
from accel_advisor.tuning.nodes.meeting import Follows
from accel_advisor.tuning.nodes.node_facts import stamp_of
from accel_advisor.tuning.nodes.node_link import LinkError, NodeLink, enter, welcome
from accel_advisor.tuning.nodes.node_messages import Agreed, FileText, FromRank, Over, Rewriting, RunRefused, StartRun
from accel_advisor.tuning.nodes.ranks_elsewhere import RelayedRanks
from accel_advisor.tuning.nodes.rendezvous import Rendezvous
from accel_advisor.tuning.probe.channel.wire import Frame, LoaderInfo, Ready, Settings
from accel_advisor.tuning.target.command import Command

from .conftest import check_nothing_stays, segments

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or not torch.distributed.is_gloo_available(), reason="torch has no gloo"
)
TRAINING = """\
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info
from torch.utils.data.distributed import DistributedSampler

WORKERS = 0


class Waits(Dataset):
    def __len__(self):
        return 2048

    def __getitem__(self, index):
        info = get_worker_info()
        if info is None:
            time.sleep(0.02)
        return torch.full((8,), float(index % 5)), index % 3, 0 if info is None else info.num_workers


dist.init_process_group("gloo")
torch.set_num_threads(1)
model = nn.Linear(8, 3)
for parameter in model.parameters():
    dist.broadcast(parameter.data, 0)
data = Waits()
sampler = DistributedSampler(data)
loader = DataLoader(data, 4, sampler=sampler, num_workers=WORKERS)
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "first.pt")
for epoch in range(10**6):
    sampler.set_epoch(epoch)
    for x, y, workers in loader:
        everywhere = [torch.zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
        dist.all_gather(everywhere, workers[:1])
        if len(set(map(int, everywhere))) > 1:
            raise ValueError(f"one batch is of several candidates: {everywhere}")
        nn.functional.cross_entropy(model(x), y).backward()
        with torch.no_grad():  # by hand: with DDP and its first optimizer torch imports its compiler, in each run
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
                parameter -= 0.01 / dist.get_world_size() * parameter.grad
        model.zero_grad()
        time.sleep(0.02)  # beside which it matters little how busy the machine is
"""
SRUN = Path(__file__).with_name("srun_here.py")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project, a home and a folder for temporary files, of which nothing may stay that was not there."""
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "train.py").write_text(TRAINING)
    for name in [name for name in os.environ if name.startswith("SLURM")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("ACCEL_ADVISOR_KEY", raising=False)
    with tempfile.TemporaryDirectory(prefix="t") as name:
        monkeypatch.setenv("TMPDIR", name)
        before = segments()
        yield folder
        for node in Path(name).glob("n*"):
            node.rmdir()
        check_nothing_stays(Path(name), before)
    assert list(home.iterdir()) == []
    assert {path.name for path in folder.iterdir()} <= {"train.py", "answer.json"}


class Node:
    """One node: its command, and what it says."""

    def __init__(self, folder: Path, *words: str, number: int) -> None:
        temporary = Path(os.environ["TMPDIR"], f"n{number}")
        temporary.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "accel_advisor", "tune", "train.py", *words],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(temporary), "SLURMD_NODENAME": f"node{number}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.heard = ""

    def until(self, words: str) -> None:
        """Waits until it has said something."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.heard += line
            if words in line:
                return
        raise AssertionError(f"{words!r} was not said: {self.heard}")

    def end(self) -> tuple[int, str, str]:
        out, errors = self.process.communicate()
        assert "Traceback" not in self.heard + errors
        return self.process.returncode, out, self.heard + errors


def place(seconds: int = 60) -> list[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        endpoint = f"localhost:{probe.getsockname()[1]}"
    return ["--nnodes", "2", "--rdzv-endpoint", endpoint, "--budget", "5", "--start-timeout", str(seconds)]


def last(errors: str) -> str:
    return errors.strip().splitlines()[-1]


def test_the_line_that_is_printed_under_slurm_tunes_and_applies_on_both_nodes(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "4007")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "2")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, run in (("srun", str(SRUN)), ("accel-advisor", "-m accel_advisor")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {run} "$@"\n')
        (programs / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    words = [
        "--nnodes",
        "2",
        "--budget",
        "12",
        "--knobs",
        "num_workers",
        "--apply",
        "--json",
        "answer.json",
        "train.py",
    ]
    alone = subprocess.run(["accel-advisor", "tune", *words], cwd=project, capture_output=True, text=True, check=False)
    assert alone.returncode == 2
    printed = re.search(r"this runs on one node: put `(srun .*)` into the batch file$", last(alone.stderr))
    assert printed is not None, alone.stderr

    done = subprocess.run(["bash", "-c", printed[1]], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Nodes node0 and node1 have met. Each may take what the smallest has: " in done.stderr
    record = json.loads((project / "answer.json").read_text())
    assert record["script"] == "torchrun --nnodes 2 --nproc-per-node 1 train.py"
    assert [(one["name"], one["ranks"]) for one in record["nodes"]] == [("node0", [0]), ("node1", [1])]
    workers = record["loaders"][0]["recommended"]["settings"]["num_workers"]
    assert workers > 0, record["kept"]
    assert [block for block in record["blocks"] if block["failed"]] == []
    assert record["verified"] is True, record["verification"]
    assert record["contained"] == ["first.pt"]
    assert record["leaked"] == []
    assert (project / "train.py").read_text() == TRAINING.replace("WORKERS = 0", f"WORKERS = {workers}")
    answers = [line for line in done.stdout.splitlines() if line.startswith("Node node1: the answer is node node0's: ")]
    assert len(answers) == 1
    assert answers[0].endswith("Changed: train.py. This node sees the same files.")
    assert done.stdout.count("\nRecommended ") == 1


@pytest.fixture
def apart(project: Path, tmp_path: Path) -> Iterator[tuple[Path, NodeLink, Follower]]:
    """A node with a checkout of its own, which has seen its loader, and the end of the link where the other leads."""
    other = tmp_path / "other"
    shutil.copytree(project, other)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = socket.create_connection(listener.getsockname())
        there, _ = listener.accept()
    with ThreadPoolExecutor() as threads:
        leads = threads.submit(welcome, there, b"key")
        link = enter(here, b"key")
    row = TRAINING.splitlines().index("loader = DataLoader(data, 4, sampler=sampler, num_workers=WORKERS)") + 1
    frame = Frame(str(other / "train.py"), "<module>", row, 10, row, 67)
    info = LoaderInfo(0, "train", (frame,), Settings(), 4, 512, 64, "Waits", "fork")
    ranks = RelayedRanks(1, link)
    ranks.hear(1, Ready((info,), "cpu", "2.13.0"))
    where = Rendezvous(2, "localhost", 1, "run")
    follower = Follower(Command(Path("train.py"), None, (), other, ranks=1), other, where, Follows(link, ("a", "b"), 1))
    follower._ranks = ranks
    yield other, leads.result(), follower
    leads.result().close()


def rewriting(project: Path, new: str) -> Rewriting:
    def digest(text: str) -> str:
        return sha256(text.encode()).hexdigest()

    file = FileText("train.py", digest(TRAINING), digest(new), stamp_of(project / "train.py"))
    return Rewriting(Settings(), Settings(2), (file,))


def told(lead: NodeLink, follower: Follower, *messages: object) -> tuple[list[object], Over]:
    """What a node answers, and how it ends."""
    for message in messages:
        lead.send(message)
    with follower:
        verdict = follower.follow()
    answers = []
    with contextlib.suppress(LinkError):
        while True:
            answers.append(lead.receive(5))
    return [one for one in answers if not isinstance(one, FromRank)], verdict


NEW = TRAINING.replace("WORKERS = 0", "WORKERS = 2")


def test_a_checkout_of_its_own_is_not_written_and_the_node_says_so(
    project: Path, apart: tuple[Path, NodeLink, Follower]
) -> None:
    other, lead, follower = apart
    over = Over(0, "num_workers=2, 3.0x as fast.", changed=True)
    answers, verdict = told(lead, follower, rewriting(project, NEW), over)
    assert answers == [Agreed()]
    assert verdict == Over(
        0,
        "Node b: the answer is node a's: num_workers=2, 3.0x as fast. Here train.py is as it was: copy it from node a.",
        False,
    )
    assert (other / "train.py").read_text() == TRAINING


def test_what_is_not_the_text_of_the_node_that_leads_is_neither_agreed_to_nor_shown(
    project: Path, apart: tuple[Path, NodeLink, Follower]
) -> None:
    """Neither a text that is not here nor another change than the settings make: only hashes cross."""
    _, lead, follower = apart
    asked = rewriting(project, NEW.replace("epoch", "print"))
    shown = StartRun(1, False, ((asked.files[0].name, asked.files[0].after),), 60.0)
    answers, verdict = told(lead, follower, asked, shown, Over(2, "node a: no", failed=True))
    assert answers == [
        Agreed("train.py has another text here: bring all nodes to the same, and start again"),
        RunRefused("train.py is not here as it is to be shown"),
    ]
    assert verdict == Over(2, "node a: no", True)


def test_a_node_that_leads_and_is_gone(apart: tuple[Path, NodeLink, Follower]) -> None:
    _, lead, follower = apart
    lead.close()
    with follower:
        verdict = follower.follow()
    assert (verdict.status, verdict.failed) == (2, True)
    assert re.fullmatch(r"node a, which leads, is lost \(.*\); this node changed nothing", verdict.sentence)


def test_a_node_that_is_killed_ends_the_trial_of_the_other(project: Path) -> None:
    words = [*place(), "--nproc-per-node", "2"]
    first = Node(project, *words, number=0)
    first.until("Node node0 leads")
    second = Node(project, *words, number=1)
    first.until("measuring what could be gained")
    second.process.kill()
    status, _, errors = first.end()
    assert status == 2
    assert last(errors).startswith("Error: node node1 is lost (")
    assert last(errors).endswith("; nothing was changed")
    second.end()


def test_a_node_that_leads_and_is_ended_ends_the_other(project: Path) -> None:
    words = place()
    first = Node(project, *words, number=0)
    first.until("Node node0 leads")
    second = Node(project, *words, number=1)
    first.until("starting the script")
    second.until("Node node1 follows node node0.")
    while not list(Path(os.environ["TMPDIR"]).glob("n1/accel-advisor-*/plan.json")):
        assert second.process.poll() is None
    first.process.send_signal(signal.SIGTERM)
    assert first.end()[0] == 128 + signal.SIGTERM
    status, out, errors = second.end()
    assert (status, out) == (2, "")
    assert last(errors) == "Error: node node0, which leads, was ended"


def test_the_second_node_never_comes(project: Path) -> None:
    status, _, errors = Node(project, *place(2), number=0).end()
    assert status == 2
    assert re.fullmatch(
        r"Error: --nnodes 2: 1 of 2 nodes came to localhost:\d+ within 2 s \(node0\): start the same command on every "
        r"node, or give them longer with --start-timeout SECONDS",
        last(errors),
    )


def test_nodes_with_different_sources(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "train.py").write_text(TRAINING.replace("0.02", "0.04"))
    words = place()
    first = Node(project, *words, number=0)
    first.until("Node node0 leads")
    second = Node(other, *words, number=1)
    for node in (first, second):
        status, out, errors = node.end()
        assert (status, out) == (2, "")
        assert last(errors) == (
            "Error: --nnodes 2: train.py has one text on node node0 and another on node node1: bring all nodes to the "
            "same, and start again"
        )
