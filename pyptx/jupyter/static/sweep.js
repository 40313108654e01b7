// A sweep: heat maps, a table, the progress, and the code of its points. Drawn from the data alone; what needs a kernel is in `actions`.

import { h } from "./dom.js";
import { METRICS, Sweep, duration, rateText, timeText } from "./sweepdata.js";
import { details } from "./sweepdetails.js";
import { Maps } from "./sweepmap.js";
import { Table } from "./sweeptable.js";

const KEYS = [["← ↑ → ↓", "go through the squares, also over to the next map"], ["Enter", "open the code of the point"], ["Shift Enter", "compare it with the one that is open"],
              ["b", "go to the best point"], ["u", "use the chosen point"], ["t", "table or map"], ["Esc", "close what is open"]];
const DONE = ["measured", "modelled", "duplicate", "wrong", "failed", "refused"];        // in the progress bar from the left
const WORDS = { new: "not started", running: "running", paused: "paused", stopped: "stopped", finished: "finished" };

/**
 * Draw `data` (kind "sweep") into `element`.
 * options.actions: what the points can be asked, each answers with a promise of a view's data or does something:
 * {pause(), resume(), stop(), use(point), view(point), diff(first, second), roofline()}; options.mount: draws such a view.
 * Returns {destroy(), update(data), fail(message)}.
 */
export function mount(element, data, options = {}) {
  if (data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; the renderer knows sweep, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, update() {}, fail() {} };
  }
  const view = new SweepView(element, data, options);
  return { destroy: () => view.destroy(), update: fresh => view.update(fresh), fail: message => view.tell(message) };
}

class SweepView {
  constructor(element, data, { actions = {}, mount: draw = null, fill = false, kept = {} }) {
    Object.assign(this, { element, actions, draw, fill, kept });           // kept: what outlives this drawing: layout, metric, what is open
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
    this.drawer = h("section.pyptx-drawer", { hidden: true, "aria-label": "Code of the chosen points" });
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.root = h(`div.pyptx-linked.pyptx-sweep${fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `Sweep of ${data.title}` },
      this.head, this.run, this.tools, h("div.pyptx-sweep-body", {}, this.left, this.side), this.status, this.drawer);
    this.root.addEventListener("keydown", event => this.key(event));
    this.root.addEventListener("pointerdown", () => { this.pressed = true; });         // what is drawn anew meanwhile gets no click
    this.release = () => { this.pressed = false; setTimeout(() => { if (this.pending) this.update(this.pending); }); };
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, this.release);
    element.append(this.root);
    this.layOut();
    this.toolbar();
    this.paint();
    if (kept.open) this.reopen();
  }

  get marks() {
    const { data } = this.sweep, { first, second } = this.kept;
    return { best: data.best, choice: data.choice, first, second };
  }

  /** New data of the same sweep; what the reader has chosen stays. */
  update(data) {
    this.pending = this.pressed ? data : null;
    if (this.pressed) return;
    const before = this.sweep;
    this.sweep = new Sweep(data);
    const same = JSON.stringify(before.parameters) === JSON.stringify(data.parameters);
    if (!same) Object.assign(this.kept, { layout: this.sweep.layout(), fixed: data.parameters.map(() => null), first: -1, second: -1 });
    if (!same) this.layOut(); else this.maps.sweep = this.sweep;
    if (!same || before.metrics().join() !== this.sweep.metrics().join()) this.toolbar();
    this.paint();
    const { state } = data.progress;
    if (state !== before.data.progress.state) this.tell(`${WORDS[state]}${data.best >= 0 && state === "finished" ? `; best: ${this.sweep.sentence(data.best)}` : ""}`);
    else if (data.best !== before.data.best && data.best >= 0) this.tell(`new best: ${this.sweep.sentence(data.best)}`);
    else if (data.choice !== before.data.choice && data.choice >= 0) this.tell(`in use: ${this.sweep.words(data.choice)}`);
  }

  tell(text) { this.status.textContent = text; }

  layOut() {
    this.maps.build(this.sweep, this.kept.layout, this.sweep.maps(this.kept.layout, this.kept.fixed));
  }

  paint() {
    const { sweep, kept, marks } = this;
    this.head.replaceChildren(...heading(sweep));
    this.progress();
    this.pick_values();
    this.maps.element.hidden = this.legend.hidden = this.pickers.hidden = kept.shown !== "map";
    this.table.element.hidden = kept.shown !== "table";
    if (kept.shown === "map") this.maps.paint(sweep.maps(kept.layout, kept.fixed), kept.metric, marks);
    else if (kept.shown === "table") this.table.paint(sweep, kept.hidden, marks);
    this.scale();
    this.describe();
  }

  // the run -----------------------------------------------------------------------------------------------------------

  progress() {
    const { sweep, actions } = this, { progress } = sweep.data, { done, total, state } = progress;
    const left = state === "running" && progress.seconds_left !== null ? `, about ${duration(progress.seconds_left)} left` : "";
    const words = `${WORDS[state]}: ${done} of ${total} points${left}`;
    const button = (name, text, title) => (actions[name] ? h("button.pyptx-button", { type: "button", title, "data-act": name, onclick: () => this.act(name) }, text) : null);
    const buttons = { new: [button("resume", "▶ Start", "Start the sweep")], running: [button("pause", "❚❚ Pause", "Finish the point at work, then wait"), button("stop", "■ Stop", "End the sweep; what is done is kept")],
                      paused: [button("resume", "▶ Resume", "Go on"), button("stop", "■ Stop", "End the sweep; what is done is kept")],
                      stopped: [button("resume", "▶ Resume", "Go on where it ended")], finished: [] }[state].filter(Boolean);
    const focused = this.run.contains(document.activeElement) ? document.activeElement.dataset.act : null, counts = new Map(sweep.counts());
    const bar = h("div.pyptx-progress", { role: "progressbar", "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": done, "aria-valuetext": words },
      ...DONE.filter(name => counts.has(name)).map(name => share(`.pyptx-s-${name}`, counts.get(name), name)), share(".pyptx-rest", total - done, "to do"));
    this.run.replaceChildren(bar, h("div.pyptx-run-line", {}, h("span", {}, words), ...buttons, h("span.pyptx-space"), ...this.chips()));
    if (focused) (this.run.querySelector(`[data-act="${focused}"]`) ?? this.run.querySelector("button"))?.focus();
  }

  /** States with their signs and numbers: the legend, and in the table what is left out. */
  chips() {
    const { sweep, kept } = this, table = kept.shown === "table";
    const words = new Map(sweep.data.states.map(([name, sign, meaning]) => [name, [sign, meaning]]));
    const chip = ([name, count]) => {
      const [sign, meaning] = words.get(name), content = [h("span.pyptx-sign", {}, sign), ` ${name} `, h("b", {}, String(count))];
      if (!table) return h(`span.pyptx-chip.pyptx-s-${name}`, { title: meaning }, ...content);
      return h(`button.pyptx-chip.pyptx-s-${name}`, { type: "button", "data-act": name, title: `${meaning}; show or leave out`, "aria-pressed": String(!kept.hidden.has(name)), onclick: () => {
        if (!kept.hidden.delete(name)) kept.hidden.add(name);
        this.paint();
      } }, ...content);
    };
    const holes = sweep.data.holes.length ? [h("span.pyptx-chip.pyptx-s-hole", { title: "left out by restrictions of the space" }, h("span.pyptx-sign", {}, "–"), " left out ", h("b", {}, String(sweep.data.holes.length)))] : [];
    return [...sweep.counts().map(chip), ...holes];
  }

  async act(name, ...values) {
    try {
      return await this.actions[name](...values);
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  // what is shown -----------------------------------------------------------------------------------------------------

  toolbar() {
    const { sweep, kept, actions } = this;
    const tab = (name, text) => h("button.pyptx-button.pyptx-level", { type: "button", "aria-pressed": String(kept.shown === name), "data-shown": name, onclick: () => this.show(name) }, text);
    const select = (label, options, value, change, title) => h("label.pyptx-select", { title }, `${label} `, choice(options, value, change));
    const axes = sweep.parameters.map(({ name, values }, axis) => [axis, name, values.length]).filter(([, , count]) => count > 1).map(([axis, name]) => [axis, name]);
    const role = (label, name, title) => (axes.length > (name === "panels" ? 2 : 1) ? select(label, name === "across" ? axes : [[-1, "–"], ...axes], kept.layout[name], value => this.arrange(name, Number(value)), title) : null);
    this.tools.replaceChildren(...[
      h("span.pyptx-group", { role: "group", "aria-label": "Shown as" }, tab("map", "Map"), tab("table", "Table")),
      actions.roofline ? h("button.pyptx-button", { type: "button", title: "All points on the roofline of the device", onclick: () => this.open("roofline") }, "Roofline") : null,
      sweep.metrics().length > 1 ? select("Colour", sweep.metrics().map(name => [name, METRICS[name].label]), kept.metric, value => { kept.metric = value; this.paint(); }, "What colours and numbers say") : null,
      role("across", "across", "The parameter from left to right"), role("down", "down", "The parameter from top to bottom"), role("maps", "panels", "A map for each of its values"),
      h("span.pyptx-space"),
      h("button.pyptx-button", { type: "button", title: "Save all points as CSV", onclick: () => this.save() }, "CSV"),
      h("details.pyptx-menu", {}, h("summary.pyptx-button", {}, "Keys"), h("div.pyptx-sheet", {}, h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)])))),
    ].filter(Boolean));
  }

  show(name) {
    this.kept.shown = name;
    for (const button of this.tools.querySelectorAll("[data-shown]")) button.setAttribute("aria-pressed", String(button.dataset.shown === name));
    this.paint();
  }

  /** Give an axis a role; the one that had it takes the other's. */
  arrange(role, axis) {
    const { layout } = this.kept, other = Object.keys(layout).find(name => layout[name] === axis && name !== role);
    if (axis >= 0 && other) layout[other] = layout[role];
    layout[role] = axis;
    if (layout.across < 0) layout.across = this.sweep.layout().across;
    this.layOut();
    this.toolbar();
    this.paint();
  }

  /** Sliders and buttons for the parameters that are not laid out. */
  pick_values() {
    const { sweep, kept } = this, laid = Object.values(kept.layout);
    const rest = sweep.parameters.map((_, axis) => axis).filter(axis => sweep.parameters[axis].values.length > 1 && !laid.includes(axis));
    const key = JSON.stringify([rest, kept.fixed, sweep.counts()]);
    if (key === this.pickers.dataset.key) return;
    this.pickers.dataset.key = key;
    const focused = this.pickers.contains(document.activeElement) ? document.activeElement.dataset.pick : null;
    this.pickers.replaceChildren(...rest.map(axis => this.picker(axis)));
    if (focused) this.pickers.querySelector(`[data-pick="${focused}"]`)?.focus();
  }

  picker(axis) {
    const { sweep, kept } = this, { name, values } = sweep.parameters[axis], chosen = kept.fixed[axis];
    const laid = Object.values(kept.layout), feasible = sweep.feasible(axis, kept.fixed.map((one, other) => (laid.includes(other) ? null : one)));
    const take = value => { kept.fixed[axis] = value; this.paint(); };
    const whole = h("button.pyptx-button", { type: "button", "aria-pressed": String(chosen === null), "data-pick": `${axis} best`, title: `Each square shows the best over all values of ${name}`, onclick: () => take(null) }, "best of all");
    if (values.length > 8) {
      const slider = h("input", { type: "range", min: 0, max: values.length - 1, step: 1, "data-pick": `${axis} slider`, "aria-label": name, "aria-valuetext": chosen === null ? "best of all" : String(values[chosen]), oninput: event => take(Number(event.target.value)) });
      slider.value = chosen ?? 0;
      const said = chosen === null ? "" : `${values[chosen]}, ${feasible[chosen][0]} of ${feasible[chosen][1]} may run`;
      return h("div.pyptx-picker", { role: "group", "aria-label": name }, h("b", {}, name), whole, slider, h("output", {}, said));
    }
    const one = (value, at) => h(`button.pyptx-button${feasible[at][0] ? "" : ".pyptx-none"}`, { type: "button", "aria-pressed": String(chosen === at), "data-pick": `${axis} ${at}`,
      title: `${feasible[at][0]} of ${feasible[at][1]} points with ${name} ${value} may run`, onclick: () => take(at) }, String(value), h("small", {}, ` ${feasible[at][0]}/${feasible[at][1]}`));
    return h("div.pyptx-picker", { role: "group", "aria-label": name }, h("b", {}, name), h("span.pyptx-group", {}, whole, ...values.map(one)));
  }

  /** The colour bar with its ends. */
  scale() {
    const { sweep, kept } = this, { text, unit, less } = METRICS[kept.metric], { best, worst } = sweep.scale(kept.metric);
    const holds = sweep.points.kind.includes("modelled") ? (sweep.points.kind.includes("measured") ? "○ modelled, ● measured" : "○ modelled: nothing was timed on a GPU") : sweep.points.kind.includes("measured") ? "● measured" : "";
    this.legend.replaceChildren(...(best === null ? [] : [h("span", {}, `${text(best, sweep.unit)} ${unit(sweep.unit)}`), h("span.pyptx-ramp", { role: "img", "aria-label": less ? "from the least to the most" : "from the most to the least" }),
      h("span", {}, `${text(worst, sweep.unit)} ${unit(sweep.unit)}`)]), h("span.pyptx-soft", {}, holds), sweep.data.best >= 0 ? h("span.pyptx-soft", {}, "★ best") : "", sweep.data.choice >= 0 ? h("span.pyptx-soft", {}, "✓ in use") : "");
  }

  // points ------------------------------------------------------------------------------------------------------------

  over(point, reason) {
    this.hovered = { point, reason };
    this.describe();
  }

  describe() {
    const { hovered, kept, comparing, actions } = this, on = hovered.point >= 0 || hovered.reason ? hovered : { point: kept.first >= 0 ? kept.first : this.sweep.data.best, reason: "" };
    const act = { open: actions.view && true, use: actions.use && (point => this.act("use", point)), compare: actions.diff && (() => { this.comparing = !this.comparing; this.describe(); }) };
    const focused = this.side.contains(document.activeElement) ? document.activeElement.textContent : null;
    this.side.replaceChildren(...details(this.sweep, { ...on, first: kept.first, second: kept.second, comparing }, act));
    if (focused) [...this.side.querySelectorAll("button")].find(button => button.textContent === focused)?.focus();
  }

  /** A point was clicked: open its code, or compare it with the one that is open. */
  pick(point, event) {
    const { kept } = this, pair = (this.comparing || event.shiftKey) && kept.first >= 0 && kept.first !== point;
    this.comparing = false;
    if (pair) kept.second = point; else Object.assign(kept, { first: point, second: -1 });
    this.paint();
    if (pair && this.actions.diff) this.open("diff");
    else if (!pair && this.actions.view) this.open("view");
    else this.tell(this.sweep.sentence(point));
  }

  /** Show what `actions` answers below the maps: "view" of a point, "diff" of two, "roofline". */
  open(what) {
    this.kept.open = { what, first: this.kept.first, second: this.kept.second };
    return this.reopen();
  }

  async reopen() {
    const { sweep, kept, drawer } = this, wanted = kept.open, { what, first, second } = wanted;
    const title = { view: () => sweep.words(first), diff: () => `${sweep.words(first)}  |  ${sweep.words(second)}`, roofline: () => "Roofline" }[what]();
    const body = h("div.pyptx-drawer-body", {}, h("p.pyptx-soft", {}, what === "roofline" ? "Drawing the roofline …" : "Compiling and reading the machine code …"));
    const close = h("button.pyptx-button", { type: "button", title: "Close (Esc)", onclick: () => this.close() }, "✕ Close");
    this.opened?.destroy();
    this.opened = null;
    drawer.hidden = false;
    drawer.setAttribute("aria-busy", "true");
    const bar = h("div.pyptx-drawer-bar", {}, h("b", {}, title), h("span.pyptx-space"), close);
    drawer.replaceChildren(bar, body);
    if (!wanted.data) bar.scrollIntoView({ block: "nearest" });
    const answer = wanted.data ? { data: wanted.data } : await this.answer(what, first, second);
    if (kept.open !== wanted || !this.root.isConnected) return;
    drawer.setAttribute("aria-busy", "false");
    if (answer.error) { body.replaceChildren(h("p.pyptx-reason", {}, answer.error)); return; }
    wanted.data = answer.data;
    body.replaceChildren();
    const code = name => this.actions.view(Number(name.replace("point ", "")));             // of a point of the roofline
    this.opened = this.draw(body, answer.data, what === "roofline" && this.actions.view ? { actions: { view: code } } : {});
  }

  async answer(what, first, second) {
    try {
      return { data: await this.actions[what](...(what === "roofline" ? [] : what === "diff" ? [first, second] : [first])) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  close() {
    this.kept.open = null;
    this.opened?.destroy();
    this.opened = null;
    this.drawer.hidden = true;
    this.drawer.replaceChildren();
  }

  key(event) {
    if (event.target.closest("input, select, summary, .pyptx-drawer") || event.altKey || event.ctrlKey || event.metaKey) return;
    const { sweep, kept } = this;
    if (event.key === "Escape" && kept.open) this.close();
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
    this.opened?.destroy();
    this.root.remove();
  }
}

/** Title, where times come from, and the best point. */
function heading(sweep) {
  const { data } = sweep, best = data.best;
  const modelled = data.device.startsWith("model of") || sweep.points.kind.includes("modelled");
  const fact = (label, ...value) => h("div.pyptx-fact", {}, h("dt", {}, label), h("dd", {}, ...value));
  return [h("div.pyptx-title", {}, h("b", {}, data.title), h("span.pyptx-badge", {}, data.target), h(`span.pyptx-badge${modelled ? ".pyptx-dashed" : ""}`, {}, data.device)),
    h("dl.pyptx-facts", {},
      best < 0 ? fact("best so far", h("b", {}, "–")) : fact(`best ${sweep.points.kind[best]}`, h("b", {}, timeText(sweep.points.seconds[best], sweep.unit)),
        sweep.points.rate[best] === null ? null : h("small", {}, rateText(sweep.points.rate[best]))),
      best < 0 ? null : fact("with", h("b", {}, sweep.words(best))),
      data.choice < 0 ? null : fact("in use", h("b", {}, sweep.words(data.choice)))),
    ...data.notes.map(note => h("p.pyptx-soft", {}, note))];
}

/** A part of the progress bar. */
function share(kind, count, name) {
  const part = h(`span${kind}`, { title: `${count} ${name}` });
  part.style.flexGrow = Math.max(0, count);
  return part;
}

function choice(options, value, change) {
  const element = h("select", { onchange: event => change(event.target.value) }, ...options.map(([key, text]) => h("option", { value: key }, text)));
  element.value = String(value);
  return element;
}
