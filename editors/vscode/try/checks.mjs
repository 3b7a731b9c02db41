// What a person does with the extension in VS Code's workbench, and what must be seen then: see run.sh.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { lacks, names, opened } from "./folder.mjs";
import { pictures } from "./pictures.mjs";
import { until, Workbench } from "./workbench.mjs";

const TRIAL_MS = 400_000;

const place = await opened(process.env.PYTHON);
const { scratch, folder, settings, script, notebook } = place;
const original = await readFile(script, "utf8");
const window = new Workbench(scratch, folder);

const read = (path) => readFile(path, "utf8");

/** The script as it was, on disk and in the editor. */
async function anew() {
  await writeFile(script, original);
  await window.open("train.py");
  await window.command("File: Revert File");
  await window.problems("the findings of the script as it was", (rows) => names("ACC201")(rows) && names("ACC208")(rows));
  await window.go(1);
}

async function saved(path, holds) {
  await window.press("Control+s");
  await until(`${path} as it is saved`, () => read(path), holds);
}

const checks = {
  async "a notebook alone starts the server, and its findings stand at its cells"() {
    await window.open("explore.ipynb");
    await window.press("Control+Shift+M");
    const rows = await window.problems("the findings of the notebook", names("ACC201"));
    assert.ok(names("ACC102")(rows), rows);
    await window.page.locator(".cell .squiggly-warning").first().waitFor();
    await window.page.locator(".cell .codelens-decoration a", { hasText: "measure this training" }).first().waitFor();
  },
  async "a quick fix changes a cell of a notebook"() {
    await window.page.locator(".markers-panel .monaco-list-row", { hasText: "ACC201" }).first().dblclick();
    await window.quickFixes();
    await window.choose("Pass `non_blocking=True`");
    await window.problems("the notebook without what was fixed", lacks("ACC201"));
    await saved(notebook, (text) => [].concat(JSON.parse(text).cells[2].source).join("").includes("images.cuda(non_blocking=True)"));
    await window.command("View: Close All Editors");
    await window.problems("no findings of a notebook that is closed", (rows) => rows.length === 0);
  },
  async "the editor and the Problems panel show what lint says"() {
    await anew();
    const rows = await window.problems("the findings", names("ACC208"));
    const command = ["-m", "accel_advisor", "lint", "--no-cache", "--exit-zero", "--output-format", "json", "train.py"];
    const { stdout } = await promisify(execFile)(process.env.PYTHON, command, { cwd: folder });
    const said = JSON.parse(stdout).map((one) => `${one.code} [Ln ${one.location.row}, Col ${one.location.column}]`);
    const shown = rows.map((row) => row.match(/ACC\d+ ?\[Ln \d+, Col \d+\]$/)?.[0]).filter(Boolean);
    assert.deepEqual(shown.toSorted(), said.toSorted());
    await window.go(97, 21);
    await window.page.locator(".squiggly-warning").first().waitFor();
  },
  async "the page of the rule stands at its finding"() {
    await window.go(65, 20);
    await window.press("Control+k", "Control+i");
    const [page] = await until("the page", () => window.texts(".monaco-hover:visible"), names("What it does"));
    for (const part of ["host-sync-every-step (ACC208)", "Why it costs time", "Use instead"]) assert.ok(page.includes(part), page);
    await window.press("Escape");
  },
  async "a quick fix changes the file"() {
    await window.go(60, 27);
    const offered = await window.quickFixes();
    assert.ok(names("ACC201: silence blocking-host-to-device-copy with a comment")(offered), offered);
    await window.choose("Pass `non_blocking=True`");
    await window.problems("the findings without what was fixed", lacks("ACC201"));
    await saved(script, (text) => text.includes("images.to(device, non_blocking=True), labels.to(device, non_blocking=True)"));
  },
  async "a comment silences a finding"() {
    await anew();
    await window.go(65, 20);
    await window.quickFixes();
    await window.choose("silence host-sync-every-step");
    await window.problems("the findings without the silenced one", lacks("ACC208"));
    await saved(script, (text) => text.includes("# accel: ignore[ACC208]"));
  },
  async "all safe fixes are made by one command, and where a file is saved"() {
    await anew();
    await window.command("Fix All");
    await window.problems("the findings without the safe fixes", lacks("ACC201"));
    await saved(script, (text) => text.includes("non_blocking=True") && text.includes("pin_memory="));
    const fixed = await read(script);
    await anew();
    await window.set({ ...settings, "editor.codeActionsOnSave": { "source.fixAll.accel-advisor": "explicit" } });
    await window.focus();
    await window.press("Control+End", "Enter");
    await until("the fixes of saving", async () => {
      await window.press("Control+s");
      return (await read(script)).trim() === fixed.trim();
    });
    await window.set(settings);
  },
  async "what is typed counts before it is saved"() {
    await anew();
    await window.go(98, 1);
    await window.focus();
    await window.press("End", "ArrowLeft");
    await window.type(", num_workers=4");
    await window.problems("one loader less", (rows) => rows.filter((row) => row.includes("ACC102")).length === 1);
    assert.equal(await read(script), original);
    await window.type(", (");
    await window.problems("the place where the text is broken", names("ACC001 [Ln 98,"));
  },
  async "a setting counts at once"() {
    await anew();
    await window.set({ ...settings, "accel-advisor.ignore": ["ACC208"] });
    await window.problems("the findings without the rule", lacks("ACC208"));
    await window.set(settings);
    await window.problems("the findings with the rule", names("ACC208"));
  },
  async "the command above a loop measures the training"() {
    await window.set({ ...settings, "accel-advisor.tuneArguments": ["--budget", "20"] });
    await window.open("slow.py");
    await window.go(20);
    const lens = window.page.locator(".codelens-decoration a", { hasText: "measure this training" }).first();
    await lens.click();
    await until("how the trial goes", () => window.texts(".statusbar-item"), names("accel-advisor tune slow.py"));
    await until("what it came to", () => window.texts(".notification-list-item"), names("slow.py:"), TRIAL_MS);
    await until("the figures", () => window.texts(".codelens-decoration"), names("samples/s"));
  },
  async "a command that starts nothing is said, and a better one is taken at once"() {
    await anew();
    await window.set({ "accelAdvisor.command": ["no-such-program", "server"] });
    const told = await until("what is wrong", () => window.texts(".notification-list-item"), names("no-such-program does not start the server"));
    assert.ok(names("accelAdvisor.command")(told), told);
    await window.problems("no findings of a server that has ended", (rows) => rows.length === 0);
    await window.set(settings);
    await window.problems("the findings", names("ACC208"));
  },
};

let failed = 0;
try {
  if (process.argv[2]) {
    await pictures(place, process.argv[2]);
  } else {
    await window.install();
    await window.start(settings, {}, { height: 1600 }); // so that all rows of the Problems panel are there to be read
    for (const [name, check] of Object.entries(checks)) {
      try {
        await check();
        console.log(`ok: ${name}`);
      } catch (error) {
        failed += 1;
        console.log(`FAILED: ${name}\n${error.stack}`);
        await window.page.screenshot({ path: join(tmpdir(), `accel-advisor-failed-${failed}.png`) });
      }
    }
    console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
  }
} finally {
  await window.stop();
  await rm(scratch, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
