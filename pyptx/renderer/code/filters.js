// Kinds of lines that can be hidden: declarations, directives, labels, comments, instructions without effect. Pure but for the menu.

import { h } from "../dom.js";

/** kind -> {pane, label, pattern, most}: more lines than `most` are hidden until shown. The first pattern that matches gives a line's kind. */
export const KINDS = {
  registers: { pane: "ptx", label: "register declarations", pattern: /^\s*\.reg\b/, most: 12 },
  locations: { pane: "ptx", label: ".loc and .file", pattern: /^\s*\.(loc|file)\b/, most: 0 },
  directives: { pane: "ptx", label: "other directives", pattern: /^\s*\.(?!visible|entry|func|extern|weak|param|global|shared|const|local|callprototype|calltargets|branchtargets)\w+/, most: Infinity },
  comments: { pane: "ptx", label: "comments", pattern: /^\s*(\/\/|\/\*.*\*\/\s*$)/, most: Infinity },
  labels: { pane: "ptx", label: "labels", pattern: /^\s*[\w$%]+:\s*$/, most: Infinity },
  nops: { pane: "sass", label: "NOP", pattern: /^\s*(@\S+\s+)?NOP\b/, most: Infinity },
};

/** The kind of each line that has one: row -> kind. */
export function kinds(pane, lines) {
  const mine = Object.entries(KINDS).filter(([, kind]) => kind.pane === pane), found = new Map();
  lines.forEach((line, row) => { const kind = mine.find(([, { pattern }]) => pattern.test(line)); if (kind) found.set(row, kind[0]); });
  return found;
}

/** The number of lines of each kind: kind -> count, in the order of KINDS. */
export function counts(found) {
  const all = new Map(Object.keys(KINDS).map(kind => [kind, 0]));
  for (const kind of found.values()) all.set(kind, all.get(kind) + 1);
  return new Map([...all].filter(([, count]) => count));
}

/** Check boxes for the kinds of lines of a view's panes; none if there are no such lines. */
export function choosers(view) {
  return view.names.flatMap(name => {
    const pane = view.panes[name];
    return [...counts(pane.kinds)].map(([kind, count]) => {
      const box = h("input", { type: "checkbox", "data-kind": kind, onchange: () => { pane.filter(kind, !box.checked); view.paint(); } });
      box.checked = !pane.left.has(kind);
      return h("label", {}, box, ` ${KINDS[kind].label} `, h("small", {}, `${count}`));
    });
  });
}
