// The margin of %%ptxkernel and %%ptx cells: machine instructions and live registers of each line, from the cell's own outputs.

import { Compartment, RangeSet, StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { gutter, GutterMarker, ViewPlugin } from "@codemirror/view";
import type { ICodeCellModel } from "@jupyterlab/cells";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import { EditorExtensionRegistry, type IEditorExtensionRegistry } from "@jupyterlab/codemirror";
import type { INotebookTracker } from "@jupyterlab/notebook";
import type { TranslationBundle } from "@jupyterlab/translation";
import { h } from "pyptx-renderer/dom.js";

import { compiledLines, costText, marks, placed, type Linked, type Mark } from "./logic/marks.js";
import { preferences } from "./preferences.js";
import { viewOf, viewsIn } from "./view.js";

/** A line's mark and whether the cell was changed since. */
interface Placed { mark: Mark; line: number; stale: boolean }

class Numbers extends GutterMarker {
  constructor(readonly at: Placed, readonly most: number, readonly trans: TranslationBundle) { super(); }

  eq(other: Numbers): boolean {
    return other.at.mark === this.at.mark && other.at.stale === this.at.stale;
  }

  toDOM(): HTMLElement {
    const { mark, stale } = this.at, { trans } = this;
    const words = [trans._n("%1 machine instruction", "%1 machine instructions", mark.sass),
                   trans._n("at most %1 live register", "at most %1 live registers", mark.live)];
    if (mark.issues) words.push(trans.__("%1 SASS instructions issued", mark.issues));
    if (mark.modeled) words.push(trans.__("%1 % of the modeled time", (mark.modeled / 1e4).toFixed(1)));
    const stalls = mark.views.find(view => view.stalls)?.stalls, cost = costText(mark);
    if (stalls) words.push(trans.__("stalls: %1", stalls));
    if (mark.views.length > 1) words.push(...mark.views.map(view => `${view.title}: ${view.sass}, ${view.live}`));
    words.push(stale ? trans.__("The cell has changed: run it again") : trans.__("Click to show them"));
    const bar = h("div.pyptx-mark", { title: words.join("\n"), "data-stale": stale || null },
                  h("span", {}, String(mark.sass)), h("span", {}, String(mark.live)), cost ? h("span.pyptx-mark-cost", {}, cost) : null);
    bar.style.setProperty("--pyptx-share", `${Math.round(100 * mark.sass / this.most)}%`);
    return bar;
  }
}

/** What the outputs of a cell say of its lines. */
function read(model: ICodeCellModel): { marks: Mark[]; compiled: Map<number, string> } {
  const views: Linked[] = [];
  for (let i = 0; i < model.outputs.length; i += 1) {
    const view = viewOf(model.outputs.get(i).data);
    if (view) views.push(view as unknown as Linked);
  }
  const source = model.sharedModel.getSource();
  return { marks: marks(views, model.executionCount, source), compiled: compiledLines(views, model.executionCount, source) };
}

const reread = StateEffect.define<null>();

/** Show the machine code of a line in the views below the cell; false when there is none. */
export function reveal(tracker: INotebookTracker | null, model: CodeEditor.IModel, cell: Element | null, mark: Mark | undefined): boolean {
  const widget = tracker?.currentWidget?.content.widgets.find(one => one.model === model);
  const chosen = mark?.views[0], element = widget?.node ?? cell;
  if (!chosen || !element) return false;
  if (widget && "outputHidden" in widget) widget.outputHidden = false;
  const view = viewsIn(element)[chosen.view];
  if (!view) return false;
  view.select(chosen.pane, chosen.row);
  view.node.scrollIntoView({ block: "nearest" });
  return true;
}

/** The mark of a line (from 1) of a cell as it stands now. */
export function markAt(model: ICodeCellModel, line: number): Mark | undefined {
  const { marks: found, compiled } = read(model);
  return placed(found, compiled, model.sharedModel.getSource()).find(at => at.line === line)?.mark;
}

function margin(model: ICodeCellModel, tracker: INotebookTracker | null, trans: TranslationBundle): Extension {
  let known = read(model);

  const build = (doc: Text): RangeSet<Numbers> => {
    const all = placed(known.marks, known.compiled, doc.toString()).filter(({ line }) => line <= doc.lines);
    const most = Math.max(1, ...all.map(({ mark }) => mark.sass));
    return RangeSet.of(all.map(at => new Numbers(at, most, trans).range(doc.line(at.line).from)));
  };
  const field = StateField.define<RangeSet<Numbers>>({
    create: state => build(state.doc),
    update: (value, change) => (change.docChanged || change.effects.some(effect => effect.is(reread)) ? build(change.state.doc) : value),
  });
  const column = [field, gutter({
    class: "pyptx-margin",
    markers: view => view.state.field(field),
    domEventHandlers: {
      mousedown(view, block, event) {
        if (!(event.target as Element).closest(".pyptx-mark")) return false;
        const line = view.state.doc.lineAt(block.from).number;
        return reveal(tracker, model, view.dom.closest(".jp-CodeCell"), markAt(model, line));
      },
    },
  })];
  const place = new Compartment(), wanted = () => (preferences.margin && known.marks.length ? column : []);

  const follower = ViewPlugin.define(view => {
    const { outputs } = model;                          // a model that is gone has none left to disconnect from
    let gone = false;
    const later = () => {                               // outputs may change while the editor is being updated
      queueMicrotask(() => {
        if (gone) return;
        known = read(model);
        view.dispatch({ effects: [place.reconfigure(wanted()), reread.of(null)] });
      });
    };
    outputs.changed.connect(later);
    model.stateChanged.connect(later);
    preferences.changed.connect(later);
    return {
      destroy() {
        gone = true;
        outputs.changed.disconnect(later);
        model.stateChanged.disconnect(later);
        preferences.changed.disconnect(later);
      },
    };
  });
  return [place.of(wanted()), follower];
}

export function addMargin(registry: IEditorExtensionRegistry, tracker: INotebookTracker | null, trans: TranslationBundle): void {
  registry.addExtension({
    name: "pyptx-margin",
    factory: ({ model }) => ("outputs" in model && "executionCount" in model
      ? EditorExtensionRegistry.createImmutableExtension(margin(model as ICodeCellModel, tracker, trans)) : null),
  });
}
