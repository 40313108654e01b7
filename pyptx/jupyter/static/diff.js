// The diff view: two sides, line beside line, each row of a class. `mount` draws it and returns how to drive and remove it.

import { columnsOf, numberWidth } from "./columns.js";
import { DIFFERENT, WORDS, atLevel, changedWords, factText, fileOf, items, nextRun, pythonRow } from "./diffrows.js";
import { h } from "./dom.js";
import { EXACT, KIN, search } from "./links.js";
import { Pane } from "./pane.js";
import { marked, tokens } from "./tokens.js";

const LEVELS = { sass: "SASS", ptx: "PTX", python: "Python" };
const MARKS = ["", "≈", "↕", "!"];
const COLOURS = [-1, 5, 1, 6];        // of linked.css, by class
const ALL = 1500;                     // up to so many rows, all are drawn
const KEYS = [["n p", "next, previous real difference"], ["N P", "next, previous change of any class"], ["↑ ↓ PgUp PgDn Home End", "move the line"],
              ["← →", "the other side"], ["Enter", "open a fold; else go to where the line has moved"], ["e", "open all folds, close them again"], ["1 2 3", "compare the SASS, the PTX, the Python"],
              ["/", "search; Enter: next hit, Shift+Enter: previous"], ["Esc", "let go of the line"], ["Ctrl+C", "copy the line"]];

/** Draw `data` (kind "diff") into `element`; options as of the linked view. Returns {destroy(), next(direction), active(), show(level)}. */
export function mount(element, data, options = {}) {
  if (data.kind !== "diff" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; the renderer knows diff, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, next() {}, active: () => null };
  }
  let view = null;
  const show = level => {
    view?.destroy();
    view = new DiffView(element, atLevel(data, level), { ...options, show });
  };
  show(data.level);
  return { destroy: () => view.destroy(), next: direction => view.jump(direction, true), active: () => view.active, show };
}

/** A pane of the linked view whose rows are those of both sides, and which marks the words that differ. */
class DiffPane extends Pane {
  constructor(side, change, options) {
    super(options);
    this.side = side;
    this.change = change;
    this.element.classList.add(`pyptx-${side}`);
    this.list.dataset.pane = side;
  }

  code(row) {
    const ranges = this.found.ranges.get(row), changed = ranges ? null : this.change(this.side, row);
    if (!changed?.length) return super.code(row);
    const code = h("span.pyptx-code");
    for (const [kind, text, hit] of marked(tokens(this.name, this.lines[row]), changed)) {
      code.append(kind || hit ? h(`${hit ? "b" : "span"}${kind ? `.pyptx-t${kind}` : ""}${hit ? ".pyptx-changed" : ""}`, {}, text) : text);
    }
    return code;
  }

  row(row) {
    const element = super.row(row);
    if (!this.headings?.has(row)) element.classList.add(`pyptx-k${this.kindOf(row)}`);
    return element;
  }
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
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.root = h(`div.pyptx-linked.pyptx-diff${options.fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `${data.left.title} and ${data.right.title} compared: ${data.verdict}` },
                  this.header(), this.toolbar(), this.grid, this.status);
    if (!options.fill) this.grid.style.height = `${options.height ?? Math.min(520, this.count * 18 + 70)}px`;
    this.root.addEventListener("keydown", event => this.key(event));
    this.root.addEventListener("copy", event => this.copy(event));
    this.root.addEventListener("pointerdown", event => {
      for (const menu of this.root.querySelectorAll(".pyptx-menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    });
    element.append(this.root);
    this.build();
    this.sizes = new ResizeObserver(() => this.each(pane => pane.resized()));
    this.sizes.observe(this.grid);
    this.themes = new MutationObserver(() => this.themed());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", this.onDark = () => this.themed());
  }

  each(call) { Object.values(this.panes).forEach(call); }
  themed() { this.each(pane => { pane.readTheme(); pane.layout(); }); }

  // what stands above the panes --------------------------------------------------------------------------------------

  header() {
    const { data } = this, side = view => [h("b", {}, view.title), h("span.pyptx-badge", {}, view.target)];
    const fact = one => {
      const { label, left, right, delta, tone } = factText(one);
      return h(`div.pyptx-fact${tone < 0 ? ".pyptx-worse" : tone > 0 ? ".pyptx-better" : ""}`, {}, h("dt", {}, label),
               h("dd", {}, h("b", {}, delta ? `${left} → ${right}` : left), delta ? h("small", {}, `${delta}${tone < 0 ? " worse" : tone > 0 ? " better" : ""}`) : null));
    };
    const uses = data.facts.filter(one => one[5] === "use" && (one[4] || one[1] !== one[2]));
    const groups = data.facts.filter(one => one[5] === "group" && one[1] !== one[2]);
    return h("header.pyptx-header", {},
      h("div.pyptx-title", {}, ...side(data.left), h("span", {}, "and"), ...side(data.right)),
      h("p.pyptx-verdict", {}, data.verdict),
      h("div.pyptx-entry", {}, h("dl.pyptx-facts", {}, ...uses.map(fact)),
        groups.length ? h("ul.pyptx-mix", { "aria-label": "Instructions by group" }, ...groups.map(([label, left, right]) =>
          h("li", {}, h("span", {}, label), h("b", {}, `${left} → ${right}`)))) : null));
  }

  toolbar() {
    const button = (text, title, act) => h("button.pyptx-button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.query = h("input.pyptx-search", { type: "search", placeholder: "Search  /", "aria-label": "Search both sides", spellcheck: "false",
                                           oninput: () => this.search(), onkeydown: event => this.searchKey(event) });
    this.regex = h("input", { type: "checkbox", onchange: () => this.search() });
    this.hits = h("span.pyptx-hits", { role: "status" });
    const { a, b } = this.data.rows, on = (lines, kind) => this.kinds.reduce((sum, one, row) => sum + (one === kind && lines[row] >= 0), 0);
    const counts = WORDS.map((_, kind) => Math.max(on(a, kind), on(b, kind)));
    const classes = WORDS.map((word, kind) => h(`button.pyptx-button.pyptx-toggle.pyptx-class.pyptx-k${kind}`,
      { type: "button", "aria-pressed": "true", title: `Show or hide what is ${word}`, onclick: event => this.toggle(kind, event.currentTarget) },
      `${MARKS[kind]} ${word} ${counts[kind]}`.trim()));
    this.folds = button("Open all", "Open all folds (e)", () => this.openAll());
    const levels = Object.keys(LEVELS).filter(level => this.data.levels.includes(level)).map(level => h("button.pyptx-button.pyptx-level",
      { type: "button", "aria-pressed": String(level === this.level), title: `Compare the ${LEVELS[level]}`, "data-level": level, onclick: () => this.level === level || this.turn(level) }, LEVELS[level]));
    const keys = h("details.pyptx-menu", {}, h("summary.pyptx-button", {}, "Keys"),
                   h("div.pyptx-sheet", {}, h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)]))));
    return h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "Diff" }, levels.length > 1 ? h("span.pyptx-group", { role: "group", "aria-label": "What is compared" }, ...levels) : null, this.query,
      h("label.pyptx-check", { title: "Search with a regular expression" }, this.regex, ".*"), this.hits, h("span.pyptx-space"),
      h("span.pyptx-group", { role: "group", "aria-label": "Classes" }, ...classes),
      button("‹ p", "Previous real difference (p)", () => this.jump(-1, true)), button("n ›", "Next real difference (n)", () => this.jump(1, true)), this.folds, keys);
  }

  /** Compare another level: this view is gone then. */
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
    this.folds.textContent = this.open.size ? "Fold" : "Open all";
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
    if (this.query.value) this.search();
    if (focused) this.panes[focused].list.focus({ preventScroll: true });
  }

  build() {
    this.items = items(this.kinds, this.shown, this.open);
    this.at = new Map(this.items.flatMap((item, index) => (item.fold ? [] : [[item.row, index]])));
    this.panes = { left: this.pane("left"), right: this.pane("right") };
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

  pane(side) {
    const { level, data } = this, view = data[side], lines = this.sides[side];
    const line = item => (this.items[item].fold ? -1 : lines[this.items[item].row]);
    const own = this.items.map((_, item) => line(item));
    const targets = level === "sass" ? own.map(one => (one < 0 || view.sass.target[one] < 0 ? -1 : this.at.get(this.where[side].get(view.sass.target[one])) ?? -1)) : [];
    const all = columnsOf(view), wanted = { sass: ["live", "stall", "write", "read", "wait"], ptx: ["sass"], python: ["sass", "live"] }[level];
    const columns = all[level].filter(({ key }) => wanted.includes(key) && (this.width > 1500 || ["live", "stall", "sass"].includes(key)))
      .map(column => ({ ...column, shown: true, value: item => (own[item] < 0 ? "" : column.value(own[item])), share: null }));
    if (level !== "python") columns.unshift({ key: "py", label: "Py", title: "Python line that caused it", width: 4, shown: true, value: item => this.pythonLine(side, own[item]) });
    if (side === "right") columns.unshift({ key: "class", label: "class", title: "Class of the row", width: 14, shown: true, value: item => this.word(item) });
    const headings = new Map(this.items.flatMap((item, index) => (item.fold ? [[index, `▸ ${item.fold[1] - item.fold[0]} ${WORDS[item.kind]} rows`]] : [])));
    const file = [...new Set(view.python.sections.map(section => section.file))].join(", ");
    const pane = new DiffPane(side, (of, item) => this.changed(of, item), {
      name: level, title: `${view.title} · ${view.target} · ${LEVELS[level]} ${view[level].text.length}${file ? ` · ${file}` : ""}`,
      data: { python: { sections: [] }, [level]: { text: own.map(one => (one < 0 ? "" : view[level].text[one])), target: targets, sections: [] }, help: view.help },
      columns, number: item => (own[item] < 0 || (level === "python" && !view.python.line[own[item]]) ? "" : all.number[level](own[item])), numberWidth: numberWidth(view)[level],
      colour: this.items.map(item => (item.fold ? -1 : COLOURS[this.kinds[item.row]])), headings, full: this.items.length <= ALL,
      on: { hover: item => this.say(side, item), leave: () => this.say(), pick: (item, event) => this.click(side, item, event) } });
    pane.kindOf = item => this.kinds[this.items[item].row];
    pane.list.addEventListener("focus", () => { this.focus = side; });
    return pane;
  }

  pythonLine(side, line) {
    const row = line < 0 ? -1 : pythonRow(this.data[side], this.level, line);
    return row < 0 ? "" : String(this.data[side].python.line[row]);
  }

  word(item) {
    if (this.items[item].fold) return "";
    const { row } = this.items[item], { partner, control } = this.data.rows, kind = this.kinds[row];
    if (kind === 2) {
      const other = this.where[this.sides.left[row] >= 0 ? "right" : "left"].get(partner[row]);
      return `${MARKS[2]} moved ${other > row ? "down" : "up"}`;
    }
    return kind === 1 && this.data.rows.why[row] ? `${MARKS[1]} respelled` : kind ? `${MARKS[kind]} ${WORDS[kind]}` : control[row] ? "scheduling" : "";
  }

  /** Ranges of the words that differ in a row that has a line on both sides. */
  changed(side, item) {
    const { row } = this.items[item], { a, b } = this.data.rows;
    if (row === undefined || !this.kinds[row] || a[row] < 0 || b[row] < 0) return null;
    const left = this.data.left[this.level].text[a[row]], right = this.data.right[this.level].text[b[row]];
    return side === "left" ? changedWords(left, right) : changedWords(right, left);
  }

  // moving ------------------------------------------------------------------------------------------------------------

  itemOf(row) { return this.at.get(row) ?? this.items.findIndex(({ fold }) => fold && row >= fold[0] && row < fold[1]); }

  click(side, item, event) {
    const jump = event.target.closest(".pyptx-jump");
    if (jump) return this.activate(side, Number(jump.dataset.jump), true);
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
    this.each(pane => pane.paint({ level: { [this.level]: this.levels[pane.side] } }, pane.side === side ? item : -1, null));
    this.say();
  }

  /** The item with the other place of a line that has moved, -1: it has not. */
  elsewhere(item) {
    const { row } = this.items[item];
    if (row === undefined || this.data.rows.partner[row] < 0) return -1;
    const other = this.where[this.sides.left[row] >= 0 ? "right" : "left"].get(this.data.rows.partner[row]);
    return this.itemOf(other);
  }

  jump(direction, real) {
    const item = nextRun(this.items, this.active?.item ?? -1, direction, row => (real ? this.kinds[row] === DIFFERENT : this.kinds[row] > 0));
    if (item < 0) { this.status.textContent = real ? "No real differences are shown" : "No changes are shown"; return; }
    const { row } = this.items[item], side = this.active?.side ?? this.focus ?? (this.sides.left[row] >= 0 ? "left" : "right");
    this.activate(side, item);
    this.panes[side].reveal([item]);
    this.panes[side].list.focus({ preventScroll: true });
  }

  key(event) {
    if (event.target.closest("input, summary, .pyptx-sheet") || event.altKey || event.ctrlKey || event.metaKey) return;
    const side = event.target.closest(".pyptx-list")?.dataset.pane, pane = side && this.panes[side];
    const page = pane ? Math.max(1, Math.floor(pane.list.clientHeight / pane.rowHeight) - 2) : 1;
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[event.key];
    const lower = event.key.toLowerCase();
    if (event.key === "Escape") this.clear();
    else if (event.key === "/") { this.query.focus(); this.query.select(); }
    else if (lower === "n" || lower === "p") this.jump(lower === "n" ? 1 : -1, event.key === lower);
    else if (event.key === "e") this.openAll();
    else if (this.data.levels.includes(Object.keys(LEVELS)[event.key - 1])) this.turn(Object.keys(LEVELS)[event.key - 1]);
    else if (!side) { if (event.target.closest("button")) return; this.panes.left.list.focus(); return; }
    else if (step) this.move(side, step);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") this.sidewards(event.key === "ArrowLeft" ? "left" : "right");
    else if (event.key === "Enter") this.enter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  move(side, step) {
    const last = this.items.length - 1, from = this.active?.item;
    const item = from === undefined ? (step > 0 && !Number.isFinite(step) ? last : 0) : Math.min(last, Math.max(0, from + step));
    this.activate(side, item);
  }

  sidewards(side) {
    this.panes[side].list.focus({ preventScroll: true });
    if (this.active) this.activate(side, this.active.item);
  }

  enter() {
    if (!this.active) return;
    const { item, side } = this.active;
    if (this.items[item].fold) { this.unfold(item); return; }
    const target = this.elsewhere(item);
    if (target >= 0) this.activate(side === "left" ? "right" : "left", target);
  }

  clear() {
    this.active = null;
    this.each(pane => pane.paint(null, -1, null));
    this.say();
  }

  copy(event) {
    if (event.target.closest?.("input") || window.getSelection()?.toString() || this.active?.item === undefined) return;
    event.clipboardData.setData("text/plain", this.panes[this.active.side].lines[this.active.item]);
    event.preventDefault();
  }

  // search ------------------------------------------------------------------------------------------------------------

  search() {
    let error;
    this.found = {};
    this.each(pane => {
      const found = search(pane.lines, this.query.value, this.regex.checked);
      error ??= found.error;
      pane.show(this.found[pane.side] = found);
    });
    this.query.setAttribute("aria-invalid", String(!!error));
    this.hits.textContent = error ? `not a regular expression: ${error}` : !this.query.value ? ""
      : `left ${this.found.left.rows.length} · right ${this.found.right.rows.length}`;
  }

  searchKey(event) {
    if (event.key === "Escape") { this.query.value = ""; this.search(); this.panes[this.active?.side ?? "left"].list.focus(); }
    else if (event.key === "Enter") this.nextHit(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  nextHit(direction) {
    const hits = ["left", "right"].flatMap(side => (this.found?.[side].rows ?? []).map(item => [item, side]))
      .sort((one, other) => one[0] - other[0] || (one[1] < other[1] ? -1 : 1));
    if (!hits.length) return;
    const rank = ([item, side]) => 2 * item + (side === "right"), here = this.active ? rank([this.active.item, this.active.side]) : -1;
    const [item, side] = direction > 0 ? hits.find(hit => rank(hit) > here) ?? hits[0] : hits.findLast(hit => rank(hit) < here) ?? hits.at(-1);
    this.activate(side, item);
  }

  // what is said ------------------------------------------------------------------------------------------------------

  say(side, item) {
    const pointed = item !== undefined;
    this.status.setAttribute("aria-live", pointed ? "off" : "polite");
    if (!pointed && this.active?.item === undefined) {
      this.status.textContent = this.data.hunks.every(hunk => hunk[2] === 0) ? this.data.verdict : "n: next real difference. Point at a line to see which Python line caused it.";
      return;
    }
    this.status.textContent = this.sentence(item ?? this.active.item);
  }

  sentence(item) {
    const { fold, row, kind } = this.items[item];
    if (fold) return `${fold[1] - fold[0]} ${WORDS[kind]} rows are folded; click or press Enter to open them`;
    const { rows } = this.data, what = [WORDS[this.kinds[row]]];
    if (rows.why[row]) what.push(rows.why[row]);
    if (rows.control[row]) what.push("other scheduling bits");
    const python = ["left", "right"].map(side => {
      const view = this.data[side], line = this.sides[side][row], at = line < 0 ? -1 : pythonRow(view, this.level, line);
      return at < 0 ? null : `${fileOf(view, at)}:${view.python.line[at]}  ${view.python.text[at].trim()}`;
    });
    const causes = python[0] === python[1] ? [python[0]] : python.map((text, at) => text && `${at ? "right" : "left"} ${text}`);
    const label = this.elsewhere(item) >= 0 ? "  ·  Enter: where it has moved" : "";
    return [what.join(", "), ...causes.filter(Boolean)].join("  ·  ") + label;
  }

  destroy() {
    this.sizes.disconnect();
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.onDark);
    this.each(pane => pane.destroy());
    this.root.remove();
  }
}
