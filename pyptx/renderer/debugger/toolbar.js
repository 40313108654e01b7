// The toolbar of the debugger: stop reason and place, step commands with their keys, and the step slider.

import { REASONS, warpName } from "./data.js";
import { h } from "../dom.js";

/** Step commands: [name, sign, label, key, title, values]; `null` is a gap. Capital letters step backward. */
export const MOVES = [
  ["rewind", "«", "Rewind", "R", "Back to the start", {}], ["back_line", "⇤", "Back line", "N", "Back to the previous Python line", {}],
  ["back", "◂", "Back", "S", "Back by one instruction", {}], ["reverse", "◀", "Reverse", "C", "Back to the last breakpoint or watchpoint", {}], null,
  ["step", "▸", "Step", "s", "One PTX instruction of this warp", {}], ["next", "⇥", "Next line", "n", "To the next Python line of this warp, over helpers", {}],
  ["next", "↧", "Into", "i", "To the next Python line of this warp, into helpers", { into: true }],
  ["next_warp", "⇅", "Next warp", "w", "Until the schedule switches to another warp", {}], ["finish", "⤓", "Finish", "f", "To the end of this warp", {}],
  ["resume", "▶", "Continue", "c", "To the next breakpoint, watchpoint, fault or deadlock, or to the end", {}]];
const FUNCTION_KEYS = { F11: "s", F10: "n", F8: "c" };

/** [key, description, available without a session]. */
export const KEYS = [...MOVES.filter(Boolean).map(([, , words, key, title]) => [key, `${words}: ${title}`]), ["p", "Pause the run"], ["F8 F10 F11", "Continue, next line, step"],
  ["↑ ↓ ← →", "select a line, change the pane", true], ["b or F9", "toggle a breakpoint at the selected line"], ["Shift+Enter", "set a conditional breakpoint"], ["g", "run to the selected line"],
  ["/", "search Python and PTX", true], ["[ ]", "previous, next warp"], ["< >", "previous, next lane"], ["Esc", "go to the line of the focused warp", true]];

/** The step command of a key, or null. */
export function moveOf(key) {
  const wanted = FUNCTION_KEYS[key] ?? key;
  return MOVES.find(move => move && move[3] === wanted) ?? null;
}

/** The header: kernel, target, launch configuration. */
export function heading(state) {
  const size = list => { const parts = [...list]; while (parts.length > 1 && parts.at(-1) === 1) parts.pop(); return parts.join(" × "); };
  const fact = (label, value) => h("span.pyptx-fact-inline", {}, `${label} `, h("b", {}, value));
  const schedule = state.schedule === "random" ? `random, seed ${state.seed}` : state.schedule;
  return h("header.pyptx-header.pyptx-debug-header", {}, h("b.pyptx-debug-name", {}, state.kernel), h("span.pyptx-badge", {}, state.arch), fact("grid", size(state.grid)), fact("block", size(state.block)),
           size(state.cluster ?? [1]) === "1" ? null : fact("cluster", size(state.cluster)), fact("schedule", schedule));
}

/** The stop reason and place, announced when they change. */
export class Stop {
  constructor() {
    this.sign = h("span.pyptx-stop-sign", { "aria-hidden": "true" });
    this.words = h("span.pyptx-stop-words");
    this.element = h("div.pyptx-stop", { role: "status", "aria-live": "polite" }, this.sign, this.words);
  }

  update(state, busy = "") {
    const [sign, word] = busy ? ["…", ""] : REASONS[state.stop.reason] ?? ["▸", state.stop.reason];
    this.element.dataset.reason = busy ? "busy" : state.stop.reason;
    this.sign.textContent = sign;
    const line = state.place.line ? `line ${state.place.line}` : "", ptx = state.place.ptx ? `PTX ${state.place.ptx}` : "";
    const where = [warpName(state, state.focus), line, ptx].filter(Boolean).join(", ");
    this.words.replaceChildren(...(busy ? [busy] : [h("b", {}, word), ` ${tail(state.stop.text, word)}`, h("span.pyptx-stop-where", {}, where)]));
  }
}

/** A text without the leading word, which is shown separately. */
const tail = (text, word) => { const whole = text ?? ""; return whole.toLowerCase().startsWith(word) ? whole.slice(word.length).replace(/^[:\s]+/, "") : whole; };

export class Tools {
  /** act(name, values): a step command; go(step); pause(). `search`: of the code. Without `act` only the search is shown. */
  constructor({ act, go, pause, search, menu }) {
    this.buttons = act ? MOVES.map(move => move && this.button(move, act)) : [];
    const group = [];
    for (const button of this.buttons) if (button === null || !group.length) group.push(h("span.pyptx-group", { role: "group" }, button)); else group.at(-1).append(button);
    this.pause = act ? h("button.pyptx-button.pyptx-pause", { type: "button", title: "Pause the run (p)", disabled: true, onclick: pause }, h("span", { "aria-hidden": "true" }, "❚❚ "), "Pause", h("kbd", {}, "p")) : null;
    this.toolbar = h("div.pyptx-toolbar", { role: "toolbar", "aria-label": "Debugger" }, ...group, this.pause, h("span.pyptx-space"), ...search.elements, menu);
    this.slider = h("input.pyptx-slider", { type: "range", min: 0, step: 1, "aria-label": "Step", disabled: !go, oninput: () => go(Number(this.slider.value)) });
    this.count = h("output.pyptx-count");
    this.scrubber = h("div.pyptx-scrubber", {}, this.count, this.slider, this.end = h("span.pyptx-soft"));
  }

  button([name, sign, words, key, title, values], act) {
    const button = h("button.pyptx-button", { type: "button", "data-act": name, title: `${title} (${key})`, "aria-keyshortcuts": key, onclick: () => act(name, values) },
                     h("span", { "aria-hidden": "true" }, `${sign} `), h("span.pyptx-move", {}, words), h("kbd", {}, key));
    button.back = key === key.toUpperCase();
    return button;
  }

  update(state, busy) {
    const last = Math.max(state.last ?? state.step, state.step), over = state.ended && state.step >= last;
    for (const button of this.buttons) if (button) button.disabled = button.back ? state.step === 0 : over;
    if (this.pause) this.pause.disabled = !busy;
    this.slider.max = last;
    if (document.activeElement !== this.slider || !busy) this.slider.value = state.step;
    this.slider.setAttribute("aria-valuetext", `step ${state.step} of ${last}`);
    this.count.textContent = `step ${state.step.toLocaleString("en")}`;
    this.end.textContent = `${last.toLocaleString("en")} ${state.ended ? "the end" : "so far"}`;
  }
}
