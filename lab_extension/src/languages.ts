// PTX, CUDA C++ and SASS in editors: languages, completion, and %%ptx cells.

import { Notification } from "@jupyterlab/apputils";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { IEditorLanguageRegistry } from "@jupyterlab/codemirror";
import type { CompletionHandler, ICompletionContext, ICompletionProvider, ICompletionProviderManager } from "@jupyterlab/completer";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { TranslationBundle } from "@jupyterlab/translation";
import type { EditorView } from "@codemirror/view";

import { CPP_MIME, CUDA_MIME, mimeOf, PTX_MIME, SASS_MIME } from "./logic/cells.js";

const loadPtx = () => import("./ptxlanguage.js");

/** pathOf: the path of the file or notebook of an editor, null if it has none. */
export function addLanguages(registry: IEditorLanguageRegistry, pathOf: (view: EditorView) => string | null, trans: TranslationBundle): void {
  const once = (language: string) => {
    let told = false;
    return (error: unknown) => {
      if (told) return;
      told = true;
      Notification.warning(trans.__("%1 is not checked: %2", language, error instanceof Error ? error.message : String(error)));
    };
  };
  const problem = once(trans.__("PTX")), cudaProblem = once(trans.__("CUDA C++"));
  registry.addLanguage({ name: "PTX", displayName: trans.__("PTX"), mime: PTX_MIME, extensions: ["ptx"],
                         load: async () => (await loadPtx()).ptx(problem) });
  registry.addLanguage({ name: "CUDA C++", displayName: trans.__("CUDA C++"), mime: CUDA_MIME, extensions: ["cu", "cuh"],
                         load: async () => {
                           const [cpp, { cuda }] = await Promise.all([registry.getLanguage(CPP_MIME), import("./cudalanguage.js")]);
                           if (!cpp?.support) throw new Error("the editor has no C++");
                           return cuda(cpp.support, pathOf, cudaProblem);
                         } });
  registry.addLanguage({ name: "NVIDIA SASS", displayName: trans.__("NVIDIA SASS"), mime: SASS_MIME, extensions: ["sass", "nvsass"],
                         load: async () => (await import("./sasslanguage.js")).sass() });
}

class PtxCompletions implements ICompletionProvider {
  readonly identifier = "CompletionProvider:ptx";
  readonly rank = 1200;
  readonly renderer = null;

  async isApplicable(context: ICompletionContext): Promise<boolean> {
    return context.editor?.model.mimeType === PTX_MIME;
  }

  async fetch(request: CompletionHandler.IRequest): Promise<CompletionHandler.ICompletionItemsReply> {
    const { complete, isa } = await loadPtx();
    const start = request.text.lastIndexOf("\n", request.offset - 1) + 1, end = request.text.indexOf("\n", request.offset);
    const line = request.text.slice(start, end < 0 ? undefined : end);
    const found = complete(isa, line, request.offset - start);
    if (!found) return { start: request.offset, end: request.offset, items: [] };
    const items = found.offers.map(({ label, kind, detail }) => ({ label, insertText: label, type: kind, documentation: detail }));
    return { start: start + found.from, end: start + found.to, items };
  }

  shouldShowContinuousHint(visible: boolean, changed: { sourceChange?: { insert?: unknown }[] }): boolean {
    const typed = changed.sourceChange?.map(change => change.insert).find(insert => typeof insert === "string");
    return !visible && typeof typed === "string" && /[\w.%:]$/.test(typed);
  }
}

export function addCompletions(manager: ICompletionProviderManager): void {
  manager.registerProvider(new PtxCompletions());
}

/** Give `%%ptx` and `%%cuda` cells their language, whenever the notebook gives them its own. */
export function followCells(tracker: INotebookTracker, registry: IEditorLanguageRegistry): void {
  const seen = new WeakSet<CodeEditor.IModel>();
  tracker.widgetAdded.connect((_, panel) => {
    void panel.context.ready.then(() => {
      const { model } = panel.content;
      const watch = () => { for (const cell of model?.cells ?? []) if (cell.type === "code" && !seen.has(cell)) watchCell(panel, cell, registry, seen); };
      model?.cells.changed.connect(watch);
      watch();
    });
  });
}

function watchCell(panel: NotebookPanel, cell: CodeEditor.IModel, registry: IEditorLanguageRegistry, seen: WeakSet<CodeEditor.IModel>): void {
  seen.add(cell);
  const own = () => panel.content.codeMimetype;
  const target = () => mimeOf(cell.sharedModel.getSource()) ?? ([PTX_MIME, CUDA_MIME].includes(cell.mimeType) ? own() : cell.mimeType);
  const apply = async () => {
    if (cell.mimeType === target()) return;
    // An editor takes the language that is loaded last: ours must not come before the notebook's.
    await Promise.all([registry.getLanguage(own()), registry.getLanguage(PTX_MIME), registry.getLanguage(CUDA_MIME)]);
    const wanted = target();
    if (cell.mimeType !== wanted) cell.mimeType = wanted;
  };
  const start = () => { apply().catch((error: unknown) => console.error("pyptx: the language of a cell cannot be loaded", error)); };
  cell.mimeTypeChanged.connect(start);
  cell.sharedModel.changed.connect(start);
  start();
}
