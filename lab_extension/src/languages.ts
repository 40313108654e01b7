// PTX, CUDA C++ and SASS in editors: languages, completion, and %%ptx cells.

import { Notification } from "@jupyterlab/apputils";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { IEditorLanguageRegistry } from "@jupyterlab/codemirror";
import type { CompletionHandler, ICompletionContext, ICompletionProvider, ICompletionProviderManager } from "@jupyterlab/completer";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { TranslationBundle } from "@jupyterlab/translation";
import type { EditorView } from "@codemirror/view";

import { complete } from "./api.js";
import { CPP_MIME, CUDA_MIME, mayHavePtx, mimeOf, PTX_MIME, ptxOf, SASS_MIME } from "./logic/cells.js";

const loadPtx = () => import("./ptxlanguage.js");

/** A function that shows the first error it is called with. */
function once(message: (error: string) => string): (error: unknown) => void {
  let told = false;
  return error => {
    if (told) return;
    told = true;
    Notification.warning(message(error instanceof Error ? error.message : String(error)));
  };
}

/** pathOf: the path of the file or notebook of an editor, null if it has none. */
export function addLanguages(registry: IEditorLanguageRegistry, pathOf: (view: EditorView) => string | null, trans: TranslationBundle): void {
  const problem = once(error => trans.__("PTX is not checked: %1", error)), cudaProblem = once(error => trans.__("CUDA C++ is not checked: %1", error));
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

  constructor(private readonly problem: (error: unknown) => void) {}

  async isApplicable(context: ICompletionContext): Promise<boolean> {
    const model = context.editor?.model;
    return model?.mimeType === PTX_MIME || isPython(model);
  }

  async fetch(request: CompletionHandler.IRequest, context: ICompletionContext): Promise<CompletionHandler.ICompletionItemsReply> {
    const python = context.editor?.model.mimeType !== PTX_MIME, none = { start: request.offset, end: request.offset, items: [] };
    try {
      const found = await complete(python ? request.text : ptxOf(request.text), request.offset, python);
      if (!found) return none;
      const items = found.offers.map(({ text, kind, detail }) => ({ label: text, insertText: text, type: kind, documentation: detail }));
      return { start: found.start, end: found.end, items };
    } catch (error) {
      this.problem(error);
      return none;
    }
  }

  shouldShowContinuousHint(visible: boolean, changed: { sourceChange?: { insert?: unknown }[] }, context?: ICompletionContext): boolean {
    if (context?.editor?.model.mimeType !== PTX_MIME) return false;   // of Python, the notebook's own completion decides
    const typed = changed.sourceChange?.map(change => change.insert).find(insert => typeof insert === "string");
    return !visible && typeof typed === "string" && /[\w.%:]$/.test(typed);
  }
}

/** Whether an editor has Python in which there may be PTX. */
function isPython(model: CodeEditor.IModel | undefined): boolean {
  return Boolean(model?.mimeType.includes("python")) && mayHavePtx(model?.sharedModel.getSource() ?? "");
}

export function addCompletions(manager: ICompletionProviderManager, trans: TranslationBundle): void {
  manager.registerProvider(new PtxCompletions(once(error => trans.__("PTX is not completed: %1", error))));
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
