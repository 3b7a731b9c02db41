"""What crosses between nodes is what was sent, and nothing else gets in."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import pytest

from accel_advisor.tuning.nodes.node_messages import FromRank, Met, Over, StartRun, ToRank
from accel_advisor.tuning.nodes.plain_data import ForeignMessageError, decode, encode
from accel_advisor.tuning.probe.channel.reasons import LoaderShape, Meaningless, Raised, RanksDiffer, Unmeasurable
from accel_advisor.tuning.probe.channel.wire import (
    BASELINE,
    Block,
    CandidateFailed,
    Frame,
    Gather,
    Gathered,
    LoaderInfo,
    Measure,
    Part,
    Ready,
    Refused,
    Settings,
    Stop,
    Trait,
)

FRAME = Frame("train.py", "main", 3, 1, 4, 9)
INFO = LoaderInfo(
    0, "train", (FRAME,), Settings(2, 2), 4, None, 100, "D", "fork", frozenset({Trait.ITERABLE, Trait.CYCLED})
)


@pytest.mark.parametrize(
    "message",
    [
        ToRank(1, Measure(Settings(2, 2), most_seconds=math.inf)),
        ToRank(0, Stop()),
        FromRank(3, Gather(((True, (Settings(), 16), [0.25, 1]), False))),
        ToRank(3, Gathered(((None, True), (0.5, False)))),
        FromRank(2, Ready((INFO,), "cpu", "2.13.0")),
        FromRank(0, Block(BASELINE, 8, 32, 1.0, 0.5, 0.0, 0.4, 0.1, 7.0, ranks=(Part(1.0, 0.5, 0.0, 0.4, 0.1),))),
        FromRank(1, CandidateFailed(Settings(1), Raised("OSError: no", True), 1)),
        FromRank(1, CandidateFailed(Settings(1), Meaningless.NO_PINNING)),
        FromRank(1, Refused(RanksDiffer(1, None, LoaderShape(2, None)))),
        FromRank(1, Refused(Unmeasurable.RANKS_PARTED)),
        StartRun(29500, True, (("train.py", "ab"),), 300.0),
        Met(("a", "b"), 1),
    ],
)
def test_a_message_comes_as_it_was_sent(message: Any) -> None:
    assert decode(encode(message)) == message


class Payload:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("run by whoever unpickles this",)


def test_nothing_is_unpickled(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ForeignMessageError):
        decode(pickle.dumps(Payload()))
    assert capsys.readouterr().out == ""


def test_what_is_no_message_does_not_leave() -> None:
    with pytest.raises(TypeError, match="Payload may not cross"):
        encode(ToRank(0, Payload()))


def over(**fields: Any) -> dict[str, Any]:
    return {"type": "Over", "fields": {"status": 0, "sentence": "", "failed": False, "changed": False, **fields}}


def test_the_message_that_the_foreign_ones_differ_from_is_taken() -> None:
    assert decode(json.dumps(over()).encode()) == Over(0, "")


@pytest.mark.parametrize(
    "data",
    [
        over(status="0"),
        over(status=True),
        over(failed=1),
        over(more=1),
        {"type": "Over", "fields": {"status": 0}},
        {"type": "Popen", "fields": {"args": "ls"}},
        {"type": "object", "fields": {}},
        {"type": "Unmeasurable", "member": "__class__"},
        {"type": "Over", "member": "status"},
        {"type": "Unmeasurable", "fields": {}},
        {"tuple": [1], "set": []},
        {"path": "/etc/passwd"},
        {"type": "ToRank", "fields": {"rank": 0, "message": over(status="0")}},
    ],
)
def test_foreign_messages_are_refused(data: Any) -> None:
    with pytest.raises(ForeignMessageError):
        decode(json.dumps(data).encode())


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"{", b"[" * 100_000])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ForeignMessageError):
        decode(data)
