"""What was seen of trainings that no rule says anything about."""

from __future__ import annotations

import pytest

from accel_advisor.linting.seen_words import MOST_FILES, seen_lines, sentence
from accel_advisor.sights import Gap, NotKnown, Seen, SeenLoader

GOOD = SeenLoader("DataLoader", "line 172", True, 8)
DEVICE = NotKnown(Gap.DEVICE, "line 180", "rank % n")


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (
            Seen("a.py", (GOOD,), asynchronous=2),
            "1 DataLoader (line 172: pinned, 8 workers), 2 asynchronous copies: nothing to mend",
        ),
        (
            Seen("a.py", (GOOD,), moved_by=("accelerate",)),
            "1 DataLoader (line 172: pinned, 8 workers), batches moved by accelerate: nothing to mend",
        ),
        (
            Seen("a.py", (GOOD,), asynchronous=1, gaps=(DEVICE,)),
            "1 DataLoader (line 172: pinned, 8 workers), 1 asynchronous copy; not known: the device in line 180 "
            "(`rank % n`)",
        ),
        (
            Seen("a.py", (SeenLoader("DataLoader", "line 1", None, None), SeenLoader("Batches", "line 2", False, 0))),
            "2 loaders (line 1: pinning not known, number of workers not known; line 2: not pinned, no workers), no "
            "copies of batches to a device",
        ),
        (
            Seen("a.py", (GOOD,) * 4, asynchronous=1, waiting=1),
            "4 DataLoaders (line 172: pinned, 8 workers; line 172: pinned, 8 workers; line 172: pinned, 8 workers, and "
            "1 more), 1 asynchronous copy, 1 copy that waits",
        ),
        (
            Seen("a.py", waiting=2, gaps=(NotKnown(Gap.BATCHES, "line 4", "data"), DEVICE, DEVICE)),
            "no DataLoader, 2 copies that wait; not known: what the loop goes over in line 4 (`data`), the device in "
            "line 180 (`rank % n`), and 1 more",
        ),
    ],
)
def test_a_sentence_says_what_was_seen_and_what_is_not_known(seen: Seen, words: str) -> None:
    assert sentence(seen) == words


def test_what_is_not_known_comes_first_and_many_files_are_counted() -> None:
    healthy = [Seen(f"{number}.py", (GOOD,), asynchronous=1) for number in range(MOST_FILES + 1)]
    lines = list(seen_lines([*healthy, Seen("z.py", gaps=(DEVICE,))]))
    assert lines[0].startswith("z.py: ")
    assert lines[-1] == "and 2 more files"
    assert len(lines) == MOST_FILES + 1
    assert list(seen_lines([])) == []
