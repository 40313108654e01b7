// Findings of checks, and errors of cells that are typed, beside their lines; buttons of a report reveal its lines.

import { forEachDiagnostic, setDiagnosticsEffect } from "@codemirror/lint";
import { RangeSet, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { gutter, GutterMarker, ViewPlugin } from "@codemirror/view";
import type { CodeCell, ICodeCellModel } from "@jupyterlab/cells";
import { EditorExtensionRegistry, type IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import { NotebookActions, type INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { h } from "pyptx-renderer/dom.js";
import { SIGNS } from "pyptx-renderer/reports/report.js";

import { cellCount, markedLines, type Marked, type Report } from "./logic/findings.js";
import { preferences } from "./preferences.js";
import { viewOf, viewsIn } from "./view.js";

class Sign extends GutterMarker {
  constructor(readonly mark: Marked) { super(); }

  eq(other: Sign): boolean {
    return other.mark.severity === this.mark.severity && other.mark.texts.join() === this.mark.texts.join();
  }

  toDOM(): HTMLElement {
    const { severity, texts } = this.mark;
    return h("div.pyptx-sign", { title: texts.join("\n\n"), "data-severity": severity, role: "img", "aria-label": texts.join("; ") }, (SIGNS as Record<string, string>)[severity]);
  }
}

/** The panel of the notebook that a cell belongs to. */
function panelOf(tracker: INotebookTracker, model: ICodeCellModel): NotebookPanel | undefined {
  return tracker.find(panel => panel.content.widgets.some(cell => cell.model === model));
}

/** Reports among the outputs of a notebook, in order. */
function reportsIn(panel: NotebookPanel | undefined): Report[] {
  const found: Report[] = [];
  for (const cell of panel?.content.widgets ?? []) {
    if (cell.model.type !== "code") continue;
    const { outputs } = cell.model as ICodeCellModel;
    for (let i = 0; i < outputs.length; i += 1) {
      const view = viewOf(outputs.get(i).data);
      if (view?.kind === "report") found.push(view as unknown as Report);
    }
  }
  return found;
}

const reread = StateEffect.define<null>();

function signs(model: ICodeCellModel, tracker: INotebookTracker): Extension {
  const build = (state: EditorState): RangeSet<Sign> => {
    const { doc } = state, found = preferences.margin ? markedLines(reportsIn(panelOf(tracker, model)), model.executionCount, doc.toString()) : [];
    const all = new Map(found.map(mark => [mark.line, mark]));
    forEachDiagnostic(state, ({ source, severity, message }, from) => {       // of the cell as it is typed
      if (source !== "pyptx") return;
      const { number: line } = doc.lineAt(from), known = all.get(line);
      all.set(line, { line, severity: known?.severity === "error" ? "error" : severity, texts: [...known?.texts ?? [], `${severity}: ${message}`] });
    });
    return RangeSet.of([...all.values()].filter(({ line }) => line <= doc.lines).sort((a, b) => a.line - b.line).map(mark => new Sign(mark).range(doc.line(mark.line).from)));
  };
  const field = StateField.define<RangeSet<Sign>>({
    create: () => RangeSet.empty,
    update: (value, change) => (change.effects.some(effect => effect.is(reread) || effect.is(setDiagnosticsEffect)) ? build(change.state) : change.docChanged ? value.map(change.changes) : value),
  });
  const column = gutter({
    class: "pyptx-signs",
    markers: view => view.state.field(field),
    domEventHandlers: {
      mousedown(_, __, event) {
        if (!(event.target as Element).closest(".pyptx-sign")) return false;
        panelOf(tracker, model)?.node.querySelector(".pyptx-report")?.scrollIntoView({ block: "nearest" });
        return true;
      },
    },
  });
  const follower = ViewPlugin.define(view => {
    const { outputs } = model;                          // a model that is gone has none left to disconnect from
    let gone = false;
    const later = () => queueMicrotask(() => { if (!gone) view.dispatch({ effects: reread.of(null) }); });
    NotebookActions.executed.connect(later);
    outputs.changed.connect(later);
    preferences.changed.connect(later);
    later();
    return {
      destroy() {
        gone = true;
        NotebookActions.executed.disconnect(later);
        outputs.changed.disconnect(later);
        preferences.changed.disconnect(later);
      },
    };
  });
  return [field, column, follower];
}

export function addFindings(registry: IEditorExtensionRegistry, tracker: INotebookTracker): void {
  registry.addExtension({
    name: "pyptx-findings",
    factory: ({ model }) => ("outputs" in model && "executionCount" in model
      ? EditorExtensionRegistry.createImmutableExtension(signs(model as ICodeCellModel, tracker)) : null),
  });
}

/** What the button of a line in a report dispatches (renderer/reports/report.js). */
interface Line {
  kernel: string;
  file: string | null;
  line: number | null;
  ptx: number;
}

/** Show a line of a report: in its cell, and in the views of its kernel. */
export function followReports(tracker: INotebookTracker): void {
  document.addEventListener("pyptx-reveal", event => {
    const { target, detail } = event as CustomEvent<Line>, panel = tracker.find(one => target instanceof Node && one.node.contains(target));
    if (!panel) return;
    const count = cellCount(detail.file), { widgets } = panel.content;
    const index = count === null ? -1 : widgets.findIndex(cell => cell.model.type === "code" && (cell.model as ICodeCellModel).executionCount === count);
    for (const view of viewsIn(panel.node)) if (view.data?.kind === "linked" && view.data.title === detail.kernel) view.select("ptx", detail.ptx - 1);
    if (index < 0 || detail.line === null) return;
    const cell = widgets[index] as CodeCell, line = Math.min(detail.line, cell.editor?.lineCount ?? 1) - 1;
    panel.content.activeCellIndex = index;
    cell.editor?.setCursorPosition({ line, column: 0 });
    void panel.content.scrollToItem(index, "smart").then(() => cell.editor?.revealPosition({ line, column: 0 }));
  });
}
