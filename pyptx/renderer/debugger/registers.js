// The registers of the focused warp: one lane with all 32 as a strip of shades, or all lanes as columns.

import { isFocus, laneOn, registersShown, shades, spread } from "./data.js";
import { ElementCache, fill } from "./reuse.js";
import { h } from "../dom.js";

export class Registers {
  /** focus({lane}): change the lane; absent in a static view, whose lane is local. kept: {filter, changed, lanes}. */
  constructor({ focus, kept }) {
    Object.assign(this, { focus, kept });
    this.lane = null;
    this.rows = new ElementCache();
    this.narrowTable = h("table.pyptx-registers");
    this.filter = h("input.pyptx-search", { type: "search", placeholder: "Filter: acc, %r, .pred", "aria-label": "Filter registers", spellcheck: "false",
                                            oninput: () => { kept.filter = this.filter.value; this.paint(); } });
    this.filter.value = kept.filter ?? "";
    const toggle = (name, text, title) => h("button.pyptx-button.pyptx-switch", { type: "button", title, "aria-pressed": String(!!kept[name]), onclick: event => {
      kept[name] = !kept[name];
      event.currentTarget.setAttribute("aria-pressed", String(kept[name]));
      this.paint();
    } }, text);
    this.lanes = h("div.pyptx-lanes", { role: "slider", tabindex: 0, "aria-label": "Lane", "aria-valuemin": 0, "aria-valuemax": 31, onkeydown: event => this.key(event),
                                        onclick: event => { const lane = event.target.dataset.lane; if (lane !== undefined) this.choose(Number(lane)); } },
                   ...Array.from({ length: 32 }, (_, lane) => h("span", { "data-lane": lane, title: `lane ${lane}` })));
    this.said = h("output.pyptx-lane-said");
    this.table = h("div.pyptx-scroll", { tabindex: 0, role: "region", "aria-label": "Registers" });
    this.table.addEventListener("click", event => this.clicked(event));
    this.table.addEventListener("pointermove", event => this.pointed(event));
    this.element = h("div", {}, h("div.pyptx-tools", {}, this.filter, toggle("changed", "Δ changed", "Only registers changed by the last step"),
      toggle("lanes", "32 lanes", "All lanes as columns"), h("span.pyptx-lanebox", {}, this.said, this.lanes)), this.table);
  }

  update(state) {
    this.state = state;
    this.lane = this.focus ? state.focus.lane : this.lane ?? state.focus.lane;
    this.mask = state.warps.find(warp => isFocus(state, warp))?.active ?? -1;
    this.paint();
  }

  choose(lane) {
    if (this.focus) this.focus({ lane });
    else { this.lane = lane; this.paint(); }
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!step) return;
    this.choose((this.lane + step + 32) % 32);
    event.preventDefault();
    event.stopPropagation();
  }

  clicked(event) {
    const strip = event.target.closest(".pyptx-heat"), cell = event.target.closest("[data-lane]");
    if (cell) this.choose(Number(cell.dataset.lane));
    else if (strip) this.choose(laneAt(strip, event));
  }

  /** Show the value of the lane under the pointer. */
  pointed(event) {
    const strip = event.target.closest(".pyptx-heat");
    if (!strip) return;
    const lane = laneAt(strip, event), value = this.shown.find(register => register.name === strip.dataset.register)?.lanes[lane];
    strip.title = `lane ${lane}: ${value ?? "no value"}`;
  }

  paint() {
    const { state, kept, lane, mask } = this, { shown, left } = registersShown(state.registers, kept);
    this.shown = shown;
    [...this.lanes.children].forEach((square, at) => {
      square.className = `${laneOn(mask, at) ? "pyptx-on" : ""}${at === lane ? " pyptx-own" : ""}`;
    });
    this.lanes.setAttribute("aria-valuenow", lane);
    this.lanes.setAttribute("aria-valuetext", `lane ${lane}${laneOn(mask, lane) ? "" : ", not active"}`);
    this.said.textContent = `lane ${lane}`;
    const top = this.table.scrollTop, across = this.table.scrollLeft;
    const words = !state.registers.length ? "No registers yet." : !shown.length ? (kept.changed && !kept.filter ? "The last step changed no register." : "No register matches the filter.") : "";
    fill(this.table, [words ? h("p.pyptx-soft", {}, words) : kept.lanes ? this.wide(shown) : this.narrow(shown),
                      ...(left ? [h("p.pyptx-soft", {}, `and ${left} more; filter to see them`)] : [])]);
    this.table.scrollTop = top;
    this.table.scrollLeft = across;
  }

  name(register) {
    return h("th", { scope: "row" }, h("span.pyptx-changed-sign", { "aria-label": register.changed ? "changed" : null }, register.changed ? "Δ" : ""),
             ...(register.python ? [h("b", {}, register.python), h("small", {}, ` ${register.name}`)] : [register.name]));
  }

  narrow(registers) {
    const { lane, rows, narrowTable } = this;
    fill(narrowTable, [
      rows.get(" head", lane, () => h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "register"), h("th", { scope: "col" }, "type"), h("th.pyptx-number", { scope: "col" }, `lane ${lane}`),
        h("th", { scope: "col" }, "lanes 0–31"), h("th", { scope: "col" }, "warp values")))),
      rows.get(" body", "", () => h("tbody"))]);
    fill(narrowTable.lastElementChild, registers.map(register => rows.get(register.name, `${lane} ${JSON.stringify(register)}`, () => h(`tr${register.changed ? ".pyptx-changed" : ""}`, {},
      this.name(register), h("td.pyptx-type", {}, register.type), h("td.pyptx-number.pyptx-value", {}, register.lanes[lane] ?? "–"), h("td", {}, heat(register, lane)),
      h("td.pyptx-spread", {}, spread(register))))));
    return narrowTable;
  }

  wide(registers) {
    const every = Array.from({ length: 32 }, (_, at) => at);
    return h("table.pyptx-registers.pyptx-wide", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "register"),
      ...every.map(at => h(`th.pyptx-number${at === this.lane ? ".pyptx-own" : ""}${laneOn(this.mask, at) ? "" : ".pyptx-off"}`, { scope: "col", "data-lane": at }, String(at))))),
      h("tbody", {}, ...registers.map(register => h(`tr${register.changed ? ".pyptx-changed" : ""}`, {}, this.name(register),
        ...every.map(at => h(`td.pyptx-number${at === this.lane ? ".pyptx-own" : ""}${laneOn(this.mask, at) ? "" : ".pyptx-off"}`, { "data-lane": at }, register.lanes[at] ?? "–"))))));
  }
}

const laneAt = (strip, event) => Math.min(31, Math.max(0, Math.floor((event.clientX - strip.getBoundingClientRect().left) / strip.clientWidth * 32)));

/** 32 lanes as shades in one element, larger values darker. */
function heat(register, lane) {
  const paint = shades(register.lanes).map((share, place) => `${share === null ? "transparent" : `color-mix(in oklab, var(--px-low), var(--px-high) ${Math.round(100 * share)}%)`} ${place * 3.125}% ${(place + 1) * 3.125}%`);
  const strip = h("span.pyptx-heat", { "data-register": register.name, role: "img", "aria-label": spread(register) }, h("i", {}));
  strip.style.backgroundImage = `linear-gradient(90deg, ${paint.join(", ")})`;
  strip.firstChild.style.left = `${lane * 3.125}%`;
  return strip;
}
