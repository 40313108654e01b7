// A pane: a list of lines, virtualized if there are many.

import { freshId, h } from "../dom.js";
import { blockAt, foldable, loopMarks, placeOf, shownRows } from "./folding.js";
import { EXACT, KIN, revealTop, visibleRange } from "./links.js";
import { SIGNS } from "./dependences.js";
import { KINDS, counts, kinds } from "./filters.js";
import { cell, cells, code } from "./row.js";
import { Minimap } from "./minimap.js";
import { Arrows } from "./arrows.js";
import { stringStates } from "./tokens.js";

export const PALETTE = 8;         // colors in linked.css: .pyptx-c0 ...
const BATCH = 250;
const STILL = 120;                // ms without scrolling before hover takes effect

export class Pane {
  /**
   * name: "python" | "ir" | "ptx" | "sass"; columns: of columns.js; color: a number for each row;
   * on: {hover(row), leave(), pick(row, event)}; headings: Map of row -> text shown instead of a line;
   * findings: Map of row -> {severity, text} of a check;
   * full: draw all lines, so that the browser's own search and selection see them.
   * data[name].flow, where there is one, gives the blocks that can be folded and the loops; data[name].links the labels.
   */
  constructor({ name, title, data, columns, number, numberWidth, color, headings, findings = new Map(), full, on }) {
    Object.assign(this, { name, data, columns, number, color, on, headings, findings, full });
    this.lines = data[name].text;
    this.strings = name === "python" ? stringStates(this.lines, data.python.sections.map(section => section.start)) : null;
    this.flow = data[name].flow?.depth?.length ? data[name].flow : null;
    this.blocks = this.flow ? foldable(this.flow.starts, this.lines.length, row => name !== "ptx" || !/^\s*[})]?\s*$/.test(this.lines[row])) : [];
    this.closed = new Set();
    this.kinds = kinds(name, this.lines);
    this.left = new Set([...counts(this.kinds)].filter(([kind, count]) => count > KINDS[kind].most).map(([kind]) => kind));  // hidden kinds
    this.reorder();
    this.loops = this.flow ? loopMarks(this.flow.loops) : null;
    this.deepest = Math.min(4, this.flow?.depth.reduce((most, depth) => Math.max(most, depth), 0) ?? 0);
    this.jumps = this.targets(data[name]);
    this.rows = new Map();
    this.rowHeight = 18;
    const lengths = this.lines.map(line => line.length).sort((one, other) => one - other);
    this.longest = Math.max(20, lengths.at(-1) ?? 0);
    this.usual = lengths[Math.floor(0.95 * (lengths.length - 1))] ?? 0;  // characters of nearly all lines
    this.id = freshId();
    this.head = h("div.pyptx-columns", { "aria-hidden": "true" });
    this.body = h("div.pyptx-lines", { role: "presentation" });
    this.list = h("div.pyptx-list", { role: "listbox", tabindex: 0, "aria-label": `${title}: ${this.lines.length} lines`,
                                      "data-pane": name }, this.head, this.body);
    this.minimap = new Minimap(share => { this.list.scrollTop = share * this.count * this.rowHeight - this.list.clientHeight / 2; });
    this.arrows = name === "sass" ? new Arrows() : null;
    this.element = h(`section.pyptx-pane.pyptx-${name}${this.full ? ".pyptx-full" : ""}`, { "aria-label": title },
                     h("div.pyptx-bar", {}, h("span.pyptx-name", {}, title)), h("div.pyptx-view", {}, this.list, this.arrows?.element ?? null, this.minimap.element));
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
    this.picked = null;           // [first, last] of the selection
    this.heat = null;             // of each row, 0..1
  }

  get count() { return this.order ? this.order.length : this.lines.length; }

  /** Branch targets and sources: row -> [[label, row, title], ...] and, for PTX, row -> [[word, row], ...]. */
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
      for (const row of rows.slice(0, 3)) add(to, goal, [`⤶ ${this.number(row)}`, row, "Go to the branch"]);
    }
    return { to, words };
  }

  /** Characters that the columns and nearly all lines take. */
  need() {
    return this.columnsWidth() + this.number(0).length + this.usual + 6;
  }

  columnsWidth() {
    return this.columns.filter(column => column.shown).reduce((sum, column) => sum + column.width + 1, 6 + this.deepest);
  }

  /** Set which rows are shown, and in which order: null for all. */
  reorder() {
    const left = new Set(this.left.size ? [...this.kinds.keys()].filter(row => this.hides(row)) : []);
    this.order = shownRows(this.lines.length, this.blocks, this.closed, left);
  }

  /** Return true for a line of a kind that is hidden. */
  hides(row) { return this.left.has(this.kinds.get(row)); }

  /** Hide or show the lines of a kind. */
  filter(kind, out) {
    if (out) this.left.add(kind); else this.left.delete(kind);
    this.reorder();
    this.again();
  }

  /** Measure and draw; call after attaching, or when columns or size have changed. */
  layout() {
    const shown = this.columns.filter(column => column.shown);
    this.head.replaceChildren(h("span.pyptx-no", {}, this.name === "sass" ? "addr" : "line"),
                              ...shown.map(column => cell(column, column.label, true)), h("span.pyptx-code", {}, ""));
    this.shown = shown;
    const width = this.columnsWidth() + this.longest;
    this.element.style.setProperty("--px-loops", `${this.deepest}ch`);
    this.body.style.minWidth = this.head.style.minWidth = `max(100%, calc(${width}ch + var(--px-number)))`;
    this.element.style.setProperty("--px-row", `${this.rowHeight}px`);
    this.again();
  }

  /** Redraw all rows. */
  again() {
    this.body.replaceChildren();
    this.rows.clear();
    this.body.style.height = `${this.count * this.rowHeight}px`;
    this.draw();
    this.drawMinimap();
    this.fill();
  }

  /** The pane's size has changed. */
  resized() {
    this.draw();
    this.drawMinimap();
  }

  /** Draw the visible lines and remove the others, unless all are drawn. */
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
    this.minimap.see(this.list.scrollTop / whole, Math.min(1, (this.list.clientHeight - this.head.offsetHeight) / whole));
    this.drawArrows();
  }

  /** Draw the arrows to the instruction from those it waits for. */
  drawArrows() {
    const { row, needs } = this.links ?? {}, own = this.links?.pane === "sass" && needs;
    if (!this.arrows || !(own || this.arrows.drawn)) return;
    const from = own ? needs.stalled.filter(other => other !== row && !this.hides(other)) : [], top = 18 - this.list.scrollTop;
    this.arrows.draw(row, from, other => top + (this.place(other) + 0.5) * this.rowHeight, this.list.clientHeight);
  }

  /** Draw the rest of a short list when idle. */
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

  /** Draw the missing rows at positions [first, end), in order. */
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
    let next = after ? after.nextSibling : this.body.firstChild;      // keep elements in the order of lines
    while (next && first < this.count && Number(next.dataset.row) < this.rowAt(first)) next = next.nextSibling;
    flush(next);
  }

  row(row) {
    const color = this.color[row], heading = this.headings?.get(row);
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
                                              "aria-label": folded ? `Unfold the block of ${size} lines` : `Fold the block of ${size} lines`,
                                              title: `Basic block of ${size} lines (f)` }, folded ? "▸" : "▾"));
    }
    element.append(this.code(row));
    if (folded) {
      element.classList.add("pyptx-folded");
      element.append(h("span.pyptx-more", {}, `+ ${block[1] - row} lines to ${this.number(block[1])}`));
    }
    if (color >= 0) element.classList.add(`pyptx-c${color % PALETTE}`, ...(Math.floor(color / PALETTE) % 2 ? ["pyptx-striped"] : []));
    const finding = this.findings.get(row);
    if (finding) { element.classList.add("pyptx-marked", `pyptx-f-${finding.severity}`); element.firstChild.title = finding.text; }
    if (this.heat) warm(element, this.heat[row]);
    this.paintRow(row, element);
    return element;
  }

  /** Shade the line numbers and the minimap by `heat`, 0..1 of each row; null for none. */
  shade(heat) {
    if (heat === this.heat) return;
    this.heat = heat;
    for (const [row, element] of this.rows) warm(element, heat ? heat[row] : 0);
    this.drawMinimap();
  }

  code(row) {
    return code({ language: this.name, line: this.lines[row], inString: this.strings?.[row], ranges: this.found.ranges.get(row),
                  help: this.data.help, links: this.jumps.words.get(row), to: this.jumps.to.get(row),
                  loops: this.loops?.(row, this.flow.depth[row]) });
  }

  /** Fold or unfold the basic block of a row, or all blocks. Returns the first row of the block, -1 for none. */
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
    this.reorder();
    this.again();
    return row ?? 0;
  }

  /** Unfold the block, or show the kind of lines, that hides a row. */
  uncover(row) {
    if (this.hides(row)) { this.filter(this.kinds.get(row), false); this.on.shown(this.kinds.get(row)); }
    const block = this.closed.size ? blockAt(this.blocks, row) : null;
    if (block && row !== block[0] && this.closed.has(block[0])) this.fold(row, false);
  }

  /** Highlight `links` (`related` of links.js, or null), the active row and the selection. */
  paint(links, active, picked) {
    Object.assign(this, { links, active, picked });
    for (const [row, element] of this.rows) this.paintRow(row, element);
    this.list.setAttribute("aria-activedescendant", active >= 0 && this.rows.has(active) ? `${this.id}-${active}` : "");
    this.drawMinimap();
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

  /** Highlight search matches: {rows, ranges}. */
  show(found) {
    const before = this.found;
    this.found = found;
    for (const [row, element] of this.rows) {
      if (before.ranges.has(row) || found.ranges.has(row)) element.querySelector(".pyptx-code")?.replaceWith(this.code(row));
      this.paintRow(row, element);
    }
    this.drawMinimap();
  }

  /** Hover a line, but not those that scroll past a resting pointer. */
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

  /** Scroll to one of the rows unless one is visible. */
  reveal(rows) {
    const places = this.order ? [...new Set(rows.map(row => this.place(row)))] : rows;
    const top = revealTop(places, this.list.scrollTop, this.list.clientHeight - this.head.offsetHeight, this.rowHeight);
    if (top !== null) { this.list.scrollTop = top; this.draw(); }
  }

  /** Keep a row visible, scrolling as little as possible. */
  follow(row) {
    this.uncover(row);
    const height = this.list.clientHeight - this.head.offsetHeight, top = this.place(row) * this.rowHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = Math.max(0, top - this.rowHeight);
    else if (top + 2 * this.rowHeight > this.list.scrollTop + height) this.list.scrollTop = top + 2 * this.rowHeight - height;
    this.draw();
  }

  drawMinimap() {
    if (!this.palette) return;
    this.minimap.draw({ count: this.count, place: row => this.place(row), folded: !!this.order, color: this.color, heat: this.heat,
                      exact: this.links?.exact[this.name], kin: this.links?.kin[this.name], hits: this.found.rows, findings: this.findings,
                      palette: this.palette, style: this.style, rowHeight: this.rowHeight });
    this.see();
  }

  /** Read the palette of the style sheet; call when the theme may have changed. */
  readTheme() {
    const style = getComputedStyle(this.element);
    const probe = h("span");
    this.element.append(probe);
    const read = name => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    this.palette = Array.from({ length: PALETTE }, (_, index) => read(`--px-c${index}`));
    this.style = { link: read("--px-ink"), hit: read("--px-hit-edge"), hot: read("--px-hot"), error: read("--px-error"), warning: read("--px-warning"), note: read("--px-note") };
    probe.remove();
    this.rowHeight = Math.round(parseFloat(style.fontSize) * 1.5) || 18;
  }

  destroy() {
    clearTimeout(this.timer);
    clearTimeout(this.resting);
    cancelAnimationFrame(this.frame);
  }
}

/** Shade the number of a row by 0..1. */
function warm(element, heat) {
  if (heat > 0.005) element.style.setProperty("--h", `${Math.round(60 * heat)}%`); else element.style.removeProperty("--h");
  element.classList.toggle("pyptx-warm", heat > 0.005);
}
