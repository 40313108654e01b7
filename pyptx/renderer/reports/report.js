// The report of a check: findings with their lines. A line's button dispatches "pyptx-reveal", which the JupyterLab extension follows.

import { h } from "../dom.js";

export const SIGNS = { error: "✖", warning: "▲", note: "ℹ" };

/**
 * Draw `data` (kind "report") into `element`.
 * options.replay(number, place): opens the debugger at a finding in an element; a promise. Without it there is no *Show me*.
 * Returns {destroy()}.
 */
export function mount(element, data, options = {}) {
  if (data.kind !== "report" || data.version !== 1) {
    element.append(h("p", {}, `This view is of kind ${data.kind}, version ${data.version}; this renderer supports report, version 1. Update pyptx.`));
    return { destroy() { element.replaceChildren(); } };
  }
  const root = h("section.pyptx-report", { "aria-label": `Check of ${data.title}` },
                 h(`div.pyptx-headline.${data.ok ? "pyptx-good" : "pyptx-f-error"}`, {}, `${data.ok ? "✔" : SIGNS.error} ${data.headline}`),
                 ...data.findings.map((finding, number) => block(data, finding, number, options)));
  element.append(root);
  return { destroy: () => root.remove() };
}

function block(data, finding, number, { replay }) {
  const debuggerAt = h("div.pyptx-replay", { hidden: true }), said = h("span.pyptx-soft", { role: "status" });
  const show = replay && finding.severity !== "note"
    ? h("button.pyptx-button.pyptx-showme", { type: "button", title: "Open the debugger in a schedule that shows this, at the second access",
                                              onclick: () => open(show, debuggerAt, said, place => replay(number, place)) }, "Show me") : null;
  return h(`article.pyptx-finding.pyptx-f-${finding.severity}`, { "aria-label": `${finding.severity}: ${finding.rule}` },
           h("div", {}, h("b", {}, `${SIGNS[finding.severity]} ${finding.severity}: `), h("code", {}, finding.rule), " ", show, " ", said),
           h("p", {}, finding.message), finding.ignored ? h("p", {}, `Ignored: ${finding.ignored}`) : null,
           finding.places.length ? h("ul.pyptx-places", {}, ...finding.places.map(place => placeOf(data, finding, place))) : null,
           finding.schedules.length ? h("p", {}, `Schedules: ${finding.schedules.join(", ")}`) : null,
           finding.fix ? h("p", {}, h("b", {}, "Hint: "), finding.fix) : null, debuggerAt);
}

/** A line that takes part: its role, place and source. */
function placeOf(data, finding, place) {
  const detail = { kernel: data.title, file: place.file, line: place.line, ptx: place.ptx_line };
  const reveal = event => event.currentTarget.dispatchEvent(new CustomEvent("pyptx-reveal", { bubbles: true, detail }));
  return h("li", {}, h("i", {}, `${place.role}: `), h("button.pyptx-place", { type: "button", title: "Show this line", onclick: reveal }, place.where),
           h("code.pyptx-source", {}, place.source), place.source.includes(place.ptx) ? null : h("code.pyptx-source.pyptx-soft", {}, place.ptx));
}

/** Show or hide the debugger of a finding; it is opened on first use. */
async function open(button, place, said, replay) {
  place.hidden = Boolean(place.firstChild) && !place.hidden;
  if (place.firstChild) { button.textContent = place.hidden ? "Show me" : "Hide"; return; }
  button.disabled = true;
  said.textContent = "Simulating the schedule …";
  try {
    await replay(place);
    button.textContent = "Hide";
    said.textContent = "";
  } catch (error) {
    said.textContent = error.message;
  }
  button.disabled = false;
}
