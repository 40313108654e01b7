// The separator between two panes, moved by dragging or with the arrow keys.

import { h } from "../dom.js";
import { paneName } from "./links.js";

/**
 * Widths of panes that need `needs` characters in a room for `room`: no pane is cut while another has room to spare, and
 * what is left over is shared in proportion.
 */
export function widths(needs, room) {
  const sum = needs.reduce((all, need) => all + need, 0);
  if (sum <= room) return needs.map(need => need * room / sum);
  const found = needs.map(() => 0);
  let left = room, open = needs.map((need, at) => [need, at]).sort(([one], [other]) => one - other);
  while (open.length) {                                             // the smallest first: the rest share what they leave
    const [[need, at], ...rest] = open;
    found[at] = Math.min(need, left / open.length);
    left -= found[at];
    open = rest;
  }
  return found;
}

/** The separator between the panes `left` and `right` of a view; hidden panes are skipped. */
export function separator(view, left, right) {
  const bar = h("div.pyptx-separator", { role: "separator", tabindex: 0, "aria-orientation": "vertical", "data-right": right,
                                         "aria-label": `Width of ${paneName(view.data, left)} and ${paneName(view.data, right)}`, "aria-valuemin": 10, "aria-valuemax": 90, "aria-valuenow": 50 });
  const move = pixels => {
    const { open } = view, a = view.panes[open[open.indexOf(right) - 1]].element, b = view.panes[right].element;
    const share = Math.min(0.9, Math.max(0.1, (a.offsetWidth + pixels) / (a.offsetWidth + b.offsetWidth)));
    const sum = Number(a.style.flexGrow) + Number(b.style.flexGrow);
    view.moved = true;
    a.style.flexGrow = sum * share;
    b.style.flexGrow = sum * (1 - share);
    bar.setAttribute("aria-valuenow", Math.round(100 * share));
  };
  bar.addEventListener("pointerdown", event => { bar.setPointerCapture(event.pointerId); event.preventDefault(); });
  bar.addEventListener("pointermove", event => { if (event.buttons) move(event.clientX - bar.getBoundingClientRect().left - 3); });
  bar.addEventListener("keydown", event => {
    const step = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (step) { move(step); event.preventDefault(); event.stopPropagation(); }
  });
  return bar;
}
