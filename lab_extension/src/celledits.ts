// Writes edits that a view requests into the cell of its notebook, as one step that Ctrl+Z undoes.

import type { INotebookTracker } from "@jupyterlab/notebook";

import { replacement } from "./logic/edits.js";

/** Dispatched by a view (renderer/sweeps/edit.js); the listener fills in `answer`. */
interface Request {
  before: string;
  after: string;
  answer: { written: boolean; message: string } | null;
}

export function followEdits(notebooks: INotebookTracker): void {
  document.addEventListener("pyptx-write", event => {
    const { target, detail } = event as CustomEvent<Request>, panel = notebooks.find(one => target instanceof Node && one.node.contains(target));
    if (!panel) return;
    const cells = panel.content.widgets, from = cells.findIndex(cell => cell.node.contains(target as Node));
    const found = replacement(cells.map(cell => cell.model.sharedModel.getSource()), detail.before, detail.after, from < 0 ? cells.length : from);
    if ("error" in found) { detail.answer = { written: false, message: found.error ?? "" }; return; }
    const cell = cells[found.cell];
    if (cell.model.getMetadata("editable") === false) { detail.answer = { written: false, message: "The cell is read-only." }; return; }
    cell.model.sharedModel.updateSource(found.start, found.end, found.text);
    detail.answer = { written: true, message: "Written into the cell; Ctrl+Z in the cell undoes it. Run the cell to use it." };
  });
}
