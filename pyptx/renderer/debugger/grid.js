// Matrices of the debugger: fragments, and tiles of memory with their banks, drawn in parts.

import { brief, hex, partOf, turned } from "./data.js";
import { h } from "../dom.js";

const MOST = [32, 32];

/**
 * A matrix as a table. of: {rows, columns (of the whole), first: [row, column] of values[0][0], values, tone(r, c) 0..7 or -1, title(r, c), changed(r, c), marked(r, c), sub(r, c)?}
 * with r, c indices into `values`; start: first row. kept: {row, column} of the page; again(): redraw;
 * more(row, column): request the page that begins there, in a live view.
 */
function matrix(of, kept, again, more) {
  const have = { rows: of.values.length, columns: of.values[0]?.length ?? 0 }, part = partOf(have, [kept.row ?? of.start ?? 0, kept.column ?? 0], MOST);
  const [top, bottom] = part.rows, [left, right] = part.columns, [r0, c0] = of.first;
  const row = at => {
    const cells = [];
    for (let c = left; c < right; c += 1) {
      const tone = of.tone(at, c), text = brief(of.values[at][c]);
      cells.push(h(`td${tone >= 0 ? `.pyptx-tone${tone}` : ""}${of.changed(at, c) ? ".pyptx-cell-changed" : ""}${of.marked(at, c) ? ".pyptx-cell-own" : ""}`,
                   { title: of.title(at, c), "data-at": `${at},${c}` }, text, of.sub ? h("small", {}, of.sub(at, c)) : null));
    }
    return h("tr", {}, h("th", { scope: "row" }, String(r0 + at)), ...cells);
  };
  const table = h("table.pyptx-matrix", {}, h("thead", {}, h("tr", {}, h("td"), ...Array.from({ length: right - left }, (_, at) => h("th", { scope: "col" }, String(c0 + left + at))))),
                  h("tbody", {}, ...Array.from({ length: bottom - top }, (_, at) => row(top + at))));
  const pager = (name, at) => {
    const [first, end] = [part.rows, part.columns][at], count = [have.rows, have.columns][at], offset = of.first[at], whole = [of.rows, of.columns][at], step = MOST[at];
    if (end - first === whole) return null;
    const button = (text, label, direction) => {
      const to = turned([first, end], { count, offset, whole }, step, direction, !!more);
      const go = () => { kept[name] = to.here ?? 0; if (to.ask === undefined) again(); else more(...(at ? [r0, to.ask] : [to.ask, c0]), MOST); };
      return h("button.pyptx-button", { type: "button", disabled: !to, "aria-label": label, onclick: go }, text);
    };
    return h("span.pyptx-pager", {}, button(at ? "←" : "↑", `${name}s before`, -1), `${name}s ${offset + first}–${offset + end - 1} of ${whole}`, button(at ? "→" : "↓", `${name}s after`, 1));
  };
  const pagers = [pager("row", 0), pager("column", 1)].filter(Boolean), missing = !more && (have.rows < of.rows || have.columns < of.columns);
  return { table, pagers: pagers.length ? h("div.pyptx-tools", {}, ...pagers, missing ? h("span.pyptx-soft", {}, "the rest is not part of what was saved") : null) : null };
}

/** A fragment. kept: state of this matrix; focus(values) is absent in a static view. */
export function fragment(one, state, { kept, focus, again, close, more }) {
  const owner = (r, c) => one.owner?.[r]?.[c] ?? null;
  const start = Math.max(0, one.owner?.findIndex(row => row.some(own => own?.[0] === state.focus.warp)) ?? 0);       // where the focused warp's part begins
  const drawn = matrix({
    rows: one.shape[0], columns: one.shape[1], first: one.first ?? [0, 0], start, values: one.values, tone: (r, c) => (owner(r, c) ? owner(r, c)[2] % 8 : -1),
    changed: (r, c) => one.changed?.[r]?.[c], marked: (r, c) => owner(r, c)?.[0] === state.focus.warp && owner(r, c)?.[1] === state.focus.lane,
    title: (r, c) => { const own = owner(r, c); return `row ${r + (one.first?.[0] ?? 0)}, column ${c + (one.first?.[1] ?? 0)}: ${one.values[r][c] ?? "no value"}${own ? `; warp ${own[0]}, lane ${own[1]}, register ${own[2]}` : ""}`; },
    sub: kept.owners ? (r, c) => (owner(r, c) ? `${owner(r, c)[1]}·${owner(r, c)[2]}` : "") : null }, kept, again, more);
  if (!one.values.length) return nothing(one, close);
  const box = h("figure.pyptx-figure", {}, caption(one.name, `${one.matrix}  ${one.shape.join(" × ")}`, one.instruction, [switcher("T·r", "Also which lane and register hold each element", kept, "owners", again)], close), drawn.pagers,
                h("div.pyptx-scroll", { tabindex: 0, role: "region", "aria-label": `${one.name}, matrix ${one.matrix}` }, drawn.table), h("p.pyptx-soft", {}, "Shades tell registers apart; framed: what the focused lane holds."));
  box.addEventListener("click", event => {
    const at = event.target.closest("[data-at]")?.dataset.at.split(",").map(Number), own = at && owner(...at);
    if (own && focus) focus({ warp: own[0], lane: own[1] });
  });
  return box;
}

/** A tile of memory. */
export function tile(one, state, { kept, again, close, more }) {
  const first = one.first ?? [0, 0], facts = [one.type?.replace(/^\./, ""), one.shape.join(" × "), one.swizzle ? `swizzle ${one.swizzle}` : "", `at ${one.space === "tensor" ? `column ${one.address & 0xffff}` : hex(one.address)}`].filter(Boolean);
  const bank = (r, c) => one.bank?.[r]?.[c] ?? null;
  const drawn = matrix({
    rows: one.shape[0], columns: one.shape[1], first, values: one.values, tone: (r, c) => (kept.banks === false || bank(r, c) === null ? -1 : Math.floor(bank(r, c) / 4) % 8),
    changed: (r, c) => one.changed?.[r]?.[c], marked: () => false,
    title: (r, c) => `row ${r + first[0]}, column ${c + first[1]}: ${one.values[r][c] ?? "never written"}${bank(r, c) === null ? "" : `; bank ${bank(r, c)}`}${one.changed?.[r]?.[c] ? "; changed" : ""}`,
    sub: kept.numbers && one.bank ? (r, c) => `b${bank(r, c)}` : null }, kept, again, more);
  if (!one.values.length) return nothing(one, close);
  const words = { shared: "shared memory", global: "global memory", local: "local memory", tensor: "tensor memory" }[one.space] ?? one.space;
  const where = one.cta && state.grid.some(size => size > 1) && one.space !== "global" ? ` of CTA ${one.cta.join(",")}` : "";
  return h("figure.pyptx-figure", {}, caption(one.name, `${words}${where}`, facts.join(", "), one.bank ? [switcher("bank", "Also the number of the bank of each element", kept, "numbers", again)] : [], close), drawn.pagers,
           h("div.pyptx-scroll", { tabindex: 0, role: "region", "aria-label": `${one.name}, ${words}` }, drawn.table), one.bank ? bankLegend() : null);
}

/** A figure without values. */
const nothing = (one, close) => h("figure.pyptx-figure", {}, caption(one.name, "", "", [], close), h("p.pyptx-soft", {}, one.title ?? "not available here"));

const bankLegend = () => h("p.pyptx-soft.pyptx-banks", {}, "banks ", ...Array.from({ length: 8 }, (_, at) => h(`span.pyptx-tone${at}`, {}, `${4 * at}–${4 * at + 3}`)));

function caption(name, what, facts, tools, close) {
  return h("figcaption", {}, h("b", {}, name), ` ${what} `, h("small", {}, facts), h("span.pyptx-space"), ...tools,
           close ? h("button.pyptx-drop", { type: "button", "aria-label": `Remove ${name}`, title: "Remove", onclick: close }, "×") : null);
}

function switcher(text, title, kept, name, again) {
  return h("button.pyptx-button.pyptx-switch", { type: "button", title, "aria-pressed": String(!!kept[name]), onclick: () => { kept[name] = !kept[name]; again(); } }, text);
}
