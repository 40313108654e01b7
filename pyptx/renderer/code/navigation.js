// Keyboard navigation of a linked view: lines, panes, linked blocks, folds; selecting and copying lines.

import { blocks, nextBlock, paneName } from "./links.js";
import { along } from "./dependences.js";

export const KEYS = [["↑ ↓", "previous, next line (Shift: select lines to copy)"], ["← →", "previous, next pane"], ["Home End PgUp PgDn", "first, last line; previous, next page"],
  ["Enter", "pin the line and scroll to its links; open a fold"], ["n p  or  Alt+↓ Alt+↑", "next, previous block of linked lines"],
  ["[ ]", "previous, next basic block"], ["f", "fold or unfold the basic block"], ["F", "fold or unfold all basic blocks of the pane"], ["g", "go to the branch target or label"],
  ["d u", "SASS: go to the producer, to the consumer"], ["h H", "next, previous hot spot"], ["w", "explain the machine instructions of the line"], ["b", "go back"],
  ["/", "search; Enter: next match, Shift+Enter: previous"], ["Esc", "unpin"], ["Ctrl+C", "copy the line or the selected lines"]];

export function keyPressed(view, event) {
  const { key, target } = event;
  if (target.closest("input, summary, .pyptx-sheet, .pyptx-whatif") || event.ctrlKey || event.metaKey) return;
  if (target.closest("button") && (key === "Enter" || key === " ")) return;
  const name = target.closest(".pyptx-list")?.dataset.pane;
  if (event.altKey) {
    if (key !== "ArrowDown" && key !== "ArrowUp") return;
    block(view, key === "ArrowDown" ? 1 : -1);
  } else if (key === "Escape") view.clear();
  else if (key === "/") view.search.begin();
  else if (key === "n" || key === "p") block(view, key === "n" ? 1 : -1);
  else if (key === "h" || key === "H") view.hotspots.walk(key === "h" ? 1 : -1);
  else if (key === "b") view.back();
  else if (key === "w") view.expansion.toggle();
  else if (!name || !paneKey(view, name, event)) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Handle a key of the focused pane; return true if it was one. */
function paneKey(view, name, event) {
  const { key } = event, pane = view.panes[name], pinned = view.pinned?.pane === name ? view.pinned.row : -1;
  const page = Math.max(1, Math.floor(pane.list.clientHeight / pane.rowHeight) - 2);
  const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[key];
  if (step) move(view, name, step, event.shiftKey);
  else if (key === "ArrowLeft" || key === "ArrowRight") sidewards(view, name, key === "ArrowLeft" ? -1 : 1);
  else if (key === "Enter" || key === " ") enter(view, name, pinned);
  else if (key === "f" && pinned >= 0) fold(view, name, pinned);
  else if (key === "F") fold(view, name);
  else if (key === "[" || key === "]") basicBlock(view, name, key === "]" ? 1 : -1);
  else if (key === "g" && pinned >= 0) { const to = (pane.jumps.words.get(pinned) ?? pane.jumps.to.get(pinned))?.[0][1]; if (to !== undefined) view.show(name, to); }
  else if ((key === "d" || key === "u") && name === "sass" && pinned >= 0) needed(view, pinned, key === "d" ? -1 : 1);
  else return false;
  return true;
}

/** Go to a producer or consumer of a machine instruction. */
function needed(view, row, direction) {
  const next = view.data.sass.takes?.length ? along(view.needs(row), row, direction) : -1;
  if (next < 0) view.statusBar.tell(direction < 0 ? "Its operands come from no other instruction" : "No instruction uses its result");
  else view.show("sass", next);
}

function enter(view, name, pinned) {
  const pane = view.panes[name];
  if (pinned >= 0 && pane.closed.has(pinned)) fold(view, name, pinned);
  else if (view.pinned) { view.reveal(); view.paint(); }
  else move(view, name, 0);
}

/** Move the pinned line by `step` visible lines, or with `choosing` the end of the selection. */
export function move(view, name, step, choosing = false) {
  const pane = view.panes[name], last = pane.count - 1, within = place => pane.rowAt(Math.min(last, Math.max(0, place)));
  if (choosing && view.pinned?.pane === name) {
    const from = view.picked?.pane === name ? view.picked.end : view.pinned.row;
    const row = within(pane.place(from) + step);
    choose(view, name, row);
    pane.follow(row);
    return;
  }
  const inSight = Math.ceil(pane.list.scrollTop / pane.rowHeight);
  const row = view.pinned?.pane === name ? within(pane.place(view.pinned.row) + step)
                                         : within(Number.isFinite(step) ? inSight : step > 0 ? last : 0);
  view.pin(name, row, { reveal: true, own: true });
}

function sidewards(view, name, direction) {
  const next = view.open[view.open.indexOf(name) + direction];
  if (!next) return;
  const target = view.pinned?.exact[next][0] ?? view.pinned?.kin[next][0], { group } = view;
  view.panes[next].list.focus({ preventScroll: true });
  if (target === undefined) return;
  view.pin(next, target, { own: true });
  view.group = group;
}

/** Go to the next or previous run of lines in the focused pane that share the pinned line's Python line. */
export function block(view, direction) {
  const { focus, group } = view, { color } = view.panes[focus];
  let rows;
  if (focus === "python" || !group) rows = view.data[focus].text.map((_, row) => row).filter(row => color[row] >= 0);
  else rows = group.level[focus].reduce((list, level, row) => { if (level) list.push(row); return list; }, []);
  rows = rows.filter(row => !view.panes[focus].hides(row));
  const runs = focus === "python" ? rows.map(row => [row, row]) : blocks(rows);
  const row = nextBlock(runs, view.pinned?.pane === focus ? view.pinned.row : -1, direction);
  if (row < 0) { view.statusBar.tell(`No linked lines in ${paneName(view.data, focus)}`); return; }
  view.pin(focus, row, { reveal: true, own: true });
  if (focus !== "python" && group) view.group = group;            // stay in the same group
  view.panes[focus].list.focus({ preventScroll: true });
  if (runs.length > 1) view.statusBar.add(`block ${runs.findIndex(([first]) => first === row) + 1} of ${runs.length}`);
}

/** First line of the next or previous basic block. */
function basicBlock(view, name, direction) {
  const starts = view.panes[name].flow?.starts ?? [], row = view.pinned?.pane === name ? view.pinned.row : -1;
  const next = direction > 0 ? starts.find(start => start > row) : starts.findLast(start => start < row);
  if (next !== undefined) view.pin(name, next, { reveal: true, own: true });
}

function fold(view, name, row) {
  const pane = view.panes[name], at = pane.fold(row);
  if (at < 0) return;
  if (row !== undefined) view.pin(name, at, { own: true });
  else if (view.pinned?.pane === name) pane.reveal([view.pinned.row]);
  view.paint();
}

/** Select the lines from the pinned one to `row`. */
export function choose(view, pane, row) {
  const from = view.pinned.row;
  view.picked = { pane, end: row, range: [Math.min(from, row), Math.max(from, row)] };
  view.paint();
}

/** Copy the selected lines, or the whole focused pane. */
export function copyPane(view) {
  const name = view.picked?.pane ?? view.focus, lines = view.data[name].text, [first, last] = view.picked?.range ?? [0, lines.length - 1];
  const take = event => {
    event.clipboardData.setData("text/plain", lines.slice(first, last + 1).join("\n"));
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("copy", take, true);                  // works where navigator.clipboard does not: pages without TLS
  const done = document.execCommand("copy");
  document.removeEventListener("copy", take, true);
  view.statusBar.tell(done ? `Copied ${last - first + 1} lines of ${paneName(view.data, name)}` : "The browser blocked copying; select the lines and press Ctrl+C");
}

export function copy(view, event) {
  if (event.target.closest?.("input") || window.getSelection()?.toString() || !view.pinned) return;
  const [first, last] = view.picked?.range ?? [view.pinned.row, view.pinned.row];
  event.clipboardData.setData("text/plain", view.data[view.pinned.pane].text.slice(first, last + 1).join("\n"));
  event.preventDefault();
}
