// One pane: a list of lines of which only those in sight are drawn once there are many.

import { freshId, h } from "./dom.js";
import { EXACT, KIN, revealTop, visibleRange } from "./links.js";
import { Strip } from "./strip.js";
import { marked, stringStates, tokens } from "./tokens.js";

export const PALETTE = 8;         // colours in linked.css: .pyptx-c0 ...
const BATCH = 250;

export class Pane {
  /**
   * name: "python" | "ptx" | "sass"; columns: of columns.js; colour: a number for each row;
   * on: {hover(row), leave(), pick(row, event), scrolled()}; headings: Map of row -> text shown instead of a line;
   * full: draw all lines, so that the browser's own search and selection see them.
   */
  constructor({ name, title, data, columns, number, numberWidth, colour, headings, full, on }) {
    Object.assign(this, { name, data, columns, number, colour, on, headings, full });
    this.lines = data[name].text;
    this.strings = name === "python" ? stringStates(this.lines, data.python.sections.map(section => section.start)) : null;
    this.rows = new Map();
    this.rowHeight = 18;
    this.longest = this.lines.reduce((most, line) => Math.max(most, line.length), 20);
    this.id = freshId();
    this.head = h("div.pyptx-columns", { "aria-hidden": "true" });
    this.body = h("div.pyptx-lines", { role: "presentation" });
    this.list = h("div.pyptx-list", { role: "listbox", tabindex: 0, "aria-label": `${title}: ${this.lines.length} lines`,
                                      "data-pane": name }, this.head, this.body);
    this.strip = new Strip(share => { this.list.scrollTop = share * this.lines.length * this.rowHeight - this.list.clientHeight / 2; });
    this.element = h(`section.pyptx-pane.pyptx-${name}${this.full ? ".pyptx-full" : ""}`, { "aria-label": title },
                     h("div.pyptx-bar", {}, h("span.pyptx-name", {}, title)), h("div.pyptx-view", {}, this.list, this.strip.element));
    this.element.style.setProperty("--px-number", `${numberWidth}ch`);
    const rowOf = event => { const row = event.target.closest?.(".pyptx-row"); return row ? Number(row.dataset.row) : null; };
    this.list.addEventListener("pointerover", event => { const row = rowOf(event); if (row !== null) on.hover(row); });
    this.list.addEventListener("pointerleave", () => on.leave());
    this.list.addEventListener("click", event => { const row = rowOf(event); if (row !== null) on.pick(row, event); });
    this.list.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.links = null;
    this.found = { rows: [], ranges: new Map() };
    this.active = -1;
    this.picked = null;           // [first, last] of lines chosen for copying
  }

  /** Measure and draw; call when the pane has come into the document, or its columns or size have changed. */
  layout() {
    const shown = this.columns.filter(column => column.shown);
    this.head.replaceChildren(h("span.pyptx-no", {}, this.name === "sass" ? "addr" : "line"),
                              ...shown.map(column => this.cell(column, column.label, true)), h("span.pyptx-code", {}, ""));
    this.shown = shown;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    const width = shown.reduce((sum, column) => sum + column.width + 1.4, 4) + this.longest;
    this.body.style.minWidth = `calc(${width}ch + var(--px-number))`;
    this.body.style.height = `${this.lines.length * this.rowHeight}px`;
    this.element.style.setProperty("--px-row", `${this.rowHeight}px`);
    this.draw();
    this.drawStrip();
    this.fill();
  }

  /** The pane's size has changed. */
  resized() {
    this.draw();
    this.drawStrip();
  }

  cell(column, text, heading = false) {
    const cell = h("span.pyptx-col", heading ? { title: column.title } : {}, text);
    cell.style.width = `${column.width}ch`;
    return cell;
  }

  /** Draw the lines in sight and drop the others, unless all stay. */
  draw() {
    const [first, end] = visibleRange(this.list.scrollTop, this.list.clientHeight || 600, this.rowHeight, this.lines.length);
    if (!this.full) {
      for (const [row, element] of this.rows) {
        if (row < first || row >= end) { element.remove(); this.rows.delete(row); }
      }
    }
    this.add(first, end);
    this.see();
  }

  see() {
    const whole = Math.max(1, this.lines.length * this.rowHeight);
    this.strip.see(this.list.scrollTop / whole, Math.min(1, (this.list.clientHeight - this.head.offsetHeight) / whole));
  }

  /** The rest of a short list, in idle moments. */
  fill(from = 0) {
    clearTimeout(this.timer);
    if (!this.full || from >= this.lines.length) return;
    this.timer = setTimeout(() => {
      this.add(from, Math.min(this.lines.length, from + BATCH));
      this.fill(from + BATCH);
    }, 30);
  }

  add(first, end) {
    let after = null;
    const fresh = document.createDocumentFragment();
    const flush = before => { if (fresh.childNodes.length) this.body.insertBefore(fresh, before); };
    for (let row = first; row < end; row += 1) {
      const known = this.rows.get(row);
      if (known) { flush(known); after = known; continue; }
      const element = this.row(row);
      this.rows.set(row, element);
      fresh.append(element);
    }
    let next = after ? after.nextSibling : this.body.firstChild;      // keep the order of the document that of the lines
    while (next && Number(next.dataset.row) < first) next = next.nextSibling;
    flush(next);
  }

  row(row) {
    const colour = this.colour[row], heading = this.headings?.get(row);
    const element = h("div.pyptx-row", { role: "option", "data-row": row, id: `${this.id}-${row}`, "aria-posinset": row + 1,
                                         "aria-setsize": this.lines.length, "aria-selected": "false" },
                      h("span.pyptx-no", {}, heading ? "" : this.number(row)));
    element.style.top = `${row * this.rowHeight}px`;
    if (heading) {
      element.classList.add("pyptx-head");
      element.append(h("span.pyptx-heading", {}, heading));
      return element;
    }
    for (const column of this.shown) {
      const cell = this.cell(column, column.value(row));
      if (column.link) cell.classList.add("pyptx-ref");
      const share = column.share?.(row);
      if (share) { cell.classList.add("pyptx-share"); cell.style.setProperty("--f", `${Math.round(share * 100)}%`); }
      element.append(cell);
    }
    element.append(this.code(row));
    if (colour >= 0) element.classList.add(`pyptx-c${colour % PALETTE}`, ...(Math.floor(colour / PALETTE) % 2 ? ["pyptx-striped"] : []));
    this.paintRow(row, element);
    return element;
  }

  code(row) {
    const line = this.lines[row], ranges = this.found.ranges.get(row);
    const pieces = tokens(this.name, line, this.strings?.[row]);
    const code = h("span.pyptx-code");
    for (const [kind, text, hit] of ranges ? marked(pieces, ranges) : pieces) {
      if (!kind && !hit) code.append(text);
      else code.append(h(`${hit ? "mark" : "span"}${kind ? `.pyptx-t${kind}` : ""}`,
                         { title: kind === "o" && this.name === "ptx" ? this.data.help[text] : null }, text));
    }
    const target = this.name === "sass" ? this.data.sass.target[row] : -1;
    if (target >= 0) {
      code.append(h("button.pyptx-jump", { type: "button", tabindex: -1, "data-jump": target, title: "Go to the branch target" },
                    `${target <= row ? "↑" : "↓"} ${this.number(target)}`));
    }
    return code;
  }

  /** Show `links` (of links.js related, or null), the active row and the picked lines on what is drawn. */
  paint(links, active, picked) {
    Object.assign(this, { links, active, picked });
    for (const [row, element] of this.rows) this.paintRow(row, element);
    this.list.setAttribute("aria-activedescendant", active >= 0 && this.rows.has(active) ? `${this.id}-${active}` : "");
    this.drawStrip();
  }

  paintRow(row, element) {
    const level = this.links ? this.links.level[this.name][row] : 0;
    const want = (level === EXACT ? 1 : 0) | (level === KIN ? 2 : 0) | (row === this.active ? 4 : 0)
      | (this.found.ranges.has(row) ? 8 : 0) | (this.picked && row >= this.picked[0] && row <= this.picked[1] ? 16 : 0);
    if (element.painted === want) return;
    element.painted = want;
    const list = element.classList;
    list.toggle("pyptx-exact", !!(want & 1));
    list.toggle("pyptx-kin", !!(want & 2));
    list.toggle("pyptx-active", !!(want & 4));
    list.toggle("pyptx-hit", !!(want & 8));
    list.toggle("pyptx-picked", !!(want & 16));
    element.setAttribute("aria-selected", want & 5 ? "true" : "false");
  }

  /** Show what a search found: {rows, ranges}. */
  show(found) {
    const before = this.found;
    this.found = found;
    for (const [row, element] of this.rows) {
      if (before.ranges.has(row) || found.ranges.has(row)) element.querySelector(".pyptx-code")?.replaceWith(this.code(row));
      this.paintRow(row, element);
    }
    this.drawStrip();
  }

  scrolled() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  /** Scroll as little as needed to have one of the rows in sight. */
  reveal(rows) {
    const top = revealTop(rows, this.list.scrollTop, this.list.clientHeight - this.head.offsetHeight, this.rowHeight);
    if (top !== null) { this.list.scrollTop = top; this.draw(); }
  }

  /** Keep one row in sight, at the edge it left by. */
  follow(row) {
    const height = this.list.clientHeight - this.head.offsetHeight, top = row * this.rowHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = Math.max(0, top - this.rowHeight);
    else if (top + 2 * this.rowHeight > this.list.scrollTop + height) this.list.scrollTop = top + 2 * this.rowHeight - height;
    this.draw();
  }

  drawStrip() {
    if (!this.palette) return;
    this.strip.draw({ count: this.lines.length, colour: this.colour, level: this.links?.level[this.name], hits: this.found.rows,
                      palette: this.palette, style: this.style, rowHeight: this.rowHeight });
    this.see();
  }

  /** The palette as the style sheet has it now; call when the theme may have changed. */
  readTheme() {
    const style = getComputedStyle(this.element);
    const probe = h("span");
    this.element.append(probe);
    const read = name => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    this.palette = Array.from({ length: PALETTE }, (_, index) => read(`--px-c${index}`));
    this.style = { link: read("--px-ink"), hit: read("--px-hit-edge") };
    probe.remove();
    this.rowHeight = Math.round(parseFloat(style.fontSize) * 1.5) || 18;
  }

  destroy() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
  }
}
