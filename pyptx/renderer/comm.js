// Requests of a widget to its kernel over the comm, matched with responses by number; and its keyboard shortcuts in JupyterLab.

const LIMIT_MS = 60_000;
let sent = 0;

/**
 * {request(message) -> promise of the response's data, close()}. A request fails after a minute without a response, unless the kernel
 * has reported that it is working on it ({number, working: true}).
 */
export function openComm(model) {
  const waiting = new Map();
  const request = message => new Promise((resolve, reject) => {
    const number = `${sent += 1} ${Math.random()}`;
    const timer = setTimeout(() => { if (waiting.delete(number)) reject(new Error("no response from the kernel: it is running a cell, or was restarted")); }, LIMIT_MS);
    waiting.set(number, { resolve, reject, timer });
    model.send({ number, ...message });
  });
  const respond = message => {
    const one = waiting.get(message.number);
    if (!one) return;                           // from another view of the same widget
    clearTimeout(one.timer);
    if (message.working) return;
    waiting.delete(message.number);
    if (message.error === undefined) one.resolve(message.data); else one.reject(new Error(message.error));
  };
  model.on("msg:custom", respond);
  return { request, close: () => { model.off("msg:custom", respond); waiting.forEach(one => clearTimeout(one.timer)); } };
}

/** Suppress JupyterLab's shortcuts for plain keys while the view has the focus. Returns a function that undoes it. */
export function capturePlainKeys(el) {
  const mark = event => {
    if (event.target instanceof Element && el.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey || event.altKey));
  };
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}
