// The compact form of a view's data, as `pyptx/views/_packed.py` writes it.

import { inflate } from "./inflate.js";

const known = new WeakMap();                          // packed object -> its data

/** The data of a view; data that is not packed is returned unchanged. */
export function unpacked(data) {
  if (!data.packed) return data;
  if (!known.has(data)) {
    const text = atob(data.packed), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = text.charCodeAt(i);
    known.set(data, decoded(JSON.parse(new TextDecoder().decode(inflate(bytes)))));
  }
  return known.get(data);
}

function decoded(value) {
  if (Array.isArray(value)) return typeof value[0] === "object" ? value.map(decoded) : value;      // a list that begins with a number or text has no columns
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value.delta) && Object.keys(value).length === 1) {
    let sum = 0;
    return value.delta.map(step => (sum += step));
  }
  for (const name of Object.keys(value)) value[name] = decoded(value[name]);
  return value;
}
