// Draws any view: the one module that a front end imports.

import { mount as mountDiff } from "./diff.js";
import { mount as mountLinked } from "./linked.js";

/** Draw `data` into `element`, by its kind; returns how to drive and remove it (`destroy()` at least). */
export function mount(element, data, options = {}) {
  return (data.kind === "diff" ? mountDiff : mountLinked)(element, data, options);
}
