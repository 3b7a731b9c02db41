"""Takes the pictures of ``%accel lint`` and ``%accel tune`` in docs/images: their output in a real kernel, which is
sent the cells as JupyterLab sends them, shown by Chromium, headless.

    python benchmarks/notebook_pictures.py [lint] [tune] [--chromium PROGRAM]

The page has no theme of a front end, so that the colours are those that the table falls back to.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image, ImageChops

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report_pictures import PROGRAMS, Picture, take  # noqa: E402

CELLS = (
    "%load_ext accel_advisor\nimport torch\nfrom torch import nn\n"
    "from torch.utils.data import DataLoader, TensorDataset",
    "data = TensorDataset(torch.randn(640, 3), torch.zeros(640, dtype=torch.long))\n"
    "loader = DataLoader(data, batch_size=64, num_workers=2)",
    'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
    "model = nn.Linear(3, 2).to(device)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)",
    "for x, y in loader:\n    x, y = x.to(device), y.to(device)\n    optimizer.zero_grad()\n"
    "    loss = nn.functional.cross_entropy(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    "    print(loss.item())",
    "%accel lint",
)
TRAINING = (
    "import time\nimport torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Dataset",
    "class Remote(Dataset):\n    def __len__(self):\n        return 4_000\n\n    def __getitem__(self, index):\n"
    "        time.sleep(0.004)  # a store that answers after four milliseconds\n"
    "        return torch.randn(64), index % 10",
    "loader = DataLoader(Remote(), batch_size=32, shuffle=True)\n"
    "model = nn.Linear(64, 10)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)",
    "for epoch in range(10):\n    for x, y in loader:\n        loss = nn.functional.cross_entropy(model(x), y)\n"
    "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()",
)
"""A notebook for a trial: what waits is no work of the processor, so that other work on the machine spoils little."""
TALL, MARGIN = 1_000, 10
"""The height of the window, and what is left below the last line, in CSS pixels."""
ASKED = ("%load_ext accel_advisor\n%accel tune train.ipynb",)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a kernel runs, and the pictures of what its last cell shows.

    Attributes:
        saved: the cells of ``train.ipynb`` beside it; none without such a file.
    """

    cells: tuple[str, ...]
    pictures: tuple[Picture, ...]
    saved: tuple[str, ...] = ()

    def shown(self) -> str:
        """The HTML that the last cell shows."""
        with tempfile.TemporaryDirectory() as folder:
            if self.saved:
                saved = new_notebook(cells=[new_code_cell(one) for one in self.saved])
                nbformat.write(saved, Path(folder, "train.ipynb"))
            manager, client = start_new_kernel(cwd=folder)
            try:
                return [_html(client, text, f"cell-{number}") for number, text in enumerate(self.cells)][-1]
            finally:
                client.stop_channels()
                manager.shutdown_kernel(now=True)


def _html(client: BlockingKernelClient, text: str, cell: str) -> str:
    """What a cell shows, run as JupyterLab runs it, which names the cell; empty where it shows nothing."""
    content = {"code": text, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = client.session.msg("execute_request", content, metadata={"cellId": cell})
    client.shell_channel.send(message)
    shown = ""
    while True:
        answer = client.get_iopub_msg(timeout=300)
        if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if answer["msg_type"] == "error":
            raise RuntimeError("\n".join(answer["content"]["traceback"]))
        if answer["msg_type"] == "display_data":
            shown = answer["content"]["data"]["text/html"]
        if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
            return shown


def _both(name: str) -> tuple[Picture, ...]:
    return Picture(name, 860, TALL), Picture(f"{name}-dark", 860, TALL, dark=True)


def cut(path: Path) -> None:
    """Leaves out of a picture what is empty at its bottom, but for a margin."""
    with Image.open(path) as image:
        colours = image.convert("RGB")
        empty = Image.new("RGB", image.size, colours.getpixel((0, image.height - 1)))
        _, _, _, bottom = ImageChops.difference(colours, empty).getbbox() or (0, 0, 0, image.height)
        shorter = image.crop((0, 0, image.width, min(bottom + MARGIN, image.height)))
    shorter.save(path, optimize=True)


SCENES = {"lint": Scene(CELLS, _both("notebook")), "tune": Scene(ASKED, _both("notebook-tune"), TRAINING)}


def main() -> None:
    """Takes every picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=next((one for one in PROGRAMS if shutil.which(one)), None))
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, []], metavar="SCENE", help="lint, tune; both by default")
    arguments = parser.parse_args()
    if arguments.chromium is None:
        sys.exit("no Chromium here: name the program with --chromium")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        page = scratch / "notebook.html"
        style = ":root { color-scheme: light dark } body { font-family: sans-serif; margin: 0 }"
        style += " .accel-advisor { box-sizing: border-box; min-height: 100vh }"
        for scene in (SCENES[name] for name in arguments.scenes or SCENES):
            html = f'<!doctype html><meta charset="utf-8"><style>{style}</style>{scene.shown()}'
            page.write_text(html, encoding="utf-8")
            for picture in scene.pictures:
                path = take(arguments.chromium, page.as_uri(), picture, scratch)
                cut(path)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
