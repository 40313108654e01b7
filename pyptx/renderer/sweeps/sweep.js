// The sweep view: heat maps, a table, the progress, and the code of the points. `actions` are the requests that need a kernel.

import { h } from "../dom.js";
import { Sweep } from "./data.js";
import { details } from "./details.js";
import { Drawer } from "./drawer.js";
import { outcome, write } from "./edit.js";
import { Maps } from "./heatmap.js";
import { WORDS, drawRun, heading } from "./status.js";
import { Table } from "./table.js";
import { drawPickers, drawScale, drawTools } from "./toolbar.js";

/**
 * Draw `data` (kind "sweep") into `element`.
 * options.actions: requests, each returns a promise of a view's data or performs an action:
 * {pause(), resume(), stop(), use(point), restore(), write(point), edit(point), view(point), diff(first, second), roofline()}; options.mount: mounts a view.
 * Returns {destroy(), update(data), fail(message)}.
 */
export function mount(element, data, options = {}) {
  if (data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports sweep, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, update() {}, fail() {} };
  }
  const view = new SweepView(element, data, options);
  return { destroy: () => view.destroy(), update: fresh => view.update(fresh), fail: message => view.tell(message) };
}

class SweepView {
  constructor(element, data, { actions = {}, mount: draw = null, fill = false, kept = {} }) {
    Object.assign(this, { actions, kept });           // kept: state that outlives this view: layout, metric, open content
    this.sweep = new Sweep(data);
    kept.layout ??= this.sweep.layout();
    kept.fixed ??= data.parameters.map(() => null);
    kept.metric ??= "time";
    kept.shown ??= "map";
    kept.hidden ??= new Set();
    kept.first ??= -1;
    kept.second ??= -1;
    this.hovered = { point: -1, reason: "" };
    this.comparing = false;
    const on = { point: (point, event) => this.pick(point, event), over: (point, reason) => this.over(point, reason), leave: () => this.over(-1, "") };
    this.maps = new Maps(on);
    this.table = new Table(on);
    this.head = h("header.pyptx-header");
    this.run = h("div.pyptx-run");
    this.tools = h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "Sweep" });
    this.pickers = h("div.pyptx-pickers");
    this.legend = h("div.pyptx-legend");
    this.side = h("aside.pyptx-details", { "aria-label": "Point" });
    this.left = h("div.pyptx-sweep-main", {}, this.pickers, this.maps.element, this.legend, this.table.element);
    this.drawer = new Drawer(this, draw);
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.root = h(`div.pyptx-linked.pyptx-sweep${fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `Sweep of ${data.title}` },
      this.head, this.run, this.tools, h("div.pyptx-sweep-body", {}, this.left, this.side), this.status, this.drawer.element);
    this.root.addEventListener("keydown", event => this.key(event));
    this.root.addEventListener("pointerdown", () => { this.pressed = true; });         // a redraw between press and release would lose the click
    this.release = () => { this.pressed = false; setTimeout(() => { if (this.pending) this.update(this.pending); }); };
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, this.release);
    element.append(this.root);
    this.layOut();
    drawTools(this);
    this.paint();
    if (kept.open) this.drawer.reopen();
  }

  get marks() {
    const { data } = this.sweep, { first, second } = this.kept;
    return { best: data.best, choice: data.choice, first, second };
  }

  /** Show new data of the same sweep; the user's selection is kept. */
  update(data) {
    this.pending = this.pressed ? data : null;
    if (this.pressed) return;
    const before = this.sweep;
    this.sweep = new Sweep(data);
    const same = JSON.stringify(before.parameters) === JSON.stringify(data.parameters);
    if (!same) Object.assign(this.kept, { layout: this.sweep.layout(), fixed: data.parameters.map(() => null), first: -1, second: -1 });
    if (!same) this.layOut(); else this.maps.sweep = this.sweep;
    if (!same || before.metrics().join() !== this.sweep.metrics().join()) drawTools(this);
    this.paint();
    const { state } = data.progress;
    if (state !== before.data.progress.state) this.tell(`${WORDS[state]}${data.best >= 0 && state === "finished" ? `; best: ${this.sweep.sentence(data.best)}` : ""}`);
    else if (data.best !== before.data.best && data.best >= 0) this.tell(`new best: ${this.sweep.sentence(data.best)}`);
    else if (data.choice !== before.data.choice) this.tell(data.choice >= 0 ? `in use: ${this.sweep.words(data.choice)}` : "defaults restored");
  }

  tell(text) { this.status.textContent = text; }

  layOut() {
    this.maps.build(this.sweep, this.kept.layout, this.sweep.maps(this.kept.layout, this.kept.fixed));
  }

  paint() {
    const { sweep, kept, marks } = this;
    this.head.replaceChildren(...heading(sweep));
    drawRun(this);
    drawPickers(this);
    this.maps.element.hidden = this.legend.hidden = this.pickers.hidden = kept.shown !== "map";
    this.table.element.hidden = kept.shown !== "table";
    if (kept.shown === "map") this.maps.paint(sweep.maps(kept.layout, kept.fixed), kept.metric, marks);
    else if (kept.shown === "table") this.table.paint(sweep, kept.hidden, marks);
    drawScale(this);
    this.describe();
  }

  async act(name, ...values) {
    try {
      return await this.actions[name](...values);
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  // layout ----------------------------------------------------------------------------------------------------------

  show(name) {
    this.kept.shown = name;
    for (const button of this.tools.querySelectorAll("[data-shown]")) button.setAttribute("aria-pressed", String(button.dataset.shown === name));
    this.paint();
  }

  /** Assign a role to an axis; the axis that had it gets the previous role. */
  arrange(role, axis) {
    const { layout } = this.kept, other = Object.keys(layout).find(name => layout[name] === axis && name !== role);
    if (axis >= 0 && other) layout[other] = layout[role];
    layout[role] = axis;
    if (layout.across < 0) layout.across = this.sweep.layout().across;
    this.layOut();
    drawTools(this);
    this.paint();
  }

  // points ------------------------------------------------------------------------------------------------------------

  over(point, reason) {
    this.hovered = { point, reason };
    this.describe();
  }

  describe() {
    const { hovered, kept, comparing, actions } = this, on = hovered.point >= 0 || hovered.reason ? hovered : { point: kept.first >= 0 ? kept.first : this.sweep.data.best, reason: "" };
    const act = { open: actions.view && true, use: actions.use && (point => this.act("use", point)), restore: actions.restore && (() => this.act("restore")),
                  write: actions.write && (point => this.edit("write", point)), edit: actions.edit && (point => this.edit("edit", point)),
                  compare: actions.diff && (() => { this.comparing = !this.comparing; this.describe(); }) };
    const focused = this.side.contains(document.activeElement) ? document.activeElement.textContent : null;
    this.side.replaceChildren(...details(this.sweep, { ...on, first: kept.first, second: kept.second, comparing, edit: this.edited }, act));
    if (focused) [...this.side.querySelectorAll("button")].find(button => button.textContent === focused)?.focus();
  }

  /** Request the edit that makes a point the defaults; write it into the cell of the kernel, if that is in this notebook. */
  async edit(name, point) {
    const edit = await this.act(name, point);
    if (!edit) return;
    this.edited = { point, ...edit, answer: edit.diff.length && edit.in_cell ? write(this.root, edit) : null };
    this.describe();
    this.tell(outcome(this.edited));
  }

  /** Handle a click on a point: open its code, or compare it with the open one. */
  pick(point, event) {
    const { kept } = this, pair = (this.comparing || event.shiftKey) && kept.first >= 0 && kept.first !== point;
    this.comparing = false;
    if (pair) kept.second = point; else Object.assign(kept, { first: point, second: -1 });
    this.paint();
    if (pair && this.actions.diff) this.drawer.open("diff");
    else if (!pair && this.actions.view) this.drawer.open("view");
    else this.tell(this.sweep.sentence(point));
  }

  key(event) {
    if (event.target.closest("input, select, summary, .pyptx-drawer") || event.altKey || event.ctrlKey || event.metaKey) return;
    const { sweep, kept } = this;
    if (event.key === "Escape" && kept.open) this.drawer.close();
    else if (event.key === "t") this.show(kept.shown === "map" ? "table" : "map");
    else if (event.key === "b" && sweep.data.best >= 0) { if (kept.shown === "map") this.maps.go(sweep.data.best); else this.table.element.querySelector(`tr[data-point="${sweep.data.best}"]`)?.focus(); }
    else if (event.key === "u" && kept.first >= 0 && this.actions.use) this.act("use", kept.first);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  save() {
    const link = h("a", { href: URL.createObjectURL(new Blob([this.sweep.csv()], { type: "text/csv" })), download: `${this.sweep.data.title}-sweep.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  destroy() {
    for (const name of ["pointerup", "pointercancel"]) window.removeEventListener(name, this.release);
    this.drawer.destroy();
    this.root.remove();
  }
}
