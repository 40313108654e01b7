// The code of the debugger: Python | PTX with the lines of the warps, and breakpoints in the margin.

import { pythonRow, places, placeOfRow, warpName } from "./data.js";
import { form } from "./form.js";
import { h } from "../dom.js";
import { Search } from "../code/search.js";
import { NAMES, colors, linkIndex, related } from "../code/links.js";
import { Pane } from "../code/pane.js";
import { separator } from "../code/splitter.js";
import { copy, move } from "../code/navigation.js";

const HINT = "Click to toggle a breakpoint. Right-click to set a condition.";
const ALL = 3000;                 // up to this many lines in both panes, all are drawn

/** A pane with breakpoints and warps in its margin, given by `marks(row)`. */
class CodePane extends Pane {
  row(row) {
    const element = super.row(row), number = element.querySelector(".pyptx-no");
    if (!element.classList.contains("pyptx-head")) {
      number.prepend(h("span.pyptx-point", { "aria-hidden": "true", title: this.hint }), h("span.pyptx-here-sign", { "aria-hidden": "true" }), h("span.pyptx-warps", {}));
      this.markRow(row, element);
    }
    return element;
  }

  paintRow(row, element) {
    super.paintRow(row, element);
    this.markRow(row, element);
  }

  markRow(row, element) {
    const margin = element.querySelector(".pyptx-point");
    if (!margin) return;
    const { here, caller, warps, points } = this.marks(row), plain = !here && !caller && !warps.label && !points.length;
    const key = plain ? "" : JSON.stringify([here, caller, warps.label, points.map(point => [point.id, point.enabled, point.condition, point.hits])]);
    if ((element.marked ?? "") === key) return;
    element.marked = key;
    const enabled = points.some(point => point.enabled), conditional = points.some(point => point.condition);
    element.classList.toggle("pyptx-here", here);
    element.classList.toggle("pyptx-caller", caller);
    element.classList.toggle("pyptx-stops", points.length > 0);
    if (here) element.setAttribute("aria-current", "true"); else element.removeAttribute("aria-current");
    margin.textContent = !points.length ? "" : conditional ? (enabled ? "◆" : "◇") : enabled ? "●" : "○";
    margin.title = points.map(pointWords).join("\n") || this.hint;
    element.querySelector(".pyptx-here-sign").textContent = here ? "▶" : caller ? "▹" : "";
    const others = element.querySelector(".pyptx-warps");
    others.textContent = warps.sign;
    others.title = warps.label;
    const words = [here ? "the focused warp is here" : "", warps.label, ...points.map(pointWords)].filter(Boolean).join("; ");
    if (words) element.setAttribute("aria-description", words); else element.removeAttribute("aria-description");
  }
}

const pointWords = point => `${point.watch ? "Watchpoint" : "Breakpoint"} ${point.id}${point.condition ? ` if ${point.condition}` : ""}: ${point.hits} hit${point.hits === 1 ? "" : "s"}${point.enabled ? "" : ", disabled"}`;

export class Code {
  /** on: {toggle(place, points), condition(place, points, text), run(place)}, absent in a static view. */
  constructor(code, state, { height, on }) {
    Object.assign(this, { data: code, state, on });
    this.index = linkIndex(code);
    this.names = ["python", "ptx"].filter(name => code[name].text.length);
    this.open = this.names;
    this.focus = this.names.at(-1);
    this.pinned = this.hovered = this.picked = null;
    this.places = places(code, state);
    this.where = "";
    const color = colors(code, this.index), full = code.python.text.length + code.ptx.text.length <= ALL;
    const width = count => Math.max(3, String(count).length), lines = code.python.line.reduce((most, line) => Math.max(most, line), 0);
    const headings = new Map(code.python.sections.filter(({ start }) => start && code.python.line[start - 1] === 0)
      .map(({ start, role, name, function: own }) => [start - 1, [role, own, own ? `·  ${name}` : name].filter(Boolean).join(" ")]));
    this.panes = {};
    this.element = h("div.pyptx-panes");
    if (height) this.element.style.height = `${height}px`;
    this.names.forEach((name, place) => {
      const pane = this.panes[name] = new CodePane({
        name, title: name === "python" ? `Python · ${[...new Set(code.python.sections.map(section => section.name))].join(", ")}` : `PTX · ${code.ptx.text.length}`,
        data: code, columns: [], number: name === "python" ? row => String(code.python.line[row]) : row => String(row + 1),
        numberWidth: name === "python" ? width(lines) : width(code.ptx.text.length), color: color[name], full,
        headings: name === "python" ? headings : null,
        on: { hover: row => this.hover(name, row), leave: () => this.hover(null), pick: (row, event) => this.click(name, row, event) } });
      pane.marks = row => this.marks(name, row);
      pane.hint = on.toggle ? HINT : "";
      pane.element.style.flexGrow = 1;
      pane.list.addEventListener("focus", () => { this.focus = name; });
      pane.list.addEventListener("contextmenu", event => this.asked(name, event));
      if (place) this.element.append(separator(this, this.names[place - 1], name));
      this.element.append(pane.element);
    });
    this.search = new Search(this);
    this.element.addEventListener("copy", event => copy(this, event));
  }

  each(call) { this.names.forEach(name => call(this.panes[name])); }

  marks(name, row) {
    const { here, callers, others, points } = this.places, warps = others[name].get(row) ?? [];
    const names = warps.map(warp => `${warpName(this.state, warp)} (${warp.state})`);
    return { here: here[name] === row, caller: name === "python" && callers.has(row) && here.python !== row, points: points[name].get(row) ?? [],
             warps: { sign: !warps.length ? "" : warps.length > 9 ? "9+" : String(warps.length),
                      label: !names.length ? "" : `also here: ${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}` } };
  }

  /** Show a new state; scroll to the focused warp's line if it has moved. */
  update(state) {
    this.state = state;
    this.places = places(this.data, state);
    this.paint();
    const where = JSON.stringify([state.step, state.focus.cta, state.focus.warp, state.place.ptx]);
    if (where !== this.where) this.reveal();
    this.where = where;
  }

  reveal() {
    this.each(pane => { const row = this.places.here[pane.name]; if (row >= 0) this.center(pane, row); });
  }

  /** Keep a line visible with two lines of context; otherwise scroll it to a third of the height. */
  center(pane, row) {
    pane.uncover(row);
    const height = pane.list.clientHeight - pane.head.offsetHeight, top = pane.place(row) * pane.rowHeight, { scrollTop } = pane.list;
    if (top - 2 * pane.rowHeight < scrollTop && scrollTop > 0 || top + 4 * pane.rowHeight > scrollTop + height) pane.list.scrollTop = Math.max(0, top - height / 3);
    pane.draw();
  }

  // hover and selection ------------------------------------------------------------------------------------------------

  hover(name, row) {
    if (name === null ? !this.hovered : this.hovered?.pane === name && this.hovered.row === row) return;
    this.hovered = name === null ? null : related(this.index, name, row);
    this.paint();
  }

  click(name, row, event) {
    if (event.target.closest(".pyptx-no")) this.toggle(name, row);
    else if (!window.getSelection()?.toString()) this.pin(name, row, { reveal: true });
  }

  /** Select a line for the keyboard; also called by search and navigation. */
  pin(name, row, { reveal = false, own = false } = {}) {
    this.pinned = related(this.index, name, row);
    this.hovered = this.picked = null;
    this.focus = name;
    if (own) this.panes[name].follow(row);
    if (reveal) this.each(pane => { if (pane.name !== name) pane.reveal(this.pinned.exact[pane.name].length ? this.pinned.exact[pane.name] : this.pinned.kin[pane.name]); });
    this.paint();
  }

  paint() {
    const { here } = this.places, links = this.hovered ?? this.pinned ?? (here.ptx >= 0 ? related(this.index, "ptx", here.ptx) : null);
    this.each(pane => pane.paint(links, this.pinned?.pane === pane.name ? this.pinned.row : -1, this.picked?.pane === pane.name ? this.picked.range : null));
  }

  // breakpoints --------------------------------------------------------------------------------------------------------

  /** [place, breakpoints at it], or null if the row is not code. */
  at(name, row) {
    const place = placeOfRow(this.data, name, row);
    return place && [place, this.places.points[name].get(row) ?? []];
  }

  toggle(name, row) {
    const at = this.at(name, row);
    if (at) this.on.toggle?.(...at);
  }

  asked(name, event) {
    const row = event.target.closest(".pyptx-row");
    if (!row || !this.on.condition || !event.target.closest(".pyptx-no")) return;
    event.preventDefault();
    this.ask(name, Number(row.dataset.row));
  }

  /** Open a field for the condition of a line's breakpoint. */
  ask(name, row) {
    const at = this.at(name, row), pane = this.panes[name];
    if (!at || !this.on.condition) return;
    this.field?.remove();
    const [place, points] = at, input = h("input.pyptx-search", { type: "text", "aria-label": `Condition of the breakpoint at ${place}`, placeholder: "lane == 3 and acc > 1", spellcheck: "false" });
    input.value = points[0]?.condition ?? "";
    const close = () => { this.field?.remove(); this.field = null; pane.list.focus({ preventScroll: true }); };
    const keep = async () => { if (await this.on.condition(place, points, input.value.trim() || null)) close(); };
    this.field = form("form.pyptx-condition", keep,
                   h("label", {}, `break at ${name === "ptx" ? `PTX ${row + 1}` : `line ${this.data.python.line[row]}`} if `, input), h("button.pyptx-button", { type: "submit" }, "Set"),
                   h("button.pyptx-button", { type: "button", onclick: close }, "Cancel"));
    this.field.addEventListener("keydown", event => { event.stopPropagation(); if (event.key === "Escape") close(); });
    this.field.style.top = `${pane.list.offsetTop + pane.head.offsetHeight + (pane.place(row) + 1) * pane.rowHeight - pane.list.scrollTop}px`;
    pane.element.append(this.field);
    input.focus();
  }

  // keys ---------------------------------------------------------------------------------------------------------------

  /** Handle a key of the focused pane; return true if it was one. */
  key(event) {
    const name = event.target.closest(".pyptx-list")?.dataset.pane, { key } = event;
    if (!name) return false;
    const pane = this.panes[name], page = Math.max(1, Math.floor(pane.list.clientHeight / pane.rowHeight) - 2);
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[key];
    const row = this.pinned?.pane === name ? this.pinned.row : this.places.here[name], start = this.pinned?.pane === name;
    if (step) { if (!start && row >= 0 && Number.isFinite(step)) this.pin(name, row, { own: true }); move(this, name, step, event.shiftKey); }
    else if (key === "ArrowLeft" || key === "ArrowRight") this.panes[key === "ArrowLeft" ? this.names[0] : this.names.at(-1)].list.focus({ preventScroll: true });
    else if ((key === "b" || key === "F9") && row >= 0) this.toggle(name, row);
    else if (key === "Enter" && event.shiftKey && row >= 0) this.ask(name, row);
    else if (key === "g" && row >= 0 && this.on.run) this.on.run(placeOfRow(this.data, name, row));
    else if (key === "Escape") { this.pinned = this.picked = null; this.paint(); this.reveal(); }
    else return false;
    return true;
  }

  /** Go to a line of Python or PTX. */
  show(name, row) {
    if (row < 0 || !this.panes[name]) return;
    this.pin(name, row, { reveal: true, own: true });
    this.panes[name].list.focus({ preventScroll: true });
  }

  showPython(file, line) { this.show("python", pythonRow(this.data, file, line)); }

  // ----------------------------------------------------------------------------------------------------------------------

  themed() { this.each(pane => { pane.readTheme(); pane.layout(); }); }
  resized() { this.each(pane => pane.resized()); }
  destroy() { this.each(pane => pane.destroy()); }
  get title() { return this.names.map(name => NAMES[name]).join(" and "); }
}
