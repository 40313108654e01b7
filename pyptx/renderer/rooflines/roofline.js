// The roofline view: the chart, a table of the points, and the code of the selected point.

import { h } from "../dom.js";
import { chart } from "./chart.js";
import { percent, titleOf } from "./layout.js";
import { number, quantity } from "./units.js";
import { save, saveAs } from "./export.js";

const KEYS = [["← →", "next point to the left, right"], ["↑ ↓", "next faster, slower point"], ["Home End", "the slowest, the fastest point"], ["Enter", "open the code of the point"],
              ["l", "next memory level"], ["m", "show or hide modeled points"], ["Esc", "close the code"]];
const LEVELS = { dram: "DRAM", l2: "L2", shared: "Shared memory" };
const KINDS = { measured: "●", modeled: "○" };

/**
 * Draw `data` (kind "roofline") into `element`.
 * options.mount draws another view; options.actions.view(name, point) resolves to a point's view that is not in `data.views`.
 * Returns {destroy(), update(data), select(number)}.
 */
export function mount(element, data, options = {}) {
  if (data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports roofline, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); }, update() {}, select() {} };
  }
  const view = new RooflineView(element, data, options);
  return { destroy: () => view.destroy(), update: fresh => view.update(fresh), select: point => view.choose(point) };
}

class RooflineView {
  constructor(element, data, { mount: draw = null, actions = {}, fill = false, height = 0 }) {
    Object.assign(this, { data, draw, actions, height, level: data.level, hidden: new Set(), at: null, opened: null, last: null });
    this.head = h("header.pyptx-header");
    this.tools = h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "Roofline" });
    this.plot = h("div.pyptx-roof-plot", { tabindex: 0, role: "application", "aria-roledescription": "roofline chart" });
    this.tip = h("div.pyptx-roof-tip", { hidden: true, role: "tooltip" });
    this.stage = h("div.pyptx-roof-stage", {}, this.plot, this.tip);
    this.table = h("div.pyptx-roof-table", { tabindex: 0, role: "region", "aria-label": "Points" });
    this.status = h("div.pyptx-status", { role: "status", "aria-live": "polite" });
    this.drawer = h("section.pyptx-roof-drawer", { hidden: true, "aria-label": "Code of the point" });
    this.root = h(`div.pyptx-linked.pyptx-roofline${fill ? ".pyptx-fill" : ""}`, { role: "group", "aria-label": `Roofline of ${data.title} on ${data.gpu.name}` },
      this.head, this.tools, this.stage, this.table, this.status, this.drawer);
    element.append(this.root);
    this.plot.addEventListener("pointermove", event => this.point(event));
    this.plot.addEventListener("pointerleave", () => { if (!this.plot.contains(document.activeElement)) this.choose(null); });
    this.plot.addEventListener("click", event => { this.point(event); if (this.at !== null) this.open(this.at); });
    this.plot.addEventListener("blur", () => this.choose(null));
    this.root.addEventListener("keydown", event => this.key(event));
    this.root.addEventListener("pointerdown", event => {
      for (const menu of this.root.querySelectorAll(".pyptx-menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    });
    this.paint();
    this.sizes = new ResizeObserver(() => { if (Math.abs(this.plot.clientWidth - this.wide) > 1) this.drawChart(); });
    this.sizes.observe(this.plot);
  }

  /** Show new data of the same chart; level and selection are kept. */
  update(data) {
    this.data = data;
    if (!data.levels.includes(this.level)) this.level = data.level;
    if (this.at >= data.points.length) this.at = null;
    this.paint();
  }

  shown(point) { return !this.hidden.has(point.kind); }
  get unit() { return this.data.unit; }
  get count() { return this.unit.replace("/s", ""); }

  paint() {
    const { data } = this, { gpu } = data, tensor = gpu.tensor_clock_hz === gpu.clock_hz ? "" : `, tensor ${quantity(gpu.tensor_clock_hz, "Hz")}`;
    this.head.replaceChildren(h("div.pyptx-title", {}, h("b", {}, data.title), h("span.pyptx-badge", {}, gpu.name), h("span.pyptx-badge", {}, gpu.target),
      h("span.pyptx-soft", {}, `${gpu.sms} SMs; dense peaks at ${quantity(gpu.clock_hz, "Hz")}${tensor}`)));
    this.toolbar();
    this.drawChart();
    this.drawTable();
  }

  toolbar() {
    const { data } = this, focused = this.tools.contains(document.activeElement) ? document.activeElement.dataset.tool : null;
    const button = (tool, text, title, act, more = {}) => h("button.pyptx-button", { type: "button", "data-tool": tool, title, onclick: act, ...more }, text);
    const levels = data.levels.map(level => h("button.pyptx-button.pyptx-level", { type: "button", "data-tool": level, "aria-pressed": String(level === this.level),
      title: `${this.count} per byte of ${LEVELS[level]}`, onclick: () => this.turn(level) }, LEVELS[level]));
    const kinds = Object.keys(KINDS).filter(kind => data.points.some(point => point.kind === kind)).map(kind => button(kind, `${KINDS[kind]} ${kind}`, `Show or hide ${kind} points`,
      () => this.toggle(kind), { "aria-pressed": String(!this.hidden.has(kind)) }));
    for (const one of kinds) one.classList.add("pyptx-toggle");
    this.tools.replaceChildren(h("span.pyptx-group", { role: "group", "aria-label": "Memory level" }, ...levels), h("span.pyptx-group", { role: "group", "aria-label": "Times" }, ...kinds), h("span.pyptx-space"),
      button("svg", "SVG", "Save the chart as SVG", () => save(this.svg, `${data.title}.svg`)),
      button("png", "PNG", "Save the chart as PNG", () => save(this.svg, `${data.title}.png`)),
      button("csv", "CSV", "Save the points as CSV", () => saveAs(this.csv(), `${data.title}.csv`, "text/csv")),
      h("details.pyptx-menu", {}, h("summary.pyptx-button", {}, "Keys"), h("div.pyptx-sheet", {}, h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)])))));
    if (focused) this.tools.querySelector(`[data-tool="${focused}"]`)?.focus();
  }

  turn(level) {
    this.level = level;
    this.toolbar();
    this.drawChart();
    this.drawTable();
  }

  toggle(kind) {
    if (!this.hidden.delete(kind)) this.hidden.add(kind);
    if (this.at !== null && !this.shown(this.data.points[this.at])) this.at = null;
    this.toolbar();
    this.drawChart();
    this.drawTable();
  }

  // the chart ---------------------------------------------------------------------------------------------------------

  drawChart() {
    this.wide = this.plot.clientWidth || 960;
    const high = this.height || Math.round(Math.min(560, Math.max(300, this.wide * 0.54)));
    const { svg, drawn } = chart(this.data, this.level, this.wide, high, point => this.shown(point));
    this.svg = svg;
    this.drawn = drawn;
    this.plot.replaceChildren(svg);
    const said = drawn.markers.length === 1 ? "1 point" : `${drawn.markers.length} points`;
    this.plot.setAttribute("aria-label", `${this.data.title} on ${this.data.gpu.name}: ${said} over the bytes of ${LEVELS[this.level]}. Arrow keys go through the points.`);
    this.mark();
  }

  /** Select the marker nearest to the pointer. */
  point(event) {
    const box = this.svg.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null, least = 22;
    for (const marker of this.drawn.markers) {
      const far = Math.hypot(marker.x - x, marker.y - y);
      if (far < least) [best, least] = [marker.number, far];
    }
    this.plot.style.cursor = best === null ? "default" : "pointer";
    if (best !== null || !this.plot.contains(document.activeElement)) this.choose(best);
  }

  /** Select a point; null for none. */
  choose(number, say = false) {
    if (number === this.at && !say) return;
    this.at = number;
    this.mark();
    if (say && number !== null) this.status.textContent = this.sentence(number);
  }

  mark() {
    const { svg, drawn, at, data } = this, marker = drawn.markers.find(one => one.number === at);
    svg.choose(marker ?? null, data, this.level);
    for (const row of this.table.querySelectorAll("tr[data-point]")) row.classList.toggle("pyptx-roof-on", Number(row.dataset.point) === at);
    this.tip.hidden = !marker;
    if (!marker) return;
    this.tip.replaceChildren(...this.told(at));
    const { clientWidth: wide } = this.stage, own = this.tip.getBoundingClientRect(), high = this.stage.clientHeight;
    const left = marker.x + 18 + own.width < wide ? marker.x + 18 : Math.max(4, marker.x - 18 - own.width);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(4, Math.min(high - own.height - 4, marker.y + 20))}px`;
  }

  /** The content of the tooltip. */
  told(number) {
    const point = this.data.points[number], at = point.at[this.level], ceilings = this.data.ceilings.filter(one => one.point === number);
    const line = (kind, ...words) => h(`div${kind}`, {}, ...words);
    return [line(".pyptx-roof-name", h("b", {}, titleOf(point)), ` ${KINDS[point.kind]} ${point.kind}`), point.note ? line("", point.note) : null,
      ...(at ? at.formula.map(text => line(".pyptx-roof-formula", text)) : []), at ? line("", "limit: ", h("b", {}, at.limit)) : null,
      ...ceilings.map(one => line(".pyptx-roof-why", one.why)), point.bound ? line("", `${point.kind}: ${point.bound}`) : null, point.how ? line(".pyptx-soft", `counted: ${point.how}`) : null, this.opens(point) ? line(".pyptx-soft", "Click to open the code") : null].filter(Boolean);
  }

  sentence(number) {
    const point = this.data.points[number], at = point.at[this.level];
    return [`${titleOf(point)}${point.note ? `, ${point.note}` : ""}, ${point.kind}`, at ? `${quantity(at.rate, this.unit)} at ${shortNumber(at.intensity)} ${this.count}/B, ${percent(at.share)} of the limit ${at.limit}` : this.bytesRate(point),
            point.bound].filter(Boolean).join("; ");
  }

  bytesRate(point) {
    const moved = point.bytes[this.level];
    return moved ? `${quantity(moved / point.seconds, "B/s")} of ${LEVELS[this.level]}` : "";
  }

  // the table ---------------------------------------------------------------------------------------------------------

  drawTable() {
    const { data, level } = this, points = data.points.map((point, number) => [point, number]).filter(([point]) => this.shown(point));
    if (!points.length) { this.table.replaceChildren(h("p.pyptx-soft", {}, data.points.length ? "All points are hidden." : "No points.")); return; }
    const noted = points.some(([point]) => point.note), cell = (text, kind = "") => h(`td${kind}`, {}, text);
    const row = ([point, index]) => {
      const at = point.at[level], name = this.opens(point) ? h("button.pyptx-roof-open", { type: "button", title: "Open the code", onclick: () => this.open(index) }, titleOf(point)) : titleOf(point);
      return h("tr", { "data-point": index, onpointerenter: () => this.choose(index), onpointerleave: () => this.choose(null) },
        h("td", {}, h(`span.pyptx-roof-dot.pyptx-m${this.color(point)}${point.kind === "measured" ? ".pyptx-solid" : ""}`, { "aria-hidden": "true" }), " ", name), noted ? cell(point.note) : null, cell(point.kind),
        cell(interval(point), ".pyptx-num"), cell(quantity(point.flops, this.count), ".pyptx-num"), cell(point.bytes[level] ? quantity(point.bytes[level], "B") : "–", ".pyptx-num"),
        cell(at ? shortNumber(at.intensity) : "–", ".pyptx-num"), cell(at ? quantity(at.rate, this.unit) : this.bytesRate(point) || "–", ".pyptx-num"),
        h("td.pyptx-num.pyptx-share", at ? { style: `--f:${Math.min(100, at.share * 100)}%` } : {}, at ? percent(at.share) : "–"), cell([at?.limit, point.bound].filter(Boolean).join("; ")));
    };
    const heads = ["kernel", noted ? "configuration" : null, "kind", "time", "work", `bytes, ${LEVELS[level]}`, `${this.count}/B`, this.unit, "% of roof", "limit"].filter(Boolean);
    this.table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((text, n) => h(`th${n > heads.length - 8 && n < heads.length - 1 ? ".pyptx-num" : ""}`, { scope: "col" }, text)))),
      h("tbody", {}, ...points.map(row))));
  }

  color(point) { return [...new Set(this.data.points.map(one => one.name))].indexOf(point.name) % 8; }

  csv() {
    const { data } = this, works = [...new Set(data.points.flatMap(point => Object.keys(point.work)))].sort(), levels = Object.keys(LEVELS);
    const quoted = value => { const text = value === null || value === undefined ? "" : String(value); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
    const head = ["name", "version", "gpu", "kind", "seconds", "low", "high", "flops", "flops_per_s", ...works.map(what => `flops_${what.replaceAll(".", "_")}`), "waves", "ctas",
                  ...levels.flatMap(level => ["bytes", "intensity", "attainable", "share"].map(column => `${level}_${column}`)), "bound", "note"];
    const rows = data.points.map(point => [point.name, point.version, data.gpu.name, point.kind, point.seconds, point.low, point.high, point.flops, point.rate, ...works.map(what => point.work[what] ?? 0), point.waves, point.ctas,
      ...levels.flatMap(level => [point.bytes[level], point.at[level]?.intensity, point.at[level]?.attainable, point.at[level]?.share]), point.bound, point.note]);
    return [head, ...rows].map(row => `${row.map(quoted).join(",")}\n`).join("");
  }

  // the code of a point -----------------------------------------------------------------------------------------------

  opens(point) { return Boolean(point.view && (this.data.views[point.view] || this.actions.view || point.view.includes("@"))); }

  async open(index) {
    const { data, drawer } = this, point = data.points[index], embedded = data.views[point.view];
    if (!this.opens(point)) { this.status.textContent = `${this.sentence(index)}. The code is not part of this view.`; return; }
    const body = h("div.pyptx-roof-drawer-body"), close = h("button.pyptx-button", { type: "button", title: "Close (Esc)", onclick: () => this.close() }, "✕ Close");
    this.close();
    const wanted = this.wanted = {};
    drawer.hidden = false;
    drawer.setAttribute("aria-busy", "true");
    drawer.replaceChildren(h("div.pyptx-roof-drawer-bar", {}, h("b", {}, [titleOf(point), point.note].filter(Boolean).join(" ")), h("span.pyptx-space"), close), body);
    let found = embedded, why = `pyptx.history.version("${point.view}").view() shows the code.`;
    if (!found && this.actions.view) {
      body.append(h("p.pyptx-soft", {}, "Loading the code …"));
      try { found = await this.actions.view(point.view, index); } catch (error) { why = error instanceof Error ? error.message : String(error); }
    }
    if (this.wanted !== wanted) return;
    drawer.setAttribute("aria-busy", "false");
    body.replaceChildren();
    if (found && this.draw) this.opened = this.draw(body, found, {});
    else body.append(h("p.pyptx-soft", {}, why));
    drawer.scrollIntoView?.({ block: "nearest" });
  }

  close() {
    this.wanted = null;
    this.opened?.destroy();
    this.opened = null;
    this.drawer.hidden = true;
    this.drawer.replaceChildren();
  }

  // keys --------------------------------------------------------------------------------------------------------------

  key(event) {
    if (event.target.closest("input, select, summary, .pyptx-roof-drawer") && event.key !== "Escape" || event.altKey || event.ctrlKey || event.metaKey) return;
    const { data } = this, on = this.plot === document.activeElement;
    if (event.key === "Escape" && !this.drawer.hidden) { this.close(); this.plot.focus(); }
    else if (event.key === "Escape" && this.at !== null) this.choose(null);
    else if (event.key === "l") this.turn(data.levels[(data.levels.indexOf(this.level) + 1) % data.levels.length]);
    else if (event.key === "m") this.toggle("modeled");
    else if (on && event.key === "Enter" && this.at !== null) this.open(this.at);
    else if (on && ["ArrowLeft", "ArrowRight"].includes(event.key)) this.step(marker => marker.x, event.key === "ArrowRight" ? 1 : -1);
    else if (on && ["ArrowUp", "ArrowDown"].includes(event.key)) this.step(marker => -marker.y, event.key === "ArrowUp" ? 1 : -1);
    else if (on && ["Home", "End"].includes(event.key)) this.step(marker => -marker.y, event.key === "End" ? Infinity : -Infinity);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Go to the next marker in an order, or to its end. */
  step(key, by) {
    const order = [...this.drawn.markers].sort((a, b) => key(a) - key(b) || a.number - b.number), now = order.findIndex(marker => marker.number === this.at);
    if (!order.length) return;
    const next = now < 0 || Math.abs(by) === Infinity ? (by > 0 ? (now < 0 && by === 1 ? 0 : order.length - 1) : 0) : Math.min(order.length - 1, Math.max(0, now + by));
    this.choose(order[next].number, true);
  }

  destroy() {
    this.sizes.disconnect();
    this.close();
    this.root.remove();
  }
}

const shortNumber = number;

function interval({ seconds, low, high }) {
  const text = quantity(seconds, "s");
  return low && high ? `${text} (${quantity(low, "s")} to ${quantity(high, "s")})` : text;
}
