// The chart of a roofline: an SVG in the colors of the theme.

import { layout, matters } from "./layout.js";
import { power, quantity, ticks } from "./units.js";

const SVG = "http://www.w3.org/2000/svg";
const BYTES = { dram: "DRAM", l2: "L2", shared: "shared memory" };
const SHORT = { dram: "DRAM", l2: "L2", shared: "shared" };

/** An SVG element: `s("line.slope", {x1: 0}, child, "text")`. */
function s(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split("."), element = document.createElementNS(SVG, tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, typeof value === "number" ? round(value) : value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const round = value => String(Math.round(value * 10) / 10);
const classed = (tag, kind) => `${tag}.${kind.split(" ").map(name => `rf-${name}`).join(".")}`;

/** {svg, drawn}: the chart and its layout. `svg.choose(marker, data, level)` highlights a point, null for none. */
export function chart(data, level, width, height, shown) {
  const narrow = width < 560, left = narrow ? 50 : 64, drawn = layout(data, level, { left, top: 12, width: width - left - 14, height: height - 58 }, shown);
  const { frame } = drawn, count = data.unit.replace("/s", "");
  const svg = s("svg.rf-chart", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-hidden": "true" });
  const extra = s("g.rf-extra"), lines = [...drawn.lines].sort((a, b) => b.kind.includes("other") - a.kind.includes("other"));
  const groups = new Map(drawn.markers.map(marker => [marker.number, markerOf(marker)]));
  svg.append(s("rect.rf-page", { width, height }), ...axes(frame, count, data.unit, level, narrow),
    s("polygon.rf-shade", { points: drawn.shade.map(([x, y]) => `${round(x)},${round(y)}`).join(" ") }), ...lines.map(lineOf), extra,
    ...drawn.labels.filter(one => one.kind !== "name").map(labelOf), ...drawn.leaders.map(lineOf), ...groups.values(), ...drawn.labels.filter(one => one.kind === "name").map(labelOf));
  svg.choose = (marker, fresh, own) => {
    extra.replaceChildren(...(marker ? told(drawn, marker, fresh, own) : []));
    for (const [number, group] of groups) group.classList.toggle("rf-on", number === marker?.number);
    for (const name of svg.querySelectorAll("[data-name]")) name.classList.toggle("rf-on", name.dataset.name === String(marker?.number));
    svg.classList.toggle("rf-chosen", Boolean(marker));
    if (marker) svg.append(groups.get(marker.number));              // above all others
  };
  return { svg, drawn };
}

function axes(frame, count, unit, level, narrow) {
  const [xs, fineXs] = ticks(...frame.x), [ys, fineYs] = ticks(...frame.y), bottom = frame.top + frame.height, right = frame.left + frame.width, parts = [];
  for (const [name, across, up] of [["fine", fineXs, fineYs], ["grid", xs, ys]]) {
    parts.push(s(`path.rf-${name}`, { d: [...across.map(v => `M${round(frame.px(v))} ${frame.top}V${round(bottom)}`), ...up.map(v => `M${frame.left} ${round(frame.py(v))}H${round(right)}`)].join("") }));
  }
  parts.push(s("rect.rf-edge", { x: frame.left, y: frame.top, width: frame.width, height: frame.height }));
  parts.push(...xs.map(v => s("text.rf-soft", { x: frame.px(v), y: bottom + 16, "text-anchor": "middle" }, power(v))), ...ys.map(v => s("text.rf-soft", { x: frame.left - 6, y: frame.py(v) + 4, "text-anchor": "end" }, quantity(v, ""))));
  parts.push(s("text", { x: frame.left + frame.width / 2, y: bottom + 36, "text-anchor": "middle" }, `Arithmetic intensity (${count} per byte of ${BYTES[level]})`));
  parts.push(s("text", { transform: `translate(${narrow ? 11 : 14} ${round(frame.top + frame.height / 2)}) rotate(-90)`, "text-anchor": "middle" }, unit));
  return parts;
}

const lineOf = ({ kind, x1, y1, x2, y2, title }) => s(classed("line", kind), { x1, y1, x2, y2 }, title ? s("title", {}, title) : null);

const labelOf = ({ kind, x, y, text, anchor, turn, number }) => s(`${classed("text", kind)}.rf-halo`, { x, y, "data-name": number === undefined ? null : String(number), "text-anchor": anchor === "end" ? "end" : null, transform: turn ? `rotate(${round(turn)} ${round(x)} ${round(y)})` : null }, text);

function markerOf({ number, x, y, color, solid, low, high }) {
  const bar = low === null || high === null ? null : s("path", { d: `M${round(x)} ${round(low)}V${round(high)}M${round(x - 4)} ${round(low)}h8M${round(x - 4)} ${round(high)}h8` });
  return s(`g.rf-point.rf-m${color % 8}${solid ? ".rf-solid" : ".rf-hollow"}`, { "data-point": String(number) }, bar, s("circle", { cx: x, cy: y, r: 5.5 }));
}

/** The details of a point: distance to its roof, its own ceilings, its positions for the other levels. */
function told(drawn, marker, data, level) {
  const { frame } = drawn, point = data.points[marker.number], at = point.at[level], right = frame.left + frame.width, parts = [];
  const inside = (x, y) => x >= frame.left && x <= right && y >= frame.top && y <= frame.top + frame.height;
  if (at && at.share < 0.97) {
    const y = frame.py(at.attainable);
    parts.push(s("line.rf-room", { x1: marker.x, y1: marker.y - 6, x2: marker.x, y2: y }));
    if (marker.y - y > 26) parts.push(s("text.rf-roomlabel.rf-halo", { x: marker.x + 6, y: (marker.y + y) / 2 + 4 }, `${(1 / at.share).toPrecision(3)}×`));
  }
  for (const [other, place] of Object.entries(point.at)) {
    const x = frame.px(place.intensity);
    if (other === level || !inside(x, marker.y)) continue;
    parts.push(s("line.rf-ghostline", { x1: marker.x, y1: marker.y, x2: x, y2: marker.y }), s(`circle.rf-ghost.rf-m${marker.color % 8}`, { cx: x, cy: marker.y, r: 4 }),
      s("text.rf-soft.rf-halo", { x, y: marker.y - 9, "text-anchor": "middle" }, SHORT[other]));
  }
  if (!drawn.lines.some(one => one.kind === "roof ceiling" && data.ceilings.some(ceiling => ceiling.point >= 0 && one.title.startsWith(ceiling.label)))) {
    const slope = data.slopes.find(one => one.level === level && one.kind === "peak").bytes_per_s;
    for (const ceiling of data.ceilings.filter(one => one.point === marker.number && matters(one, { number: marker.number, point, at }))) {
      const y = frame.py(ceiling.flops_per_s), x = frame.px(Math.max(frame.x[0], ceiling.flops_per_s / slope));
      if (inside(x, y)) parts.push(s("line.rf-roof.rf-ceiling", { x1: x, y1: y, x2: right, y2: y }), s("text.rf-ceiling.rf-halo", { x: x + 6, y: y + 13 }, ceiling.label));
    }
  }
  return parts;
}
