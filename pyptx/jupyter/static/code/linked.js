// The linked view: Python | PTX | SASS. `mount` draws it into an element and returns how to drive and remove it.

import { nameOf, rowOf } from "./anchors.js";
import { columnsOf, numberWidth } from "./columns.js";
import { Costs } from "./costs.js";
import { h } from "../dom.js";
import { Finder } from "./finder.js";
import { Foot } from "./foot.js";
import { header } from "./header.js";
import { NAMES, PANES, colours, linkIndex, related } from "./links.js";
import { needsIndex, signs } from "./needs.js";
import { Pane } from "./pane.js";
import { separator } from "./splitter.js";
import { watch } from "../surroundings.js";
import { toolbar } from "./toolbar.js";
import { copy, keyPressed, choose } from "./walking.js";

const SHARE = { python: 0.9, ptx: 0.9, sass: 1.2 };
const ALL = 3000;                 // up to so many lines in all panes, all are drawn

/**
 * Draw `data` (kind "linked") into `element`.
 * options.fill: take the whole height of the element's window; options.height: pixels of the panes (default: what the lines need, 520 at most);
 * options.pinned(name): called when a line is pinned, with its name for links (anchors.js), "" when none is any more.
 * Returns {destroy(), select(pane, row), links(), go(name): to a line by its name}.
 */
export function mount(element, data, options = {}) {
  if (data.kind !== "linked" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; the renderer knows linked, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, select() {}, links: () => null };
  }
  const view = new LinkedView(element, data, options);
  const go = name => { const found = rowOf(data, name); if (found) view.show(...found); };
  return { destroy: () => view.destroy(), select: (pane, row) => view.pin(pane, row, { reveal: true, own: true }), links: () => view.pinned, go };
}

/** Rows that stand for the beginning of a function: row -> its name and file. */
function headings(python) {
  return new Map(python.sections.filter(({ start }) => start && python.line[start - 1] === 0)
    .map(({ start, role, file, function: name }) => [start - 1, `${role} ${name}  ·  ${file}`]));
}

class LinkedView {
  constructor(element, data, options) {
    this.data = data;
    this.index = linkIndex(data);
    this.needs = needsIndex(data.sass);
    this.tell = options.pinned ?? (() => {});
    this.trail = [];                                                // lines to go back to
    this.pinned = this.hovered = this.picked = this.group = null;
    this.names = PANES.filter(name => data.panes.includes(name) && data[name].text.length);
    this.hidden = new Set();
    this.focus = this.names[0];
    this.root = h(`div.pyptx-linked${options.fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `${data.title}: Python, PTX and SASS, linked` });
    this.makePanes(element.clientWidth || 1200);
    this.finder = new Finder(this);
    this.foot = new Foot(data, this.index, (pane, row) => this.show(pane, row));
    this.costs = new Costs(this);
    this.root.append(header(data, (pane, row) => this.show(pane, row)), toolbar(this), this.grid, this.foot.element);
    if (!options.fill) {
      const most = Math.max(...this.names.map(name => data[name].text.length));
      this.grid.style.height = `${options.height ?? Math.min(520, most * 18 + 70)}px`;
    }
    this.root.addEventListener("keydown", event => keyPressed(this, event));
    this.root.addEventListener("copy", event => copy(this, event));
    element.append(this.root);
    this.themed();
    this.foot.say(null);
    this.unwatch = watch({ root: this.root, grid: this.grid, each: call => this.each(call), themed: () => this.themed() });
  }

  /** Panes that are shown, from left to right. */
  get open() { return this.names.filter(name => !this.hidden.has(name)); }
  each(call) { this.open.forEach(name => call(this.panes[name])); }

  makePanes(width) {
    const { data } = this, columns = columnsOf(data), widths = numberWidth(data), colour = colours(data, this.index);
    const full = this.names.reduce((sum, name) => sum + data[name].text.length, 0) <= ALL;
    this.columns = columns;
    const leave = (name, ...keys) => columns[name].forEach(column => { if (keys.includes(column.key)) column.shown = false; });
    if (width < 1250) {                                             // room for the code; the reader can bring them back
      leave("sass", "read", "write", "wait");
      leave("ptx", "sass");
      if (data.python.issues.length) leave("python", "sass");
    }
    if (width < 1000) {
      leave("python", "live", "shared_conflicts", "global_excess");
      leave("ptx", "issues");
      leave("sass", "stall");
    }
    this.panes = {};
    this.grid = h("div.pyptx-panes");
    this.names.forEach((name, place) => {
      const pane = this.panes[name] = new Pane({
        name, title: this.title(name), data, columns: columns[name], number: columns.number[name], numberWidth: widths[name], colour: colour[name],
        full, headings: name === "python" ? headings(data.python) : null,
        on: { hover: row => this.hover(name, row), leave: () => this.hover(null),
              pick: (row, event) => this.click(name, row, event) } });
      pane.element.style.flexGrow = SHARE[name];
      if (place) this.grid.append(separator(this, this.names[place - 1], name));
      this.grid.append(pane.element);
      pane.list.addEventListener("focus", () => { this.focus = name; });
    });
  }

  title(name) {
    const { python } = this.data;
    if (name !== "python") return `${NAMES[name]} · ${this.data[name].text.length}`;
    return `Python · ${[...new Set(python.sections.map(section => section.file))].join(", ")}`;
  }

  /** Show or hide a pane; the last one stays. */
  toggle(name, button) {
    const show = this.hidden.has(name);
    if (!show && this.hidden.size === this.names.length - 1) return;
    if (show) this.hidden.delete(name); else this.hidden.add(name);
    button.setAttribute("aria-pressed", String(show));
    const { open } = this;
    for (const child of this.grid.children) {
      const pane = child.dataset.right;
      if (pane) child.hidden = this.hidden.has(pane) || open[0] === pane;
    }
    this.panes[name].element.hidden = !show;
    if (this.hidden.has(this.focus)) [this.focus] = open;
    this.each(pane => pane.resized());
    this.paint();
  }

  // linking ----------------------------------------------------------------------------------------------------------

  hover(pane, row) {
    if (pane === null ? !this.hovered : this.hovered?.pane === pane && this.hovered.row === row) return;
    this.hovered = pane === null ? null : this.related(pane, row);
    this.paint();
  }

  /** As related of links.js; of a machine instruction also what it needs, and the signs of those lines. */
  related(pane, row) {
    const links = related(this.index, pane, row);
    if (pane !== "sass" || !this.data.sass.takes?.length) return links;
    const needs = this.needs(row);
    return { ...links, needs, signs: signs(needs) };
  }

  click(pane, row, event) {
    const jump = event.target.closest("[data-jump]"), fold = event.target.closest("[data-fold]");
    if (jump) this.show(pane, Number(jump.dataset.jump));
    else if (fold) this.panes[pane].fold(Number(fold.dataset.fold));
    else if (window.getSelection()?.toString()) return;             // the reader is selecting text
    else if (event.shiftKey && this.pinned?.pane === pane) choose(this, pane, row);
    else this.pin(pane, row, { reveal: true });
  }

  /** Pin a line that may be out of sight, or in a pane that is hidden; `back` brings the reader back. */
  show(pane, row) {
    if (!this.names.includes(pane)) return;
    if (this.pinned) this.trail = [...this.trail.slice(-99), [this.pinned.pane, this.pinned.row]];
    if (this.hidden.has(pane)) this.toggle(pane, this.root.querySelector(`.pyptx-toggle[data-pane='${pane}']`));
    this.pin(pane, row, { reveal: true, own: true });
    this.panes[pane].list.focus({ preventScroll: true });
  }

  /** To the line that the last jump came from. */
  back() {
    const last = this.trail.pop();
    if (!last) { this.foot.tell("There is no line to go back to"); return; }
    const { trail } = this;
    this.show(...last);
    this.trail = trail;
  }

  /** Make a line the pinned one. reveal: bring its links into sight in the other panes; own: in this pane too. */
  pin(pane, row, { reveal = false, own = false } = {}) {
    this.pinned = this.related(pane, row);
    this.hovered = this.picked = null;
    this.group = this.pinned;
    this.focus = pane;
    if (own) this.panes[pane].follow(row);
    if (reveal) this.reveal();
    this.paint();
    this.tell(nameOf(this.data, pane, row));
  }

  reveal() {
    this.each(pane => {
      if (pane.name !== this.pinned.pane) pane.reveal(this.pinned.exact[pane.name].length ? this.pinned.exact[pane.name] : this.pinned.kin[pane.name]);
    });
  }

  clear() {
    this.pinned = this.hovered = this.picked = this.group = null;
    this.paint();
    this.tell("");
  }

  paint() {
    const links = this.hovered ?? this.pinned;
    this.each(pane => pane.paint(links, this.pinned?.pane === pane.name ? this.pinned.row : -1,
                                 this.picked?.pane === pane.name ? this.picked.range : null));
    this.foot.say(links, !!this.hovered);
  }

  themed() {
    this.each(pane => { pane.readTheme(); pane.layout(); });
  }

  destroy() {
    this.unwatch();
    Object.values(this.panes).forEach(pane => pane.destroy());
    this.root.remove();
  }
}
