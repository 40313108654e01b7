// Keyboard navigation of a diff: lines, differences, sides, folds.

import { DIFFERENT, LEVELS, nextRun } from "./rows.js";

export const KEYS = [
  ["n p", "next, previous difference"], ["N P", "next, previous change of any class"], ["↑ ↓ PgUp PgDn Home End", "previous, next line; page; first, last line"],
  ["← →", "the other side"], ["Enter", "unfold; go to where the line moved"], ["e", "unfold or fold all rows"],
  ["1 2 3", "compare the SASS, the PTX, the Python"], ["/", "search; Enter: next match, Shift+Enter: previous"], ["Esc", "unpin"],
  ["Ctrl+C", "copy the line"]];

export function keyPressed(diff, event) {
  if (event.target.closest("input, summary, .pyptx-sheet") || event.altKey || event.ctrlKey || event.metaKey) return;
  const side = event.target.closest(".pyptx-list")?.dataset.pane, pane = side && diff.panes[side];
  const page = pane ? Math.max(1, Math.floor(pane.list.clientHeight / pane.rowHeight) - 2) : 1;
  const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[event.key];
  const lower = event.key.toLowerCase();
  if (event.key === "Escape") diff.clear();
  else if (event.key === "/") diff.search.begin();
  else if (lower === "n" || lower === "p") jump(diff, lower === "n" ? 1 : -1, event.key === lower);
  else if (event.key === "e") diff.openAll();
  else if (diff.data.levels.includes(Object.keys(LEVELS)[event.key - 1])) diff.turn(Object.keys(LEVELS)[event.key - 1]);
  else if (!side) { if (event.target.closest("button")) return; diff.panes.left.list.focus(); return; }
  else if (step) move(diff, side, step);
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") sidewards(diff, event.key === "ArrowLeft" ? "left" : "right");
  else if (event.key === "Enter") enter(diff);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Go to the next (direction 1) or previous run of changed rows; `real`: only rows of class different. */
export function jump(diff, direction, real) {
  const item = nextRun(diff.items, diff.active?.item ?? -1, direction, row => (real ? diff.kinds[row] === DIFFERENT : diff.kinds[row] > 0));
  if (item < 0) { diff.status.textContent = real ? "No differences are shown" : "No changes are shown"; return; }
  const { row } = diff.items[item], side = diff.active?.side ?? diff.focus ?? (diff.sides.left[row] >= 0 ? "left" : "right");
  diff.activate(side, item);
  diff.panes[side].reveal([item]);
  diff.panes[side].list.focus({ preventScroll: true });
}

function move(diff, side, step) {
  const last = diff.items.length - 1, from = diff.active?.item;
  const item = from === undefined ? (step > 0 && !Number.isFinite(step) ? last : 0) : Math.min(last, Math.max(0, from + step));
  diff.activate(side, item);
}

function sidewards(diff, side) {
  diff.panes[side].list.focus({ preventScroll: true });
  if (diff.active) diff.activate(side, diff.active.item);
}

function enter(diff) {
  if (!diff.active) return;
  const { item, side } = diff.active;
  if (diff.items[item].fold) { diff.unfold(item); return; }
  const target = diff.elsewhere(item);
  if (target >= 0) diff.activate(side === "left" ? "right" : "left", target);
}

export function copy(diff, event) {
  if (event.target.closest?.("input") || window.getSelection()?.toString() || diff.active?.item === undefined) return;
  event.clipboardData.setData("text/plain", diff.panes[diff.active.side].lines[diff.active.item]);
  event.preventDefault();
}
