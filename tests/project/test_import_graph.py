"""Which files belong to one program."""

from __future__ import annotations

import os

import pytest

from accel_advisor.project.import_graph import Source, imports_of, programs


def grouped(files: dict[str, bytes]) -> list[list[str]]:
    """The programs of files by relative name; all mention accelerators but for those with a comment that says so."""
    folder = os.getcwd()
    sources = {
        os.path.join(folder, name): Source.of(name, raw + (b"" if b"# quiet" in raw else b"\n# torch\n"))
        for name, raw in files.items()
    }
    return [
        [os.path.relpath(path, folder) for path in one.files] for one in programs(sources, imports_of(sources, folder))
    ]


class TestPrograms:
    def test_files_that_do_not_import_each_other_stand_alone(self) -> None:
        files = {"a.py": b"import torch\n", "b.py": b"import os, sys\nfrom . import gone\n"}
        assert grouped(files) == [["a.py"], ["b.py"]]

    @pytest.mark.parametrize(
        "line",
        [
            "import pkg.inner",
            "import os, pkg.inner as x",
            "from pkg.inner import f",
            "from pkg import inner",
            "from pkg import (  # why\n    other,\n    inner,\n)",
            "from .pkg.inner import f",
            "if True:\n    from pkg.inner import *",
        ],
    )
    def test_imports_join_files(self, line: str) -> None:
        files = {"b.py": b"", os.path.join("pkg", "inner.py"): b"", "a.py": line.encode()}
        assert grouped(files) == [["b.py"], [os.path.join("pkg", "inner.py"), "a.py"]]

    def test_the_nearest_module_is_meant(self) -> None:
        names = [os.path.join("x", "utils.py"), os.path.join("y", "utils.py"), os.path.join("x", "a.py"), "utils.py"]
        files = dict.fromkeys(names, b"") | {names[2]: b"import utils"}
        assert grouped(files) == [[names[0], names[2]], [names[1]], [names[3]]]

    def test_relative_imports_climb(self) -> None:
        names = [os.path.join("p", "q", "a.py"), os.path.join("p", "b.py"), os.path.join("p", "__init__.py")]
        files = {names[0]: b"from ..b import f\nfrom .. import c\n", names[1]: b"", names[2]: b""}
        assert grouped(files) == [names]

    @pytest.mark.parametrize(
        "line",
        [
            "module = importlib.import_module('models.' + args.model)",
            "module = importlib.import_module(f'models.{args.model}')",
            "module = importlib.import_module('models.%s' % args.model)",
            "module = __import__('models.{}'.format(args.model))",
        ],
    )
    def test_computed_names_join_the_modules_that_they_begin(self, line: str) -> None:
        one, other = os.path.join("models", "small.py"), os.path.join("models", "large", "net.py")
        files = {one: b"", other: b"", os.path.join("tools", "small.py"): b"", "train.py": line.encode()}
        assert grouped(files) == [[one, other, "train.py"], [os.path.join("tools", "small.py")]]
        assert ["train.py"] in grouped(files | {"train.py": line.replace("models", "nets").encode()})

    def test_a_computed_name_joins_the_modules_beside_the_one_that_a_text_names(self) -> None:
        line = "import importlib, sys\nsys.path.append('models')\nmodule = importlib.import_module(args.model)\n"
        names = [os.path.join("models", "small.py"), os.path.join("models", "large.py")]
        files = dict.fromkeys(names, b"")
        assert grouped(files | {"train.py": f"{line}add('--model', default='small')".encode()}) == [
            [*names, "train.py"]
        ]
        assert len(grouped(files | {"train.py": f"{line}add('--model', default='other')".encode()})) == 3
        assert len(grouped(files | {"train.py": b"load(default='small')"})) == 3

    def test_a_large_program_is_taken_in_pieces(self) -> None:
        files = {f"m{number}.py": b"import m%d\n" % ((number + 1) % 12) + b"#" * 1_200_000 for number in range(12)}
        assert [len(one) for one in grouped(files)] == [2] * 6

    def test_the_scripts_of_a_large_library_stand_alone_and_call_it(self) -> None:
        large = {"library.py": b"import inner\n" + b"#" * 900_000, "inner.py": b"#" * 200_000}
        scripts = {f"train{number}.py": b"import library\n" for number in range(9)} | {"run.py": b"import train0\n"}
        alone = [["train0.py", "run.py"], *([name] for name in list(scripts)[1:-1])]
        assert grouped(scripts | large) == [*alone, ["library.py", "inner.py", *list(scripts)[:-1]]]
        small = large | {"inner.py": b""}
        assert grouped(scripts | small) == [[*scripts, "library.py", "inner.py"]]

    def test_scripts_of_a_large_library_stand_with_the_modules_beside_them(self) -> None:
        large = {"library.py": b"#" * 1_001_000} | {f"test{number}.py": b"import library\n" for number in range(9)}
        beside = {"args.py": b"", "data.py": b"", "train.py": b"import args, data, library\n"}
        assert grouped(beside | large)[0] == list(beside)
        heavy = beside | {"data.py": b"#" * 1_001_000}
        assert grouped(heavy | large)[:3] == [["args.py", "train.py"], ["data.py", "train.py"], ["train.py"]]

    def test_only_so_many_scripts_are_read_with_a_large_library(self) -> None:
        scripts = {f"train{number}.py": b"import library\n" + b"#" * 200_000 for number in range(12)}
        *alone, library = grouped(scripts | {"library.py": b"#" * 1_000_000})
        assert (alone, library) == ([[name] for name in scripts], ["library.py", *list(scripts)[:10]])

    @pytest.mark.parametrize(("more", "same"), [(0, True), (400, True), (2_000, False)])
    def test_which_scripts_are_read_with_a_large_library_depends_on_no_letter(self, more: int, same: bool) -> None:
        scripts = {f"train{number}.py": b"import library\n" + b"#" * 199_900 for number in range(12)}
        files = scripts | {"library.py": b"#" * 1_200_400}
        before = grouped(files)[-1]
        assert before == ["library.py", *list(scripts)[:9]]
        longer = files | {"train4.py": scripts["train4.py"] + b"#" * more}
        assert (grouped(longer)[-1] == before) is same

    def test_files_without_a_word_of_ours_belong_to_what_they_call(self) -> None:
        files = {"main.py": b"import a, b  # quiet", "a.py": b"", "b.py": b"", "other.py": b"import main  # quiet"}
        assert grouped(files) == [["a.py", "b.py", "main.py", "other.py"]]
        assert grouped(files | {"main.py": b"import c  # quiet"}) == [["a.py"], ["b.py"]]

    def test_the_names_that_a_package_brings_lead_through_its_own_file(self) -> None:
        inner, own = os.path.join("pkg", "inner.py"), os.path.join("pkg", "__init__.py")
        files = {"a.py": b"from pkg import f", inner: b"", own: b"from .inner import *  # quiet"}
        assert grouped(files) == [["a.py", inner, own]]
        assert grouped(files | {own: b"# quiet"}) == [["a.py"], [inner]]

    @pytest.mark.parametrize("adding", [b"import sys\nsys.path.insert(0, '../lib')\n", b"import paths\n"])
    def test_folders_on_the_search_path_join_files(self, adding: bytes) -> None:
        train, core = os.path.join("tools", "train.py"), os.path.join("lib", "core", "steps.py")
        paths = {os.path.join("tools", "paths.py"): b"import sys\nsys.path.insert(0, '../lib')  # quiet\n"}
        assert grouped({train: adding + b"from core.steps import step", core: b""} | paths) == [[train, core]]
        assert grouped({train: b"from core.steps import step", core: b""} | paths) == [[train], [core]]
