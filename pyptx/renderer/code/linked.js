// The linked view: Python | IR of a compiler, if there is one | PTX | SASS.

import { nameOf, rowOf } from "./anchors.js";
import { columnsOf, numberWidth } from "./columns.js";
import { Expansion } from "./expansion.js";
import { findingMarks } from "./findings.js";
import { Hotspots } from "./hotspots.js";
import { h } from "../dom.js";
import { Search } from "./search.js";
import { StatusBar } from "./status_bar.js";
import { header } from "./header.js";
import { PANES, colors, linkIndex, paneName, related } from "./links.js";
import { dependenceIndex, signs } from "./dependences.js";
import { Pane } from "./pane.js";
import { prepare, restore, stateOf } from "./state.js";
import { separator, widths } from "./splitter.js";
import { observe } from "../observers.js";
import { toolbar } from "./toolbar.js";
import { copy, keyPressed, choose } from "./navigation.js";

const NARROW = 1000;              // pixels; below, panes are tabs
const ALL = 3000;                 // up to this many lines in all panes, all are drawn

/**
 * Draw `data` (kind "linked") into `element`.
 * options.fill: use the whole height of the window; options.height: pixels of the panes (default: height of the lines, at most 520);
 * options.state: of `stateOf`, restored; options.share(state): makes the button *Share*, which calls it;
 * options.pinned(name): called with the anchor of the pinned line (anchors.js), or "".
 * options.hidden: panes that are closed at first.
 * options.pointed(lines): called with the Python lines, [[file, line], ...], of the line under the pointer, or of the pinned line.
 * Returns {destroy(), select(pane, row), point(pane or null, row): as the pointer does, links(), go(name): to the line of an anchor}.
 */
export function mount(element, data, options = {}) {
  if (data.kind !== "linked" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports linked, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, select() {}, point() {}, links: () => null };
  }
  const view = new LinkedView(element, data, options);
  const go = name => { const found = rowOf(data, name); if (found) view.show(...found); };
  return { destroy: () => view.destroy(), select: (pane, row) => view.pin(pane, row, { reveal: true, own: true }), point: (pane, row) => view.point(pane, row), links: () => view.pinned, go };
}

/** Heading rows of functions: row -> name and file. */
function headings(python) {
  return new Map(python.sections.filter(({ start }) => start && python.line[start - 1] === 0)
    .map(({ start, role, file, function: name }) => [start - 1, `${role} ${name}  ·  ${file}`]));
}

class LinkedView {
  constructor(element, data, options) {
    this.data = data;
    this.index = linkIndex(data);
    this.needs = dependenceIndex(data.sass);
    this.tell = options.pinned ?? (() => {});
    this.pointed = options.pointed ?? null;
    this.share = options.share ? () => options.share(stateOf(this)) : null;
    this.trail = [];                                                // lines to go back to
    this.pinned = this.hovered = this.picked = this.group = null;
    this.names = PANES.filter(name => data.panes.includes(name) && data[name]?.text.length);
    this.hidden = new Set(this.names.every(name => options.hidden?.includes(name)) ? [] : options.hidden);
    this.narrow = false;
    this.moved = false;                                             // the reader has set the widths of panes
    [this.focus] = this.names.filter(name => !this.hidden.has(name));
    this.root = h(`div.pyptx-linked${options.fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `${data.title}: ${this.names.map(name => paneName(data, name)).join(", ")}, linked` });
    this.makePanes(element.clientWidth || 1200);
    if (options.state) prepare(this, options.state);
    this.search = new Search(this);
    this.statusBar = new StatusBar(data, this.index, (pane, row) => this.show(pane, row), () => this.expansion.toggle());
    this.expansion = new Expansion(this);
    this.hotspots = new Hotspots(this);
    this.root.append(header(data, (pane, row) => this.show(pane, row)), toolbar(this), this.grid, this.expansion.element, this.statusBar.element);
    if (!options.fill) {
      const most = Math.max(...this.names.map(name => data[name].text.length));
      this.grid.style.height = `${options.height ?? Math.min(520, most * 18 + 70)}px`;
    }
    this.root.addEventListener("keydown", event => keyPressed(this, event));
    this.root.addEventListener("copy", event => copy(this, event));
    element.append(this.root);
    this.hotspots.shade();
    this.themed();
    this.arrange();
    this.statusBar.say(null);
    if (options.state) restore(this, options.state);
    this.unwatch = observe({ root: this.root, grid: this.grid, each: call => { this.arrange(); this.each(call); }, themed: () => this.themed() });
  }

  /** Visible panes, from left to right; one where there is no room for more. */
  get open() { return this.narrow ? [this.focus] : this.names.filter(name => !this.hidden.has(name)); }
  each(call) { this.open.forEach(name => call(this.panes[name])); }

  makePanes(width) {
    const { data } = this, columns = columnsOf(data), widths = numberWidth(data), color = colors(data, this.index), found = findingMarks(data, this.index);
    const full = this.names.reduce((sum, name) => sum + data[name].text.length, 0) <= ALL;
    this.columns = columns;
    const leave = (name, ...keys) => columns[name].forEach(column => { if (keys.includes(column.key)) column.shown = false; });
    if (width < NARROW) width *= 1.6;                               // of one pane
    if (width < 1250) {                                             // leave room for the code; Columns shows them again
      leave("sass", "read", "write", "wait");
      leave("ptx", "sass");
    }
    if (width < 1000) {
      leave("python", "live", "shared_conflicts", "global_excess");
      leave("ptx", "issues", "issued");
      leave("sass", "stall");
    }
    this.panes = {};
    this.grid = h("div.pyptx-panes");
    this.names.forEach((name, place) => {
      const pane = this.panes[name] = new Pane({
        name, title: this.title(name), data, columns: columns[name], number: columns.number[name], numberWidth: widths[name], color: color[name],
        findings: found[name],
        full, headings: name === "python" ? headings(data.python) : null,
        on: { hover: row => this.hover(name, row), leave: () => this.hover(null),
              pick: (row, event) => this.click(name, row, event),
              shown: kind => { this.root.querySelector(`[data-kind="${kind}"]`).checked = true; } } });
      if (place) this.grid.append(separator(this, this.names[place - 1], name));
      this.grid.append(pane.element);
      pane.list.addEventListener("focus", () => { this.focus = name; });
    });
  }

  /** Show as many panes as there is room for, each as wide as its lines need. */
  arrange() {
    const width = this.grid.clientWidth, { open: before } = this;
    if (!width) return;                                             // not displayed yet
    this.narrow = width < NARROW && this.names.length > 1;
    this.root.classList.toggle("pyptx-narrow", this.narrow);
    const { open } = this;
    for (const name of this.names) {
      this.panes[name].element.hidden = !open.includes(name);
      this.root.querySelector(`.pyptx-toggle[data-pane='${name}']`)?.setAttribute("aria-pressed", String(open.includes(name)));
    }
    for (const child of this.grid.children) {
      const pane = child.dataset.right;
      if (pane) child.hidden = !open.includes(pane) || open[0] === pane;
    }
    if (!this.moved || open.join() !== before.join()) {
      const character = this.panes[open[0]].rowHeight / 1.5 * 0.6, found = widths(open.map(name => this.panes[name].need()), width / character);
      open.forEach((name, at) => { this.panes[name].element.style.flexGrow = found[at]; });
    }
  }

  title(name) {
    const { python } = this.data;
    if (name !== "python") return `${paneName(this.data, name)} · ${this.data[name].text.length}`;
    return `${paneName(this.data, name)} · ${[...new Set(python.sections.map(section => section.file))].join(", ")}`;
  }

  /** Shade lines by shares 0..1: {pane: column}. */
  shade(shades) { this.names.forEach(name => this.panes[name].shade(shades[name] ?? null)); }

  /** Show or hide a pane, except the last one; where there is room for one, show this one. */
  toggle(name) {
    if (this.narrow) this.focus = name;
    else if (this.hidden.has(name)) this.hidden.delete(name);
    else if (this.hidden.size < this.names.length - 1) this.hidden.add(name);
    if (this.hidden.has(this.focus)) [this.focus] = this.open;
    this.moved = false;
    this.arrange();
    if (this.narrow && this.pinned && this.pinned.pane !== name) this.reveal();
    this.each(pane => pane.resized());
    this.paint();
  }

  // linking ----------------------------------------------------------------------------------------------------------

  hover(pane, row) {
    if (pane === null ? !this.hovered : this.hovered?.pane === pane && this.hovered.row === row) return;
    this.hovered = pane === null ? null : this.related(pane, row);
    this.paint();
  }

  /** Highlight a line from outside, and show its links; null: none. */
  point(pane, row) {
    this.remote = true;
    this.hover(pane, row);
    this.remote = false;
    if (this.hovered) this.each(one => one.reveal(this.hovered.exact[one.name]));
  }

  /** Report the Python lines of the highlighted line. */
  report(links) {
    const { python } = this.data;
    const file = row => python.sections.find(({ start, count }) => row >= start && row < start + count)?.file ?? "";
    this.pointed((links?.exact.python ?? []).map(row => [file(row), python.line[row]]));
  }

  /** `related` of links.js; for a machine instruction also its dependences and their roles. */
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
    else if (window.getSelection()?.toString()) return;             // the user is selecting text
    else if (event.shiftKey && this.pinned?.pane === pane) choose(this, pane, row);
    else this.pin(pane, row, { reveal: true });
  }

  /** Go to a line, also in a hidden pane; `back` returns. */
  show(pane, row) {
    if (!this.names.includes(pane)) return;
    if (this.pinned) this.trail = [...this.trail.slice(-99), [this.pinned.pane, this.pinned.row]];
    if (!this.open.includes(pane)) this.toggle(pane);
    this.pin(pane, row, { reveal: true, own: true });
    this.panes[pane].list.focus({ preventScroll: true });
  }

  /** Return to the line of the last jump. */
  back() {
    const last = this.trail.pop();
    if (!last) { this.statusBar.tell("No previous line to go back to"); return; }
    const { trail } = this;
    this.show(...last);
    this.trail = trail;
  }

  /** Pin a line. reveal: scroll the other panes to its links; own: scroll this pane, too. */
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
    this.statusBar.say(links, !!this.hovered);
    if (this.pointed && !this.remote) this.report(links);
    if (!this.hovered) this.expansion.paint();
  }

  themed() {
    this.names.forEach(name => { this.panes[name].readTheme(); this.panes[name].layout(); });
  }

  destroy() {
    this.unwatch();
    Object.values(this.panes).forEach(pane => pane.destroy());
    this.root.remove();
  }
}
