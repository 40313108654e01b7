// A row of a pane: columns, highlighted code, links to branch targets, loop marks.

import { h } from "../dom.js";
import { marked, tokens } from "./tokens.js";

/** A cell of a column; `heading`: with the description as tooltip. */
export function cell(column, text, heading = false) {
  const element = h("span.pyptx-col", heading ? { title: column.title } : {}, text);
  element.style.width = `${column.width + 1}ch`;
  return element;
}

/** Cells of a row; adjacent plain columns share one element. */
export function cells(columns, row) {
  const made = [];
  let plain = null;
  for (const column of columns) {
    const text = column.value(row);
    if (column.plain) {
      if (!plain) made.push(plain = h("span.pyptx-cells"));
      plain.textContent += text.padStart(column.width + 1);
      continue;
    }
    plain = null;
    const element = cell(column, text);
    if (column.link && text) element.classList.add("pyptx-ref");
    const share = column.share?.(row);
    if (share) { element.classList.add("pyptx-share"); element.style.setProperty("--f", `${Math.round(share * 100)}%`); }
    made.push(element);
  }
  return made;
}

/**
 * The code of a line. ranges: search matches; help: opcode -> description;
 * links: [[word, row]] of labels in it, `to`: [[label, row, title]] of buttons after it; loops: loop marks.
 */
export function code({ language, line, inString, ranges, help, links, to, loops }) {
  const pieces = joined(tokens(language, line, inString)), element = h("span.pyptx-code", { "data-loops": loops || null });
  const targets = new Map(links);
  const words = targets.size ? pieces.flatMap(([kind, text]) => (kind ? [[kind, text]] : text.split(/([\w$%]+)/).map(word => ["", word]))) : pieces;
  for (const [kind, text, hit] of ranges ? marked(words, ranges) : words) {
    const target = targets.get(text);
    if (target !== undefined) {
      element.append(h(`button.pyptx-label${hit ? ".pyptx-mark" : ""}`, { type: "button", tabindex: -1, "data-jump": target, title: `Go to ${text}` }, text));
    } else if (!kind && !hit) element.append(text);
    else element.append(h(`${hit ? "mark" : "span"}${kind ? `.pyptx-t${kind}` : ""}`, { title: (kind === "o" && help?.[text]) || null }, text));
  }
  for (const [label, row, title] of to ?? []) {
    element.append(h("button.pyptx-jump", { type: "button", tabindex: -1, "data-jump": row, title }, label));
  }
  return element;
}

/** Adjacent pieces of one kind merged: ".E" and ".64" become ".E.64". */
function joined(pieces) {
  const found = [];
  for (const [kind, text] of pieces) {
    if (kind !== "o" && found.at(-1)?.[0] === kind) found.at(-1)[1] += text; else found.push([kind, text]);
  }
  return found;
}

/** The opcode of a line, as in the help table; "" for none. */
export function opcodeOf(language, line) {
  return tokens(language, line).find(([kind]) => kind === "o")?.[1] ?? "";
}
