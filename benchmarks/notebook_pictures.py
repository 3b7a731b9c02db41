"""Takes the pictures of ``%accel lint`` in docs/images: its output in a real kernel, shown by Chromium, headless.

    python benchmarks/notebook_pictures.py [--chromium PROGRAM]

The page has no theme of a front end, so that the colours are those that the table falls back to.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report_pictures import PROGRAMS, Picture, take  # noqa: E402

CELLS = (
    "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset",
    "data = TensorDataset(torch.randn(640, 3), torch.zeros(640, dtype=torch.long))\n"
    "loader = DataLoader(data, batch_size=64, num_workers=2)",
    'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
    "model = nn.Linear(3, 2).to(device)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)",
    "for x, y in loader:\n    x, y = x.to(device), y.to(device)\n    optimizer.zero_grad()\n"
    "    loss = nn.functional.cross_entropy(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    "    print(loss.item())",
    "%load_ext accel_advisor\n%accel lint",
)
PICTURES = (Picture("notebook", 860, 256), Picture("notebook-dark", 860, 256, dark=True))


def shown() -> str:
    """The HTML that the last cell shows."""
    notebook = new_notebook(cells=[new_code_cell(one) for one in CELLS])
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
    return str(notebook.cells[-1].outputs[0]["data"]["text/html"])


def main() -> None:
    """Takes every picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=next((one for one in PROGRAMS if shutil.which(one)), None))
    arguments = parser.parse_args()
    if arguments.chromium is None:
        sys.exit("no Chromium here: name the program with --chromium")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        page = scratch / "notebook.html"
        style = ":root { color-scheme: light dark } body { font-family: sans-serif; margin: 0 }"
        page.write_text(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{shown()}', encoding="utf-8")
        for picture in PICTURES:
            path = take(arguments.chromium, page, picture, scratch)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
