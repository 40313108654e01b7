// A form that Enter submits, also in JupyterLab, which intercepts the key.

import { h } from "../dom.js";

/** `send()` is called for Enter in a field and for a submit button. */
export function form(kind, send, ...children) {
  const element = h(kind, { onsubmit: event => { event.preventDefault(); send(); } }, ...children);
  element.addEventListener("keydown", event => {
    if (event.key !== "Enter" || !event.target.closest("input")) return;
    event.preventDefault();
    event.stopPropagation();
    send();
  });
  return element;
}
