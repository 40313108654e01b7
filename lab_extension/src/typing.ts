// Kernel cells while they are typed: the running kernel compiles them in the background; errors are underlined, and a line below the
// code says how they differ from the last run. The other end is pyptx/jupyter/background.

import { forceLinting, linter, type Diagnostic } from "@codemirror/lint";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { showPanel, ViewPlugin, type EditorView, type Panel } from "@codemirror/view";
import type { ICodeCellModel } from "@jupyterlab/cells";
import { EditorExtensionRegistry, type IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { NotebookActions, type INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import type { TranslationBundle } from "@jupyterlab/translation";
import { h } from "pyptx-renderer/dom.js";

import { isKernelCell } from "./logic/cells.js";
import { squiggles, type Finding } from "./logic/diagnostics.js";
import { preferences } from "./preferences.js";

const TARGET = "pyptx-typing", LIMIT_MS = 20_000;

interface Answer {
  number: number;
  diagnostics: Finding[];
  text: string;
  note: string;
  done: boolean;
}

let sent = 0;

/** The comm with one kernel; requests of all cells go through it, and only the newest is answered. */
class Line {
  private readonly comm: Kernel.IComm;
  private waiting: ((answer: Answer | null) => void) | null = null;
  closed = false;

  constructor(kernel: Kernel.IKernelConnection) {
    this.comm = kernel.createComm(TARGET);
    this.comm.onMsg = message => this.waiting?.(message.content.data as unknown as Answer);
    this.comm.onClose = () => { this.closed = true; silent.add(kernel); this.waiting?.(null); };
    this.comm.open();
  }

  /** Compile a cell; `answered` is called once or twice. Resolves at the first answer, or null if there is none. */
  compile(source: string, answered: (answer: Answer) => void): Promise<Answer | null> {
    const number = sent += 1;
    this.waiting?.(null);
    return new Promise(resolve => {
      const timer = setTimeout(() => resolve(null), LIMIT_MS);
      this.waiting = answer => {
        if (answer && answer.number !== number) return;
        clearTimeout(timer);
        if (answer) answered(answer);
        resolve(answer);
        if (!answer || answer.done) this.waiting = null;
      };
      void this.comm.send({ number, source });
    });
  }

  cancel(): void {
    this.waiting?.(null);
    this.waiting = null;
    if (!this.closed) void this.comm.send({ cancel: true });
  }
}

const lines = new WeakMap<Kernel.IKernelConnection, Line>();
let silent = new WeakSet<Kernel.IKernelConnection>();    // kernels without pyptx; a run may load it

/** The comm of a notebook's kernel; null while the kernel is busy, or has not loaded pyptx. */
function lineOf(panel: NotebookPanel | undefined): Line | null {
  const kernel = panel?.sessionContext.session?.kernel;
  if (!kernel || kernel.status !== "idle" || silent.has(kernel)) return null;
  const known = lines.get(kernel);
  if (known && !known.closed) return known;
  const made = new Line(kernel);
  kernel.statusChanged.connect((_, status: KernelMessage.Status) => {
    if (status === "restarting" || status === "autorestarting") { made.closed = true; lines.delete(kernel); }
  });
  lines.set(kernel, made);
  return made;
}

interface Said { text: string; note: string }

const say = StateEffect.define<Said | null>();

const said = StateField.define<Said | null>({
  create: () => null,
  update: (value, change) => change.effects.reduce((now, effect) => (effect.is(say) ? effect.value : now), value),
  provide: field => showPanel.from(field, now => (now && (now.text || now.note) ? () => panel(now) : null)),
});

function panel({ text, note }: Said): Panel {
  return { dom: h("div.pyptx-typed", { role: "status", "aria-live": "polite" }, text ? h("span.pyptx-typed-text", {}, text) : null, note ? h("span.pyptx-typed-note", {}, note) : null) };
}

function typing(model: ICodeCellModel, tracker: INotebookTracker, trans: TranslationBundle): Extension {
  const notebook = () => tracker.find(one => one.content.widgets.some(cell => cell.model === model));
  let known = model.sharedModel.getSource();             // the source as it was opened, or ran
  const check = async (view: EditorView): Promise<Diagnostic[]> => {
    const source = view.state.doc.toString(), clear = () => { if (view.state.field(said)) view.dispatch({ effects: say.of(null) }); return []; };
    if (!preferences.typing || !isKernelCell(source) || source === known) return clear();
    const line = lineOf(notebook());
    if (!line) return clear();
    const show = ({ text, note }: Answer) => {
      if (view.state.doc.toString() === source) view.dispatch({ effects: say.of({ text: text && trans.__("while typing: %1", text), note }) });
    };
    const answer = await line.compile(source, show);
    return answer && view.state.doc.toString() === source ? squiggles(source, answer.diagnostics) : [];
  };
  const follower = ViewPlugin.define(view => {
    let count = model.executionCount;
    const executed = () => {
      if (model.executionCount === count || model.executionCount === null) return;
      count = model.executionCount;
      known = model.sharedModel.getSource();
      queueMicrotask(() => { view.dispatch({ effects: say.of(null) }); forceLinting(view); });
    };
    model.stateChanged.connect(executed);
    return { destroy: () => { model.stateChanged.disconnect(executed); } };
  });
  return [said, linter(check, { delay: preferences.typingDelay }), follower];
}

export function addTyping(registry: IEditorExtensionRegistry, tracker: INotebookTracker, trans: TranslationBundle): void {
  NotebookActions.executed.connect(() => { silent = new WeakSet(); });
  registry.addExtension({
    name: "pyptx-typing",
    factory: ({ model }) => ("outputs" in model && "executionCount" in model
      ? EditorExtensionRegistry.createImmutableExtension(typing(model as ICodeCellModel, tracker, trans)) : null),
  });
}
