// One pane: a list of lines of which only those in sight are drawn once there are many.

import { freshId, h } from "../dom.js";
import { blockAt, foldable, loopMarks, placeOf, shownRows } from "./folds.js";
import { EXACT, KIN, revealTop, visibleRange } from "./links.js";
import { SIGNS } from "./needs.js";
import { cell, cells, code } from "./rowview.js";
import { Strip } from "./strip.js";
import { stringStates } from "./tokens.js";

export const PALETTE = 8;         // colours in linked.css: .pyptx-c0 ...
const BATCH = 250;
const STILL = 120;                // ms without scrolling after which lines are pointed at

export class Pane {
  /**
   * name: "python" | "ptx" | "sass"; columns: of columns.js; colour: a number for each row;
   * on: {hover(row), leave(), pick(row, event)}; headings: Map of row -> text shown instead of a line;
   * full: draw all lines, so that the browser's own search and selection see them.
   * data[name].flow, where there is one, gives the blocks that can be folded and the loops; data[name].links the labels.
   */
  constructor({ name, title, data, columns, number, numberWidth, colour, headings, full, on }) {
    Object.assign(this, { name, data, columns, number, colour, on, headings, full });
    this.lines = data[name].text;
    this.strings = name === "python" ? stringStates(this.lines, data.python.sections.map(section => section.start)) : null;
    this.flow = data[name].flow?.depth?.length ? data[name].flow : null;
    this.blocks = this.flow ? foldable(this.flow.starts, this.lines.length, row => name !== "ptx" || !/^\s*[})]?\s*$/.test(this.lines[row])) : [];
    this.closed = new Set();
    this.order = null;            // rows that are shown, null: all
    this.loops = this.flow ? loopMarks(this.flow.loops) : null;
    this.deepest = Math.min(4, this.flow?.depth.reduce((most, depth) => Math.max(most, depth), 0) ?? 0);
    this.jumps = this.targets(data[name]);
    this.rows = new Map();
    this.rowHeight = 18;
    this.longest = this.lines.reduce((most, line) => Math.max(most, line.length), 20);
    this.id = freshId();
    this.head = h("div.pyptx-columns", { "aria-hidden": "true" });
    this.body = h("div.pyptx-lines", { role: "presentation" });
    this.list = h("div.pyptx-list", { role: "listbox", tabindex: 0, "aria-label": `${title}: ${this.lines.length} lines`,
                                      "data-pane": name }, this.head, this.body);
    this.strip = new Strip(share => { this.list.scrollTop = share * this.count * this.rowHeight - this.list.clientHeight / 2; });
    this.element = h(`section.pyptx-pane.pyptx-${name}${this.full ? ".pyptx-full" : ""}`, { "aria-label": title },
                     h("div.pyptx-bar", {}, h("span.pyptx-name", {}, title)), h("div.pyptx-view", {}, this.list, this.strip.element));
    this.element.style.setProperty("--px-number", `${numberWidth}ch`);
    const rowOf = event => { const row = event.target.closest?.(".pyptx-row"); return row ? Number(row.dataset.row) : null; };
    this.list.addEventListener("pointerover", event => { const row = rowOf(event); if (row !== null) this.hover(row); });
    this.list.addEventListener("pointerleave", () => { clearTimeout(this.resting); on.leave(); });
    this.list.addEventListener("click", event => { const row = rowOf(event); if (row !== null) on.pick(row, event); });
    this.list.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.moved = -Infinity;       // when it was scrolled last
    this.links = null;
    this.found = { rows: [], ranges: new Map() };
    this.active = -1;
    this.picked = null;           // [first, last] of lines chosen for copying
  }

  get count() { return this.order ? this.order.length : this.lines.length; }

  /** Where branches go, and for rows that are gone to, whence: row -> [[label, row, title], ...] and, of PTX, row -> [[word, row], ...]. */
  targets({ target, links, text }) {
    const to = new Map(), words = new Map(), from = new Map(), add = (map, row, item) => map.set(row, [...(map.get(row) ?? []), item]);
    const jump = (row, goal) => { add(to, row, [`${goal <= row ? "↑" : "↓"} ${this.number(goal)}`, goal, "Go to the branch target"]); };
    const back = (row, goal) => { if (row !== goal) add(from, goal, row); };
    if (this.name === "sass") (target ?? []).forEach((goal, row) => { if (goal >= 0) { jump(row, goal); back(row, goal); } });
    for (const [row, word, goal] of links ?? []) {
      if (text[row].includes(word)) add(words, row, [word, goal]); else jump(row, goal);
      back(row, goal);
    }
    for (const [goal, rows] of from) {
      for (const row of rows.slice(0, 3)) add(to, goal, [`⤶ ${this.number(row)}`, row, "Go to where it is jumped from"]);
    }
    return { to, words };
  }

  /** Measure and draw; call when the pane has come into the document, or its columns or size have changed. */
  layout() {
    const shown = this.columns.filter(column => column.shown);
    this.head.replaceChildren(h("span.pyptx-no", {}, this.name === "sass" ? "addr" : "line"),
                              ...shown.map(column => cell(column, column.label, true)), h("span.pyptx-code", {}, ""));
    this.shown = shown;
    const width = shown.reduce((sum, column) => sum + column.width + 1, 6 + this.deepest) + this.longest;
    this.element.style.setProperty("--px-loops", `${this.deepest}ch`);
    this.body.style.minWidth = this.head.style.minWidth = `max(100%, calc(${width}ch + var(--px-number)))`;
    this.element.style.setProperty("--px-row", `${this.rowHeight}px`);
    this.again();
  }

  /** Draw all rows anew. */
  again() {
    this.body.replaceChildren();
    this.rows.clear();
    this.body.style.height = `${this.count * this.rowHeight}px`;
    this.draw();
    this.drawStrip();
    this.fill();
  }

  /** The pane's size has changed. */
  resized() {
    this.draw();
    this.drawStrip();
  }

  /** Draw the lines in sight and drop the others, unless all stay. */
  draw() {
    const [first, end] = visibleRange(this.list.scrollTop, this.list.clientHeight || 600, this.rowHeight, this.count);
    if (!this.full) {
      const low = this.rowAt(first), high = end < this.count ? this.rowAt(end) : Infinity;
      for (const [row, element] of this.rows) {
        if (row < low || row >= high) { element.remove(); this.rows.delete(row); }
      }
    }
    this.add(first, end);
    this.see();
  }

  rowAt(place) { return this.order ? this.order[place] : place; }
  place(row) { return placeOf(this.order, row); }

  see() {
    const whole = Math.max(1, this.count * this.rowHeight);
    this.strip.see(this.list.scrollTop / whole, Math.min(1, (this.list.clientHeight - this.head.offsetHeight) / whole));
  }

  /** The rest of a short list, in idle moments. */
  fill(from = 0) {
    clearTimeout(this.timer);
    const rest = this.full && from < this.count;
    this.list.setAttribute("aria-busy", rest ? "true" : "false");
    if (!rest) return;
    this.timer = setTimeout(() => {
      this.add(from, Math.min(this.count, from + BATCH));
      this.fill(from + BATCH);
    }, 30);
  }

  /** Draw the rows at places [first, end) that are not there yet, in order. */
  add(first, end) {
    let after = null;
    const fresh = document.createDocumentFragment();
    const flush = before => { if (fresh.childNodes.length) this.body.insertBefore(fresh, before); };
    for (let place = first; place < end; place += 1) {
      const row = this.rowAt(place), known = this.rows.get(row);
      if (known) { flush(known); after = known; continue; }
      const element = this.row(row);
      this.rows.set(row, element);
      fresh.append(element);
    }
    let next = after ? after.nextSibling : this.body.firstChild;      // keep the order of the document that of the lines
    while (next && first < this.count && Number(next.dataset.row) < this.rowAt(first)) next = next.nextSibling;
    flush(next);
  }

  row(row) {
    const colour = this.colour[row], heading = this.headings?.get(row);
    const element = h("div.pyptx-row", { role: "option", "data-row": row, id: `${this.id}-${row}`, "aria-posinset": row + 1,
                                         "aria-setsize": this.lines.length, "aria-selected": "false" },
                      h("span.pyptx-no", {}, heading ? "" : this.number(row)));
    element.style.top = `${this.place(row) * this.rowHeight}px`;
    if (heading) {
      element.classList.add("pyptx-head");
      element.append(h("span.pyptx-heading", {}, heading));
      return element;
    }
    element.append(...cells(this.shown, row));
    const block = this.blocks.length && blockAt(this.blocks, row), folded = block && this.closed.has(block[0]);
    if (block && block[0] === row) {
      const size = block[1] - row + 1;
      element.append(h("button.pyptx-fold", { type: "button", tabindex: -1, "data-fold": row, "aria-expanded": String(!folded),
                                              "aria-label": folded ? `Open the block of ${size} lines` : `Fold the block of ${size} lines`,
                                              title: `Basic block of ${size} lines (f)` }, folded ? "▸" : "▾"));
    }
    element.append(this.code(row));
    if (folded) {
      element.classList.add("pyptx-folded");
      element.append(h("span.pyptx-more", {}, `+ ${block[1] - row} lines to ${this.number(block[1])}`));
    }
    if (colour >= 0) element.classList.add(`pyptx-c${colour % PALETTE}`, ...(Math.floor(colour / PALETTE) % 2 ? ["pyptx-striped"] : []));
    this.paintRow(row, element);
    return element;
  }

  code(row) {
    return code({ language: this.name, line: this.lines[row], inString: this.strings?.[row], ranges: this.found.ranges.get(row),
                  help: this.data.help, links: this.jumps.words.get(row), to: this.jumps.to.get(row),
                  loops: this.loops?.(row, this.flow.depth[row]) });
  }

  /** Fold or open the basic block of a row; without `row` all of them. Returns the row that stands for it, -1: it is in no block. */
  fold(row, close) {
    if (row === undefined) {
      const all = close ?? !this.closed.size;
      this.closed = new Set(all ? this.blocks.map(([first]) => first) : []);
    } else {
      const block = blockAt(this.blocks, row);
      if (!block) return -1;
      if (close ?? !this.closed.has(block[0])) this.closed.add(block[0]); else this.closed.delete(block[0]);
      row = block[0];
    }
    this.order = shownRows(this.lines.length, this.blocks, this.closed);
    this.again();
    return row ?? 0;
  }

  /** Open the block that hides a row. */
  uncover(row) {
    const block = this.closed.size ? blockAt(this.blocks, row) : null;
    if (block && row !== block[0] && this.closed.has(block[0])) this.fold(row, false);
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
    const sign = (this.name === "sass" && this.links?.signs?.get(row)) || "";
    if ((element.dataset.sign ?? "") !== sign) {
      if (sign) { element.dataset.sign = sign; element.firstChild.dataset.sign = SIGNS[sign]; } else { delete element.dataset.sign; delete element.firstChild.dataset.sign; }
    }
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

  /** Lines that pass under a resting pointer are not what the reader points at: the one that stays is. */
  hover(row) {
    clearTimeout(this.resting);
    if (performance.now() - this.moved < STILL) this.resting = setTimeout(() => this.on.hover(row), STILL);
    else this.on.hover(row);
  }

  scrolled() {
    this.moved = performance.now();
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  /** Scroll as little as needed to have one of the rows in sight. */
  reveal(rows) {
    const places = this.order ? [...new Set(rows.map(row => this.place(row)))] : rows;
    const top = revealTop(places, this.list.scrollTop, this.list.clientHeight - this.head.offsetHeight, this.rowHeight);
    if (top !== null) { this.list.scrollTop = top; this.draw(); }
  }

  /** Keep one row in sight, at the edge it left by. */
  follow(row) {
    this.uncover(row);
    const height = this.list.clientHeight - this.head.offsetHeight, top = this.place(row) * this.rowHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = Math.max(0, top - this.rowHeight);
    else if (top + 2 * this.rowHeight > this.list.scrollTop + height) this.list.scrollTop = top + 2 * this.rowHeight - height;
    this.draw();
  }

  drawStrip() {
    if (!this.palette) return;
    this.strip.draw({ count: this.count, place: row => this.place(row), folded: !!this.order, colour: this.colour,
                      exact: this.links?.exact[this.name], kin: this.links?.kin[this.name], hits: this.found.rows,
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
    clearTimeout(this.resting);
    cancelAnimationFrame(this.frame);
  }
}
