// The debugger: code, warps, timeline, registers and memory at one step of a run, drawn from the document. `command` steps it.

import { Code } from "./code.js";
import { codeOf, pythonRow, queued } from "./data.js";
import { fragment, tile } from "./grid.js";
import { Points, Warps, Watches, barriers } from "./lists.js";
import { ElementCache, fill } from "./reuse.js";
import { Picker, kindOf, readAs } from "./picker.js";
import { Registers } from "./registers.js";
import { Timeline } from "./timeline.js";
import { KEYS, Stop, Tools, heading, moveOf } from "./toolbar.js";
import { freshId, h } from "../dom.js";
import { observe } from "../observers.js";
import { menu } from "../code/toolbar.js";

/**
 * Draw `data` ({kind: "debug", version: 1, sources, document, help}) into `element`.
 * options.command(name, values): executes a command and returns a promise; the new document arrives by update(). Without it the view is static.
 * options.kept: user state that outlives this view. Returns {destroy(), update(document), fail(message), select(pane, row)}.
 */
export function mount(element, data, options = {}) {
  if (data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports debug, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, update() {}, fail() {}, select() {} };
  }
  const view = new Debugger(element, data, options);
  return { destroy: () => view.destroy(), update: state => view.update(state), fail: message => view.fail(message), select: (pane, row) => view.code.show(pane, row) };
}

class Debugger {
  constructor(element, data, { command = null, kept = {}, fill = false, height }) {
    Object.assign(this, { command, kept, state: data.document, waiting: [], busy: "" });
    kept.registers ??= {};
    kept.timeline ??= {};
    kept.matrices ??= {};
    const live = command !== null, when = call => (live ? call : undefined), state = data.document;
    const focus = when(values => this.act("focus", values));
    this.data = codeOf(data.sources, data.help);
    const most = Math.max(this.data.python.text.length, this.data.ptx.text.length);
    this.code = new Code(this.data, state, { height: fill ? null : height ?? Math.min(360, most * 18 + 60), on: {
      toggle: when((place, points) => (points.length ? points.forEach(point => this.act("unbreak", { id: point.id })) : this.act("break", { place }))),
      condition: when((place, points, condition) => (points.length ? this.act("condition", { id: points[0].id, condition }) : this.act("break", { place, condition }))),
      run: when(place => this.act("run_to", { place })) } });
    this.stop = new Stop();
    this.tools = new Tools({ act: when((name, values) => this.act(name, values)), go: when(step => this.act("goto", { step })), pause: () => this.pause(), search: this.code.search,
                             menu: menu("Keys", [h("dl.pyptx-keys", {}, ...KEYS.filter(([, , reading]) => live || reading).flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)]))]) });
    this.warps = new Warps({ focus });
    this.timeline = new Timeline({ kept: kept.timeline, go: when(step => this.act("goto", { step })), showPtx: line => this.code.show("ptx", line - 1) });
    this.registers = new Registers({ focus, kept: kept.registers });
    this.watches = new Watches({ add: when(text => this.act("watch", { text })), drop: when(text => this.act("unwatch", { text })) });
    this.points = new Points({ add: when((place, condition, kind) => this.act(kind, kind === "break" ? { place, condition } : { place })), drop: when(id => this.act("unbreak", { id })),
                               enable: when((id, on) => this.act("enable", { id, on })),
                               show: point => (point.ptx?.length && !point.line ? this.code.show("ptx", point.ptx[0] - 1) : this.code.show("python", pythonRow(this.data, point.file, point.line))) });
    this.figures = new ElementCache();
    this.error = h("div.pyptx-error", { role: "alert", hidden: true });
    this.barriers = h("div.pyptx-scroll", { tabindex: 0, role: "region", "aria-label": "Barriers" });
    this.matrices = h("div.pyptx-scroll.pyptx-figures", { tabindex: 0, role: "region", "aria-label": "Memory and fragments" });
    this.picker = live ? new Picker(values => this.act("show", values), message => this.fail(message)) : null;
    this.head = h("div");
    this.left = sections("Values", [["registers", "Registers", this.registers.element], ["watches", "Watches", this.watches.element], ["points", "Breakpoints", this.points.element]], kept, () => this.registers.update(this.state));
    if (!state.barriers.length && state.fragments.length + state.memory.length) kept.Memory ??= "memory";
    this.right = sections("Memory", [["barriers", "Barriers", this.barriers], ["memory", "Memory & fragments", h("div", {}, this.picker?.element, this.matrices)]], kept, () => this.paintMatrices());
    this.root = h(`div.pyptx-linked.pyptx-debug${fill ? ".pyptx-fill" : ""}${live ? ".pyptx-live" : ""}`, { role: "group", "aria-label": `Debugger of ${state.kernel}` },
      this.head, h("div.pyptx-debug-bar", {}, this.stop.element, this.tools.scrubber), this.tools.toolbar, this.error,
      h("div.pyptx-debug-code", {}, this.warps.element, this.code.element), this.timeline.element,
      h("div.pyptx-debug-values", {}, this.left.element, this.right.element));
    this.root.addEventListener("keydown", event => this.key(event));
    element.append(this.root);
    this.seen = this.styled;
    this.code.themed();
    this.update(state);
    this.unwatch = observe({ root: this.root, grid: this.code.element, each: () => this.resized(), themed: () => this.resized(true) });
  }

  /** True if attached and styled; a widget may be attached and get its style sheet only after it was drawn. */
  get styled() { return this.root.isConnected && getComputedStyle(this.root).getPropertyValue("--px-now") !== ""; }

  /** Redraw what depends on the size, with `themed` also on colors; the first styled call scrolls to the focused warp. */
  resized(themed = false) {
    const first = !this.seen && this.styled;
    this.seen ||= first;
    if (themed || first) this.code.themed(); else this.code.resized();
    if (first) { this.code.reveal(); this.warps.reveal(); }
    this.timeline.paint();
  }

  /** Show a new document of the same run; the user's selection is kept. */
  update(state) {
    this.state = state;
    this.head.replaceChildren(heading(state));
    this.stop.update(state, this.busy);
    this.tools.update(state, this.busy);
    this.warps.update(state);
    this.timeline.update(state);
    if (this.left.shown === "registers") this.registers.update(state);
    this.watches.update(state);
    this.points.update(state);
    this.barriers.replaceChildren(...barriers(state, this.command ? values => this.act("focus", values) : null));
    if (this.right.shown === "memory") this.paintMatrices();
    const changed = state.registers.filter(register => register.changed).length;
    this.left.count({ registers: changed ? `${changed} Δ` : "", watches: state.watches.length || "", points: state.breakpoints.length || "" });
    this.right.count({ barriers: state.barriers.length || "", memory: state.memory.length + state.fragments.length || "" });
    this.code.update(state);                                            // last: the other parts take room from it
  }

  /** Draw fragments and tiles, and the list of those available. */
  paintMatrices() {
    const { state, kept, command } = this, again = () => this.paintMatrices(), top = this.matrices.scrollTop;
    const chosen = name => (kept.matrices[name] ??= {}), hide = (kind, name) => (command ? () => this.act("hide", { kind, name }) : null);
    const more = (kind, one) => (command ? (row, column, [rows, columns]) => this.act("show", { kind, name: one.name, ...readAs(kind, one), rows: [row, rows], columns: [column, columns] }) : null);
    const figure = (kind, one, draw, lane) => this.figures.get(`${kind} ${one.name}`, JSON.stringify([one, chosen(`${kind} ${one.name}`), lane && state.focus]), () => draw(one, state,
      { kept: chosen(`${kind} ${one.name}`), again, focus: command ? values => this.act("focus", values) : null, close: hide(kind, one.name), more: more(kind, one) }));
    const figures = [...state.fragments.map(one => figure("fragment", one, fragment, true)), ...state.memory.map(one => figure(kindOf(one), one, tile, false))];
    const { memory = [], fragments = [] } = state.available ?? {};
    fill(this.matrices, figures.length ? figures : [h("p.pyptx-soft", {}, command && memory.length + fragments.length ? "Select a tile of memory or a fragment above." : "Nothing to show.")]);
    this.matrices.scrollTop = top;
    this.picker?.update(state.available);
  }

  // commands ------------------------------------------------------------------------------------------------------------

  /** Queue a command; resolves to true if it succeeded. Quick steps are merged. */
  act(name, values = {}) {
    if (!this.command) return Promise.resolve(false);
    this.waiting = queued(this.waiting, name, { ...values });
    const last = this.waiting.at(-1);
    last.done ??= new Promise(resolve => { last.resolve = resolve; });
    if (!this.busy) this.work();
    return last.done;
  }

  async work() {
    while (this.waiting.length) {
      const [{ name, values, resolve }, ...rest] = this.waiting;
      this.waiting = rest;
      this.setBusy(`${{ resume: "running", goto: `going to step ${values.step}`, finish: "running to the end of the warp" }[name] ?? name.replace("_", " ")} …`);
      let done = true;
      try {
        await this.command(name, values);
        this.fail("");
      } catch (error) {
        done = false;
        for (const other of this.waiting) other.resolve(false);
        this.waiting = [];                              // queued commands assumed that this one succeeds
        this.fail(error.message);
      }
      this.setBusy("");
      resolve(done);
    }
  }

  setBusy(words) {
    this.busy = words;
    clearTimeout(this.slow);
    if (words) this.slow = setTimeout(() => this.showBusy(), 150);       // shorter steps show no message
    else this.showBusy();
  }

  showBusy() {
    this.root.classList.toggle("pyptx-busy", !!this.busy);
    this.root.setAttribute("aria-busy", this.busy ? "true" : "false");
    this.stop.update(this.state, this.busy);
    this.tools.update(this.state, this.busy);
  }

  async pause() {
    try {
      await this.command?.("pause", {});
    } catch (error) {
      this.fail(error.message);
    }
  }

  fail(message) {
    this.error.hidden = !message;
    this.error.replaceChildren(...(message ? [h("span", {}, h("b", {}, "Not done: "), message), h("button.pyptx-drop", { type: "button", "aria-label": "Dismiss", onclick: () => this.fail("") }, "×")] : []));
  }

  // keys ----------------------------------------------------------------------------------------------------------------

  key(event) {
    const { key, target } = event;
    if (target.closest("input:not([type=checkbox], [type=range]), select, summary, .pyptx-sheet") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("button") && (key === "Enter" || key === " ")) return;
    const move = moveOf(key);
    if (key === "/") this.code.search.begin();
    else if (this.code.key(event)) { /* it was a key of the panes */ }
    else if (!this.command) return;
    else if (key === "p") this.pause();
    else if (move) { const [name, , , , , values] = move; this.act(name, values); }
    else if (key === "[" || key === "]") this.warps.move(key === "]" ? 1 : -1);
    else if (key === "<" || key === ">") this.act("focus", { lane: (this.state.focus.lane + (key === ">" ? 1 : 31)) % 32 });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  destroy() {
    clearTimeout(this.slow);
    this.unwatch();
    this.code.destroy();
    this.root.remove();
  }
}

/** Tabs, [name, title, element], of which one is `shown`; opened() is called on a change. count({name: text}) adds numbers to titles. */
function sections(label, panels, kept, opened) {
  const id = freshId(), tabs = {}, notes = {};
  const show = name => {
    kept[label] = name;
    for (const [other, , element] of panels) {
      tabs[other].setAttribute("aria-selected", String(other === name));
      tabs[other].tabIndex = other === name ? 0 : -1;
      element.hidden = other !== name;
    }
  };
  for (const [name, title, element] of panels) {
    tabs[name] = h("button.pyptx-tab", { type: "button", role: "tab", id: `${id}-${name}`, "aria-controls": `${id}-${name}-panel`, onclick: () => { show(name); opened(); } }, title, notes[name] = h("span.pyptx-note"));
    for (const [key, value] of [["role", "tabpanel"], ["id", `${id}-${name}-panel`], ["aria-labeledby", `${id}-${name}`]]) element.setAttribute(key, value);
  }
  const list = h("div.pyptx-tablist", { role: "tablist", "aria-label": label, onkeydown: event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const at = panels.findIndex(([name]) => name === kept[label]), [next] = panels[(at + step + panels.length) % panels.length];
    show(next);
    opened();
    tabs[next].focus();
    event.preventDefault();
    event.stopPropagation();
  } }, ...panels.map(([name]) => tabs[name]));
  const element = h("section.pyptx-sections", { "aria-label": label }, list, h("div.pyptx-section-body", {}, ...panels.map(([, , body]) => body)));
  show(panels.some(([name]) => name === kept[label]) ? kept[label] : panels[0][0]);
  return { element, get shown() { return kept[label]; }, count: numbers => { for (const [name, text] of Object.entries(numbers)) notes[name].textContent = text === "" ? "" : ` ${text}`; } };
}
