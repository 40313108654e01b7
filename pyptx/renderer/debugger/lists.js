// The lists of the debugger: warps, barriers, watches, breakpoints.

import { STATES, countLanes, hex, isFocus, laneOn, sameCta, warpName, warpsShown } from "./data.js";
import { form } from "./form.js";
import { ElementCache, fill } from "./reuse.js";
import { h } from "../dom.js";

const empty = text => h("p.pyptx-soft", {}, text);

/** 32 squares in one element: the active lanes. */
export function laneStrip(mask, lane = -1) {
  const paint = Array.from({ length: 32 }, (_, at) => `${laneOn(mask, at) ? (at === lane ? "var(--px-now)" : "var(--px-soft)") : "transparent"} ${at * 3.125}% ${(at + 1) * 3.125}%`);
  const strip = h("span.pyptx-mask", { role: "img", "aria-label": `${countLanes(mask)} of 32 lanes active`, title: `${countLanes(mask)} of 32 lanes active` });
  strip.style.backgroundImage = `linear-gradient(90deg, ${paint.join(", ")})`;
  return strip;
}

export class Warps {
  /** focus(values): focus a warp; absent in a static view. */
  constructor({ focus }) {
    this.focus = focus;
    this.wanted = "";
    this.items = new ElementCache();
    this.chips = h("div.pyptx-chips", { role: "group", "aria-label": "States of warps" });
    this.list = h("div.pyptx-warplist", { role: "listbox", tabindex: 0, "aria-label": "Warps", onkeydown: event => this.key(event) });
    this.element = h("section.pyptx-warpsbox", { "aria-label": "Warps" }, h("h3", {}, "Warps"), this.chips, this.list);
  }

  update(state) {
    this.state = state;
    const counts = Object.keys(STATES).map(name => [name, state.warps.filter(warp => warp.state === name).length]).filter(([, count]) => count);
    if (this.wanted && !counts.some(([name]) => name === this.wanted)) this.wanted = "";
    this.chips.replaceChildren(...counts.map(([name, count]) => h(`button.pyptx-chip.pyptx-w-${name}`, { type: "button", "aria-pressed": String(this.wanted === name), title: `Show only ${STATES[name][1]} warps`,
      onclick: () => { this.wanted = this.wanted === name ? "" : name; this.update(this.state); } }, `${STATES[name][0]} ${count} ${STATES[name][1]}`)));
    const { shown, left } = warpsShown(state, this.wanted), top = this.list.scrollTop;
    fill(this.list, [...shown.map(warp => this.items.get(`${warp.cta} ${warp.warp}`, JSON.stringify([warp, isFocus(state, warp) && state.focus.lane]), () => this.item(warp))),
                     ...(left ? [empty(`and ${left} more warps; choose a state above`)] : [])]);
    this.list.scrollTop = top;
    this.reveal();
  }

  reveal() {
    const focused = this.list.querySelector("[aria-selected=true]");
    this.list.setAttribute("aria-activedescendant", focused?.id ?? "");
    if (focused) inSight(this.list, focused);
  }

  item(warp) {
    const { state } = this, focused = isFocus(state, warp), [sign, word] = STATES[warp.state] ?? ["?", warp.state];
    const place = [warp.line ? `line ${warp.line}` : "", warp.ptx ? `PTX ${warp.ptx}` : ""].filter(Boolean).join(" · ");
    return h(`div.pyptx-warp.pyptx-w-${warp.state}`, { role: "option", id: `${this.list.id ||= `pyptx-warps-${Math.random().toString(36).slice(2)}`}-${warp.cta.join("-")}-${warp.warp}`,
      "aria-selected": String(focused), title: `${warpName(state, warp)}: ${word}${warp.waits ? `, waits for ${warp.waits}` : ""}; ${warp.steps} instructions`,
      onclick: () => this.focus?.({ cta: warp.cta, warp: warp.warp }) },
      h("span.pyptx-sign", { "aria-label": word }, sign), h("span.pyptx-warpname", {}, warpName(state, warp), warp.role ? h("em", {}, ` ${warp.role}`) : null),
      laneStrip(warp.active, focused ? state.focus.lane : -1), h("span.pyptx-warpplace", {}, warp.state === "exited" ? "" : place),
      warp.waits ? h("span.pyptx-waits", {}, `waits for ${warp.waits}`) : null);
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    this.move(step);
    event.preventDefault();
    event.stopPropagation();
  }

  /** Focus the next or previous warp of the list. */
  move(step) {
    const { shown } = warpsShown(this.state, this.wanted), at = shown.findIndex(warp => isFocus(this.state, warp)), next = shown[(at + step + shown.length) % shown.length];
    if (next) this.focus?.({ cta: next.cta, warp: next.warp });
  }
}

/** Scroll a list, but not its ancestors, to show an item. */
function inSight(list, item) {
  const top = item.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + item.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + item.offsetHeight - list.clientHeight;
}

/** Barriers as a table; those of the focused CTA first. focus(values) as of Warps. */
export function barriers(state, focus) {
  if (!state.barriers.length) return [empty("No barriers are initialized yet.")];
  const mine = one => (sameCta(one.cta ?? state.focus.cta, state.focus.cta) ? 0 : 1);
  const rows = [...state.barriers].sort((one, other) => mine(one) - mine(other)).slice(0, 100);
  const arrived = one => (one.expected ? Math.min(1, Math.max(0, (one.expected - one.pending) / one.expected)) : 0);
  return [h("table.pyptx-table-plain", {}, h("thead", {}, h("tr", {}, ...["barrier", "phase", "arrived", "bytes pending", "waiting"].map(text => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...rows.map(one => {
      const bar = h("span.pyptx-arrived", {}, `${one.expected - one.pending} of ${one.expected}`);
      bar.style.setProperty("--f", `${Math.round(100 * arrived(one))}%`);
      return h(`tr${mine(one) ? ".pyptx-elsewhere" : ""}`, {}, h("th", { scope: "row", title: one.address === null || one.address === undefined ? null : hex(one.address) }, one.name,
        h("small", {}, ` ${one.kind}${mine(one) ? ` of CTA ${one.cta.join(",")}` : ""}`)), h("td.pyptx-number", {}, one.phase ?? "–"), h("td", {}, bar),
        h("td.pyptx-number", {}, one.tx ? one.tx.toLocaleString("en") : one.tx === 0 ? "0" : "–"),
        h("td", {}, ...one.waiters.flatMap(([cta, warp], at) => [at ? " " : "", h("button.pyptx-button.pyptx-small", { type: "button", disabled: !focus, title: "Focus this warp", onclick: () => focus({ cta, warp }) },
                                                                                   warpName(state, { cta, warp }, true))])));
    }))), state.barriers.length > rows.length ? empty(`and ${state.barriers.length - rows.length} more barriers`) : null].filter(Boolean);
}

export class Watches {
  /** add(text), drop(text): resolve to true on success; absent in a static view. */
  constructor({ add, drop }) {
    this.drop = drop;
    this.rows = h("dl.pyptx-watches");
    this.input = add ? h("input.pyptx-search", { type: "text", placeholder: "acc[0] + 1", "aria-label": "Watch an expression", spellcheck: "false" }) : null;
    this.form = add ? form("form.pyptx-add", async () => {
      const text = this.input.value.trim();
      if (text && await add(text)) this.input.value = "";
    }, this.input, h("button.pyptx-button", { type: "submit" }, "Watch")) : null;
    this.element = h("div", {}, this.rows, this.form);
  }

  update(state) {
    this.rows.replaceChildren(...state.watches.flatMap(({ text, value, error }) => [h("dt", {}, text), h(`dd${error ? ".pyptx-bad" : ""}`, {}, error ?? value ?? "–",
      this.drop ? h("button.pyptx-drop", { type: "button", "aria-label": `Remove the watch of ${text}`, title: "Remove", onclick: () => this.drop(text) }, "×") : null)]));
    if (!state.watches.length && !this.form) this.rows.replaceChildren(empty("No watches."));
  }
}

export class Points {
  /** on: {add(place, condition, kind), drop(id), enable(id, on), condition(id, text), show(point)}; a static view has only `show`. */
  constructor(on) {
    this.on = on;
    this.rows = h("ul.pyptx-points");
    this.place = h("input.pyptx-search", { type: "text", placeholder: "12, ptx:40, label, %r3, shared:0x40", "aria-label": "Place of the breakpoint", spellcheck: "false" });
    this.condition = h("input.pyptx-search", { type: "text", placeholder: "if lane == 3 and acc > 1", "aria-label": "Condition", spellcheck: "false" });
    const add = kind => async () => {
      const place = this.place.value.trim();
      if (place && await on.add(place, this.condition.value.trim().replace(/^if\s+/, "") || null, kind)) this.place.value = this.condition.value = "";
    };
    this.form = on.add ? form("form.pyptx-add", add("break"), this.place, this.condition, h("button.pyptx-button", { type: "submit", title: "Stop when a warp reaches this place" }, "Break"),
                           h("button.pyptx-button", { type: "button", title: "Stop when this register, memory or name changes", onclick: add("watchpoint") }, "Break on change")) : null;
    this.element = h("div", {}, this.rows, this.form);
  }

  update(state) {
    const { on } = this;
    this.rows.replaceChildren(...state.breakpoints.map(point => {
      const box = h("input", { type: "checkbox", disabled: !on.enable, "aria-label": `Enable breakpoint ${point.id}`, onchange: () => on.enable(point.id, box.checked) });
      box.checked = point.enabled;
      return h(`li${state.stop.breakpoint === point.id ? ".pyptx-hit-now" : ""}`, {}, box, h("span.pyptx-point", { "aria-hidden": "true" }, point.watch ? "◈" : point.condition ? "◆" : "●"),
        h("button.pyptx-link", { type: "button", title: "Go to the line", onclick: () => on.show(point) }, point.text), point.condition ? h("code", {}, `if ${point.condition}`) : null,
        h("small", {}, `${point.hits} hit${point.hits === 1 ? "" : "s"}`),
        on.drop ? h("button.pyptx-drop", { type: "button", "aria-label": `Remove breakpoint ${point.id}`, title: "Remove", onclick: () => on.drop(point.id) }, "×") : null);
    }));
    if (!state.breakpoints.length) this.rows.replaceChildren(h("li.pyptx-soft", {}, on.add ? "Click in the margin of a line to set a breakpoint." : "No breakpoints."));
  }
}
