// The folder that is opened in the workbench: a training script of the demo, a notebook, and a script that waits for its data.

import { cp, mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const DEMO = join(import.meta.dirname, "..", "..", "..", "fixtures", "demo");
const CELLS = [
  `import torch
from torch.utils.data import DataLoader
from torchvision import models
from torchvision.datasets import ImageFolder`,
  `loader = DataLoader(ImageFolder("photos"), batch_size=64, shuffle=True)
model = models.resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)`,
  `for images, labels in loader:
    loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()`,
];
const SLOW = `import time

import torch
from torch.utils.data import DataLoader


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.zeros(8), 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for inputs, labels in DataLoader(Slow(), batch_size=8):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
`;
/** Makes it, with an interpreter that has accel-advisor[server] as its environment. */
export async function opened(python) {
  const scratch = await mkdtemp(join(tmpdir(), "accel-advisor-"));
  const folder = join(scratch, "photos");
  await mkdir(folder);
  for (const name of ["train.py", "make_data.py"]) await cp(join(DEMO, name), join(folder, name));
  await symlink(dirname(dirname(python)), join(folder, ".venv"));
  await writeFile(join(folder, "slow.py"), SLOW);
  const cells = CELLS.map((source, number) => ({
    cell_type: "code",
    id: `cell-${number}`,
    metadata: {},
    execution_count: null,
    outputs: [],
    source,
  }));
  const metadata = {
    kernelspec: { name: "python3", display_name: "Python 3", language: "python" },
    language_info: { name: "python" },
  };
  const notebook = join(folder, "explore.ipynb");
  await writeFile(notebook, JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1));
  // As the page about editors says: the interpreter of the project's environment, relative to its folder.
  const settings = { "accelAdvisor.command": [".venv/bin/python", "-m", "accel_advisor", "server"] };
  return { scratch, folder, settings, script: join(folder, "train.py"), notebook };
}

/** Whether one of some texts says something. */
export const names = (part) => (texts) => texts.some((text) => text.includes(part));

/** Whether there are texts, none of which says it. */
export const lacks = (part) => (texts) => texts.length > 0 && !names(part)(texts);
