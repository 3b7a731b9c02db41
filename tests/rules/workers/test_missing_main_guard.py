"""ACC114 missing-main-guard, silent cases first."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..checks import Pair, check_one, check_pair, findings_of, severities
from ..programs import FILES
from .programs import WORKERS

SPAWNING = "loader = DataLoader(data, num_workers=2, multiprocessing_context='spawn')\n"
SILENT = {
    "forked": "loader = DataLoader(data, num_workers=2)\nfor x in loader:\n    print(x)\n",
    "guarded": SPAWNING + "if __name__ == '__main__':\n    for x in loader:\n        print(x)\n",
    "in a function": SPAWNING + "def main():\n    for x in loader:\n        print(x)\n",
    "no workers": "loader = DataLoader(data)\nfor x in loader:\n    print(x)\n",
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT.keys())
def test_silent_where_a_worker_does_not_run_the_loop(source: str, tmp_path: Path) -> None:
    check_one("ACC114", WORKERS + source, tmp_path)


HEAD = FILES + "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
SPAWNED = "loader = DataLoader(data, num_workers=2, multiprocessing_context='spawn')\n"
OVER = "for x in loader:\n    print(x)\n"
PAIRS = {
    "a function": Pair(
        HEAD + SPAWNED + "def main():\n    for x in loader:\n        print(x)\n", "def main()", "if True"
    ),
    "guarded": Pair(
        HEAD + SPAWNED + "if __name__ == '__main__':\n    for x in loader:\n        print(x)\n",
        "if __name__ == '__main__'",
        "if True",
    ),
    "guarded the other way round": Pair(
        HEAD + SPAWNED + "if '__main__' == __name__:\n    for x in loader:\n        print(x)\n",
        "if '__main__' == __name__",
        "if True",
    ),
    "a function that is called under the guard": Pair(
        HEAD
        + SPAWNED
        + "def main():\n    for x in loader:\n        print(x)\nif __name__ == '__main__':\n    main()\n",
        "def main():\n    for x in loader:\n        print(x)\nif __name__ == '__main__':\n    main()\n",
        OVER,
    ),
    "a call under the guard": Pair(
        HEAD
        + SPAWNED
        + "def main():\n    for x in loader:\n        print(x)\nif __name__ == '__main__':\n    main()\n",
        "if __name__ == '__main__':\n    main()\n",
        "main()\n",
    ),
    "forked": Pair(
        HEAD + "loader = DataLoader(data, num_workers=2, multiprocessing_context='fork')\n" + OVER, "'fork'", "'spawn'"
    ),
    "forked by default": Pair(
        HEAD + "loader = DataLoader(data, num_workers=2)\n" + OVER, "=2)", "=2, multiprocessing_context='spawn')"
    ),
    "no workers": Pair(HEAD + SPAWNED.replace("2", "0") + OVER, "=0", "=2"),
    "a setting": Pair(HEAD + SPAWNED.replace("2", "conf.n") + OVER, "conf.n", "2"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_silent_for_one_reason(case: str, tmp_path: Path) -> None:
    check_pair("ACC114", PAIRS[case], tmp_path)


def test_reports_a_loop_that_workers_would_run_again(tmp_path: Path) -> None:
    assert severities("ACC114", WORKERS + SPAWNING + "for x in loader:\n    print(x)\n", tmp_path) == ["error"]


def test_one_guard_settles_all_loaders_of_a_script(tmp_path: Path) -> None:
    other = SPAWNED.replace("loader", "other")
    (one,) = findings_of("ACC114", HEAD + SPAWNED + other + OVER + OVER.replace("loader", "other"), tmp_path)
    assert [place.message for place in one.related] == [
        "runs in every worker",
        "runs in every worker",
        "its workers are started likewise",
    ]
