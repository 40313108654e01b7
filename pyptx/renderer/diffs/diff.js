// The diff view: two sides, row by row, each row with a class.

import { header, toolbar } from "./header.js";
import { diffPane } from "./pane.js";
import { WORDS, atLevel, fileOf, items, pythonRow } from "./rows.js";
import { copy, jump, keyPressed } from "./navigation.js";
import { h } from "../dom.js";
import { Search } from "../code/search.js";
import { EXACT, KIN } from "../code/links.js";
import { observe } from "../observers.js";

/** Draw `data` (kind "diff") into `element`; options as of the linked view. Returns {destroy(), next(direction), active(), show(level)}. */
export function mount(element, data, options = {}) {
  if (data.kind !== "diff" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports diff, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, next() {}, active: () => null };
  }
  let view = null;
  const show = level => {
    view?.destroy();
    view = new DiffView(element, atLevel(data, level), { ...options, show });
  };
  show(data.level);
  return { destroy: () => view.destroy(), next: direction => jump(view, direction, true), active: () => view.active, show };
}

class DiffView {
  constructor(element, data, options) {
    this.data = data;
    this.options = options;
    this.level = data.level;
    this.kinds = data.rows.kind;
    this.count = this.kinds.length;
    this.sides = { left: data.rows.a, right: data.rows.b };
    this.shown = new Set([0, 1, 2, 3]);
    this.open = new Set();
    this.active = null;
    this.width = element.clientWidth || 1200;
    this.where = { left: new Map(), right: new Map() };             // line of a side -> row
    for (const side of ["left", "right"]) this.sides[side].forEach((line, row) => { if (line >= 0) this.where[side].set(line, row); });
    this.grid = h("div.pyptx-panes");
    const rank = (side, item) => 2 * item + (side === "right");                 // row after row
    this.search = new Search(this, {
      label: "Search both sides", nameOf: pane => pane.side, rank: (pane, item) => rank(pane.side, item),
      here: () => (this.active ? rank(this.active.side, this.active.item) : -1),
      go: (pane, item) => this.activate(pane.side, item), back: () => this.panes[this.active?.side ?? "left"].list.focus() });
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.root = h(`div.pyptx-linked.pyptx-diff${options.fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `${data.left.title} and ${data.right.title} compared: ${data.verdict}` },
                  header(data), toolbar(this), this.grid, this.status);
    if (!options.fill) this.grid.style.height = `${options.height ?? Math.min(520, this.count * 18 + 70)}px`;
    this.root.addEventListener("keydown", event => keyPressed(this, event));
    this.root.addEventListener("copy", event => copy(this, event));
    element.append(this.root);
    this.build();
    this.unwatch = observe({ root: this.root, grid: this.grid, each: call => this.each(call), themed: () => this.themed() });
  }

  each(call) { Object.values(this.panes).forEach(call); }
  themed() { this.each(pane => { pane.readTheme(); pane.layout(); }); }

  /** Replace this view by that of another level. */
  turn(level) {
    const { parentElement } = this.root;
    this.options.show(level);
    parentElement.querySelector(`[data-level=${level}]`)?.focus();
  }

  toggle(kind, button) {
    if (this.shown.has(kind)) this.shown.delete(kind); else this.shown.add(kind);
    button.setAttribute("aria-pressed", String(this.shown.has(kind)));
    this.rebuild();
  }

  openAll() {
    if (this.open.size) this.open.clear();
    else this.items.forEach(item => { if (item.fold) this.open.add(item.fold[0]); });
    this.folds.textContent = this.open.size ? "Fold" : "Unfold all";
    this.rebuild();
  }

  // the two sides -----------------------------------------------------------------------------------------------------

  rebuild() {
    const row = this.active?.row, top = this.panes.left.list.scrollTop;
    const focused = this.grid.contains(document.activeElement) ? document.activeElement.closest("[data-pane]")?.dataset.pane : null;
    this.each(pane => pane.destroy());
    this.grid.replaceChildren();
    this.build();
    const at = row === undefined ? -1 : this.itemOf(row);
    if (at >= 0) this.activate(this.active.side, at);
    else { this.active = null; this.panes.left.list.scrollTop = top; this.say(); }
    if (this.search.query.value) this.search.search();
    if (focused) this.panes[focused].list.focus({ preventScroll: true });
  }

  build() {
    this.items = items(this.kinds, this.shown, this.open);
    this.at = new Map(this.items.flatMap((item, index) => (item.fold ? [] : [[item.row, index]])));
    this.panes = { left: diffPane(this, "left"), right: diffPane(this, "right") };
    const { left, right } = this.panes;
    left.longest = right.longest = Math.max(left.longest, right.longest);
    this.grid.append(left.element, right.element);
    for (const [one, other] of [[left, right], [right, left]]) {
      one.list.addEventListener("scroll", () => {
        if (other.list.scrollTop !== one.list.scrollTop) other.list.scrollTop = one.list.scrollTop;
        if (other.list.scrollLeft !== one.list.scrollLeft) other.list.scrollLeft = one.list.scrollLeft;
      }, { passive: true });
    }
    this.levels = { left: new Uint8Array(this.items.length), right: new Uint8Array(this.items.length) };
    this.themed();
    this.say();
  }

  // navigation ---------------------------------------------------------------------------------------------------------

  itemOf(row) { return this.at.get(row) ?? this.items.findIndex(({ fold }) => fold && row >= fold[0] && row < fold[1]); }

  click(side, item, event) {
    const target = event.target.closest(".pyptx-jump");
    if (target) return this.activate(side, Number(target.dataset.jump), true);
    if (this.items[item].fold) return this.unfold(item);
    if (!window.getSelection()?.toString()) this.activate(side, item);
    return undefined;
  }

  unfold(item) {
    const [first] = this.items[item].fold, kind = this.items[item].kind;
    this.open.add(first);
    this.folds.textContent = "Fold";
    const { side } = this.active ?? { side: "left" };
    this.active = { side, row: first, kind };
    this.rebuild();
  }

  activate(side, item, own = true) {
    this.active = { side, item, row: this.items[item].row ?? this.items[item].fold[0] };
    const { left, right } = this.levels;
    left.fill(0);
    right.fill(0);
    left[item] = right[item] = KIN;
    const target = this.elsewhere(item);
    if (target >= 0) left[target] = right[target] = EXACT;
    if (own) this.panes[side].follow(item);
    const exact = { [this.level]: target >= 0 ? [target] : [] }, kin = { [this.level]: [item] };
    this.each(pane => pane.paint({ level: { [this.level]: this.levels[pane.side] }, exact, kin }, pane.side === side ? item : -1, null));
    this.say();
  }

  /** The item of the other place of a moved line, -1 if it has not moved. */
  elsewhere(item) {
    const { row } = this.items[item];
    if (row === undefined || this.data.rows.partner[row] < 0) return -1;
    const other = this.where[this.sides.left[row] >= 0 ? "right" : "left"].get(this.data.rows.partner[row]);
    return this.itemOf(other);
  }

  clear() {
    this.active = null;
    this.each(pane => pane.paint(null, -1, null));
    this.say();
  }

  // status -----------------------------------------------------------------------------------------------------------

  say(side, item) {
    const pointed = item !== undefined;
    this.status.setAttribute("aria-live", pointed ? "off" : "polite");
    if (!pointed && this.active?.item === undefined) {
      this.status.textContent = this.data.hunks.every(hunk => hunk[2] === 0) ? this.data.verdict : "Press n for the next difference. Hover over a line to see the Python line that caused it.";
      return;
    }
    this.status.textContent = this.sentence(item ?? this.active.item);
  }

  sentence(item) {
    const { fold, row, kind } = this.items[item];
    if (fold) return `${fold[1] - fold[0]} ${WORDS[kind]} rows are folded; click or press Enter to unfold them`;
    const { rows } = this.data, what = [WORDS[this.kinds[row]]];
    if (rows.why[row]) what.push(rows.why[row]);
    if (rows.control[row]) what.push("different scheduling bits");
    const python = ["left", "right"].map(side => {
      const view = this.data[side], line = this.sides[side][row], at = line < 0 ? -1 : pythonRow(view, this.level, line);
      return at < 0 ? null : `${fileOf(view, at)}:${view.python.line[at]}  ${view.python.text[at].trim()}`;
    });
    const causes = python[0] === python[1] ? [python[0]] : python.map((text, at) => text && `${at ? "right" : "left"} ${text}`);
    const label = this.elsewhere(item) >= 0 ? "  ·  Enter: go to where it moved" : "";
    return [what.join(", "), ...causes.filter(Boolean)].join("  ·  ") + label;
  }

  destroy() {
    this.unwatch();
    this.each(pane => pane.destroy());
    this.root.remove();
  }
}
