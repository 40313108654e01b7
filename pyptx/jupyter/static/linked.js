// The linked view: Python | PTX | SASS. `mount` draws it into an element and returns how to drive and remove it.

import { columnsOf, numberWidth } from "./columns.js";
import { h } from "./dom.js";
import { header } from "./header.js";
import { PANES, blocks, colours, linkIndex, nextBlock, related, search, sentence } from "./links.js";
import { Pane } from "./pane.js";

const TITLES = { python: "Python", ptx: "PTX", sass: "SASS" };
const SHARE = { python: 0.9, ptx: 0.9, sass: 1.2 };
const ALL = 3000;                 // up to so many lines in all panes, all are drawn
const KEYS = [["↑ ↓", "move the line (Shift: choose lines to copy)"], ["← →", "previous, next pane"], ["Home End PgUp PgDn", "move far"],
              ["Enter", "pin the line and bring its links into sight"], ["n p", "next, previous block of linked lines"],
              ["/", "search; Enter: next hit, Shift+Enter: previous"], ["Esc", "unpin"], ["Ctrl+C", "copy the line or the chosen lines"]];

/**
 * Draw `data` (kind "linked") into `element`.
 * options.fill: take the whole height of the element's window; options.height: pixels of the panes (default: what the lines need, 520 at most).
 * Returns {destroy(), select(pane, row), links()}.
 */
export function mount(element, data, options = {}) {
  if (data.kind !== "linked" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; the renderer knows linked, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, select() {}, links: () => null };
  }
  const view = new LinkedView(element, data, options);
  return { destroy: () => view.destroy(), select: (pane, row) => view.pin(pane, row, { reveal: true }), links: () => view.pinned };
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
    this.pinned = this.hovered = this.picked = null;
    this.names = PANES.filter(name => data.panes.includes(name) && data[name].text.length);
    this.hidden = new Set();
    this.focus = this.names[0];
    this.root = h(`div.pyptx-linked${options.fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `${data.title}: Python, PTX and SASS, linked` });
    this.makePanes(element.clientWidth || 1200);
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.root.append(header(data, (pane, row) => this.pin(pane, row, { reveal: true, own: true })), this.toolbar(), this.grid, this.status);
    if (!options.fill) {
      const most = Math.max(...this.names.map(name => data[name].text.length));
      this.grid.style.height = `${options.height ?? Math.min(520, most * 18 + 70)}px`;
    }
    this.listen();
    element.append(this.root);
    this.themed();
    this.say();
    this.sizes = new ResizeObserver(() => this.each(pane => pane.resized()));
    this.sizes.observe(this.grid);
    this.themes = new MutationObserver(() => this.themed());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", this.onDark = () => this.themed());
  }

  each(call) { this.names.forEach(name => { if (!this.hidden.has(name)) call(this.panes[name]); }); }

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
    if (width < 900) leave("ptx", "issues");
    this.panes = {};
    this.grid = h("div.pyptx-panes");
    this.names.forEach((name, place) => {
      const pane = this.panes[name] = new Pane({
        name, title: this.title(name), data, columns: columns[name], number: columns.number[name], numberWidth: widths[name], colour: colour[name],
        full, headings: name === "python" ? headings(data.python) : null,
        on: { hover: row => this.hover(name, row), leave: () => this.hover(null),
              pick: (row, event) => this.click(name, row, event) } });
      pane.element.style.flexGrow = SHARE[name];
      if (place) this.grid.append(this.separator(this.names[place - 1], name));
      this.grid.append(pane.element);
      pane.list.addEventListener("focus", () => { this.focus = name; });
    });
  }

  title(name) {
    const { python } = this.data;
    if (name !== "python") return `${TITLES[name]} · ${this.data[name].text.length}`;
    return `Python · ${[...new Set(python.sections.map(section => section.file))].join(", ")}`;
  }

  // what stands above the panes ------------------------------------------------------------------------------------

  toolbar() {
    this.query = h("input.pyptx-search", { type: "search", placeholder: "Search  /", "aria-label": "Search all panes", spellcheck: "false",
                                           oninput: () => this.search(), onkeydown: event => this.searchKey(event) });
    this.regex = h("input", { type: "checkbox", onchange: () => this.search() });
    this.hits = h("span.pyptx-hits", { role: "status" });
    const button = (text, title, act) => h("button.pyptx-button", { type: "button", title, "aria-label": title, onclick: act }, text);
    const toggles = this.names.length > 1 ? this.names.map(name => h("button.pyptx-button.pyptx-toggle",
      { type: "button", "aria-pressed": "true", title: `Show or hide ${TITLES[name]}`, onclick: event => this.toggle(name, event.currentTarget) }, TITLES[name])) : [];
    return h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "View" },
      this.query, h("label.pyptx-check", { title: "Search with a regular expression" }, this.regex, ".*"), this.hits,
      h("span.pyptx-space"),
      button("‹ p", "Previous block of linked lines (p)", () => this.block(-1)), button("n ›", "Next block of linked lines (n)", () => this.block(1)),
      h("span.pyptx-group", { role: "group", "aria-label": "Panes" }, ...toggles),
      this.menu("Columns", this.names.map(name => h("fieldset", {}, h("legend", {}, TITLES[name]), ...this.columns[name].map(column => this.chooser(name, column))))),
      this.menu("Keys", [h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)]))]));
  }

  menu(name, children) {
    const menu = h("details.pyptx-menu", { onkeydown: event => { if (event.key === "Escape") { menu.open = false; event.stopPropagation(); } } },
                   h("summary.pyptx-button", {}, name), h("div.pyptx-sheet", {}, ...children));
    menu.addEventListener("focusout", event => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; });
    return menu;
  }

  chooser(name, column) {
    const box = h("input", { type: "checkbox", onchange: () => { column.shown = box.checked; this.panes[name].layout(); } });
    box.checked = column.shown;
    return h("label", { title: column.title }, box, ` ${column.label} `, h("small", {}, column.title));
  }

  toggle(name, button) {
    const show = this.hidden.has(name);
    if (!show && this.hidden.size === this.names.length - 1) return;
    if (show) this.hidden.delete(name); else this.hidden.add(name);
    button.setAttribute("aria-pressed", String(show));
    const open = this.names.filter(other => !this.hidden.has(other));
    for (const child of this.grid.children) {
      const pane = child.dataset.right;
      if (pane) child.hidden = this.hidden.has(pane) || open[0] === pane;
    }
    this.panes[name].element.hidden = !show;
    if (this.hidden.has(this.focus)) this.focus = open[0];
    this.each(pane => pane.resized());
  }

  // resizing ---------------------------------------------------------------------------------------------------------

  separator(left, right) {
    const bar = h("div.pyptx-separator", { role: "separator", tabindex: 0, "aria-orientation": "vertical", "data-right": right,
                                           "aria-label": `Width of ${TITLES[left]} and ${TITLES[right]}`, "aria-valuemin": 10, "aria-valuemax": 90, "aria-valuenow": 50 });
    const neighbours = () => {
      const open = this.names.filter(name => !this.hidden.has(name)), at = open.indexOf(right);
      return [this.panes[open[at - 1]].element, this.panes[right].element];
    };
    const move = pixels => {
      const [a, b] = neighbours(), wide = a.offsetWidth + b.offsetWidth;
      const share = Math.min(0.9, Math.max(0.1, (a.offsetWidth + pixels) / wide));
      const sum = Number(a.style.flexGrow) + Number(b.style.flexGrow);
      a.style.flexGrow = sum * share;
      b.style.flexGrow = sum * (1 - share);
      bar.setAttribute("aria-valuenow", Math.round(100 * share));
    };
    bar.addEventListener("pointerdown", event => { bar.setPointerCapture(event.pointerId); event.preventDefault(); });
    bar.addEventListener("pointermove", event => { if (event.buttons) move(event.clientX - bar.getBoundingClientRect().left - 3); });
    bar.addEventListener("keydown", event => {
      const step = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
      if (step) { move(step); event.preventDefault(); event.stopPropagation(); }
    });
    return bar;
  }

  // linking ----------------------------------------------------------------------------------------------------------

  hover(pane, row) {
    if (pane === null ? !this.hovered : this.hovered?.pane === pane && this.hovered.row === row) return;
    this.hovered = pane === null ? null : related(this.index, pane, row);
    this.paint();
  }

  click(pane, row, event) {
    const jump = event.target.closest(".pyptx-jump");
    if (jump) return this.pin(pane, Number(jump.dataset.jump), { reveal: true, own: true });
    if (window.getSelection()?.toString()) return undefined;        // the reader is selecting text
    if (event.shiftKey && this.pinned?.pane === pane) return this.choose(pane, row);
    return this.pin(pane, row, { reveal: true });
  }

  /** Make a line the pinned one. reveal: bring its links into sight in the other panes; own: in this pane too. */
  pin(pane, row, { reveal = false, own = false } = {}) {
    this.pinned = related(this.index, pane, row);
    this.hovered = this.picked = null;
    this.group = this.pinned;
    this.focus = pane;
    if (own) this.panes[pane].follow(row);
    if (reveal) this.reveal();
    this.paint();
  }

  reveal() {
    this.each(pane => {
      if (pane.name !== this.pinned.pane) pane.reveal(this.pinned.exact[pane.name].length ? this.pinned.exact[pane.name] : this.pinned.kin[pane.name]);
    });
  }

  clear() {
    this.pinned = this.hovered = this.picked = this.group = null;
    this.paint();
  }

  /** Next or previous run of lines, in the pane that has the focus, that share the pinned line's Python line. */
  block(direction) {
    const pane = this.focus, group = this.group;
    let rows;
    if (pane === "python" || !group) rows = this.data[pane].text.map((_, row) => row).filter(row => this.panes[pane].colour[row] >= 0);
    else rows = group.level[pane].reduce((list, level, row) => { if (level) list.push(row); return list; }, []);
    const runs = pane === "python" ? rows.map(row => [row, row]) : blocks(rows);
    const at = this.pinned?.pane === pane ? this.pinned.row : -1;
    const row = nextBlock(runs, at, direction);
    if (row < 0) { this.status.textContent = `No linked lines in ${TITLES[pane]}`; return; }
    this.pin(pane, row, { reveal: true, own: true });
    if (pane !== "python" && group) this.group = group;             // keep walking the same lines
    this.panes[pane].list.focus({ preventScroll: true });
    if (runs.length > 1) this.status.textContent += `  ·  block ${runs.findIndex(([first]) => first === row) + 1} of ${runs.length}`;
  }

  paint() {
    const links = this.hovered ?? this.pinned;
    this.each(pane => pane.paint(links, this.pinned?.pane === pane.name ? this.pinned.row : -1,
                                 this.picked?.pane === pane.name ? this.picked.range : null));
    this.say();
  }

  say() {
    const links = this.hovered ?? this.pinned;
    this.status.setAttribute("aria-live", this.hovered ? "off" : "polite");
    this.status.textContent = links ? sentence(this.data, links) : "Point at a line to see what it is linked with; click to pin it. Keys: ↑ ↓ ← → Enter n p / Esc";
  }

  // keys -------------------------------------------------------------------------------------------------------------

  listen() {
    this.root.addEventListener("keydown", event => this.key(event));
    this.root.addEventListener("copy", event => this.copy(event));
    this.root.addEventListener("pointerdown", event => {
      for (const menu of this.root.querySelectorAll(".pyptx-menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    });
  }

  key(event) {
    if (event.target.closest("input, summary, .pyptx-sheet") || event.altKey || event.ctrlKey || event.metaKey) return;
    const pane = event.target.closest(".pyptx-list")?.dataset.pane;
    const page = pane ? Math.max(1, Math.floor(this.panes[pane].list.clientHeight / this.panes[pane].rowHeight) - 2) : 1;
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") this.clear();
    else if (event.key === "/") { this.query.focus(); this.query.select(); }
    else if (event.key === "n" || event.key === "p") this.block(event.key === "n" ? 1 : -1);
    else if (!pane) return;
    else if (step) this.move(pane, step, event.shiftKey);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.sidewards(pane, event.key === "ArrowLeft" ? -1 : 1);
    else if (event.key === "Enter" || event.key === " ") { if (this.pinned) { this.reveal(); this.paint(); } else this.move(pane, 0); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  move(pane, step, choosing = false) {
    const last = this.data[pane].text.length - 1, view = this.panes[pane];
    const inSight = Math.ceil(view.list.scrollTop / view.rowHeight);
    if (choosing && this.pinned?.pane === pane) {
      const from = this.picked?.pane === pane ? this.picked.end : this.pinned.row;
      const row = Math.min(last, Math.max(0, from + step));
      this.choose(pane, row);
      view.follow(row);
      return;
    }
    const row = this.pinned?.pane === pane ? Math.min(last, Math.max(0, this.pinned.row + step))
                                           : Number.isFinite(step) ? Math.min(last, inSight) : step > 0 ? last : 0;
    this.pin(pane, row, { reveal: true, own: true });
  }

  sidewards(pane, direction) {
    const open = this.names.filter(name => !this.hidden.has(name));
    const next = open[open.indexOf(pane) + direction];
    if (!next) return;
    const target = this.pinned?.exact[next][0] ?? this.pinned?.kin[next][0];
    const group = this.group;
    this.panes[next].list.focus({ preventScroll: true });
    if (target === undefined) return;
    this.pin(next, target, { own: true });
    this.group = group;
  }

  choose(pane, row) {
    const from = this.pinned.row;
    this.picked = { pane, end: row, range: [Math.min(from, row), Math.max(from, row)] };
    this.paint();
  }

  copy(event) {
    if (event.target.closest?.("input") || window.getSelection()?.toString() || !this.pinned) return;
    const [first, last] = this.picked?.range ?? [this.pinned.row, this.pinned.row];
    event.clipboardData.setData("text/plain", this.data[this.pinned.pane].text.slice(first, last + 1).join("\n"));
    event.preventDefault();
  }

  // search -----------------------------------------------------------------------------------------------------------

  search() {
    const found = {};
    let error;
    this.each(pane => { found[pane.name] = search(pane.lines, this.query.value, this.regex.checked); error ??= found[pane.name].error; });
    this.found = found;
    this.each(pane => pane.show(found[pane.name]));
    this.query.setAttribute("aria-invalid", String(!!error));
    this.hits.textContent = error ? `not a regular expression: ${error}` : !this.query.value ? ""
      : Object.entries(found).map(([name, { rows }]) => `${TITLES[name]} ${rows.length}`).join(" · ");
  }

  searchKey(event) {
    if (event.key === "Enter") this.nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      this.query.value = "";
      this.search();
      this.panes[this.focus].list.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next hit: in the pane with the focus, and round through the others. */
  nextHit(direction) {
    const open = this.names.filter(name => !this.hidden.has(name));
    const hits = open.flatMap(name => (this.found?.[name]?.rows ?? []).map(row => [name, row]));
    if (!hits.length) return;
    const rank = ([name, row]) => open.indexOf(name) * 1e9 + row;
    const here = this.pinned ? rank([this.pinned.pane, this.pinned.row]) : -1;
    const next = direction > 0 ? hits.find(hit => rank(hit) > here) ?? hits[0] : hits.findLast(hit => rank(hit) < here) ?? hits.at(-1);
    this.pin(...next, { reveal: true, own: true });
  }

  // ------------------------------------------------------------------------------------------------------------------

  themed() {
    this.each(pane => { pane.readTheme(); pane.layout(); });
  }

  destroy() {
    this.sizes.disconnect();
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.onDark);
    Object.values(this.panes).forEach(pane => pane.destroy());
    this.root.remove();
  }
}
