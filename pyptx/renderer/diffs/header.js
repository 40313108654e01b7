// The header and toolbar of a diff: resources of both sides, classes, levels.

import { LEVELS, MARKS, WORDS, factText } from "./rows.js";
import { KEYS, jump } from "./navigation.js";
import { h } from "../dom.js";

/** The two sides and their resources. */
export function header(data) {
  const side = view => [h("b", {}, view.title), h("span.pyptx-badge", {}, view.target)];
  const fact = one => {
    const { label, left, right, delta, tone } = factText(one);
    return h(`div.pyptx-fact${tone < 0 ? ".pyptx-worse" : tone > 0 ? ".pyptx-better" : ""}`, {}, h("dt", {}, label),
             h("dd", {}, h("b", {}, delta ? `${left} → ${right}` : left), delta ? h("small", {}, `${delta}${tone < 0 ? " worse" : tone > 0 ? " better" : ""}`) : null));
  };
  const uses = data.facts.filter(one => one[5] === "use" && (one[4] || one[1] !== one[2]));
  const groups = data.facts.filter(one => one[5] === "group" && one[1] !== one[2]);
  return h("header.pyptx-header", {},
    h("div.pyptx-title", {}, ...side(data.left), h("span", {}, "and"), ...side(data.right)),
    h("p.pyptx-verdict", {}, data.verdict),
    h("div.pyptx-entry", {}, h("dl.pyptx-facts", {}, ...uses.map(fact)),
      groups.length ? h("ul.pyptx-mix", { "aria-label": "Instructions by group" }, ...groups.map(([label, left, right]) =>
        h("li", {}, h("span", {}, label), h("b", {}, `${left} → ${right}`)))) : null));
}

/** Levels, search, classes, steps, folds. */
export function toolbar(diff) {
  const button = (text, title, act) => h("button.pyptx-button", { type: "button", title, "aria-label": title, onclick: act }, text);
  const { a, b } = diff.data.rows, on = (lines, kind) => diff.kinds.reduce((sum, one, row) => sum + (one === kind && lines[row] >= 0), 0);
  const counts = WORDS.map((_, kind) => Math.max(on(a, kind), on(b, kind)));
  const classes = WORDS.map((word, kind) => h(`button.pyptx-button.pyptx-toggle.pyptx-class.pyptx-k${kind}`,
    { type: "button", "aria-pressed": "true", title: `Show or hide ${word} rows`, onclick: event => diff.toggle(kind, event.currentTarget) },
    `${MARKS[kind]} ${word} ${counts[kind]}`.trim()));
  diff.folds = button("Unfold all", "Unfold or fold all rows (e)", () => diff.openAll());
  const levels = Object.keys(LEVELS).filter(level => diff.data.levels.includes(level)).map(level => h("button.pyptx-button.pyptx-level",
    { type: "button", "aria-pressed": String(level === diff.level), title: `Compare the ${LEVELS[level]}`, "data-level": level, onclick: () => diff.level === level || diff.turn(level) }, LEVELS[level]));
  const keys = h("details.pyptx-menu", {}, h("summary.pyptx-button", {}, "Keys"),
                 h("div.pyptx-sheet", {}, h("dl.pyptx-keys", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, key), h("dd", {}, does)]))));
  return h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "Diff" },
    levels.length > 1 ? h("span.pyptx-group", { role: "group", "aria-label": "Level" }, ...levels) : null, ...diff.search.elements, h("span.pyptx-space"),
    h("span.pyptx-group", { role: "group", "aria-label": "Classes" }, ...classes),
    button("‹ p", "Previous difference (p)", () => jump(diff, -1, true)), button("n ›", "Next difference (n)", () => jump(diff, 1, true)), diff.folds, keys);
}
