// The debugger's document, converted for the parts of the view. Pure. Rows of panes count from 0, -1 for none; lines of the document from 1.

export const STATES = { running: ["▶", "running"], ready: ["○", "ready"], waiting: ["◷", "waiting"], exited: ["✓", "exited"] };
export const REASONS = { start: ["▷", "start"], step: ["▸", "stepped"], breakpoint: ["●", "breakpoint"], watchpoint: ["◆", "watchpoint"], fault: ["✕", "fault"],
                         deadlock: ["⊘", "deadlock"], exit: ["✓", "ended"], interrupt: ["❚❚", "paused"], finding: ["!", "finding"] };
export const KINDS = ["run", "wait", "issued", "in flight", "completed", "waited"];

/** The sources in the form of a linked view's data without machine code, as panes, links and search need it. */
export function codeOf(sources, help = {}) {
  const text = [], line = [], sections = [], rowOf = new Map();
  sources.python.forEach((source, file) => {
    if (sources.python.length > 1) { text.push(""); line.push(0); }
    sections.push({ start: text.length, count: source.lines.length, file: source.file, name: source.name ?? source.file, function: source.function ?? "", role: source.role ?? "" });
    source.lines.forEach((code, at) => {
      rowOf.set(`${file}:${source.first + at}`, text.length);
      text.push(code);
      line.push(source.first + at);
    });
  });
  const stacks = [], stackIds = new Map();
  const stack = sources.ptx.map((_, row) => {
    const calls = sources.stack_of_ptx?.[row] ?? (sources.line_of_ptx[row] ? [[sources.file_of_ptx?.[row] ?? 0, sources.line_of_ptx[row]]] : []);
    const rows = calls.map(([file, at]) => rowOf.get(`${file}:${at}`)).filter(found => found !== undefined), key = rows.join();
    if (!rows.length) return -1;
    if (!stackIds.has(key)) { stackIds.set(key, stacks.length); stacks.push(rows); }
    return stackIds.get(key);
  });
  return { kind: "linked", title: "", python: { text, line, sections }, ptx: { text: sources.ptx, stack }, sass: { text: [], ptx: [], address: [], live: [] },
           stacks, help, rowOf };
}

/** The row of a Python line in a file, given by its path or name; -1 if it is not among the sources. */
export function pythonRow(code, file, line) {
  if (!line) return -1;
  const last = path => String(path ?? "").split(/[\\/]/).at(-1);
  const { sections } = code.python;
  const inside = section => { const row = code.python.line.indexOf(line, section.start); return row >= 0 && row < section.start + section.count ? row : -1; };
  for (const same of [section => section.file === file || section.name === file, section => last(section.file) === last(file), section => !file && section]) {
    for (const section of sections) if (same(section)) { const row = inside(section); if (row >= 0) return row; }
  }
  return -1;
}

/** Python rows, innermost first, that emitted a PTX line (from 1). */
export const stackAt = (code, ptx) => (code.ptx.stack[ptx - 1] >= 0 ? code.stacks[code.ptx.stack[ptx - 1]] : []);

/**
 * Places of the warps of the focused CTA's cluster and of breakpoints, for each pane as a Map row -> ...:
 * {here: {python, ptx} rows of the focused warp, callers: Set of Python rows, others: {python, ptx}: row -> [warp], points: {python, ptx}: row -> [breakpoint]}.
 */
export function places(code, state) {
  const others = { python: new Map(), ptx: new Map() }, points = { python: new Map(), ptx: new Map() };
  const add = (map, row, item) => { if (row >= 0 && !map.get(row)?.includes(item)) map.set(row, [...(map.get(row) ?? []), item]); };
  const own = stackAt(code, state.place.ptx), named = pythonRow(code, state.place.file, state.place.line);
  const here = { python: named >= 0 ? named : own[0] ?? -1, ptx: state.place.ptx ? state.place.ptx - 1 : -1 };
  const callers = new Set(own.length > 1 ? own.slice(1) : (state.place.stack ?? []).slice(1).map(call => pythonRow(code, call.file, call.line)));
  for (const warp of state.warps) {
    if (isFocus(state, warp) || warp.state === "exited" || !warp.ptx || !nearby(state, warp.cta)) continue;
    add(others.ptx, warp.ptx - 1, warp);
    add(others.python, stackAt(code, warp.ptx)[0] ?? -1, warp);
  }
  for (const point of state.breakpoints) {
    for (const line of point.ptx ?? []) add(points.ptx, line - 1, point);
    const asPtx = /^ptx:/.test(point.text), row = asPtx ? -1 : pythonRow(code, point.file, point.line);
    if (row >= 0) add(points.python, row, point);
    else if (!asPtx) for (const line of (point.ptx ?? []).slice(0, 1)) add(points.python, stackAt(code, line)[0] ?? -1, point);
  }
  return { here, callers, others, points };
}

export const sameCta = (one, other) => one.every((part, at) => part === other[at]);
export const isFocus = (state, warp) => warp.warp === state.focus.warp && sameCta(warp.cta, state.focus.cta);

/** True if a CTA belongs to the focused one's cluster. */
const nearby = (state, cta) => cta.every((part, at) => Math.floor(part / (state.cluster?.[at] ?? 1)) === Math.floor(state.focus.cta[at] / (state.cluster?.[at] ?? 1)));

/** "CTA 1,0 warp 3", or "warp 3" in a grid of one CTA. */
export function warpName(state, { cta, warp }, short = false) {
  const ctas = state.grid[0] * state.grid[1] * state.grid[2] > 1;
  const where = cta.slice(0, state.grid[2] > 1 ? 3 : state.grid[1] > 1 ? 2 : 1).join(",");
  return short ? `${ctas ? `${where}·` : ""}w${warp}` : `${ctas ? `CTA ${where} ` : ""}warp ${warp}`;
}

/** The place of a breakpoint at a row: PTX by line, Python by file and line. */
export function placeOfRow(code, pane, row) {
  if (pane === "ptx") return `ptx:${row + 1}`;
  const section = code.python.sections.find(({ start, count }) => row >= start && row < start + count);
  return section && code.python.line[row] ? `${section.file}:${code.python.line[row]}` : null;
}

export const laneOn = (mask, lane) => (mask >>> lane & 1) === 1;
export const countLanes = mask => Array.from({ length: 32 }, (_, lane) => laneOn(mask, lane)).filter(Boolean).length;

/** Warps to list, those of the focused CTA's cluster first, and the number `left` out. wanted: a state, or "" for all. */
export function warpsShown(state, wanted = "", most = 128) {
  const fits = state.warps.filter(warp => !wanted || warp.state === wanted), near = fits.filter(warp => nearby(state, warp.cta));
  const ordered = near.length < fits.length ? [...near, ...fits.filter(warp => !nearby(state, warp.cta))] : fits, at = ordered.findIndex(warp => isFocus(state, warp));
  const shown = ordered.slice(0, most);
  if (at >= most) shown[most - 1] = ordered[at];
  return { shown, left: fits.length - shown.length };
}

// registers ------------------------------------------------------------------------------------------------------------

/** Registers whose names or type match a filter, those with Python names first. */
export function registersShown(registers, { filter = "", changed = false, most = 200 } = {}) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = registers.filter(register => (!changed || register.changed)
    && words.every(word => `${register.python ?? ""} ${register.name} ${register.type}`.toLowerCase().includes(word)));
  const ordered = [...fits.filter(register => register.python), ...fits.filter(register => !register.python)];
  return { shown: ordered.slice(0, most), left: ordered.length - Math.min(most, ordered.length) };
}

/** A value as a number, or NaN: "1.5", "0x1f", "-inf", "true", and the first of "(1, 2)". */
export function numeric(text) {
  if (text === null || text === undefined) return NaN;
  const word = String(text).replace(/^[[({]\s*/, "").split(/[,\s)\]}]/)[0].toLowerCase();
  if (word === "true" || word === "false") return word === "true" ? 1 : 0;
  if (/^[+-]?inf/.test(word)) return word[0] === "-" ? -Infinity : Infinity;
  return word === "" ? NaN : Number(word);
}

/**
 * The lanes of a register as shades 0..1, null without a value. Numbers are scaled between minimum and maximum;
 * other values are numbered.
 */
export function shades(lanes) {
  const known = lanes.filter(value => value !== null && value !== undefined), numbers = known.map(numeric);
  const finite = numbers.filter(Number.isFinite);
  if (numbers.some(Number.isNaN) && !finite.length) {
    const distinct = [...new Set(known)];
    return lanes.map(value => (value === null || value === undefined ? null : distinct.length > 1 ? distinct.indexOf(value) / (distinct.length - 1) : 0.5));
  }
  const least = Math.min(...finite), most = Math.max(...finite);
  return lanes.map(value => {
    if (value === null || value === undefined) return null;
    const number = numeric(value);
    if (Number.isNaN(number)) return null;
    return most > least ? Math.min(1, Math.max(0, (number - least) / (most - least))) : 0.5;
  });
}

/** Summary of the lanes of a register: "all 3", "0 to 31", "4 values". */
export function spread({ lanes, uniform }) {
  const known = lanes.filter(value => value !== null && value !== undefined), distinct = new Set(known);
  if (!known.length) return "no value";
  if (uniform || distinct.size === 1) return known.length === 32 || uniform ? `all ${known[0]}` : `${known[0]} in ${known.length} lanes`;
  const finite = known.filter(value => Number.isFinite(numeric(value)));
  if (finite.length === known.length) {
    const order = [...finite].sort((one, other) => numeric(one) - numeric(other));
    return `${order[0]} to ${order.at(-1)}`;
  }
  return `${distinct.size} values`;
}

// matrices -------------------------------------------------------------------------------------------------------------

/** The visible page of a matrix: [first, end) of rows and columns. */
export function partOf({ rows, columns }, [row, column], most = [32, 32]) {
  const span = (count, at, limit) => { const first = Math.max(0, Math.min(at, count - 1) - Math.min(at, count - 1) % limit); return [first, Math.min(count, first + limit)]; };
  return { rows: span(rows, row, most[0]), columns: span(columns, column, most[1]) };
}

/**
 * The target of a pager at [first, end): {here: first} among the `count` loaded items from `offset` of `whole`,
 * {ask: first of the whole} beyond them, or null at either end.
 */
export function turned([first, end], { count, offset, whole }, step, direction, canAsk) {
  if (direction > 0) {
    if (end < count) return { here: end };
    return offset + end < whole && canAsk ? { ask: offset + end } : null;
  }
  if (first > 0) return { here: Math.max(0, first - step) };
  return offset > 0 && canAsk ? { ask: Math.max(0, offset - step) } : null;
}

/** A long number with four digits, for a cell; the tooltip shows all of it. */
export function brief(text) {
  if (text === null || text === undefined) return "–";
  if (text.length < 7 || !/^-?\d*\.?\d+(e[+-]?\d+)?$/i.test(text) || /^-?\d+$/.test(text)) return text;
  const number = Number(text), size = Math.abs(number);
  return size >= 1e5 || size < 1e-3 && number ? number.toExponential(2) : String(Number(number.toPrecision(4)));
}

export const hex = address => `0x${address.toString(16)}`;

// timeline -------------------------------------------------------------------------------------------------------------

const FINEST = 3;                 // pixels

/**
 * The spans of a row inside the window [from, to], as shares of it: [{left, width, kind, text, ptx, from, to}].
 * Spans narrower than a few pixels are merged, so that a long run has a bounded number.
 */
export function spansShown(spans, [from, to], now, pixels = 900) {
  const scale = 1 / Math.max(1, to - from), found = [];
  for (const span of spans) {
    const end = Math.max(span.to ?? now, span.from + 1);
    if (end <= from || span.from >= to) continue;
    const left = (Math.max(span.from, from) - from) * scale, right = (Math.min(end, to) - from) * scale, before = found.at(-1);
    if (before && (right - before.left) * pixels < FINEST || before?.kind === span.kind && (left - before.left - before.width) * pixels < 1 && (right - left) * pixels < FINEST) {
      before.width = Math.max(before.width, right - before.left);
      before.count += 1;
      before.to = span.to;
      continue;
    }
    found.push({ left, width: right - left, kind: span.kind, text: span.text, ptx: span.ptx ?? null, from: span.from, to: span.to, count: 1 });
  }
  return found;
}

/** Round steps for the axis of a window, about `wanted` of them. */
export function ticks([from, to], wanted = 8) {
  const rough = (to - from) / wanted, power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = Math.max(1, [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough) ?? power);
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}

/** The window [from, to] zoomed by `factor` around a step, within [0, end]. */
export function zoomed([from, to], around, factor, end) {
  const length = Math.min(end, Math.max(8, (to - from) * factor));
  if (length >= end) return [0, Math.max(1, end)];
  const share = (around - from) / Math.max(1, to - from), start = Math.min(end - length, Math.max(0, around - share * length));
  return [Math.round(start), Math.round(start + length)];
}

/** The queue with a further command; consecutive steps are merged. */
export function queued(waiting, name, values) {
  const last = waiting.at(-1);
  if (last?.name === name && (name === "step" || name === "back")) { last.values.n += values.n ?? 1; return waiting; }
  if (name === "goto" && last?.name === "goto") { last.values = values; return waiting; }
  return [...waiting, { name, values: name === "step" || name === "back" ? { n: 1, ...values } : values }];
}
