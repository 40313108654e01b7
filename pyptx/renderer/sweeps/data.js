// The data of a sweep: positions, scales and order of its points. Pure.

const UNITS = [[1e-6, 1e9, "ns"], [1e-3, 1e6, "µs"], [1, 1e3, "ms"], [Infinity, 1, "s"]];
const LEAST = Math.log(1.05);                   // smaller ranges get little color
const GONE = new Set(["refused", "wrong", "failed"]);
const RANK = ["measured", "modeled", "duplicate", "compiled", "compiling", "queued", "wrong", "failed", "refused"];     // precedence of the representative of several points

/** Three digits of a number: 12.3, 1230. */
export function digits(value) {
  return value >= 999.5 ? String(Math.round(value)) : value.toPrecision(3);
}

/** [factor, unit] that suits a time. */
export const unitOf = seconds => UNITS.find(([below]) => seconds * 1.0005 < below).slice(1);

export function timeText(seconds, [factor, unit] = unitOf(seconds)) {
  return `${digits(seconds * factor)} ${unit}`;
}

/** A duration as text. */
export const duration = seconds => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`);

/** [factor, unit] that suits a rate. */
const rateUnitOf = rate => (rate >= 1e12 ? [1e-12, "TFLOP/s"] : rate >= 1e9 ? [1e-9, "GFLOP/s"] : [1e-6, "MFLOP/s"]);

export const rateText = (rate, [factor, unit] = rateUnitOf(rate)) => `${digits(rate * factor)} ${unit}`;

export const size = bytes => (bytes < 1024 ? `${bytes} B` : `${Number((bytes / 1024).toPrecision(4))} KiB`);

/** Metrics for colors: value of a point, direction, text. */
export const METRICS = {
  time: { label: "time", value: (points, at) => points.seconds[at], less: true, log: true, text: (value, unit) => digits(value * unit[0]), unit: unit => unit[1] },
  rate: { label: "FLOP/s", value: (points, at) => points.rate[at], less: false, log: true, text: value => rateText(value).replace("FLOP/s", ""), unit: () => "FLOP/s" },
  registers: { label: "registers", value: (points, at) => points.registers[at], less: true, text: String, unit: () => "registers" },
  occupancy: { label: "occupancy", value: (points, at) => points.occupancy[at], less: false, text: value => `${Math.round(100 * value)}`, unit: () => "% occupancy" },
  shared: { label: "shared memory", value: (points, at) => points.shared_bytes[at], less: true, text: value => digits(value / 1024), unit: () => "KiB shared" },
};

export class Sweep {
  constructor(data) {
    this.data = data;
    this.parameters = data.parameters;
    this.points = data.points;
    this.count = data.points.state.length;
    const times = data.points.seconds.filter(seconds => seconds !== null);
    this.rateUnit = rateUnitOf(data.points.rate.reduce((a, b) => Math.max(a, b ?? 0), 0));
    this.unit = times.length ? unitOf(times.reduce((a, b) => Math.min(a, b))) : [1e6, "µs"];
  }

  state(point) { return this.data.states[this.points.state[point]][0]; }
  sign(point) { return this.data.states[this.points.state[point]][1]; }

  /** Parameter by name -> value. */
  config(point) {
    return Object.fromEntries(this.parameters.map(({ name, values }, axis) => [name, values[this.points.config[point][axis]]]));
  }

  /** The configuration in one line, without parameters that have one value only. */
  words(point) {
    return this.parameters.map(({ name, values }, axis) => (values.length > 1 ? `${name} ${values[this.points.config[point][axis]]}` : "")).filter(Boolean).join(", ");
  }

  /** [state, count] of states that occur. */
  counts() {
    const found = new Map();
    for (const state of this.points.state) found.set(state, (found.get(state) ?? 0) + 1);
    return this.data.states.map(([name], state) => [name, found.get(state) ?? 0]).filter(([, count]) => count);
  }

  /** Metrics with values. */
  metrics() {
    return Object.keys(METRICS).filter(name => this.points.state.some((_, at) => METRICS[name].value(this.points, at) !== null));
  }

  /** The scale of a metric: {share(point) -> 0 best .. 1 worst, null without a value; best, worst}. */
  scale(name) {
    const { value, less, log } = METRICS[name], of = at => (this.state(at) === "refused" ? null : value(this.points, at));
    const all = this.points.state.map((_, at) => of(at)).filter(one => one !== null);
    if (!all.length) return { best: null, worst: null, share: () => null };
    const low = all.reduce((a, b) => Math.min(a, b)), high = all.reduce((a, b) => Math.max(a, b));
    const f = log && low > 0 ? Math.log : one => one, room = Math.max(f(high) - f(low), log ? LEAST : 0);
    const share = at => { const one = of(at); return one === null ? null : room ? (less ? f(one) - f(low) : f(high) - f(one)) / room : 0; };
    return { best: less ? low : high, worst: less ? high : low, share };
  }

  /** The representative of several points: the fastest that runs, else the one with the most advanced state; -1 for none. */
  speaker(points) {
    const rank = point => RANK.indexOf(this.state(point));
    const time = point => (GONE.has(this.state(point)) ? Infinity : this.points.seconds[point] ?? Infinity);
    return points.reduce((best, point) => (best < 0 || time(point) < time(best) || (time(point) === time(best) && rank(point) < rank(best)) ? point : best), -1);
  }

  /** Points with fixed values: fixed[axis] is the index of a value, or null for all. */
  within(fixed) {
    return this.points.config.flatMap((config, point) => (config.every((value, axis) => fixed[axis] === null || fixed[axis] === undefined || fixed[axis] === value) ? [point] : []));
  }

  /** For each value of an axis the number of feasible points and of places: [[feasible, places]]. */
  feasible(axis, fixed) {
    return this.parameters[axis].values.map((_, value) => {
      const chosen = fixed.map((one, other) => (other === axis ? value : one)), inside = this.within(chosen);
      const places = this.parameters.reduce((product, { values }, other) => product * (chosen[other] === null ? values.length : 1), 1);
      return [inside.filter(point => !GONE.has(this.state(point))).length, places];
    });
  }

  /** {across, down, panels}: indices of axes, -1 for none; those with most values first. */
  layout() {
    const axes = this.parameters.map((_, axis) => axis).filter(axis => this.parameters[axis].values.length > 1)
      .sort((a, b) => this.parameters[b].values.length - this.parameters[a].values.length || a - b);
    const [across = 0, down = -1, ...rest] = axes;
    return { across: this.parameters.length ? across : -1, down, panels: rest.find(axis => this.parameters[axis].values.length <= 6) ?? -1 };
  }

  /**
   * The heat maps: [{value, rows: [{value, cells: [{points, point, reason}]}]}]. `fixed` holds for axes without a role
   * the shown value, or null for all, represented by the fastest.
   */
  maps({ across, down, panels }, fixed) {
    const laid = [across, down, panels], rest = this.parameters.map((_, axis) => axis).filter(axis => !laid.includes(axis)), found = new Map();
    const cell = config => laid.map(axis => (axis < 0 ? 0 : config[axis])).join();
    this.points.config.forEach((config, point) => {
      if (rest.some(axis => (fixed[axis] ?? null) !== null && fixed[axis] !== config[axis])) return;
      const key = cell(config);
      if (found.has(key)) found.get(key).push(point); else found.set(key, [point]);
    });
    const values = axis => (axis < 0 ? [0] : this.parameters[axis].values.map((_, value) => value));
    const shown = (axis, value) => (axis < 0 ? "" : this.parameters[axis].values[value]);
    return values(panels).map(panel => ({ value: shown(panels, panel), rows: values(down).map(row => ({
      value: shown(down, row), cells: values(across).map(column => {
        const points = found.get([column, row, panel].join()) ?? [], point = this.speaker(points);
        const place = this.parameters.map((_, axis) => (axis === across ? column : axis === down ? row : axis === panels ? panel : fixed[axis] ?? null));
        return { points, point, reason: point < 0 ? this.gap(place) : "" };
      }) })) }));
  }

  /** The reason of the holes at a place. */
  gap(place) {
    const reasons = new Set(this.data.holes.filter(([config]) => config.every((value, axis) => place[axis] === null || place[axis] === value)).map(([, reason]) => reason));
    return reasons.size ? [...reasons].join("; ") : "not tried";
  }

  /** Columns of the table: [{key, label, number, value(point), text(point)}]. */
  columns() {
    const { points } = this, some = name => points[name].some(value => value !== null && value !== "");
    const best = this.data.best < 0 ? null : points.seconds[this.data.best];
    const known = (value, text) => (value === null ? "" : text(value));
    return [
      { key: "state", label: "", title: "State", value: at => RANK.indexOf(this.state(at)), text: at => this.sign(at) },
      ...this.parameters.map(({ name, values }, axis) => ({ key: `p${axis}`, label: name, number: true, value: at => points.config[at][axis], text: at => String(values[points.config[at][axis]]) })),
      { key: "time", label: `time, ${this.unit[1]}`, number: true, value: at => points.seconds[at], text: at => known(points.seconds[at], value => digits(value * this.unit[0])) },
      some("low") && { key: "interval", label: "interval", number: true, value: at => points.low[at], text: at => known(points.low[at], low => `${digits(low * this.unit[0])} – ${digits(points.high[at] * this.unit[0])}`) },
      { key: "ratio", label: "× best", number: true, value: at => points.seconds[at], text: at => known(best && points.seconds[at], value => (value / best).toFixed(2)) },
      some("rate") && { key: "rate", label: this.rateUnit[1], number: true, value: at => points.rate[at], text: at => known(points.rate[at], value => digits(value * this.rateUnit[0])) },
      { key: "registers", label: "registers", number: true, value: at => points.registers[at], text: at => known(points.registers[at], String) },
      points.spill_bytes.some(bytes => bytes) && { key: "spills", label: "spills", number: true, value: at => points.spill_bytes[at], text: at => (points.spill_bytes[at] ? size(points.spill_bytes[at]) : "") },
      { key: "shared", label: "shared", number: true, value: at => points.shared_bytes[at], text: at => known(points.shared_bytes[at], size) },
      { key: "occupancy", label: "occupancy", number: true, value: at => points.occupancy[at], text: at => known(points.occupancy[at], value => `${Math.round(100 * value)} %`) },
      points.confidence?.some(one => one === "low") && { key: "confidence", label: "confidence", value: at => points.confidence[at], text: at => (points.confidence[at] === "low" ? "low" : "") },
      { key: "what", label: "bottleneck or reason", value: at => points.reason[at] || points.bound[at], text: at => points.reason[at] || points.bound[at] },
    ].filter(Boolean);
  }

  /** Points sorted by a column, those without a value last. `hidden`: states to skip. */
  sorted(key, down, hidden = new Set()) {
    const column = this.columns().find(one => one.key === key), none = value => value === null || value === undefined || value === "";
    return this.points.state.map((_, at) => at).filter(at => !hidden.has(this.state(at))).sort((a, b) => {
      const [one, other] = [column.value(a), column.value(b)];
      if (none(one) || none(other)) return none(one) - none(other) || a - b;
      const order = typeof one === "string" ? one.localeCompare(other) : one - other;
      return (down ? -order : order) || a - b;
    });
  }

  /** The points as CSV, in the order of the space; times in seconds. */
  csv() {
    const names = Object.keys(this.points).filter(name => name !== "config" && name !== "twin");
    const field = value => { const text = value === null ? "" : String(value); return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
    const rows = this.points.state.map((_, at) => [...Object.values(this.config(at)), ...names.map(name => (name === "state" ? this.state(at) : this.points[name][at]))]);
    return [[...this.parameters.map(({ name }) => name), ...names], ...rows].map(row => `${row.map(field).join(",")}\n`).join("");
  }

  /** A point as a sentence, for screen readers. */
  sentence(point) {
    const { points } = this, state = this.state(point), seconds = points.seconds[point];
    const time = seconds === null ? "" : ` ${timeText(seconds, this.unit)}`, best = point === this.data.best ? ", the best" : "";
    return `${this.words(point)}: ${state}${time}${best}${points.reason[point] ? `; ${points.reason[point]}` : ""}`;
  }
}
