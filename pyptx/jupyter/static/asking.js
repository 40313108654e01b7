// A widget asks its kernel: questions go as messages with a number, answers come back by it. And keys of its own, in JupyterLab too.

const LIMIT_MS = 60_000;
let asked = 0;

/**
 * {ask(message) -> promise of the answer's data, stop()}. A kernel that does not answer within a minute is given up, unless it has said
 * that it is working on it ({number, working: true}).
 */
export function asking(model) {
  const waiting = new Map();
  const ask = message => new Promise((resolve, reject) => {
    const number = `${asked += 1} ${Math.random()}`;
    const timer = setTimeout(() => { if (waiting.delete(number)) reject(new Error("no answer from the kernel: a cell is running there, or it was restarted")); }, LIMIT_MS);
    waiting.set(number, { resolve, reject, timer });
    model.send({ number, ...message });
  });
  const answer = message => {
    const one = waiting.get(message.number);
    if (!one) return;                           // of another drawing of the same widget
    clearTimeout(one.timer);
    if (message.working) return;
    waiting.delete(message.number);
    if (message.error === undefined) one.resolve(message.data); else one.reject(new Error(message.error));
  };
  model.on("msg:custom", answer);
  return { ask, stop: () => { model.off("msg:custom", answer); waiting.forEach(one => clearTimeout(one.timer)); } };
}

/** Letters and arrows belong to the view while it has the focus, not to JupyterLab's notebook, where b adds a cell. Returns what ends that. */
export function plainKeys(el) {
  const mark = event => {
    if (event.target instanceof Element && el.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey || event.altKey));
  };
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}
