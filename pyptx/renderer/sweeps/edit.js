// Edits of a kernel's source: written into the cell by the JupyterLab extension (celledits.ts), elsewhere shown to be pasted.

import { h } from "../dom.js";

/** Ask the notebook to write an edit; {written, message}, or null where nothing can. */
export function write(element, { before, after }) {
  const detail = { before, after, answer: null };
  element.dispatchEvent(new CustomEvent("pyptx-write", { bubbles: true, detail }));
  return detail.answer;
}

/** What became of an edit, and what to do. */
export function outcome({ file, line, diff, answer }) {
  if (!diff.length) return "These are the defaults already.";
  return answer ? answer.message : `Change ${file}, line ${line}:`;
}

export function editBlock(edit) {
  const added = edit.diff.filter(line => line[0] === "+").map(line => line.slice(1)).join("\n");
  const copy = h("button.pyptx-button", { type: "button", title: "Copy the new lines", onclick: () => navigator.clipboard.writeText(added) }, "Copy");
  return h("div.pyptx-edit", {}, h("p", {}, outcome(edit)),
    edit.diff.length ? h("pre", {}, ...edit.diff.map(line => h(line[0] === "+" ? "ins" : "del", {}, `${line}\n`))) : null,
    edit.diff.length && !edit.answer?.written ? copy : null);
}
