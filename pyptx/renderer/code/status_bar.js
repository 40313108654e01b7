// The status bar: links of a line, its call stack, the description of its opcode. Announced by screen readers.

import { h } from "../dom.js";
import { callStacks, control, sentence } from "./links.js";
import { SIGNS } from "./dependences.js";
import { expanded } from "./expansion.js";
import { opcodeOf } from "./row.js";

const HINT = "Hover over a line to highlight its links; click to pin it. Keys: ↑ ↓ ← → Enter n p f / Esc";

export class StatusBar {
  /** `show(pane, row)` goes to a line of the call stack; `expand()` shows the machine instructions of the pinned line. */
  constructor(data, index, show, expand) {
    Object.assign(this, { data, index, show, expand });
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.more = h("div.pyptx-explain");
    this.element = h("div.pyptx-foot", {}, this.status, this.more);
  }

  /** `links`: the result of `related` in links.js, or null; `passing`: the line is hovered, not pinned. */
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
    const known = this.reference(pane, word, pane === "python" ? "" : this.data[pane].text[row]);
    if (help) parts.push(h("span.pyptx-what", {}, h("b", {}, word), ` ${known.summary ?? help}`));
    parts.push(...known.parts);
    const depth = this.data[pane].flow?.depth?.[row];
    if (depth) parts.push(h("span", {}, depth === 1 ? "in a loop" : `in ${depth} loops`));
    if (needs) parts.push(...this.needed(needs));
    const time = this.data[pane].modeled?.[row];
    if (time) parts.push(h("span", {}, `modeled: ${(time / 1e4).toFixed(1)} % of the time${this.data[pane].stalls?.[row] ? `; stalls: ${this.data[pane].stalls[row]}` : ""}`));
    const samples = this.data[pane].profile?.samples?.[row];
    if (samples > 0) parts.push(h("span", {}, `measured: ${(100 * samples / this.data.profiled.samples).toFixed(1)} % of the samples${this.data[pane].profile_stalls?.[row] ? `; by reason: ${this.data[pane].profile_stalls[row]}` : ""}`));
    if (pane === "sass") parts.push(h("span.pyptx-what", {}, control(this.data, row)));
    const count = pane === "sass" ? 0 : expanded(this.index, pane, row).reduce((sum, [, sass]) => sum + sass.length, 0);
    if (count && this.expand) parts.push(h("button.pyptx-button.pyptx-why", { type: "button", title: "Explain the machine instructions of this line (w)", onclick: this.expand }, `Why ${count}?`));
    return parts;
  }

  /** What the tables know of an instruction: {summary, parts}: operands and section of PTX, pipe and latency of a machine instruction. */
  reference(pane, word, line) {
    const { syntax, section, summary, pipe } = this.data.reference ?? {};
    if (!word || !section) return { parts: [] };
    const mnemonic = line.match(/[A-Za-z][\w.:]*/g)?.find(text => text === word || text.startsWith(`${word}.`)) ?? word;
    if (pane === "sass") return { parts: pipe[mnemonic] ? [h("span.pyptx-what", {}, pipe[mnemonic])] : [] };
    return { summary: summary[mnemonic], parts: !section[mnemonic] ? [] : [h("code", {}, syntax[mnemonic]),
      h("a", { href: section[mnemonic], target: "_blank", rel: "noopener", title: "The section of the PTX ISA manual" }, "PTX ISA")] };
  }

  /** Producers and consumers of a machine instruction, as links. */
  needed({ takes, awaits, uses, freed }) {
    const only = (rows, others) => rows.filter(row => !others.includes(row));
    const lists = [[SIGNS.takes, "operands from", takes], [SIGNS.awaits, "waits for", awaits],
                   [SIGNS.uses, "result used at", uses], [SIGNS.uses, "awaited at", only(freed, uses)]];
    return lists.filter(([, , rows]) => rows.length).map(([sign, words, rows]) => h("span.pyptx-needs", {}, `${sign} ${words} `,
      ...rows.slice(0, 4).map(row => h("button.pyptx-button", { type: "button", title: this.data.sass.text[row], onclick: () => this.show("sass", row) },
        this.data.sass.address[row].toString(16).padStart(4, "0"))), rows.length > 4 ? ` and ${rows.length - 4} more` : null));
  }

  /** A call stack, innermost first, as links. */
  stack(rows) {
    const { python } = this.data;
    const name = row => python.sections.find(({ start, count }) => row >= start && row < start + count);
    return h("span.pyptx-stack", {}, ...rows.flatMap((row, depth) => [depth ? " ← " : "", h("button.pyptx-button",
      { type: "button", title: python.text[row].trim(), onclick: () => this.show("python", row) }, `${name(row)?.function ?? ""}:${python.line[row]}`)]));
  }
}
