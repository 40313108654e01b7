// Selection of memory and fragments to show: from a list of names, or a place with type, shape and swizzle.

import { form } from "./form.js";
import { h } from "../dom.js";

export const kindOf = one => (one.space === "tensor" ? "tmem" : "memory");

/** Type, shape and swizzle of a shown tile, for reading another part of it; an argument's array has its own. */
export function readAs(kind, { type = "", shape, swizzle }) {
  const plain = type.replace(/^\./, "");
  return kind === "memory" && /^(?:(?:[bsuf]|bf|tf)\d+(?:x2)?|e\dm\d)$/.test(plain) ? { type: plain, shape, swizzle } : {};
}

/** Parse "128 x 64" to [128, 64]; null if empty, undefined if invalid. */
export function shapeOf(text) {
  const found = /^\s*(\d+)\s*(?:[x×,]\s*(\d+)\s*)?$/i.exec(text);
  return !text.trim() ? null : !found ? undefined : found[2] ? [Number(found[1]), Number(found[2])] : [1, Number(found[1])];
}

export class Picker {
  /** show(values): resolves to true if it can be shown; tell(message): reports invalid input. */
  constructor(show, tell) {
    this.show = show;
    this.names = h("span.pyptx-tools");
    const field = (label, placeholder, size) => h("input.pyptx-search", { type: "text", "aria-label": label, placeholder, spellcheck: "false", style: `width: ${size}px` });
    const [place, type, shape] = [field("Place in memory", "ring[1], 0x400, tile + 64", 140), field("Type of the elements", "bf16", 50), field("Rows and columns", "128 x 64", 70)];
    const swizzle = h("select", { "aria-label": "Swizzle" }, ...["", "32B", "64B", "128B"].map(value => h("option", { value }, value || "no swizzle")));
    const send = async () => {
      const size = shapeOf(shape.value);
      if (size === undefined) { tell(`${shape.value}: expected rows and columns, such as 128 x 64`); return; }
      const given = { type: type.value.trim() || null, shape: size, swizzle: swizzle.value || null };
      if (place.value.trim()) await show({ kind: "memory", name: place.value.trim(), ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) });
    };
    this.element = h("div", {}, this.names, form("form.pyptx-add", send, place, type, shape, swizzle, h("button.pyptx-button", { type: "submit" }, "Show")));
  }

  update({ memory = [], fragments = [] } = {}) {
    const known = JSON.stringify([memory, fragments]);
    if (known === this.known) return;
    this.known = known;
    const options = [...fragments.map(one => ["fragment", one]), ...memory.map(one => [kindOf(one), one])];
    const select = h("select", { "aria-label": "Memory or fragment" }, ...options.map(([kind, one], at) => h("option", { value: at }, `${kind === "fragment" ? "fragment" : one.space ?? ""} ${one.name}${one.text ? `  (${one.text})` : ""}`)));
    this.names.replaceChildren(...(options.length ? [select, h("button.pyptx-button", { type: "button", onclick: () => { const [kind, one] = options[Number(select.value)]; this.show({ kind, name: one.name }); } }, "Show")] : []));
  }
}
