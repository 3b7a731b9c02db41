"""What is said of a child that came to its end."""

from __future__ import annotations

import pytest

from accel_advisor.tuning.trial.endings import died, last_words, slow_start, spoken, unseen

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
  File "train.py", line 2, in main
    raise ValueError("no colour:\\n  red")
ValueError: no colour:
  red

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
"""
HYDRA = "Error parsing override '+nope'\nmissing EQUAL\n\nSet the environment variable HYDRA_FULL_ERROR=1 for more."


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("", ""),
        ("usage: train.py [-h]\ntrain.py: error: no such option: --x\n", "train.py: error: no such option: --x"),
        (TRACEBACK, "ValueError: no colour"),
        (HYDRA, "Error parsing override '+nope'"),
    ],
)
def test_the_line_that_says_what_went_wrong(output: str, words: str) -> None:
    assert last_words(output) == words


def test_what_was_printed_last() -> None:
    assert spoken("") == spoken("\n \n") == ""
    assert spoken("loading\n  3 %\r  4 %\r\n\n") == "4 %"
    assert spoken("x" * 1000) == "x" * 120


def test_how_a_start_and_a_process_ended() -> None:
    assert slow_start(300, 0, "") == "the script did not reach its first batch within 300 s"
    assert slow_start(300, 7, "hm\n").endswith(
        "7 batches in 300 s, but its training loop was not warm then (the last that it printed: hm)"
    )
    assert [died(None), died(3), died(-9)] == ["ended", "ended with exit status 3", "was killed by SIGKILL"]


def test_a_file_that_another_node_may_have_written() -> None:
    assert "do not see what another of them has written" in unseen("FileNotFoundError: [Errno 2] 'index.pt'")
    assert unseen("ValueError: FileNotFoundError") == ""
