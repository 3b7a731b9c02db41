// VS Code's workbench in a window of Chromium without a screen, as code-server serves it, and what a person does there.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const INSTALLED = join(import.meta.dirname, "..", "..", "..", "build", "vscode");
const EXTENSION = join(INSTALLED, "extension", "accel-advisor.vsix");
const PATIENCE = 40_000;
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const { chromium } = createRequire(join(INSTALLED, "package.json"))("playwright-core");
const QUIET = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "search.exclude": { "**/.venv": true },
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** What `look` gives once `holds` is content with it; an error with what was seen last where it never is. */
export async function until(what, look, holds = Boolean, patience = PATIENCE) {
  const end = Date.now() + patience;
  let seen;
  while (Date.now() < end) {
    seen = await look();
    if (holds(seen)) return seen;
    await pause(200);
  }
  throw new Error(`${what}: waited in vain; seen last: ${JSON.stringify(seen, null, 1)}`);
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

function browser() {
  const paths = process.env.PATH.split(delimiter).flatMap((folder) => PROGRAMS.map((name) => join(folder, name)));
  const found = process.env.CHROMIUM ?? paths.find(existsSync);
  if (found === undefined) throw new Error("there is no Chromium: apt-get install chromium");
  return found;
}

export class Workbench {
  /**
   * @param scratch where this window keeps all that it writes
   * @param folder what is opened in it
   */
  constructor(scratch, folder) {
    Object.assign(this, { scratch, folder, log: "" });
  }

  #served(...words) {
    const entry = join(INSTALLED, "node_modules", "code-server", "out", "node", "entry.js");
    const kept = ["--user-data-dir", join(this.scratch, "data"), "--extensions-dir", join(this.scratch, "extensions")];
    const config = ["--config", join(this.scratch, "config.yaml")];
    const child = spawn(process.execPath, [entry, ...kept, ...config, ...words], { cwd: this.folder });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (this.log += text));
    return child;
  }

  /** Installs the extension with code-server's own command. */
  async install() {
    const child = this.#served("--install-extension", EXTENSION);
    const status = await new Promise((done) => child.on("exit", done));
    if (status !== 0) throw new Error(`--install-extension ended with ${status}:\n${this.log}`);
  }

  /**
   * Opens the folder.
   *
   * @param settings those of the folder
   * @param own those of the person
   */
  async start(settings, own = {}, { width = 1240, height = 820, colorScheme = "light" } = {}) {
    await mkdir(join(this.scratch, "data", "User"), { recursive: true });
    await writeFile(join(this.scratch, "data", "User", "settings.json"), JSON.stringify({ ...QUIET, ...own }));
    await this.set(settings);
    const port = await freePort();
    this.server = this.#served("--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check");
    await until("code-server", () => fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.ok, () => false));
    const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
    this.browser = await chromium.launch({ executablePath: browser(), args: flags });
    this.page = await this.browser.newPage({ viewport: { width, height }, colorScheme });
    this.page.setDefaultTimeout(PATIENCE);
    await this.page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(this.folder)}`);
    await this.page.waitForSelector(".monaco-workbench .explorer-viewlet, .monaco-workbench .explorer-folders-view");
  }

  async stop() {
    await this.browser?.close();
    if (this.server && this.server.exitCode === null) {
      this.server.kill("SIGTERM");
      await new Promise((done) => this.server.on("exit", done));
    }
  }

  /** Writes .vscode/settings.json, which the workbench reads again by itself. */
  async set(settings) {
    await mkdir(join(this.folder, ".vscode"), { recursive: true });
    await writeFile(join(this.folder, ".vscode", "settings.json"), JSON.stringify(settings, null, 2));
  }

  press(...keys) {
    return keys.reduce((before, key) => before.then(() => this.page.keyboard.press(key)), Promise.resolve());
  }

  type(text) {
    return this.page.keyboard.type(text);
  }

  async #picked(opening, text) {
    await this.press(opening);
    const input = this.page.locator(".quick-input-widget:visible input.input");
    await input.waitFor();
    return input.fill(text);
  }

  /** Opens a file of the folder by its name. */
  async open(name) {
    await this.#picked("Control+p", name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().click();
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  /** Runs a command of the palette by its name. */
  async command(name) {
    await this.#picked("F1", `>${name}`);
    const row = this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name }).first();
    await row.waitFor();
    await row.click();
  }

  /** Puts the keyboard into the text. */
  focus() {
    return this.command("View: Focus Active Editor Group");
  }

  /** Sets the cursor. */
  async go(line, column = 1) {
    await this.#picked("Control+g", `:${line}:${column}`);
    await this.press("Enter");
    await this.page.locator(".statusbar-item", { hasText: new RegExp(`Ln ${line}, Col ${column}\\b`) }).waitFor();
  }

  /** The texts of all that a selector names. */
  texts(selector) {
    return this.page.locator(selector).allInnerTexts().then((all) => all.map((one) => one.replace(/\s+/g, " ").trim()));
  }

  /** What stands in the Problems panel once it is as wanted. */
  problems(what, holds) {
    return until(what, () => this.texts(".markers-panel .monaco-list-row"), holds);
  }

  /** What can be done at the cursor. */
  async quickFixes() {
    const rows = ".action-widget .monaco-list-row";
    return until("quick fixes", async () => {
      if (!(await this.page.locator(rows).count())) await this.press("Control+.");
      await pause(300);
      return this.texts(rows);
    }, (seen) => seen.length > 0);
  }

  choose(text) {
    return this.page.locator(".action-widget .monaco-list-row", { hasText: text }).first().click();
  }
}
