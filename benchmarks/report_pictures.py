"""Takes the pictures of docs/images: the page of a recorded run (docs/recorded/trial.json) in Chromium, headless.

    python benchmarks/report_pictures.py [--chromium PROGRAM] [--run]

With --run, the demo is tuned and recorded first.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from accel_advisor.tuning.page.page import trial_page
from accel_advisor.tuning.record.record_file import read_record

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
RECORD = ROOT / "docs" / "recorded" / "trial.json"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True, slots=True)
class Picture:
    """A window in CSS pixels, whether it is dark, and the colours that are kept."""

    name: str
    width: int
    height: int
    dark: bool = False
    colours: int = 96


PICTURES = (
    Picture("report", 860, 1412),
    Picture("report-dark", 860, 1412, dark=True),
    Picture("report-phone", 360, 1276),
)
"""Each ends where something on the page does."""


def take(program: str, address: str, picture: Picture, scratch: Path) -> Path:
    """A picture of the top of the page at an address."""
    raw = scratch / f"{picture.name}.png"
    subprocess.run(
        [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={scratch / 'profile'}",
            f"--blink-settings=preferredColorScheme={0 if picture.dark else 1}",
            f"--window-size={picture.width},{picture.height}",
            f"--screenshot={raw}",
            "--virtual-time-budget=5000",
            address,
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return reduced(raw, picture.colours)


def reduced(raw: Path, colours: int) -> Path:
    """Puts a picture among those of the docs, with few colours so that it stays small."""
    target = IMAGES / raw.name
    with Image.open(raw) as image:
        image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
    return target


def run_demo() -> None:
    """Records a run of a copy of the demo, its change applied and verified, its loader explained."""
    folder = ROOT / "build" / "recording" / "report"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted((ROOT / "fixtures" / "demo").glob("*.py")):
        shutil.copyfile(path, folder / path.name)
    subprocess.run([sys.executable, "make_data.py"], cwd=folder, check=True)
    wanted = ["--apply", "--explain", "--json", str(RECORD)]
    command = [sys.executable, "-m", "accel_advisor", "tune", "train.py", *wanted]
    subprocess.run(command, cwd=folder, check=True)


def main() -> None:
    """Takes every picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=next((one for one in PROGRAMS if shutil.which(one)), None))
    parser.add_argument("--run", action="store_true", help="record a run of the demo first")
    arguments = parser.parse_args()
    if arguments.chromium is None:
        sys.exit("no Chromium here: name the program with --chromium")
    if arguments.run:
        run_demo()
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        page = scratch / "report.html"
        page.write_text(trial_page(read_record(RECORD)), encoding="utf-8")
        for picture in PICTURES:
            path = take(arguments.chromium, page.as_uri(), picture, scratch)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
