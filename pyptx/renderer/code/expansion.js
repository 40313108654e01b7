// "Why n instructions?": the machine instructions of the pinned line with one sentence each, and cheaper forms as edits.

import { h } from "../dom.js";
import { opcodeOf } from "./row.js";

const MOST = 80;

/** The mnemonic of a PTX line, "div.rn.f32"; "" for none. */
export function mnemonicOf(line) {
  return /^\s*(?:@!?%?[\w$]+\s+)?([a-z][\w.:]*)/.exec(line)?.[1] ?? "";
}

/** PTX rows of a line with their SASS rows, those with machine code only: [[ptx, [sass, ...]], ...]. */
export function expanded(index, pane, row) {
  const rows = pane === "python" ? [...index.ptxOf[row], ...index.belowOf[row]].sort((a, b) => a - b) : [pane === "ptx" ? row : index.ptxOfSass[row]];
  return rows.filter(ptx => ptx >= 0 && index.sassOf[ptx].length).map(ptx => [ptx, index.sassOf[ptx]]);
}

/**
 * The edit of the source that replaces a mnemonic: {before, after} of the text up to its line; null where the line does not spell it,
 * such as an operator. `data.python` where there is one, else the PTX.
 */
export function editOf(data, ptx, from, to) {
  const stack = data.ptx.stack[ptx], python = stack >= 0 ? data.stacks[stack][0] : -1;
  const pane = python >= 0 ? data.python : data.ptx, row = python >= 0 ? python : ptx;
  const start = python >= 0 ? pane.sections.find(one => row >= one.start && row < one.start + one.count)?.start ?? row : 0;
  const spelled = [`.${from}(`, `${from} `].find(text => pane.text[row].includes(text));
  if (!spelled) return null;
  const lines = pane.text.slice(start, row + 1), changed = [...lines.slice(0, -1), lines.at(-1).replace(spelled, spelled.replace(from, to))];
  return { before: lines.join("\n"), after: changed.join("\n") };
}

export class Expansion {
  /** `view`: the linked view. */
  constructor(view) {
    this.view = view;
    this.element = h("section.pyptx-expansion", { hidden: true, "aria-label": "Machine instructions of the line" });
  }

  /** Show or hide the instructions of the pinned line. */
  toggle() {
    if (!this.element.hidden) { this.element.hidden = true; return; }
    this.element.hidden = false;
    this.paint();
  }

  /** Follow the pinned line, if shown. */
  paint() {
    const { view, element } = this, { pinned, data } = view;
    if (element.hidden) return;
    const found = pinned ? expanded(view.index, pinned.pane, pinned.row) : [], count = found.reduce((sum, [, sass]) => sum + sass.length, 0);
    const close = h("button.pyptx-button", { type: "button", "aria-label": "Close", onclick: () => this.toggle() }, "×");
    const title = !pinned ? "Pin a line to see its machine instructions" : !count ? "This line has no machine instructions"
      : `Why ${count} instruction${count === 1 ? "" : "s"}?`;
    let left = MOST;
    const blocks = found.map(([ptx, sass]) => { const shown = sass.slice(0, Math.max(0, left)); left -= sass.length; return shown.length ? this.block(ptx, shown, sass.length) : null; });
    element.replaceChildren(h("div.pyptx-expansion-head", {}, h("b", {}, title), close), ...blocks.filter(Boolean), ...(left < 0 ? [h("p", {}, `and ${-left} more instructions`)] : []));
    element.dataset.title = data.title;
  }

  block(ptx, sass, count) {
    const { view } = this, { data } = view, line = data.ptx.text[ptx].trim(), cheaper = data.reference?.cheaper?.[mnemonicOf(line)] ?? [];
    const item = row => h("li", {}, h("button.pyptx-cost", { type: "button", onclick: () => view.show("sass", row) },
      h("span", {}, data.sass.address[row].toString(16).padStart(4, "0")), h("code", {}, data.sass.text[row]), h("em", {}, data.help[opcodeOf("sass", data.sass.text[row])] ?? "")));
    return h("div", {}, h("div.pyptx-expansion-line", {}, h("code", {}, line), ` ${count} instruction${count === 1 ? "" : "s"}`), h("ol.pyptx-costs", {}, ...sass.map(item)),
             ...cheaper.map(([to, price]) => this.offer(ptx, mnemonicOf(line), to, price)));
  }

  /** A cheaper form: a button that writes it into the cell, or the text to write where the source does not spell the mnemonic. */
  offer(ptx, from, to, price) {
    const edit = editOf(this.view.data, ptx, from, to), said = h("span", { role: "status" });
    const write = () => {
      const detail = { ...edit, answer: null };
      this.element.dispatchEvent(new CustomEvent("pyptx-write", { bubbles: true, detail }));
      said.textContent = ` ${detail.answer?.message ?? `Not in a notebook that can be edited: write ${to} in place of ${from}.`}`;
    };
    return h("p.pyptx-offer", {}, "cheaper: ", h("code", {}, to), ` (${price}) `, edit ? h("button.pyptx-button", { type: "button", onclick: write }, "Write into the cell") : null, said);
  }
}
