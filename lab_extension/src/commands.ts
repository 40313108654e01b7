// Commands and their labels; key bindings and menus are in schema/plugin.json.

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { Dialog, MainAreaWidget, Notification, showDialog } from "@jupyterlab/apputils";
import type { ICodeCellModel } from "@jupyterlab/cells";
import type { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { NotebookActions, type INotebookTracker } from "@jupyterlab/notebook";
import type { TranslationBundle } from "@jupyterlab/translation";

import { comparisonView, diffView, versionView } from "./api.js";
import { FACTORY } from "./documents.js";
import { chipIcon } from "./icons.js";
import { starter } from "./logic/notebook.js";
import { markAt, reveal } from "./margin.js";
import { PLUGIN } from "./preferences.js";
import { View } from "./view.js";
import type { ViewData } from "./viewdata.js";

export const IDS = {
  newNotebook: "pyptx:new-notebook", showPanel: "pyptx:show-panel", revealLine: "pyptx:reveal-line", openFile: "pyptx:open-file-view",
  toggleMargin: "pyptx:toggle-margin", openVersion: "pyptx:open-version", compare: "pyptx:compare-versions", insertCell: "pyptx:insert-cell",
} as const;

export interface Parts {
  notebooks: INotebookTracker | null;
  files: IFileBrowserFactory | null;
  margin: () => boolean;
  setMargin: (on: boolean) => Promise<void>;
  trans: TranslationBundle;
}

let made = 0;

/** Open a view in a tab, or in a dialog if the application has a single main area, as Notebook 7 does. */
async function open(app: JupyterFrontEnd, title: string, data: Promise<ViewData>): Promise<void> {
  const content = new View(true), widget = new MainAreaWidget({ content, reveal: data.then(view => content.present(view)) });
  widget.id = `pyptx-view-${made += 1}`;
  Object.assign(widget.title, { label: title, caption: title, icon: chipIcon, closable: true });
  app.shell.add(widget, "main", { mode: "split-bottom" });
  if (widget.isAttached) { app.shell.activateById(widget.id); return; }
  widget.dispose();
  const inside = new View(true);
  inside.addClass("pyptx-dialog");
  inside.present(await data);
  await showDialog({ title, body: inside, buttons: [Dialog.okButton()] });
}

export function addCommands(app: JupyterFrontEnd, parts: Parts): void {
  const { commands, serviceManager } = app, { trans, notebooks, files } = parts;
  const told = async (act: () => Promise<unknown>) => {
    try { await act(); } catch (error) { Notification.error(error instanceof Error ? error.message : String(error)); }
  };

  commands.addCommand(IDS.newNotebook, {
    label: args => (args.isPalette ? trans.__("New PTX Notebook") : trans.__("PTX notebook")),
    caption: trans.__("Create a notebook that loads pyptx and contains a first kernel"),
    icon: args => (args.isPalette ? undefined : chipIcon),
    execute: args => told(async () => {
      await serviceManager.kernelspecs.ready;
      const { specs } = serviceManager.kernelspecs, path = typeof args.cwd === "string" ? args.cwd : files?.tracker.currentWidget?.model.path ?? "";
      const spec = [specs?.kernelspecs[specs.default], ...Object.values(specs?.kernelspecs ?? {})].find(one => one?.language === "python");
      const { path: name } = await serviceManager.contents.newUntitled({ path, type: "notebook" });
      await serviceManager.contents.save(name, { type: "notebook", format: "json", content: starter(spec ? { name: spec.name, display_name: spec.display_name } : null) });
      return commands.execute("docmanager:open", { path: name, factory: "Notebook" });
    }),
  });

  commands.addCommand(IDS.showPanel, { label: trans.__("Show PTX Kernels"), caption: trans.__("Show the kernels of the active notebook"),
                                       execute: () => app.shell.activateById("pyptx-kernels") });

  commands.addCommand(IDS.revealLine, {
    label: trans.__("Show the SASS of This Line"),
    caption: trans.__("Scroll to the machine code of the line with the cursor, in an executed %%ptxkernel cell"),
    isEnabled: () => notebooks?.activeCell?.model.type === "code",
    execute: () => {
      const cell = notebooks?.activeCell, editor = cell?.editor;
      if (!cell || !editor) return;
      const mark = markAt(cell.model as ICodeCellModel, editor.getCursorPosition().line + 1);
      if (!reveal(notebooks, cell.model, cell.node, mark)) Notification.info(trans.__("No view below this cell contains machine code of this line"), { autoClose: 4000 });
    },
  });

  commands.addCommand(IDS.toggleMargin, { label: trans.__("Show Machine Code and Registers beside Kernel Lines"), isToggleable: true, isToggled: parts.margin,
                                          execute: () => told(() => parts.setMargin(!parts.margin())) });

  commands.addCommand(IDS.openFile, {
    label: trans.__("Open PTX | SASS View"), caption: trans.__("Open the selected .ptx or .cubin file"), icon: chipIcon,
    isEnabled: () => Boolean(selected()),
    execute: () => told(async () => { const path = selected(); if (path) await commands.execute("docmanager:open", { path, factory: FACTORY }); }),
  });
  const selected = () => [...files?.tracker.currentWidget?.selectedItems() ?? []].map(item => item.path).find(path => /\.(ptx|cubin)$/.test(path));

  commands.addCommand(IDS.openVersion, { label: trans.__("Open View of Version"), isVisible: () => false,
                                         execute: args => told(() => open(app, String(args.version), versionView(String(args.version)))) });
  commands.addCommand(IDS.compare, {
    label: trans.__("Compare Versions"), isVisible: () => false,
    execute: args => told(() => {
      const refs = (args.versions as string[]).map(String);
      return refs.length === 2 ? open(app, refs.join(" → "), diffView(refs[0], refs[1])) : open(app, refs.join(", "), comparisonView(refs));
    }),
  });

  commands.addCommand(IDS.insertCell, {
    label: trans.__("Add a Cell"), isVisible: () => false,
    execute: args => told(async () => {
      const panel = notebooks?.currentWidget;
      if (!panel) return;
      app.shell.activateById(panel.id);
      const { content, sessionContext } = panel;
      NotebookActions.insertBelow(content);
      content.activeCell?.model.sharedModel.setSource(String(args.source));
      if (args.run) await NotebookActions.run(content, sessionContext);
      else content.mode = "edit";
      content.activeCell?.node.scrollIntoView({ block: "nearest" });
    }),
  });
}

export const PALETTE = [IDS.newNotebook, IDS.showPanel, IDS.revealLine, IDS.toggleMargin, IDS.openFile];
export { PLUGIN };
