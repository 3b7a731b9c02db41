"""Where nodes meet, from torchrun's options and SLURM's variables."""

from __future__ import annotations

from typing import Any

import pytest

from accel_advisor.tuning.nodes.rendezvous import (
    Asked,
    Rendezvous,
    RendezvousError,
    first_host,
    parse_nodes,
    rendezvous,
)

STEP = {
    "SLURM_JOB_ID": "4007",
    "SLURM_STEP_NODELIST": "gpu[07-08]",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_NODEID": "1",
}
LINE = "srun --nodes=2 accel-advisor"


@pytest.mark.parametrize("text", ["0", "two", "1:", ":2", "-1", "", "²"])
def test_what_is_no_number_of_nodes(text: str) -> None:
    with pytest.raises(RendezvousError, match="give a number of nodes, as torchrun takes it"):
        parse_nodes(text)


def test_a_number_that_may_change_is_refused() -> None:
    assert parse_nodes("2:2") == 2
    with pytest.raises(RendezvousError, match="--nnodes 1:2: the number of nodes stays the same"):
        parse_nodes("1:2")


def test_one_node_meets_nobody() -> None:
    assert rendezvous(Asked("1", endpoint="a:1"), STEP, LINE) is None


@pytest.mark.parametrize(
    ("options", "host", "port", "number", "placed"),
    [
        ({"endpoint": "gpu07:4000"}, "gpu07", 4000, None, False),
        ({"endpoint": "gpu07"}, "gpu07", 29400, None, False),
        ({"endpoint": "[::1]:4000"}, "::1", 4000, None, False),
        ({"endpoint": "[::1]"}, "::1", 29400, None, False),
        ({"endpoint": "gpu07:4000", "number": 1}, "gpu07", 4000, 1, True),
        ({"endpoint": "gpu07:4000", "backend": "static", "number": 0}, "gpu07", 4000, 0, True),
        ({"host": "gpu07", "port": 4000, "number": 0}, "gpu07", 4000, 0, True),
        ({"endpoint": "gpu07:4000", "backend": "c10d"}, "gpu07", 4000, None, False),
    ],
)
def test_torchruns_options(options: dict[str, Any], host: str, port: int, number: int | None, placed: bool) -> None:
    assert rendezvous(Asked("2", **options), {}, LINE) == Rendezvous(2, host, port, "none", number, placed)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "say where the nodes meet with --rdzv-endpoint HOST:PORT"),
        ({"endpoint": "gpu07:many"}, "--rdzv-endpoint gpu07:many: give HOST:PORT"),
        ({"endpoint": ":4000"}, "give HOST:PORT"),
        ({"endpoint": "gpu07:70000"}, "give HOST:PORT"),
        ({"endpoint": "gpu07:4000", "backend": "etcd-v2"}, "--rdzv-backend etcd-v2: the nodes of a trial meet at one"),
        ({"endpoint": "gpu07:4000", "backend": "static"}, "say with --node-rank which node this is"),
        ({"endpoint": "gpu07:4000", "number": 2}, "--node-rank 2: 2 nodes are counted from 0 to 1"),
        ({"endpoint": "gpu07:4000", "host": "gpu07"}, "name the same place"),
    ],
)
def test_options_that_name_no_place(options: dict[str, Any], said: str) -> None:
    with pytest.raises(RendezvousError) as caught:
        rendezvous(Asked("2", **options), {}, LINE)
    assert said in str(caught.value)


def test_a_job_step_of_slurm_meets_at_its_first_node() -> None:
    assert rendezvous(Asked("2"), STEP, LINE) == Rendezvous(2, "gpu07", 29407, "4007", 1, True)
    assert rendezvous(Asked("2", name="run"), {**STEP, "SLURM_NODEID": "0"}, LINE) == Rendezvous(
        2, "gpu07", 29407, "run", 0, True
    )


def test_an_endpoint_in_a_job_step_says_who_leads_and_slurm_in_which_order_the_others_are_counted() -> None:
    assert rendezvous(Asked("2", endpoint="gpu08:1"), STEP, LINE) == Rendezvous(2, "gpu08", 1, "4007", 1, False)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SLURM_JOB_ID": "7", "SLURM_NODEID": "0"}, "this runs on one node"),
        ({**STEP, "SLURM_STEP_NUM_NODES": "4"}, "this runs on 4 of them"),
        ({**STEP, "SLURM_STEP_NUM_TASKS": "16"}, "srun started 16 of these on 2 nodes"),
    ],
)
def test_a_step_of_slurm_that_is_another_is_given_the_line(environment: dict[str, str], said: str) -> None:
    with pytest.raises(RendezvousError) as caught:
        rendezvous(Asked("2"), environment, LINE)
    assert said in str(caught.value)
    assert f"put `{LINE}` into the batch file" in str(caught.value)


@pytest.mark.parametrize(
    ("listed", "first"),
    [
        ("gpu07", "gpu07"),
        ("gpu07,gpu08", "gpu07"),
        ("gpu[07-12,15],login", "gpu07"),
        ("n[1-2].local,x", "n1.local"),
        ("rack[1,3]n[4-5],x", "rack1n4"),
        ("10.0.0.[3-4]", "10.0.0.3"),
    ],
)
def test_the_first_host_of_a_list(listed: str, first: str) -> None:
    assert first_host(listed) == first
