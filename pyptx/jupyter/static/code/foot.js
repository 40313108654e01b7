// Below the panes: what a line is linked with, the calls that led to it, what its opcode does. Read out by screen readers.

import { h } from "../dom.js";
import { callStacks, control, sentence } from "./links.js";
import { SIGNS } from "./needs.js";
import { opcodeOf } from "./rowview.js";

const HINT = "Point at a line to see what it is linked with; click to pin it. Keys: ↑ ↓ ← → Enter n p f / Esc";

export class Foot {
  /** `show(pane, row)` is called when the reader asks for a line of the call stack. */
  constructor(data, index, show) {
    Object.assign(this, { data, index, show });
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.more = h("div.pyptx-explain");
    this.element = h("div.pyptx-foot", {}, this.status, this.more);
  }

  /** `links` of links.js related, or null; `passing`: the reader only points at it. */
  say(links, passing = false) {
    this.status.setAttribute("aria-live", passing ? "off" : "polite");
    this.status.textContent = links ? sentence(this.data, links) : HINT;
    this.more.replaceChildren(...(links ? this.explained(links) : []));
    this.more.title = this.more.textContent;
  }

  tell(text) { this.status.textContent = text; }
  add(text) { this.status.textContent += `  ·  ${text}`; }

  explained({ pane, row, needs }) {
    const parts = [], stacks = callStacks(this.data, this.index, pane, row);
    if (stacks.length) parts.push(h("span.pyptx-stacks", { "aria-label": "Call stack" }, ...stacks.slice(0, 4).map(stack => this.stack(stack)),
                                    stacks.length > 4 ? `and ${stacks.length - 4} more` : null));
    const word = pane === "python" ? "" : opcodeOf(pane, this.data[pane].text[row]), help = this.data.help[word];
    if (help) parts.push(h("span.pyptx-what", {}, h("b", {}, word), ` ${help}`));
    const depth = this.data[pane].flow?.depth?.[row];
    if (depth) parts.push(h("span", {}, depth === 1 ? "in a loop" : `in ${depth} loops`));
    if (needs) parts.push(...this.needed(needs));
    if (pane === "sass") parts.push(h("span.pyptx-what", {}, control(this.data, row)));
    return parts;
  }

  /** What a machine instruction takes and who takes its result, each a link. */
  needed({ takes, awaits, uses, freed }) {
    const only = (rows, others) => rows.filter(row => !others.includes(row));
    const lists = [[SIGNS.takes, "takes from", takes], [SIGNS.awaits, "waits for", awaits],
                   [SIGNS.uses, "used at", uses], [SIGNS.uses, "waited for at", only(freed, uses)]];
    return lists.filter(([, , rows]) => rows.length).map(([sign, words, rows]) => h("span.pyptx-needs", {}, `${sign} ${words} `,
      ...rows.slice(0, 4).map(row => h("button.pyptx-button", { type: "button", title: this.data.sass.text[row], onclick: () => this.show("sass", row) },
        this.data.sass.address[row].toString(16).padStart(4, "0"))), rows.length > 4 ? ` and ${rows.length - 4} more` : null));
  }

  /** Calls from inside out, each a link. */
  stack(rows) {
    const { python } = this.data;
    const name = row => python.sections.find(({ start, count }) => row >= start && row < start + count);
    return h("span.pyptx-stack", {}, ...rows.flatMap((row, depth) => [depth ? " ← " : "", h("button.pyptx-button",
      { type: "button", title: python.text[row].trim(), onclick: () => this.show("python", row) }, `${name(row)?.function ?? ""}:${python.line[row]}`)]));
  }
}
