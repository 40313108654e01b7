// Plugins of the extension. Services are optional, so that Notebook 7 loads them, too.

import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { IEditorExtensionRegistry, IEditorLanguageRegistry } from "@jupyterlab/codemirror";
import { ICompletionProviderManager } from "@jupyterlab/completer";
import { IFileBrowserFactory } from "@jupyterlab/filebrowser";
import { ILauncher } from "@jupyterlab/launcher";
import { INotebookTracker } from "@jupyterlab/notebook";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { IStatusBar } from "@jupyterlab/statusbar";
import { ITranslator, nullTranslator } from "@jupyterlab/translation";

import { addCommands, IDS, PALETTE } from "./commands.js";
import { followEdits } from "./celledits.js";
import { addCellLinks, followViews } from "./celllinks.js";
import { addFindings, followReports } from "./findings.js";
import { addDocuments, pathOf } from "./documents.js";
import { addCompletions, addLanguages, followCells } from "./languages.js";
import { cardUrl } from "./icons.js";
import { addMargin } from "./margin.js";
import { applyColors } from "./palette.js";
import { followWidgets } from "./live.js";
import { KernelPanel } from "./panel.js";
import { addTyping } from "./typing.js";
import { PLUGIN, preferences } from "./preferences.js";
import { SessionFollower } from "./session.js";
import { BackendStatus } from "./status.js";

const editors: JupyterFrontEndPlugin<void> = {
  id: "pyptx-lab:editors",
  description: "PTX and SASS in editors and cells, .ptx, .sass and .cubin files, the margin of kernel cells.",
  autoStart: true,
  requires: [IEditorLanguageRegistry, IEditorExtensionRegistry],
  optional: [ITranslator, INotebookTracker, ICompletionProviderManager],
  activate(app: JupyterFrontEnd, languages: IEditorLanguageRegistry, extensions: IEditorExtensionRegistry, translator: ITranslator | null,
           notebooks: INotebookTracker | null, completions: ICompletionProviderManager | null) {
    const trans = (translator ?? nullTranslator).load("pyptx");
    addLanguages(languages, view => pathOf(app.shell, view.dom), trans);
    addDocuments(app.docRegistry, trans);
    addMargin(extensions, notebooks, trans);
    addCellLinks(extensions);
    if (notebooks) {
      followCells(notebooks, languages);
      followWidgets(notebooks);
      followEdits(notebooks);
      addFindings(extensions, notebooks);
      addTyping(extensions, notebooks, trans);
      followReports(notebooks);
      followViews(notebooks);
    }
    if (completions) addCompletions(completions, trans);
  },
};

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN,
  description: "The panel of PTX kernels, commands, the launcher card, the status bar item.",
  autoStart: true,
  optional: [ITranslator, INotebookTracker, ISettingRegistry, ICommandPalette, ILauncher, IStatusBar, ILayoutRestorer, IFileBrowserFactory],
  activate(app: JupyterFrontEnd, translator: ITranslator | null, notebooks: INotebookTracker | null, settings: ISettingRegistry | null,
           palette: ICommandPalette | null, launcher: ILauncher | null, statusBar: IStatusBar | null, restorer: ILayoutRestorer | null,
           files: IFileBrowserFactory | null) {
    const trans = (translator ?? nullTranslator).load("pyptx");
    preferences.changed.connect(applyColors);
    if (settings) preferences.follow(settings).catch((error: unknown) => console.error("pyptx: cannot read the settings", error));
    addCommands(app, { notebooks, files, trans, margin: () => preferences.margin,
                       setMargin: async on => { await settings?.set(PLUGIN, "margin", on); } });
    for (const command of PALETTE) palette?.addItem({ command, category: "pyptx", args: { isPalette: true } });
    launcher?.add({ command: IDS.newNotebook, category: "Notebook", rank: 20, kernelIconUrl: cardUrl });
    if (!notebooks) return;
    const follower = new SessionFollower(notebooks);
    const panel = new KernelPanel(follower, {
      open: version => void app.commands.execute(IDS.openVersion, { version }),
      compare: versions => void app.commands.execute(IDS.compare, { versions }),
      insert: (source, run) => void app.commands.execute(IDS.insertCell, { source, run }),
    }, trans);
    app.shell.add(panel, "left", { rank: 650, type: "PTX kernels" });
    restorer?.add(panel, panel.id);
    const item = new BackendStatus(follower, trans);
    statusBar?.registerStatusItem("pyptx-lab:where", { item, align: "left", rank: 50, isActive: () => item.active, activeStateChanged: item.activeChanged });
  },
};

export default [editors, plugin];
