"""Makes what a release is made of: the archives, the same bytes wherever and whenever they are made of a commit, and a
bill of materials.

    python ci/release.py archives    # dist/*.whl and dist/*.tar.gz, with their SHA-256
    python ci/release.py bill        # dist/accel-advisor.cdx.json: CycloneDX, of what that wheel brings
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BILL = "accel-advisor.cdx.json"


def archives(source: Path, out: Path, *, isolated: bool = True) -> list[Path]:
    """Builds the sdist, and the wheel from it.

    Args:
        source: a checkout. Only what git tracks counts, as it is on disk.
        out: the folder for the archives; made where it is missing.
        isolated: build with the pinned setuptools in an environment of its own, for which an index is needed.

    Returns:
        The files, sorted.

    Raises:
        CalledProcessError: git or the build failed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        copy, built = Path(scratch, "source"), Path(scratch, "built")
        _copy(source, copy)
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(_time_of(source)), "PYTHONHASHSEED": "0"}
        environment["PIP_CONSTRAINT"] = str(copy / "constraints.txt")
        command = [sys.executable, "-m", "build", "--outdir", str(built), *([] if isolated else ["--no-isolation"])]
        umask = 0o022 if os.name == "posix" else -1  # modes stand in the wheel
        subprocess.run([*command, str(copy)], env=environment, check=True, stdout=subprocess.DEVNULL, umask=umask)
        out.mkdir(parents=True, exist_ok=True)
        for path in built.iterdir():
            if path.name.endswith(".tar.gz"):
                path.write_bytes(_without_circumstances(path.read_bytes(), _time_of(source)))
            shutil.copyfile(path, out / path.name)
        return sorted(out / path.name for path in built.iterdir())


def bill(wheel: Path, out: Path) -> Path:
    """Writes down what comes with a wheel: installs it where nothing else is, and lists that.

    Raises:
        CalledProcessError: pip or CycloneDX failed, such as without an index.
    """
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch)
        python = next(
            path for path in (Path(scratch, "bin/python"), Path(scratch, "Scripts/python.exe")) if path.exists()
        )
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", str(python)]
        subprocess.run([*pip, "install", "--no-compile", str(wheel)], check=True)
        path = out / BILL
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON"]
        options = ["--pyproject", str(ROOT / "pyproject.toml"), "-o", str(path), str(python)]
        subprocess.run([*command, *options], check=True)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["metadata"]["component"]["version"] = wheel.name.split("-")[1]  # pyproject.toml says where it stands, not what
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return path


def _copy(source: Path, target: Path) -> None:
    """What git tracks, with modes that no umask and no file system has a say in."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=source, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (source / name).is_file():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, path)
            path.chmod(0o644)


def _time_of(source: Path) -> int:
    """Seconds since 1970: when the last commit was made, unless the environment says another time."""
    said = os.environ.get("SOURCE_DATE_EPOCH")
    if said:
        return int(said)
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=source, check=True, capture_output=True).stdout)


def _without_circumstances(raw: bytes, time: int) -> bytes:
    """An archive without who packed it, when, and in which order; setuptools writes them into an sdist."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(raw)) as old,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = time
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(packed.getvalue(), mtime=time)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("what", choices=["archives", "bill"])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder to write to")
    parser.add_argument("--no-isolation", action="store_true", help="build with the setuptools that is installed")
    options = parser.parse_args()
    if options.what == "archives":
        for path in archives(ROOT, options.out, isolated=not options.no_isolation):
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
        return
    wheels = sorted(options.out.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{options.out}: holds {len(wheels)} wheels, and the bill is of one: run `release.py archives` first")
    print(bill(wheels[0], options.out))


if __name__ == "__main__":
    main()
