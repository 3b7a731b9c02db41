// Pictures of the workbench for the page about editors: see run.sh and benchmarks/place_pictures.py.

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { names } from "./folder.mjs";
import { until, Workbench } from "./workbench.mjs";

const TRIAL_MS = 400_000;

const ROOM = { "editor.fontSize": 13, "editor.minimap.enabled": false, "editor.occurrencesHighlight": "off" };

async function light(window, target) {
  await window.open("train.py");
  await window.press("Control+Shift+M");
  await window.problems("the findings", names("ACC208"));
  await window.go(60, 27);
  await window.quickFixes();
  await window.page.screenshot({ path: join(target, "vscode.png") });
}

async function dark(window, target) {
  await window.open("train.py");
  await window.press("Control+Shift+M");
  await window.problems("the findings", names("ACC208"));
  await window.go(65, 20);
  await window.press("Control+k", "Control+i");
  await window.page.locator(".monaco-hover:visible", { hasText: "What it does" }).first().waitFor();
  await window.page.screenshot({ path: join(target, "vscode-dark.png") });
}

async function notebook(window, target) {
  await window.open("explore.ipynb");
  await window.press("Control+Shift+M");
  await window.problems("the findings", names("ACC201"));
  await window.page.locator(".cell .squiggly-warning").first().waitFor();
  await window.page.screenshot({ path: join(target, "vscode-notebook.png") });
}

async function measured(window, target) {
  await window.open("slow.py");
  await window.press("Control+b"); // room for the line of the figures
  await window.go(21);
  await window.page.locator(".codelens-decoration a", { hasText: "measure this training" }).first().click();
  await until("what it came to", () => window.texts(".notification-list-item"), names("slow.py:"), TRIAL_MS);
  await until("the figures", () => window.texts(".codelens-decoration"), names("samples/s"));
  await window.page.screenshot({ path: join(target, "vscode-measured.png") });
}

/** Takes the pictures into a folder, each in a window of its own. */
export async function pictures({ scratch, folder, settings }, where) {
  const target = resolve(where);
  await mkdir(target, { recursive: true });
  const wanted = [
    [light, "light", 820],
    [dark, "dark", 820],
    [notebook, "light", 820],
    [measured, "light", 560],
  ];
  const first = new Workbench(scratch, folder);
  await first.install();
  for (const [take, colorScheme, height] of wanted) {
    const window = new Workbench(scratch, folder);
    try {
      const own = { ...ROOM, "window.autoDetectColorScheme": true };
      await window.start({ ...settings, "accel-advisor.tuneArguments": ["--budget", "60"] }, own, { width: 1240, height, colorScheme });
      await take(window, target);
    } finally {
      await window.stop();
    }
  }
}
