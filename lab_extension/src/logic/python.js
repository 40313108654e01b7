// `ptx.inst` in Python cells: the mnemonic that a chain of attributes spells, and what it means.

import { hover } from "./ptx.js";

const CHAIN = /\bptx\.inst((?:\.[A-Za-z_]\w*)+)/g;

/**
 * The help for `ptx.inst.ld.global_.f32` at a column of a line; null elsewhere. Attributes that are Python keywords end in an underscore.
 * @param {import("./ptx.js").Isa} isa @param {string} line @param {number} column @returns {import("./ptx.js").Help | null}
 */
export function hoverPython(isa, line, column) {
  for (const found of line.matchAll(CHAIN)) {
    const from = found.index, to = from + found[0].length;
    if (column < from || column >= to) continue;
    const mnemonic = found[1].slice(1).split(".").map(word => word.replace(/_+$/, "").replaceAll("__", "::")).join(".");
    const help = hover(isa, `${mnemonic} `, 0);
    return help && { ...help, from, to, title: mnemonic };
  }
  return null;
}
