// The header of a linked view: resources and instruction mix of each entry.

import { h } from "../dom.js";
import { verdict } from "./findings.js";
import { whatIf } from "./whatif.js";

const size = bytes => (bytes < 1024 ? `${bytes} B` : `${Number((bytes / 1024).toPrecision(4))} KiB`);

const duration = seconds => (seconds < 1e-3 ? `${Number((seconds * 1e6).toPrecision(3))} µs` : `${Number((seconds * 1e3).toPrecision(3))} ms`);

/** [label, value, note, action] of each resource of an entry; the action "peak" goes to the peak of live registers. */
export function facts(entry) {
  const spills = entry.spill_stores + entry.spill_loads, dynamic = entry.dynamic_shared_bytes ?? 0;
  const found = [
    ["registers", String(entry.registers), entry.live ? `at most ${entry.live} live` : "", entry.live ? "peak" : ""],
    ["spills", spills ? size(spills) : "none", spills ? `${size(entry.spill_stores)} stored, ${size(entry.spill_loads)} loaded` : ""],
    ["shared memory", size(entry.shared_bytes + dynamic), dynamic ? `${size(entry.shared_bytes)} static, ${size(dynamic)} dynamic` : ""],
    ["SASS instructions", String(entry.count), entry.code_bytes ? `${size(entry.code_bytes)} of code` : ""],
  ];
  if (entry.stack_bytes) found.push(["stack", size(entry.stack_bytes), ""]);
  if (entry.barriers) found.push(["barriers", String(entry.barriers), ""]);
  if (entry.occupancy) {
    const { warps, max_warps, blocks, threads, limiters, why } = entry.occupancy;
    if (!blocks) found.push(["launch", "impossible", why.split(": ").slice(1).join(": ")]);
    else found.push(["occupancy", `${Math.round(100 * warps / max_warps)} %`, `${blocks} × ${threads} threads, limited by ${limiters.join(" and ")}`]);
  }
  return found;
}

/** `show(pane, row)` goes to the line of a note. */
export function header(data, show) {
  const value = (one, [label, text, note, action]) => h(`div.pyptx-fact${(label === "spills" && text !== "none") || label === "launch" ? ".pyptx-bad" : ""}`, {}, h("dt", {}, label),
    h("dd", {}, h("b", {}, text),
      action ? h("button.pyptx-peak", { type: "button", title: "Go to the first SASS instruction with this many live registers", onclick: () => show("sass", peak(data, one)) }, note)
             : note ? h("small", {}, note) : null));
  const entry = one => {
    const more = data.limits?.warps_per_sm ? tryOut(one, data) : null;
    const who = one.holders?.length ? opener("by", "Registers by line", "Lines that define the registers live at the peak", () => held(one, data, show)) : null;
    return [h("div.pyptx-entry", {}, data.entries.length > 1 ? h("b.pyptx-entry-name", {}, one.name) : null,
              h("dl.pyptx-facts", {}, ...facts(one).map(fact => value(one, fact))), who?.button ?? null, more?.button ?? null, mix(one)), who?.place ?? null, more?.place ?? null];
  };
  return h("header.pyptx-header", {},
    h("div.pyptx-title", {}, h("b", {}, data.title), h("span.pyptx-badge", {}, data.target), h("span.pyptx-badge", {}, `PTX ${data.ptx_version}`),
      data.modeled?.gpu ? h("span.pyptx-badge", {}, `modeled: ${duration(data.modeled.seconds)} on ${data.modeled.gpu}`) : null,
      data.profiled?.source ? h("span.pyptx-badge", { title: `Kernel ${data.profiled.kernel}` }, `measured: ${data.profiled.samples} samples${data.profiled.gpu ? ` on ${data.profiled.gpu}` : ""}, ${data.profiled.source}`) : null),
    ...data.entries.flatMap(entry),
    data.notes.length ? h("ul.pyptx-notes", {}, ...data.notes.map(note => h("li", {},
      h("b", {}, note.severity), note.ptx >= 0 ? h("button.pyptx-button", { type: "button", onclick: () => show("ptx", note.ptx) }, `PTX ${note.ptx + 1}`) : null,
      ` ${note.message}`))) : null, verdict(data, show));
}

/** Registers live at the peak: a bar for each defining line, largest first. */
function held(entry, data, show) {
  const lines = new Map();
  for (const [ptx, count] of entry.holders) {
    const python = ptx >= 0 && data.ptx.stack[ptx] >= 0 ? data.stacks[data.ptx.stack[ptx]][0] : -1;
    const key = python >= 0 ? `python ${python}` : `ptx ${ptx}`;
    lines.set(key, (lines.get(key) ?? 0) + count);
  }
  const rows = [...lines].sort((a, b) => b[1] - a[1]), [, top] = rows[0];
  const item = ([key, count]) => {
    const [pane, row] = [key.split(" ")[0], Number(key.split(" ")[1])], made = row >= 0;
    const button = h("button.pyptx-cost", { type: "button", disabled: !made, onclick: () => show(pane, row) }, h("b", {}, String(count)),
                     h("span", {}, made ? String(pane === "python" ? data.python.line[row] : row + 1) : ""), h("code", {}, made ? data[pane].text[row].trim() : "ptxas"));
    button.style.setProperty("--f", `${100 * count / top}%`);
    return h("li", {}, button);
  };
  return h("section.pyptx-held", { "aria-label": "Registers live at the peak, by line" },
           h("p", {}, `Registers live at SASS ${data.sass.address[peak(data, entry)].toString(16).padStart(4, "0")}, by defining line`),
           h("ol.pyptx-costs", {}, ...rows.slice(0, 12).map(item)), rows.length > 12 ? h("p", {}, `and ${rows.length - 12} more lines`) : null);
}

/** The button of the what-if panel, and its container. */
function tryOut(entry, data) {
  return opener("ask", "What if?", "Occupancy with other register counts, block sizes and shared memory sizes", () => whatIf(entry, data.limits, data.target));
}

/** A button and the container it toggles; `make` creates the content on first use. */
function opener(kind, text, title, make) {
  const place = h("div", { hidden: true });
  const button = h(`button.pyptx-button.pyptx-${kind}`, { type: "button", "aria-expanded": "false", title,
    onclick: () => {
      place.hidden = !place.hidden;
      button.setAttribute("aria-expanded", String(!place.hidden));
      if (!place.hidden && !place.firstChild) place.append(make());
    } }, text);
  return { button, place };
}

/** First SASS row of an entry at the peak of live general registers. */
function peak(data, { start, count, live }) {
  const at = data.sass.live.slice(start, start + count).indexOf(live);
  return start + Math.max(0, at);
}

/** Instruction mix: a bar for each group, with its count. */
function mix(entry) {
  const kinds = Object.entries(entry.mix).sort((a, b) => b[1] - a[1]);
  const total = kinds.reduce((sum, [, count]) => sum + count, 0) || 1;
  return h("ul.pyptx-mix", { "aria-label": "Instruction mix" }, ...kinds.map(([kind, count]) => {
    const item = h("li", { title: `${count} of ${total} instructions, ${Math.round(100 * count / total)} %` }, h("span", {}, kind), h("b", {}, String(count)));
    item.style.setProperty("--f", `${100 * count / kinds[0][1]}%`);
    return item;
  }));
}
