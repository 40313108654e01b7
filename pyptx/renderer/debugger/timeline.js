// The timeline of the debugger: activity and waits of warps, asynchronous operations in flight, the current step as a line.

import { KINDS, spansShown, ticks, zoomed } from "./data.js";
import { h } from "../dom.js";

const ROWS = 32;
const WORDS = { run: "runs", wait: "waits", issued: "issued", "in flight": "in flight", completed: "completed, not awaited", waited: "awaited" };

export class Timeline {
  /** go(step): go to a step; absent in a static view. showPtx(line). kept: {window}. */
  constructor({ go, showPtx, kept }) {
    Object.assign(this, { go, showPtx, kept });
    this.legend = h("div.pyptx-timelegend", {}, ...KINDS.map(kind => h("span", {}, h(`i.pyptx-span.pyptx-k-${kind.replace(" ", "-")}`, { "aria-hidden": "true" }), WORDS[kind])));
    const button = (text, title, act) => h("button.pyptx-button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.tools = h("span.pyptx-tools", {}, button("−", "Zoom out (-)", () => this.zoom(2)), button("+", "Zoom in on the current step (+)", () => this.zoom(0.5)),
                   button("all", "Show the whole run (0)", () => { kept.window = null; this.paint(); }));
    this.rows = h("div.pyptx-timerows");
    this.axis = h("div.pyptx-axis", { "aria-hidden": "true" });
    this.now = h("div.pyptx-now-line", { "aria-hidden": "true" });
    this.marks = h("div.pyptx-accesses");
    this.pointer = h("div.pyptx-pointer-line", { "aria-hidden": "true", hidden: true });
    this.plot = h("div.pyptx-plot", { tabindex: 0, role: "group", "aria-label": "Timeline", onclick: event => this.clicked(event), onkeydown: event => this.key(event) },
                  this.rows, this.axis, this.marks, this.pointer, this.now);
    this.plot.addEventListener("pointermove", event => this.pointed(event));
    this.plot.addEventListener("pointerleave", () => { this.pointer.hidden = true; this.said.textContent = ""; });
    this.plot.addEventListener("wheel", event => { if (event.ctrlKey) { this.zoom(event.deltaY > 0 ? 1.4 : 0.7, this.stepAt(event)); event.preventDefault(); } }, { passive: false });
    this.said = h("div.pyptx-timesaid");
    this.told = h("ol.pyptx-told", { hidden: true });
    this.element = h("section.pyptx-timeline", { "aria-label": "Timeline" }, h("div.pyptx-timehead", {}, h("h3", {}, "Timeline"), this.legend, this.said, this.tools), this.plot, this.told);
  }

  get end() { return Math.max(1, this.state.last ?? 0, this.state.step, this.state.timeline.now); }
  get window() {
    const [from, to] = this.kept.window ?? [0, this.end];
    return [from, Math.max(from + 1, to)];
  }

  update(state) {
    this.state = state;
    if (this.kept.window) {                                             // keep the current step visible
      const [from, to] = this.kept.window, { step } = state;
      if (step < from || step > to) { const length = to - from, start = Math.max(0, Math.round(step - length / 2)); this.kept.window = [start, start + length]; }
    }
    this.paint();
  }

  zoom(factor, around = this.state.step) {
    const next = zoomed(this.window, around, factor, this.end);
    this.kept.window = next[0] === 0 && next[1] >= this.end ? null : next;
    this.paint();
  }

  paint() {
    const { state, window: view } = this, { rows, now } = state.timeline, pixels = this.plot.clientWidth - 170 || 800, shown = rows.slice(0, ROWS);
    this.rows.replaceChildren(...shown.map(row => this.row(row, view, now, pixels)), ...(rows.length > ROWS ? [h("p.pyptx-soft", {}, `and ${rows.length - ROWS} more rows`)] : []));
    this.axis.replaceChildren(...ticks(view, Math.max(3, pixels / 110)).map(step => { const tick = h(`span${this.share(step) > 0.96 ? ".pyptx-last" : ""}`, {}, step.toLocaleString("en")); tick.style.left = this.place(step); return tick; }));
    this.marks.replaceChildren(...this.accesses(view));
    this.told.hidden = !state.timeline.marks?.length;
    this.told.replaceChildren(...(state.timeline.marks ?? []).map(mark => h("li", {}, `${mark.text}, step ${mark.step}`)));
    this.now.style.left = `calc(var(--px-label) + (100% - var(--px-label)) * ${this.share(state.step)})`;
    this.now.hidden = state.step < view[0] || state.step > view[1];
    this.plot.setAttribute("aria-label", `Timeline of steps ${view[0]} to ${view[1]}, now ${state.step}. ${shown.map(row => sentence(row, now)).join(". ")}`);
  }

  /** The two accesses of a finding: buttons at their steps, in the rows of their warps, and their text in a list. */
  accesses(view) {
    const marks = this.state.timeline.marks ?? [];
    return marks.map((mark, number) => {
      const button = h(`button.pyptx-access${mark.second ? ".pyptx-second" : ""}`, { type: "button", title: `${mark.text}, step ${mark.step}`, "aria-label": `Access ${number + 1}: ${mark.text}, step ${mark.step}`,
        onclick: event => { event.stopPropagation(); if (event.shiftKey && mark.ptx) this.showPtx(mark.ptx); else this.go?.(mark.step); } }, String(number + 1));
      button.hidden = mark.step < view[0] || mark.step > view[1];
      button.style.left = `calc(var(--px-label) + (100% - var(--px-label)) * ${this.share(mark.step)})`;
      button.style.setProperty("--row", mark.row !== null && mark.row < ROWS ? mark.row : 0);
      return button;
    });
  }

  share(step) { const [from, to] = this.window; return (step - from) / (to - from); }
  place(step) { return `${100 * this.share(step)}%`; }

  row(row, view, now, pixels) {
    const bars = spansShown(row.spans, view, now, pixels).map(span => {
      const until = span.to === null || span.to === undefined ? "until now" : `to ${span.to}`, text = `${span.count > 1 ? `${span.count} times ` : ""}${WORDS[span.kind] ?? span.kind}${span.text && span.text !== WORDS[span.kind] ? `: ${span.text}` : ""}, steps ${span.from} ${until}`;
      const bar = h(`div.pyptx-span.pyptx-k-${String(span.kind).replace(" ", "-")}`, { title: text, "data-from": span.from, "data-ptx": span.ptx });
      bar.style.left = `${100 * span.left}%`;
      bar.style.width = `max(2px, ${100 * span.width}%)`;
      return bar;
    });
    return h("div.pyptx-timerow", {}, h("div.pyptx-timename", { title: row.name }, row.name), h("div.pyptx-timebars", {}, ...bars));
  }

  stepAt(event) {
    const bars = this.axis.getBoundingClientRect(), [from, to] = this.window;
    return Math.max(0, Math.min(this.end, Math.round(from + (event.clientX - bars.left) / bars.width * (to - from))));
  }

  pointed(event) {
    const step = this.stepAt(event), bar = event.target.closest(".pyptx-span");
    this.pointer.hidden = false;
    this.pointer.style.left = `calc(var(--px-label) + (100% - var(--px-label)) * ${Math.max(0, this.share(step))})`;
    this.said.textContent = `${this.go ? "go to " : ""}step ${step.toLocaleString("en")}${bar ? `  ·  ${bar.title}` : ""}`;
  }

  clicked(event) {
    if (event.target.closest(".pyptx-timename")) return;
    const bar = event.target.closest("[data-ptx]");
    if (bar && event.shiftKey) this.showPtx(Number(bar.dataset.ptx));
    else this.go?.(this.stepAt(event));
  }

  key(event) {
    const { key } = event, part = Math.max(1, Math.round((this.window[1] - this.window[0]) / 50));
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -part, PageDown: part }[key];
    if (step && this.go) this.go(Math.max(0, Math.min(this.end, this.state.step + step)));
    else if (key === "+") this.zoom(0.5);
    else if (key === "-") this.zoom(2);
    else if (key === "0") { this.kept.window = null; this.paint(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The current activity of a row, for screen readers. */
function sentence(row, now) {
  const open = row.spans.filter(span => span.from <= now && (span.to === null || span.to === undefined || span.to >= now)).at(-1);
  return `${row.name}: ${open ? `${WORDS[open.kind] ?? open.kind}${open.text ? ` ${open.text}` : ""}` : "nothing"}`;
}
