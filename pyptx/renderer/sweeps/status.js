// The header of a sweep: title, progress, buttons of the run, number of points by state.

import { h } from "../dom.js";
import { duration, rateText, timeText } from "./data.js";

const DONE = ["measured", "modeled", "duplicate", "wrong", "failed", "refused"];        // order in the progress bar
export const WORDS = { new: "not started", running: "running", paused: "paused", stopped: "stopped", finished: "finished",
                       failed: "failed with an error" };

/** Title, source of times, and the best point. */
export function heading(sweep) {
  const { data } = sweep, best = data.best;
  const modeled = data.device.startsWith("model of") || sweep.points.kind.includes("modeled");
  const fact = (label, ...value) => h("div.pyptx-fact", {}, h("dt", {}, label), h("dd", {}, ...value));
  return [h("div.pyptx-title", {}, h("b", {}, data.title), h("span.pyptx-badge", {}, data.target), h(`span.pyptx-badge${modeled ? ".pyptx-dashed" : ""}`, {}, data.device)),
    h("dl.pyptx-facts", {},
      best < 0 ? fact("best so far", h("b", {}, "–")) : fact(`best ${sweep.points.kind[best]}`, h("b", {}, timeText(sweep.points.seconds[best], sweep.unit)),
        sweep.points.rate[best] === null ? null : h("small", {}, rateText(sweep.points.rate[best]))),
      best < 0 ? null : fact("with", h("b", {}, sweep.words(best))),
      data.choice < 0 ? null : fact("in use", h("b", {}, sweep.words(data.choice)))),
    ...data.notes.map(note => h("p.pyptx-soft", {}, note))];
}

/** Draw the progress bar, the buttons of the run, the states. */
export function drawRun(view) {
  const { sweep, actions } = view, { progress } = sweep.data, { done, total, state } = progress;
  const left = state === "running" && progress.seconds_left !== null ? `, about ${duration(progress.seconds_left)} left` : "";
  const words = `${WORDS[state]}: ${done} of ${total} points${left}`;
  const button = (name, text, title) => (actions[name] ? h("button.pyptx-button", { type: "button", title, "data-act": name, onclick: () => view.act(name) }, text) : null);
  const buttons = { new: [button("resume", "▶ Start", "Start the sweep")], running: [button("pause", "❚❚ Pause", "Pause after the current point"), button("stop", "■ Stop", "Stop the sweep; results are kept")],
                    paused: [button("resume", "▶ Resume", "Resume the sweep"), button("stop", "■ Stop", "Stop the sweep; results are kept")],
                    stopped: [button("resume", "▶ Resume", "Resume the sweep")], finished: [],
                    failed: [button("resume", "▶ Resume", "Retry the remaining points")] }[state].filter(Boolean);
  const focused = view.run.contains(document.activeElement) ? document.activeElement.dataset.act : null, counts = new Map(sweep.counts());
  const bar = h(`div.pyptx-progress${state === "finished" ? ".pyptx-finished" : ""}`, { role: "progressbar", "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": done, "aria-valuetext": words },
    ...DONE.filter(name => counts.has(name)).map(name => share(`.pyptx-s-${name}`, counts.get(name), name)), share(".pyptx-rest", total - done, "remaining"));
  view.run.replaceChildren(bar, h("div.pyptx-run-line", {}, h("span", {}, words), ...buttons, h("span.pyptx-space"), ...chips(view)));
  if (focused) (view.run.querySelector(`[data-act="${focused}"]`) ?? view.run.querySelector("button"))?.focus();
}

/** States with signs and counts: the legend, and the filter of the table. */
function chips(view) {
  const { sweep, kept } = view, table = kept.shown === "table";
  const words = new Map(sweep.data.states.map(([name, sign, meaning]) => [name, [sign, meaning]]));
  const chip = ([name, count]) => {
    const [sign, meaning] = words.get(name), content = [h("span.pyptx-sign", {}, sign), ` ${name} `, h("b", {}, String(count))];
    if (!table) return h(`span.pyptx-chip.pyptx-s-${name}`, { title: meaning }, ...content);
    return h(`button.pyptx-chip.pyptx-s-${name}`, { type: "button", "data-act": name, title: `${meaning}; show or hide`, "aria-pressed": String(!kept.hidden.has(name)), onclick: () => {
      if (!kept.hidden.delete(name)) kept.hidden.add(name);
      view.paint();
    } }, ...content);
  };
  const holes = sweep.data.holes.length ? [h("span.pyptx-chip.pyptx-s-hole", { title: "excluded by restrictions of the space" }, h("span.pyptx-sign", {}, "–"), " excluded ", h("b", {}, String(sweep.data.holes.length)))] : [];
  return [...sweep.counts().map(chip), ...holes];
}

/** A part of the progress bar. */
function share(kind, count, name) {
  const part = h(`span${kind}`, { title: `${count} ${name}` });
  part.style.flexGrow = Math.max(0, count);
  return part;
}
