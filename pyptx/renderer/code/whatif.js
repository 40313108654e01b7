// The what-if panel: occupancy for other register counts, block sizes and shared memory sizes.

import { h } from "../dom.js";
import { betters, curve, occupancy } from "./occupancy.js";

const WORDS = { registers: "Registers per thread", threads: "Threads per block", shared: "Shared memory per block, bytes" };
const SHORT = { registers: "registers", threads: "threads per block", shared: "shared bytes" };
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 190, HEIGHT = 46;

const percent = ({ warps, maxWarps }) => `${Math.round(100 * warps / maxWarps)} %`;

/** The panel of an entry. `limits`: of the target. */
export function whatIf(entry, limits, target) {
  const own = { registers: entry.registers, threads: entry.occupancy?.threads ?? 128, shared: entry.shared_bytes + (entry.dynamic_shared_bytes ?? 0) };
  const most = { registers: limits.regs_per_thread, threads: limits.threads_per_cta, shared: limits.smem_per_cta };
  const use = { ...own }, inputs = {}, charts = {};
  const answer = h("p.pyptx-answer", { role: "status", "aria-live": "polite" }), hints = h("p.pyptx-hints");

  const set = (name, value) => {
    if (String(value).trim() !== "") use[name] = Math.min(most[name], Math.max(name === "shared" ? 0 : 1, Math.round(Number(value)) || 0));
    paint();
  };
  const control = name => {
    const input = inputs[name] = h("input", { type: "number", min: name === "shared" ? 0 : 1, max: most[name], step: name === "threads" ? 32 : name === "shared" ? 1024 : 1,
                                              onchange: event => set(name, event.target.value) });
    charts[name] = h("div.pyptx-chart");
    const less = h("button.pyptx-button", { type: "button", "aria-label": `Fewer: ${SHORT[name]}`, onclick: () => set(name, use[name] - Number(input.step)) }, "−");
    const more = h("button.pyptx-button", { type: "button", "aria-label": `More: ${SHORT[name]}`, onclick: () => set(name, use[name] + Number(input.step)) }, "+");
    return h("div.pyptx-try", {}, h("label", {}, WORDS[name], input), h("span.pyptx-group", {}, less, more), charts[name]);
  };

  const paint = () => {
    const was = occupancy(limits, own), now = occupancy(limits, use), same = Object.keys(own).every(name => own[name] === use[name]);
    for (const name of Object.keys(own)) {
      inputs[name].value = use[name];
      charts[name].replaceChildren(chart(limits, use, name, value => set(name, value)));
    }
    const limited = now.blocks ? `limited by ${now.limiters.join(" and ")}` : `cannot launch: exceeds the limit of ${now.limiters.join(" and ")}`;
    answer.replaceChildren(h("b", {}, was.warps === now.warps ? `${percent(now)}${same ? "" : " (unchanged)"}` : `${percent(was)} → ${percent(now)}`),
      ` ${now.warps} of ${now.maxWarps} warps, ${now.blocks} block${now.blocks === 1 ? "" : "s"} of ${use.threads} threads on an SM of ${target}; ${limited}`);
    const better = betters(limits, use).map(({ name, value, warps }) => h("button.pyptx-button", { type: "button", onclick: () => set(name, value) },
      `${value} ${SHORT[name]}: ${warps} warps`));
    hints.replaceChildren(...(better.length ? ["More warps with ", ...better] : [now.warps === now.maxWarps ? "No more warps fit on an SM." : "No single change allows more warps."]),
      same ? "" : h("button.pyptx-button", { type: "button", onclick: () => { Object.assign(use, own); paint(); } }, "As compiled"));
  };
  const panel = h("section.pyptx-whatif", { "aria-label": `What if: occupancy of ${entry.name}` }, answer, h("div.pyptx-tries", {}, ...Object.keys(WORDS).map(control)), hints,
                  entry.occupancy ? null : h("p.pyptx-hints", {}, "The block size is unknown; 128 threads are assumed."));
  paint();
  return panel;
}

/** Warps by value of one resource as steps, with a dot at the current value; a click sets the value. */
function chart(limits, use, name, take) {
  const points = curve(limits, use, name), [first] = points[0], [last] = points.at(-1), top = limits.warps_per_sm;
  const x = value => 2 + (WIDTH - 4) * (value - first) / Math.max(1, last - first), y = warps => HEIGHT - 3 - (HEIGHT - 8) * warps / top;
  const { warps } = occupancy(limits, use), make = (kind, attributes) => {
    const element = document.createElementNS(SVG, kind);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const steps = points.map(([value, count], at) => `${at ? `H${x(value).toFixed(1)}V` : `M${x(value).toFixed(1)} `}${y(count).toFixed(1)}`).join("");
  const drawn = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img",
                              "aria-label": `Warps for ${first} to ${last} ${SHORT[name]}: ${spoken(points)}. Now ${use[name]}: ${warps} warps.` });
  drawn.append(make("path", { class: "pyptx-steps", d: steps }), make("circle", { class: "pyptx-now", cx: x(use[name]), cy: y(warps), r: 3.5 }));
  drawn.addEventListener("click", event => {
    const box = drawn.getBoundingClientRect(), wanted = first + (last - first) * ((event.clientX - box.left) / box.width * WIDTH - 2) / (WIDTH - 4);
    take(points.reduce((best, [value]) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best), first));
  });
  return drawn;
}

/** The steps as text: "64 from 8, 32 from 72". */
function spoken(points) {
  return points.filter(([, count], at) => !at || count !== points[at - 1][1]).slice(0, 12).map(([value, count]) => `${count} from ${value}`).join(", ");
}
