// The sweep as a widget: `render` for anywidget. Data come as a trait; what points are asked goes as messages, each with a number.

import { mount } from "./renderer.js";

const LIMIT_MS = 60_000;
const kept = {};                                // what the reader has chosen, for the next drawing of this widget
let asked = 0;

export function render({ model, el }) {
  const waiting = new Map();
  const ask = (name, ...points) => new Promise((resolve, reject) => {
    const number = `${asked += 1} ${Math.random()}`;
    waiting.set(number, { resolve, reject });
    setTimeout(() => { if (waiting.delete(number)) reject(new Error("no answer from the kernel: a cell is running there, or it was restarted")); }, LIMIT_MS);
    model.send({ number, ask: name, points });
  });
  const answer = message => {
    const one = waiting.get(message.number);
    if (!one) return;                           // of another drawing of the same widget
    waiting.delete(message.number);
    if (message.error === undefined) one.resolve(message.data); else one.reject(new Error(message.error));
  };
  const actions = Object.fromEntries(model.get("actions").map(name => [name, (...points) => ask(name, ...points)]));
  const view = mount(el, model.get("data"), { actions, kept });
  const update = () => view.update(model.get("data"));
  const keys = plainKeys(el);
  model.on("change:data", update);
  model.on("msg:custom", answer);
  return () => {
    model.off("change:data", update);
    model.off("msg:custom", answer);
    keys();
    view.destroy();
  };
}

/** Letters and arrows belong to the view while it has the focus, not to JupyterLab's notebook, where b adds a cell. Returns what ends that. */
function plainKeys(el) {
  const mark = event => {
    if (event.target instanceof Element && el.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey || event.altKey));
  };
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}
