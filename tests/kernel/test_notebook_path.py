"""Which file a notebook is saved in, as far as front ends say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_advisor.kernel.notebook_path import UnknownNotebookError, notebook_path


def test_what_is_named_comes_first_then_vs_code_then_jupyter(tmp_path: Path) -> None:
    one, two, three = (str(tmp_path / f"{name}.ipynb") for name in ("one", "two", "three"))
    for path in (one, two, three):
        Path(path).touch()
    names, environment = {"__vsc_ipynb_file__": two}, {"JPY_SESSION_NAME": three}
    assert notebook_path(one, names, environment) == one
    assert notebook_path(None, names, environment) == two
    assert notebook_path(None, {}, environment) == three


@pytest.mark.parametrize("environment", [{}, {"JPY_SESSION_NAME": "0b5c-session"}])
def test_a_front_end_that_does_not_say_it_is_asked_for_it(environment: dict[str, str]) -> None:
    with pytest.raises(UnknownNotebookError, match="does not say which file"):
        notebook_path(None, {}, environment)


def test_in_colab_the_example_is_a_notebook_in_drive() -> None:
    named = r'name it, as in `%accel tune "/content/drive/MyDrive/Colab Notebooks/train.ipynb"`'
    with pytest.raises(UnknownNotebookError, match=named):
        notebook_path(None, {}, {"COLAB_RELEASE_TAG": "release-colab"})
    with pytest.raises(UnknownNotebookError, match=r"as in `%accel tune train.ipynb`"):
        notebook_path(None, {}, {})
