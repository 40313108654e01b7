// A kernel cell and its view highlight each other: a pointed line of the cell its machine code, a pointed line of the view its Python.
// Also help for PTX in Python cells.

import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip, type DecorationSet } from "@codemirror/view";
import type { CodeCell, ICodeCellModel } from "@jupyterlab/cells";
import { CodeMirrorEditor, EditorExtensionRegistry, type IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import type { INotebookTracker } from "@jupyterlab/notebook";

import { mayHavePtx, mimeOf } from "./logic/cells.js";
import { cellCount } from "./logic/findings.js";
import { markAt } from "./margin.js";
import { preferences } from "./preferences.js";
import { viewsIn } from "./view.js";

const light = StateEffect.define<number[]>();
const lit = Decoration.line({ class: "pyptx-lit" });

const lines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, change) {
    for (const effect of change.effects) {
      if (!effect.is(light)) continue;
      const { doc } = change.state;
      return Decoration.set([...new Set(effect.value)].filter(line => line >= 1 && line <= doc.lines).sort((a, b) => a - b).map(line => lit.range(doc.line(line).from)));
    }
    return value.map(change.changes);
  },
  provide: field => EditorView.decorations.from(field),
});

function links(model: ICodeCellModel): Extension {
  let last = -1;
  const point = (view: EditorView, line: number) => {
    if (line === last) return;
    last = line;
    const mark = line > 0 && preferences.cellLinks ? markAt(model, line) : undefined, chosen = mark?.views[0];
    const shown = viewsIn(view.dom.closest(".jp-CodeCell") ?? view.dom);
    shown.forEach((one, at) => one.point(chosen && at === chosen.view ? chosen.pane : null, chosen?.row ?? -1));
  };
  return [lines, EditorView.domEventHandlers({
    mousemove(event, view) {
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
      point(view, at === null ? -1 : view.state.doc.lineAt(at).number);
    },
    mouseleave(_, view) { point(view, -1); },
  }), hoverTooltip(async (view, position) => (mayHavePtx(view.state.doc.toString()) && mimeOf(view.state.doc.toString()) === null
    ? (await import("./ptxlanguage.js")).helpAt(view, position, true, error => console.warn("pyptx: no help for PTX in Python", error)) : null))];
}

export function addCellLinks(registry: IEditorExtensionRegistry): void {
  registry.addExtension({
    name: "pyptx-cell-links",
    factory: ({ model }) => ("outputs" in model && "executionCount" in model
      ? EditorExtensionRegistry.createImmutableExtension(links(model as ICodeCellModel)) : null),
  });
}

/** Lines of files that a view points at, [[file, line], ...]; dispatched by the view of an output (view.ts). */
export function followViews(tracker: INotebookTracker): void {
  document.addEventListener("pyptx-point", event => {
    const { target, detail } = event as CustomEvent<[string, number][]>, panel = tracker.find(one => target instanceof Node && one.node.contains(target));
    if (!panel || !preferences.cellLinks) return;
    for (const cell of panel.content.widgets) {
      if (cell.model.type !== "code" || !(cell.editor instanceof CodeMirrorEditor)) continue;
      const count = (cell.model as ICodeCellModel).executionCount, own = (cell as CodeCell).node.contains(target as Node);
      const wanted = detail.filter(([file]) => (count !== null && cellCount(file) === count) || (own && file === "notebook cell")).map(([, line]) => line);
      const { editor } = cell.editor, now = editor.state.field(lines, false);
      if (now && (wanted.length || now.size)) editor.dispatch({ effects: light.of(wanted) });
    }
  });
}
