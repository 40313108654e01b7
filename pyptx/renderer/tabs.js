// A linked view and its diff with an earlier version, as two tabs, each mounted on first use.

import { mount as mountDiff } from "./diffs/diff.js";
import { freshId, h } from "./dom.js";
import { mount as mountLinked } from "./code/linked.js";

/** The diff that a linked view carries: its right side is the view. */
export function diffOf(data) {
  const { diff, ...own } = data;
  return { ...diff, right: { ...own, title: diff.right.title } };
}

/** As mount of code/linked.js; also returns show("code" | "diff"). */
export function mount(element, data, options = {}) {
  const id = freshId(), tabs = {}, panels = {}, drawn = {};
  const diff = diffOf(data), names = { code: "Code", diff: `Diff with ${diff.left?.title ?? "an earlier version"}` };
  const draw = { code: () => mountLinked(panels.code, { ...diff.right, title: data.title }, options), diff: () => mountDiff(panels.diff, diff, options) };
  const note = h("span.pyptx-tabnote", {}, diff.verdict ?? "");
  const show = name => {
    for (const other of Object.keys(names)) {
      tabs[other].setAttribute("aria-selected", String(other === name));
      tabs[other].tabIndex = other === name ? 0 : -1;
      panels[other].hidden = other !== name;
    }
    note.hidden = name === "diff";                      // the diff shows it in its header
    drawn[name] ??= draw[name]();
  };
  for (const name of Object.keys(names)) {
    tabs[name] = h("button.pyptx-tab", { type: "button", role: "tab", id: `${id}-${name}`, "aria-controls": `${id}-${name}-panel`, onclick: () => show(name) }, names[name]);
    panels[name] = h("div.pyptx-panel", { role: "tabpanel", id: `${id}-${name}-panel`, "aria-labeledby": `${id}-${name}` });
  }
  const list = h("div.pyptx-tablist", { role: "tablist", "aria-label": "Code and diff", onkeydown: event => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const next = tabs.code.getAttribute("aria-selected") === "true" ? "diff" : "code";
    show(next);
    tabs[next].focus();
    event.preventDefault();
    event.stopPropagation();
  } }, tabs.code, tabs.diff, note);
  const root = h(`div.pyptx-linked.pyptx-tabs${options.fill ? ".pyptx-fill" : ""}`, {}, list, panels.code, panels.diff);
  element.append(root);
  show("code");
  return { destroy() { Object.values(drawn).forEach(view => view.destroy()); root.remove(); }, show,
           select: (pane, row) => { show("code"); drawn.code.select(pane, row); }, point: (pane, row) => drawn.code?.point(pane, row), links: () => drawn.code.links(),
           go: name => { show("code"); drawn.code.go(name); } };
}
