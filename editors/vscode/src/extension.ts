import { ExtensionContext, window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

/** Starts the server; everything else is its own. */
export async function activate(context: ExtensionContext): Promise<void> {
  const [command, ...args] = workspace.getConfiguration("accelAdvisor").get<string[]>("command", []);
  if (command === undefined) {
    void window.showErrorMessage("accelAdvisor.command is empty: name what starts the server");
    return;
  }
  client = new LanguageClient(
    "accel-advisor",
    "accel-advisor",
    { command, args },
    { documentSelector: [{ language: "python" }, { notebook: "*", language: "python" }] },
  );
  context.subscriptions.push(client);
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
