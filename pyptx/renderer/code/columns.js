// The columns of numbers beside the code. Pure; `value` returns text, `share` in 0..1 draws a bar.

const some = number => (number > 0 ? String(number) : "");
const barrier = number => (number < 0 ? "" : String(number));
const mask = (bits, length) => (bits ? Array.from({ length }, (_, bit) => (bits >> bit & 1 ? bit : "·")).join("") : "");
const largest = list => list.reduce((most, number) => Math.max(most, number), 1);
const bytes = number => (number > 0 ? (number < 10000 ? String(number) : `${Math.round(number / 1024)}K`) : "");
const short = number => (number < 0 ? "" : number < 100000 ? String(number) : number < 1e8 ? `${(number / 1e6).toPrecision(3)}M`
                                                                                            : `${(number / 1e9).toPrecision(3)}G`);
const percent = (part, whole) => (part > 0 ? (part < whole / 2000 ? "<0.1%" : `${(100 * part / whole).toFixed(1)}%`) : "");
const COUNTERS = {
  issues: ["exec", "Times warps executed the PTX instruction, also one that became no machine code"],
  lanes: ["lanes", "Active lanes, summed over the issues"],
  shared_conflicts: ["bank", "Extra shared-memory passes due to bank conflicts"],
  global_sectors: ["sect", "32-byte sectors of global memory touched"],
  global_excess: ["uncoal", "Excess 32-byte sectors of global memory; zero if accesses are coalesced"],
  global_requests: ["reqs", "Warp-wide requests to global memory"],
  branches_divergent: ["div", "Divergent branches"],
};

const COSTS = ["shared_conflicts", "global_excess"];                // shown beside Python lines by default

const MEASURED_COSTS = ["conflicts", "sectors_excess"];

/** Columns of each pane: {key, label, title, width (characters), shown, value(row), share(row)?, plain?: nothing but text}. */
export function columnsOf(data) {
  const all = columns(data);
  for (const name of ["python", "ir", "ptx", "sass"]) for (const column of all[name]) column.plain = !column.share && !column.link;
  return all;
}

function columns(data) {
  const { python, ptx, sass } = data;
  const most = { python: largest(python.sass), ptx: largest(ptx.sass), live: largest(sass.live) };
  const digits = (list, least) => Math.max(least, String(largest(list)).length);
  const address = row => sass.address[row].toString(16).padStart(4, "0");
  const line = row => (ptx.stack[row] >= 0 ? String(python.line[data.stacks[ptx.stack[row]][0]]) : "");
  const counter = name => {
    const column = ptx.counters[name], top = largest(column);
    const [label, title] = COUNTERS[name] ?? [name.slice(0, 6), name.replaceAll("_", " ")];
    return { key: name, label, title: `${title} (simulated)`, width: 6, shown: name === "issues" && !ptx.issues?.length,
             value: row => (column[row] > 0 ? short(column[row]) : ""), share: row => Math.max(0, column[row]) / top };
  };
  const modeled = pane => (pane.modeled?.length ? [{
    key: "modeled", label: "time", title: `Share of the modeled time on ${data.modeled.gpu}: issue and stalls`, width: 6, shown: true,
    value: row => percent(pane.modeled[row], 1e6), share: row => pane.modeled[row] / largest(pane.modeled) }] : []);
  const profiled = (pane, main) => Object.entries(pane.profile ?? {}).map(([key, column]) => {
    const [label, meaning] = data.profiled.counters[key], top = largest(column), samples = key === "samples";
    return { key: `profile ${key}`, label, title: `Measured, ${data.profiled.source}: ${meaning}`, width: 6, shown: samples || (main && key === "executed") || MEASURED_COSTS.includes(key),
             value: row => (samples ? percent(column[row], data.profiled.samples) : column[row] > 0 ? short(column[row]) : ""), share: row => Math.max(0, column[row]) / top };
  });
  const spill = pane => (pane.spill?.some(size => size > 0) ? [{
    key: "spill", label: "spill", title: "Bytes of spill stores and loads per thread", width: 5, shown: true,
    value: row => bytes(pane.spill[row]), share: row => pane.spill[row] / largest(pane.spill) }] : []);
  const folded = Object.entries(python.counters ?? {}).filter(([name]) => name !== "lanes").map(([name, column]) => {
    const [label, title] = COUNTERS[name] ?? [name.slice(0, 6), name.replaceAll("_", " ")], top = largest(column);
    return { key: name, label, title: `${title} (simulated)`, width: 6, shown: COSTS.includes(name),
             value: row => short(column[row]).replace(/^0$/, ""), share: row => column[row] / top };
  });
  const ofPtx = name => ({ key: name, label: COUNTERS[name][0], title: `${COUNTERS[name][1]}of its PTX line (simulated)`, width: 6, shown: false,
                           value: row => (sass.ptx[row] >= 0 && ptx.counters[name][sass.ptx[row]] > 0 ? short(ptx.counters[name][sass.ptx[row]]) : "") });
  const counted = sass.issues?.length ? sass.issues : ptx.counters.issues ?? [];        // views saved by 0.1 have PTX counts alone
  const written = new Map();                                         // source location -> PTX lines
  for (const place of data.ir?.ptx_place ?? []) if (place >= 0) written.set(place, (written.get(place) ?? 0) + 1);
  const issued = counted.reduce((sum, number) => sum + Math.max(0, number), 0);
  const issues = { key: "issues", label: "issues", title: "Share of the SASS instructions issued in the simulated launch", width: 6, shown: true,
                   value: row => percent(python.issues[row], issued), share: row => python.issues[row] / issued };
  const projected = pane => (pane.issues?.length ? [{
    key: "issued", label: "issues", title: "SASS instructions issued in the simulated launch, from the counts of PTX lines", width: 6, shown: true,
    value: row => short(pane.issues[row]).replace(/^0$/, ""), share: row => pane.issues[row] / largest(pane.issues) }] : []);
  return {
    ir: data.ir ? [{ key: "ptx", label: "PTX", title: "PTX lines of the same source location", width: 4, shown: true, value: row => some(written.get(data.ir.place[row]) ?? 0) }] : [],
    python: [
      ...modeled(python), ...profiled(python), ...(issued ? [issues] : []),
      { key: "sass", label: "SASS", title: "SASS instructions of this line and of the helpers it calls", width: digits(python.sass, 4), shown: true,
        value: row => some(python.sass[row]), share: row => python.sass[row] / most.python },
      { key: "live", label: "live", title: "Peak live general registers", width: 4, shown: true,
        value: row => some(python.live[row]), share: row => python.live[row] / most.live },
      { key: "ptx", label: "PTX", title: "PTX lines of this line and of the helpers it calls", width: digits(python.ptx, 3), shown: false,
        value: row => some(python.ptx[row]) },
      ...spill(python), ...folded,
    ],
    ptx: [
      { key: "py", label: "Py", title: "Python line that emitted it", width: digits(python.line, 3), shown: python.text.length > 0, link: "python", value: line },
      { key: "sass", label: "SASS", title: "SASS instructions generated from it", width: 4, shown: true,
        value: row => some(ptx.sass[row]), share: row => ptx.sass[row] / most.ptx },
      { key: "live", label: "live", title: "Peak live general registers", width: 4, shown: false,
        value: row => some(ptx.live[row]), share: row => ptx.live[row] / most.live },
      ...modeled(ptx), ...profiled(ptx), ...projected(ptx), ...spill(ptx), ...Object.keys(ptx.counters).map(counter),
    ],
    sass: [
      { key: "ptx", label: "PTX", title: "PTX line it was generated from; + means added by ptxas", width: Math.max(3, String(ptx.text.length).length), shown: true, link: "ptx",
        value: row => (sass.ptx[row] >= 0 ? String(sass.ptx[row] + 1) : "+") },
      { key: "live", label: "live", title: "Live general registers", width: 4, shown: true,
        value: row => some(sass.live[row]), share: row => sass.live[row] / most.live },
      ...modeled(sass), ...profiled(sass, true),
      { key: "live_pred", label: "P", title: "Live predicate registers", width: 2, shown: false, value: row => some(sass.live_pred[row]) },
      { key: "live_uniform", label: "UR", title: "Live uniform registers", width: 3, shown: false, value: row => some(sass.live_uniform[row]) },
      { key: "stall", label: "st", title: "Stall cycles before the next instruction may issue", width: 3, shown: true,
        value: row => some(sass.stall[row]) },
      { key: "yields", label: "Y", title: "Yield flag as encoded", width: 2, shown: false, value: row => (sass.yields[row] ? "Y" : "") },
      { key: "write", label: "W", title: "Scoreboard released when the result is written", width: 2, shown: true,
        value: row => barrier(sass.write_barrier[row]) },
      { key: "read", label: "R", title: "Scoreboard released when the operands have been read", width: 2, shown: true,
        value: row => barrier(sass.read_barrier[row]) },
      { key: "wait", label: "wait", title: "Scoreboards 0 to 5 that it waits for", width: 7, shown: true, value: row => mask(sass.wait[row], 6) },
      { key: "reuse", label: "reuse", title: "Operand slots held in the reuse cache", width: 5, shown: false, value: row => mask(sass.reuse[row], 4) },
      { key: "group", label: "kind", title: "Instruction group", width: 9, shown: false, value: row => data.groups[sass.group[row]] },
      ...spill(sass), ...projected(sass), ...(sass.issues?.length ? COSTS : ["issues", ...COSTS]).filter(name => ptx.counters[name]).map(ofPtx),
    ],
    number: { python: row => String(python.line[row]), ir: row => String(row + 1), ptx: row => String(row + 1), sass: address },
  };
}

/** Width of the line numbers, in characters. */
export function numberWidth(data) {
  return { python: Math.max(3, String(largest(data.python.line)).length), ir: Math.max(3, String(data.ir?.text.length ?? 0).length), ptx: Math.max(3, String(data.ptx.text.length).length),
           sass: Math.max(4, (data.sass.address.at(-1) ?? 0).toString(16).length) };
}
