// Layout of a roofline chart without overlapping labels, as in pyptx.views.rooflines.layout. Pure.

import { axis } from "./units.js";

export const FONT = 11.5;
const CHARACTER = 0.61, CEILINGS_OF = 3, LABELS = 12, NEAR = 0.8;
const { log10, max, min } = Math;
const widthOf = text => [...text].length * FONT * CHARACTER;

/** The area inside the axes and its data range. */
export class Frame {
  constructor(left, top, width, height, x, y) { Object.assign(this, { left, top, width, height, x, y }); }
  px(value) { return this.left + this.width * (log10(value / this.x[0]) / log10(this.x[1] / this.x[0])); }
  py(value) { return this.top + this.height * (1 - log10(value / this.y[0]) / log10(this.y[1] / this.y[0])); }
}

/** Name and version of a point. */
export const titleOf = ({ name, version }) => (!version || version.split("@")[0] === name ? version || name : `${name} (${version})`);

/**
 * The chart of roofline data over the bytes of `level`, in an area of pixels: {frame, lines, labels, markers, shade, leaders}.
 * shown(point): true if a point is drawn.
 */
export function layout(data, level, { left, top, width, height }, shown = () => true) {
  const placed = data.points.map((point, number) => ({ point, number, at: point.at[level] })).filter(({ point, at }) => at && shown(point));
  const { slopes, roofs } = data, main = slopes.find(one => one.level === level && one.kind === "peak"), rate = main.bytes_per_s;
  const tops = roofs.length ? roofs.map(one => one.flops_per_s) : [rate], top_ = max(...tops), all = data.points.map(point => point.at[level]).filter(Boolean);
  const frame = new Frame(left, top, width, height, axis([...all.map(at => at.intensity), top_ / rate], 4, 6, 3), axis([...all.map(at => at.rate), ...tops], 3, 1.8, 2));
  const room = new Room(frame), lines = [];
  for (const slope of slopes) {
    const own = slopeEnds(frame, slope.bytes_per_s, top_);
    if (!own) continue;
    lines.push(line(slope === main ? "slope" : "slope other", own, `${slope.label}: ${slope.source}`, slope));
    room.line(own);
  }
  const ceilings = new Map(data.ceilings.filter(one => (one.point < 0 || placed.length <= CEILINGS_OF) && placed.some(each => matters(one, each))).map(one => [one.label, one])).values();
  const flats = [...roofs.map(one => [one.flops_per_s, `roof ${one.kind}${one.used ? "" : " other"}`, one.label, one.source]),
                 ...[...ceilings].map(one => [one.flops_per_s, "roof ceiling", one.label, one.why])].filter(([flops]) => frame.y[0] < flops && flops < frame.y[1]);
  const right = left + width;
  for (const [flops, kind, label, why] of flats) {
    const start = max(frame.x[0], flops / rate);
    if (start >= frame.x[1]) continue;
    const own = [frame.px(start), frame.py(flops), right, frame.py(flops)];
    lines.push(line(kind, own, `${label}: ${why}`));
    room.line(own);
  }
  const names = [...new Set(data.points.map(point => point.name))];
  const markers = placed.map(({ point, number, at }) => ({
    number, x: frame.px(at.intensity), y: frame.py(at.rate), color: names.indexOf(point.name), solid: point.kind === "measured",
    low: point.high ? frame.py(point.flops / point.high) : null, high: point.low ? frame.py(point.flops / point.low) : null }));
  markers.sort((a, b) => a.solid - b.solid);                      // measured points on top
  for (const { x, y } of markers) room.take(x - 6, y - 6, 12, 12);
  flats.sort((a, b) => a[1].includes("ceiling") - b[1].includes("ceiling") || b[0] - a[0]);        // ceilings get the remaining room
  const labels = [...room.roofLabels(flats.filter(([flops]) => flops / rate < frame.x[1]).map(([flops, kind, label]) => [kind, label, frame.px(max(frame.x[0], flops / rate)), frame.py(flops)])),
                  ...room.slopeLabels(lines.filter(one => one.slope))];
  const words = labeled(data.points, level, placed);
  const { names: named, leaders } = room.pointLabels(markers.filter(one => words.has(one.number)).map(one => [one, words.get(one.number), data.points[one.number].rate]));
  const ridge = top_ / rate, first = max(frame.x[0], frame.y[0] / rate), level_ = frame.py(min(top_, frame.x[1] * rate)), bottom = top + height;
  const shade = [[frame.px(first), bottom], [frame.px(first), frame.py(first * rate)], [frame.px(min(ridge, frame.x[1])), level_], [right, level_], [right, bottom]];
  return { frame, lines, labels: [...labels, ...named], markers, shade, leaders };
}

/** True if a ceiling limits, or nearly limits, a point. */
export function matters(ceiling, { number, point, at }) {
  const own = ceiling.point === number || ceiling.point < 0 && !Object.keys(point.work).some(what => point.work[what] && !what.startsWith("core."));
  return own && at.attainable >= NEAR * ceiling.flops_per_s;
}

const line = (kind, [x1, y1, x2, y2], title = "", slope = null) => ({ kind, x1, y1, x2, y2, title, slope });

/** Ends of a slope, up to the highest roof; null if it is outside. */
function slopeEnds(frame, rate, top) {
  const first = max(frame.x[0], frame.y[0] / rate), last = min(frame.x[1], top / rate);
  return first >= last ? null : [frame.px(first), frame.py(first * rate), frame.px(last), frame.py(last * rate)];
}

/** Point number -> label; of several points of one name and kind, as in a sweep, only the fastest has one. */
export function labeled(points, level, placed) {
  const groups = new Map();
  for (const { point, number } of placed) {
    const key = `${titleOf(point)}\n${point.kind}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(number);
  }
  const found = [];
  for (const [key, numbers] of groups) {
    const [title, kind] = key.split("\n"), best = numbers.reduce((one, other) => (points[other].rate > points[one].rate ? other : one));
    const words = [title, numbers.length > 1 ? points[best].note : "", `${percent(points[best].at[level].share)}`,
                   kind === "modeled" && groups.has(`${title}\nmeasured`) ? "modeled" : ""];
    found.push([best, words.filter(Boolean).join(" ")]);
  }
  return new Map(found.sort(([a], [b]) => points[b].rate - points[a].rate).slice(0, LABELS));
}

/** "75%", "6.1%", "0.05%": whole ones, or two digits below ten. */
export function percent(share) {
  if (share < 0.0995) return `${Number((share * 100).toPrecision(2))}%`;
  const exact = share * 100, down = Math.floor(exact);
  return `${exact - down === 0.5 ? down + (down % 2) : Math.round(exact)}%`;           // half to even, as in Python
}

/** Occupied parts: boxes of labels and markers, and points along lines. */
class Room {
  constructor(frame) {
    this.frame = frame;
    this.boxes = [];
    this.dots = [];
  }

  take(...box) { this.boxes.push(box); }

  line([x1, y1, x2, y2]) {
    const steps = max(1, Math.trunc(max(Math.abs(x2 - x1), Math.abs(y2 - y1)) / 6));
    for (let n = 0; n <= steps; n += 1) this.dots.push([x1 + (x2 - x1) * n / steps, y1 + (y2 - y1) * n / steps]);
  }

  /** The cost of a label: high for overlapped boxes, low for lines, prohibitive outside the axes. */
  cost(x, y, width, height) {
    const f = this.frame;
    if (x < f.left + 2 || x + width > f.left + f.width - 2 || y < f.top + 1 || y + height > f.top + f.height - 2) return 1e6;
    let sum = 0;
    for (const [bx, by, bw, bh] of this.boxes) if (x < bx + bw && bx < x + width && y < by + bh && by < y + height) sum += 100;
    for (const [px, py] of this.dots) if (x <= px && px <= x + width && y <= py && py <= y + height) sum += 1;
    return sum;
  }

  /** Labels at the right end of roofs that begin at x, above or below, further left if occupied; none for a ceiling without room. */
  roofLabels(flats) {
    const right = this.frame.left + this.frame.width - 6;
    return flats.flatMap(([kind, text, begins, y]) => {
      const wide = widthOf(text), shifts = [0, 110, 220, 330].filter(shift => !shift || right - wide - shift > begins + 10);
      const [x, top] = least(shifts.flatMap(shift => [-FONT - 4, 3].map(dy => [right - wide - shift, y + dy])), ([a, b]) => this.cost(a, b, wide, FONT + 1));
      if (kind.includes("ceiling") && this.cost(x, top, wide, FONT + 1) >= 100) return [];
      this.take(x, top, wide, FONT + 1);
      return [{ kind, x: x + wide, y: top + FONT - 1, text, anchor: "end", turn: 0 }];
    });
  }

  /** Labels along slopes where there is room; only the main slope's label may overlap others. */
  slopeLabels(lines) {
    const found = [];
    for (const { kind, x1, y1, x2, y2, slope } of lines) {
      const long = Math.hypot(x2 - x1, y2 - y1), wide = widthOf(slope.label), cos = (x2 - x1) / long, sin = (y2 - y1) / long;
      if (long < wide + 16) continue;
      const side = slope.kind === "peak" ? 5 : -FONT - 2;         // the measured bandwidth is below the peak
      const at = start => [x1 + cos * start + sin * side, y1 + sin * start - cos * side];
      const boxes = start => {
        const [x, y] = at(start), made = [];
        for (let n = 0; n < Math.trunc(wide); n += 10) made.push([x + cos * n - 5, y + sin * n - 10, 12, 12]);
        return made;
      };
      const starts = [0.1, 0.25, 0.4, 0, 0.55, 0.7, 0.85].map(share => 8 + (long - wide - 16) * share);
      const hits = start => boxes(start).filter(box => this.cost(...box) >= 100).length, best = least(starts, hits);
      if (hits(best) && kind !== "slope") continue;
      for (const box of boxes(best)) this.take(...box);
      const [x, y] = at(best);
      found.push({ kind, x, y, text: slope.label, anchor: "start", turn: Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI });
    }
    return found;
  }

  /** Labels beside markers, fastest first; further away with a leader where it is crowded, none without room. */
  pointLabels(points) {
    const names = [], leaders = [], high = FONT + 2;
    for (const [marker, text] of [...points].sort((a, b) => b[2] - a[2])) {
      const wide = widthOf(text);
      const near = [[9, -high / 2], [-9 - wide, -high / 2], [-wide / 2, -high - 8], [-wide / 2, 8], [8, 6], [8, -high - 6], [-8 - wide, 6], [-8 - wide, -high - 6]];
      const far = [26, 46, 70, 100].flatMap(reach => [[reach, -reach - high], [reach, reach], [-reach, reach], [-reach, -reach - high], [reach, -high / 2], [-reach, -high / 2]]
        .map(([dx, dy]) => [dx > 0 ? dx : dx - wide, dy]));
      const tries = [...near, ...far].map(([dx, dy], n) => [this.cost(marker.x + dx, marker.y + dy, wide, high) + (n < near.length ? 0 : 2) + n / 100, dx, dy, n >= near.length]);
      const [cost, dx, dy, away] = least(tries, one => one[0]);
      if (cost >= 100) continue;
      const x = marker.x + dx, y = marker.y + dy;
      this.take(x, y, wide, high);
      names.push({ kind: "name", x: dx > 0 ? x : x + wide, y: y + FONT - 1, text, anchor: dx > 0 ? "start" : "end", turn: 0, number: marker.number });
      if (away) leaders.push(line("leader", [marker.x, marker.y, dx > 0 ? x : x + wide, y + high / 2]));
    }
    return { names, leaders };
  }
}

/** The first item of minimal cost. */
function least(tries, cost) {
  let best = tries[0], lowest = cost(best);
  for (const one of tries.slice(1)) {
    const own = cost(one);
    if (own < lowest) [best, lowest] = [one, own];
  }
  return best;
}
