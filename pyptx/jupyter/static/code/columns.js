// The columns of numbers beside the code: what each shows of the data. Pure; `value` gives text, `share` 0..1 draws a bar.

const some = number => (number > 0 ? String(number) : "");
const barrier = number => (number < 0 ? "" : String(number));
const mask = (bits, length) => (bits ? Array.from({ length }, (_, bit) => (bits >> bit & 1 ? bit : "·")).join("") : "");
const largest = list => list.reduce((most, number) => Math.max(most, number), 1);
const bytes = number => (number > 0 ? (number < 10000 ? String(number) : `${Math.round(number / 1024)}K`) : "");
const short = number => (number < 0 ? "" : number < 100000 ? String(number) : number < 1e8 ? `${(number / 1e6).toPrecision(3)}M`
                                                                                            : `${(number / 1e9).toPrecision(3)}G`);
const percent = (part, whole) => (part > 0 ? (part < whole / 2000 ? "<0.1%" : `${(100 * part / whole).toFixed(1)}%`) : "");
const COUNTERS = {
  issues: ["issues", "Warp instructions issued in the simulated launch"],
  lanes: ["lanes", "Active lanes, summed over the issues"],
  shared_conflicts: ["bank", "Extra shared-memory passes caused by bank conflicts"],
  global_sectors: ["sect", "32-byte sectors of global memory touched"],
  global_excess: ["uncoal", "32-byte sectors of global memory beyond the fewest that hold the bytes: none where accesses are coalesced"],
  global_requests: ["reqs", "Warp-wide requests to global memory"],
  branches_divergent: ["div", "Branches at which a warp diverged"],
};

const COSTS = ["shared_conflicts", "global_excess"];                // what a Python line should be told of

/** Columns of each pane: {key, label, title, width (characters), shown, value(row), share(row)?, plain?: nothing but text}. */
export function columnsOf(data) {
  const all = columns(data);
  for (const name of ["python", "ptx", "sass"]) for (const column of all[name]) column.plain = !column.share && !column.link;
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
    return { key: name, label, title: `${title} (simulated)`, width: 6, shown: name === "issues",
             value: row => (column[row] > 0 ? short(column[row]) : ""), share: row => Math.max(0, column[row]) / top };
  };
  const spill = pane => (pane.spill?.some(size => size > 0) ? [{
    key: "spill", label: "spill", title: "Bytes a thread stores and loads because registers were spilled", width: 5, shown: true,
    value: row => bytes(pane.spill[row]), share: row => pane.spill[row] / largest(pane.spill) }] : []);
  const folded = Object.entries(python.counters ?? {}).filter(([name]) => name !== "lanes").map(([name, column]) => {
    const [label, title] = COUNTERS[name] ?? [name.slice(0, 6), name.replaceAll("_", " ")], top = largest(column);
    return { key: name, label, title: `${title} (simulated)`, width: 6, shown: COSTS.includes(name),
             value: row => short(column[row]).replace(/^0$/, ""), share: row => column[row] / top };
  });
  const ofPtx = name => ({ key: name, label: COUNTERS[name][0], title: `${COUNTERS[name][1]}: of its PTX line (simulated)`, width: 6, shown: false,
                           value: row => (sass.ptx[row] >= 0 && ptx.counters[name][sass.ptx[row]] > 0 ? short(ptx.counters[name][sass.ptx[row]]) : "") });
  const issued = (ptx.counters.issues ?? []).reduce((sum, number) => sum + Math.max(0, number), 0);
  const issues = { key: "issues", label: "issues", title: "Share of the warp instructions issued in the simulated launch", width: 6, shown: true,
                   value: row => percent(python.issues[row], issued), share: row => python.issues[row] / issued };
  return {
    python: [
      ...(issued ? [issues] : []),
      { key: "sass", label: "SASS", title: "SASS instructions of this line and of the helpers it calls", width: digits(python.sass, 4), shown: true,
        value: row => some(python.sass[row]), share: row => python.sass[row] / most.python },
      { key: "live", label: "live", title: "Most general registers live at any of them", width: 4, shown: true,
        value: row => some(python.live[row]), share: row => python.live[row] / most.live },
      { key: "ptx", label: "PTX", title: "PTX lines of this line and of the helpers it calls", width: digits(python.ptx, 3), shown: false,
        value: row => some(python.ptx[row]) },
      ...spill(python), ...folded,
    ],
    ptx: [
      { key: "py", label: "Py", title: "Python line that wrote it", width: digits(python.line, 3), shown: python.text.length > 0, link: "python", value: line },
      { key: "sass", label: "SASS", title: "SASS instructions it became", width: 4, shown: true,
        value: row => some(ptx.sass[row]), share: row => ptx.sass[row] / most.ptx },
      { key: "live", label: "live", title: "Most general registers live at any of them", width: 4, shown: false,
        value: row => some(ptx.live[row]), share: row => ptx.live[row] / most.live },
      ...spill(ptx), ...Object.keys(ptx.counters).map(counter),
    ],
    sass: [
      { key: "ptx", label: "PTX", title: "PTX line it comes from; + means added by ptxas", width: Math.max(3, String(ptx.text.length).length), shown: true, link: "ptx",
        value: row => (sass.ptx[row] >= 0 ? String(sass.ptx[row] + 1) : "+") },
      { key: "live", label: "live", title: "General registers live", width: 4, shown: true,
        value: row => some(sass.live[row]), share: row => sass.live[row] / most.live },
      { key: "live_pred", label: "P", title: "Predicate registers live", width: 2, shown: false, value: row => some(sass.live_pred[row]) },
      { key: "live_uniform", label: "UR", title: "Uniform registers live", width: 3, shown: false, value: row => some(sass.live_uniform[row]) },
      { key: "stall", label: "st", title: "Stall count: cycles before the next instruction may issue", width: 3, shown: true,
        value: row => some(sass.stall[row]) },
      { key: "yields", label: "Y", title: "Yield flag as encoded", width: 2, shown: false, value: row => (sass.yields[row] ? "Y" : "") },
      { key: "write", label: "W", title: "Barrier that is released when the result is written", width: 2, shown: true,
        value: row => barrier(sass.write_barrier[row]) },
      { key: "read", label: "R", title: "Barrier that is released when the operands have been read", width: 2, shown: true,
        value: row => barrier(sass.read_barrier[row]) },
      { key: "wait", label: "wait", title: "Barriers it waits for, of 0 to 5", width: 7, shown: true, value: row => mask(sass.wait[row], 6) },
      { key: "reuse", label: "reuse", title: "Operand slots kept in the reuse cache", width: 5, shown: false, value: row => mask(sass.reuse[row], 4) },
      { key: "group", label: "kind", title: "Kind of work", width: 9, shown: false, value: row => data.groups[sass.group[row]] },
      ...spill(sass), ...["issues", ...COSTS].filter(name => ptx.counters[name]).map(ofPtx),
    ],
    number: { python: row => String(python.line[row]), ptx: row => String(row + 1), sass: address },
  };
}

/** How wide the numbers beside the code are, in characters. */
export function numberWidth(data) {
  return { python: Math.max(3, String(largest(data.python.line)).length), ptx: Math.max(3, String(data.ptx.text.length).length),
           sass: Math.max(4, (data.sass.address.at(-1) ?? 0).toString(16).length) };
}
