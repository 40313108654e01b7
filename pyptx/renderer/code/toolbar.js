// The toolbar of a linked view: search, blocks, sharing, folds, panes, columns, keys.

import { h } from "../dom.js";
import { choosers } from "./filters.js";
import { paneName } from "./links.js";
import { KEYS, block, copyPane } from "./navigation.js";

export function toolbar(view) {
  const button = (text, title, act) => h("button.pyptx-button", { type: "button", title, "aria-label": title, onclick: act }, text);
  const toggles = view.names.length > 1 ? view.names.map(name => h("button.pyptx-button.pyptx-toggle",
    { type: "button", "aria-pressed": "true", "data-pane": name, title: `Show or hide ${paneName(view.data, name)}`, onclick: () => view.toggle(name) }, paneName(view.data, name))) : [];
  const filters = choosers(view);
  const folding = view.names.filter(name => view.panes[name].blocks.length);
  return h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "View" }, ...view.search.elements,
    h("span.pyptx-space"),
    button("‹ p", "Previous block of linked lines (p)", () => block(view, -1)), button("n ›", "Next block of linked lines (n)", () => block(view, 1)),
    folding.length ? button("Fold", "Fold or unfold all basic blocks (F: of one pane)", () => foldAll(view, folding)) : null,
    button("Copy", "Copy the selected lines, or the whole pane", () => copyPane(view)),
    view.share ? button("Share", "Save this page as one file, with pins, columns, search and scroll positions as they are", view.share) : null,
    h("span.pyptx-group", { role: "group", "aria-label": "Panes" }, ...toggles),
    menu("Columns", view.names.map(name => h("fieldset", {}, h("legend", {}, paneName(view.data, name)), ...view.columns[name].map(column => chooser(view, name, column))))),
    filters.length ? menu("Lines", filters) : null,
    view.hotspots.element,
    menu("Keys", [h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)]))]));
}

function foldAll(view, names) {
  const close = !names.some(name => view.panes[name].closed.size);
  names.forEach(name => view.panes[name].fold(undefined, close));
  if (view.pinned) view.each(pane => pane.reveal(view.pinned.exact[pane.name]));
  view.paint();
}

/** A button with a popup. */
export function menu(name, children) {
  const element = h("details.pyptx-menu", { onkeydown: event => { if (event.key === "Escape") { element.open = false; event.stopPropagation(); } } },
                    h("summary.pyptx-button", {}, name), h("div.pyptx-sheet", {}, ...children));
  element.addEventListener("focusout", event => { if (event.relatedTarget && !element.contains(event.relatedTarget)) element.open = false; });
  return element;
}

function chooser(view, name, column) {
  const box = h("input", { type: "checkbox", onchange: () => { column.shown = box.checked; view.panes[name].layout(); view.arrange(); } });
  box.checked = column.shown;
  return h("label", { title: column.title }, box, ` ${column.label} `, h("small", {}, column.title));
}
