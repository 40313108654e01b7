// A form of a debugger: Enter sends it, also in JupyterLab, which takes the key before a form sees it.

import { h } from "../dom.js";

/** `send()` is called for Enter in a field and for a button of type submit. */
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
