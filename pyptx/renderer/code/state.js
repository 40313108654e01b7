// What the reader has set in a linked view: pins, panes, columns, lines, folds, search, shading, scroll positions; as plain data.

/** The state of a view, for `restore` of a view of the same data. */
export function stateOf(view) {
  const { pinned, focus, hidden, search, hotspots } = view;
  const pane = ({ columns, left, closed, list }) => ({ columns: columns.filter(column => column.shown).map(column => column.key),
                                                      left: [...left], closed: [...closed], scroll: [list.scrollLeft, list.scrollTop] });
  return { pinned: pinned && [pinned.pane, pinned.row], focus, hidden: [...hidden], search: { text: search.query.value, regex: search.regex.checked },
           shade: { key: hotspots.key, on: hotspots.shading.checked },
           panes: Object.fromEntries(view.names.map(name => [name, pane(view.panes[name])])) };
}

/** Set what is set before the view is drawn: panes, columns, lines, folds. */
export function prepare(view, state) {
  view.hidden = new Set(state.hidden);
  view.focus = state.focus;
  for (const name of view.names) {
    const pane = view.panes[name], { columns, left, closed } = state.panes[name];
    for (const column of pane.columns) column.shown = columns.includes(column.key);
    pane.left = new Set(left);
    pane.closed = new Set(closed);
    pane.reorder();
  }
}

/** Set the rest once the view is drawn. */
export function restore(view, { pinned, search, shade, panes }) {
  view.hotspots.set(shade.key, shade.on);
  view.search.query.value = search.text;
  view.search.regex.checked = search.regex;
  if (search.text) view.search.search();
  if (pinned) view.pin(...pinned);
  for (const name of view.open) [view.panes[name].list.scrollLeft, view.panes[name].list.scrollTop] = panes[name].scroll;
}
