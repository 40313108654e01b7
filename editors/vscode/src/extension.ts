// The client of `pyptx lsp`: finds pyptx, starts the server, and restarts it when the settings or the Python change.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import * as vscode from "vscode";
import { LanguageClient, type Executable, type LanguageClientOptions } from "vscode-languageclient/node";

const HELP = "Install it with `pip install 'pyptx-workbench[lsp]'`, or set pyptx.command to the path of the pyptx command.";

/** As much of the Python extension's API as is used here. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

let client: LanguageClient | undefined;
let changes: Promise<void> = Promise.resolve();        // starts and stops, one after the other

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  return extension && (extension.isActive ? extension.exports : extension.activate());
}

/** The Python that is selected in the editor, if it has pyptx and pygls. */
async function selectedPython(): Promise<string | undefined> {
  try {
    const api = await pythonApi();
    const found = api && (await api.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath()));
    const path = found?.executable.uri?.fsPath;
    if (path) await promisify(execFile)(path, ["-c", "import pyptx, pygls"], { timeout: 20_000 });
    return path;
  } catch {
    return undefined;                                  // another Python may have it: the PATH is next
  }
}

async function server(): Promise<Executable> {
  const settings = vscode.workspace.getConfiguration("pyptx"), arch = settings.get<string>("arch", "");
  const lsp = ["lsp", ...(arch ? ["--arch", arch] : [])];
  const given = settings.get<string>("command", "");
  if (given) return { command: given, args: lsp };
  const python = await selectedPython();
  return python ? { command: python, args: ["-m", "pyptx", ...lsp] } : { command: "pyptx", args: lsp };
}

async function start(): Promise<void> {
  const python = vscode.workspace.getConfiguration("pyptx").get<boolean>("python", true);
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "ptx" }, ...(python ? [{ language: "python" }] : [])],
    outputChannelName: "PTX",
  };
  const run = await server();
  client = new LanguageClient("pyptx", "PTX", run, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const shown = `PTX: ${run.command} does not start: ${error instanceof Error ? error.message : String(error)}. ${HELP}`;
    void vscode.window.showErrorMessage(shown, "Open Settings").then(choice =>
      choice && vscode.commands.executeCommand("workbench.action.openSettings", "pyptx.command"));
  }
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.stop();
}

function restart(): Promise<void> {
  changes = changes.then(stop).then(start);
  return changes;
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("pyptx.restart", restart),
    vscode.workspace.onDidChangeConfiguration(change => { if (change.affectsConfiguration("pyptx")) void restart(); }),
  );
  const api = await pythonApi().catch(() => undefined);
  if (api) context.subscriptions.push(api.environments.onDidChangeActiveEnvironmentPath(() => void restart()));
  await restart();
}

export function deactivate(): Promise<void> {
  changes = changes.then(stop);
  return changes;
}
