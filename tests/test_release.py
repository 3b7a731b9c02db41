"""What a release is made of: its version, its archives, what they bring, and what is said of them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import ModuleType

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from accel_advisor import __version__
from accel_advisor.cli import cli

from .checkouts import NO_INDEX, ROOT, environment, git, own_checkout
from .conftest import NewFolder

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "ci" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(new_folder: NewFolder) -> Path:
    """This checkout as it is now, committed at a known time."""
    folder = own_checkout(new_folder("source"))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "It", "--date", "2026-01-02T03:04:06Z")
    return folder


@pytest.fixture(scope="module")
def built(release: ModuleType, source: Path, new_folder: NewFolder) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    wheel, sdist = release.archives(source, new_folder("dist"), isolated=False)
    return wheel, sdist


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    files = [ROOT / "pyproject.toml", *ROOT.glob("advisor/**/*.py"), *ROOT.glob("rules/**/*.py"), *ROOT.glob("ci/*")]
    text = re.compile(rf"""["']{re.escape(__version__)}["']""")
    assert [path for path in files if path.is_file() and text.search(path.read_text(encoding="utf-8"))] == [
        ROOT / "advisor" / "__init__.py"
    ]


def test_two_builds_are_the_same_bytes(
    release: ModuleType, source: Path, built: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another day, by another user, in another time zone, from files that were written at another time."""
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    for path in (source / "advisor").rglob("*.py"):
        os.utime(path, (1, 1))
    (source / "advisor" / "cli.py").chmod(0o755)
    (source / "build").mkdir()
    (source / "build" / "left.py").write_text("")
    old = os.umask(0o077)
    try:
        again = {path.name: path.read_bytes() for path in release.archives(source, tmp_path, isolated=False)}
    finally:
        os.umask(old)
    assert again == {path.name: path.read_bytes() for path in built}


def test_the_archives_hold_the_package(built: tuple[Path, Path]) -> None:
    wheel, sdist = built
    assert wheel.name == f"accel_advisor-{__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("accel_advisor/py.typed", "accel_advisor/cli.py", "accel_advisor/rules/dataloader/__init__.py"):
        assert name in names
    assert any(name.endswith(".css") for name in names)
    assert not [name for name in names if "test" in name.partition("accel_advisor/")[2].split("/")[0]]
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert {(one.uid, one.gid, one.uname, one.gname) for one in members} == {(0, 0, "", "")}
    inner = {one.name.partition("/")[2] for one in members}
    assert {"advisor/cli.py", "rules/dataloader/__init__.py", "LICENSE", "README.md", "SECURITY.md"} <= inner


def test_the_wheel_runs(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Unpacked as pip unpacks it, on the packages that are here."""
    zipfile.ZipFile(built[0]).extractall(tmp_path / "site")
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\nloader = DataLoader([], persistent_workers=True)\n"
    )
    program = "import sys; sys.path.insert(0, 'site'); from accel_advisor.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "lint", "--no-cache", "--output-format", "concise", "train.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, "ACC104" in done.stdout) == (1, True), done.stderr


def test_the_bill_lists_what_a_wheel_brings(release: ModuleType, built: tuple[Path, Path], tmp_path: Path) -> None:
    try:
        done = subprocess.run(
            [sys.executable, str(ROOT / "ci" / "release.py"), "bill", "--out", str(built[0].parent)],
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )
    except subprocess.TimeoutExpired:
        pytest.skip("the package index does not answer")
    if done.returncode != 0 and any(one in done.stderr for one in NO_INDEX):
        pytest.skip("there is no package index here that pip could install from")
    assert done.returncode == 0, done.stderr
    data = json.loads((built[0].parent / release.BILL).read_text())
    assert (data["bomFormat"], data["metadata"]["component"]["name"]) == ("CycloneDX", "accel-advisor")
    assert data["metadata"]["component"]["version"] == __version__
    listed = {canonicalize_name(one["name"]) for one in data["components"]}
    assert {canonicalize_name(Requirement(one).name) for one in PROJECT["dependencies"]} <= listed
    assert all(one["licenses"] for one in data["components"])
    assert not listed & {"torch", "accel-advisor", "pip"}
    assert {one for one in listed if one != "typing-extensions"} <= described()


def described() -> set[str]:
    """The packages that docs/dependencies.md has a licence for."""
    rows = re.findall(r"^\| ([\w ,-]+) \|.*\| ([^|]+) \|$", (ROOT / "docs/dependencies.md").read_text(), re.MULTILINE)
    return {canonicalize_name(name.strip()) for names, _ in rows for name in names.split(",") if names != "package"}


def test_each_dependency_has_its_licence_in_the_docs() -> None:
    extras = PROJECT["optional-dependencies"]
    shipped = [PROJECT["dependencies"], *(extras[name] for name in extras if name not in ("dev", "docs"))]
    wanted = {canonicalize_name(Requirement(one).name) for listed in shipped for one in listed}
    for name in sorted(wanted - {"torch"}):
        try:
            needed = [Requirement(one) for one in requires(name) or []]
        except PackageNotFoundError:
            continue
        here = [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
        wanted |= {canonicalize_name(one.name) for one in here}
    assert wanted - {"typing-extensions"} <= described()


def test_the_options_that_the_security_page_names_are_there() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    context = click.Context(cli)
    commands = [cli.get_command(context, name) or cli for name in ("lint", "tune")]
    known = {option for command in commands for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"`(--[\w-]+)`", text)) <= known
