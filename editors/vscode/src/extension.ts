import { ExtensionContext, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

const COMMAND = "accelAdvisor.command";

let client: LanguageClient | undefined;
let restarting: Promise<void> = Promise.resolve();

/** Starts the server, and again where another command is to start it; everything else is its own. */
export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(COMMAND)) restarting = restarting.then(deactivate).then(start);
    }),
  );
  await start();
}

async function start(): Promise<void> {
  const [command, ...args] = workspace.getConfiguration().get<string[]>(COMMAND, []);
  if (command === undefined) {
    void window.showErrorMessage(`${COMMAND} is empty: name what starts the server`);
    return;
  }
  client = new LanguageClient(
    "accel-advisor",
    "accel-advisor",
    { command, args },
    { documentSelector: [{ language: "python" }, { notebook: "*", language: "python" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void window.showErrorMessage(`accel-advisor: ${command} does not start the server (${error}). The setting ${COMMAND} names what does.`);
  }
}

export async function deactivate(): Promise<void> {
  const last = client;
  client = undefined;
  await last?.dispose();
}
