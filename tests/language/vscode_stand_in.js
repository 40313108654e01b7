// Stands in for VS Code: loads the bundle of the extension and prints what it registers and the first diagnostics.
//
//     node vscode_stand_in.js BUNDLE FILE.ptx COMMAND

const Module = require("node:module"), fs = require("node:fs"), path = require("node:path"), url = require("node:url");
const [bundle, file, command] = process.argv.slice(2);
const text = fs.readFileSync(file, "utf8");
class Disposable { constructor(f) { this.f = f; } dispose() { this.f?.(); } static from(...all) { return new Disposable(() => all.forEach(one => one.dispose())); } }
class EventEmitter { constructor() { this.all = new Set(); this.event = f => { this.all.add(f); return new Disposable(() => this.all.delete(f)); }; } fire(v) { for (const f of this.all) f(v); } dispose() {} }
class Position { constructor(line, character) { this.line = line; this.character = character; } }
class Range { constructor(line, column, endLine, endColumn) { this.start = new Position(line, column); this.end = new Position(endLine, endColumn); } }
class Uri { constructor(p) { this.path = this.fsPath = p; this.scheme = "file"; } toString() { return url.pathToFileURL(this.path).href; } static parse(t) { return new Uri(url.fileURLToPath(t)); } static file(p) { return new Uri(p); } }
const event = new EventEmitter().event;
const anything = name => new Proxy(class {}, { get: (t, key) => key in t || typeof key === "symbol" ? t[key] : `${name}.${String(key)}` });
const uri = new Uri(file);
const document = { uri, languageId: "ptx", version: 1, isClosed: false, getText: () => text, lineCount: text.split("\n").length };
const registered = [];
const known = {
  Disposable, EventEmitter, Position, Range, Uri, version: "1.82.0",
  CancellationTokenSource: class { token = { isCancellationRequested: false, onCancellationRequested: event }; cancel() {} dispose() {} },
  CancellationError: class extends Error {},
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
  env: { appName: "stand-in", language: "en", openExternal: async () => true },
  extensions: { getExtension: () => undefined },
  commands: { registerCommand: name => { registered.push(name); return new Disposable(); }, executeCommand: async () => undefined },
  window: new Proxy({ createOutputChannel: () => ({ append() {}, appendLine(t) { process.stderr.write(t + "\n"); }, show() {}, dispose() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} }),
                      showErrorMessage: async message => { console.error(message); }, visibleTextEditors: [], tabGroups: { all: [], onDidChangeTabs: event } }, { get: (t, key) => t[key] ?? (String(key).startsWith("onDid") ? event : async () => undefined) }),
  languages: new Proxy({ match: (selector, doc) => selector.some(one => one.language === doc.languageId) ? 10 : 0,
                         createDiagnosticCollection: () => ({ set(where, list) { if (list?.length) finish(list); }, delete() {}, clear() {}, dispose() {} }) },
                       { get: (t, key) => t[key] ?? ((...given) => { registered.push(String(key)); return new Disposable(); }) }),
  workspace: new Proxy({ textDocuments: [document], notebookDocuments: [], workspaceFolders: undefined, getWorkspaceFolder: () => undefined, isTrusted: true,
                         getConfiguration: () => ({ get: (name, otherwise) => name === "command" ? command : otherwise, inspect: () => undefined }),
                         createFileSystemWatcher: () => ({ onDidCreate: event, onDidChange: event, onDidDelete: event, dispose() {} }) },
                       { get: (t, key) => (key in t ? t[key] : event) }),
};
const vscode = new Proxy(known, { get: (t, key) => t[key] ?? (t[key] = anything(String(key))), has: () => true });
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require(path.resolve(bundle));
async function finish(list) {
  await new Promise(resolve => setTimeout(resolve, 300));
  console.log(JSON.stringify({ registered, diagnostics: list.map(({ range, message }) => [range.start.line, range.start.character, message]) }));
  await extension.deactivate();
  process.exit(0);
}
extension.activate({ subscriptions: [] }).catch(error => { console.error(error); process.exit(1); });
