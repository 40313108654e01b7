// What a machine instruction waits for and who waits for it. Pure; rows count from 0.

export const SIGNS = { takes: "▸", awaits: "»", uses: "◂" };        // of a line that gives to, is waited for by, takes from the pinned one

/** needsOf(row): {takes, awaits, uses, freed}: rows whose results it reads, that set a barrier it waits for; that read its result, that wait for its barrier. */
export function needsIndex({ text, takes = [], awaits = [] }) {
  const rowsOf = column => row => (column[row] ?? []).map(distance => row - distance).sort((a, b) => a - b);
  const made = rowsOf(takes), asked = rowsOf(awaits);
  let users = null, waiters = null;
  const turned = rows => {
    const found = text.map(() => []);
    text.forEach((_, row) => rows(row).forEach(source => found[source]?.push(row)));
    return found;
  };
  return row => {
    users ??= turned(made);
    waiters ??= turned(asked);
    return { takes: made(row), awaits: asked(row), uses: users[row], freed: waiters[row] };
  };
}

/** The sign of each line that has to do with a line: row -> "takes" | "awaits" | "uses". */
export function signs({ takes, awaits, uses, freed }) {
  const found = new Map();
  for (const row of [...uses, ...freed]) found.set(row, "uses");
  for (const row of awaits) found.set(row, "awaits");
  for (const row of takes) found.set(row, awaits.includes(row) ? "awaits" : "takes");
  return found;
}

/** The line to go to from `row`, up the flow of values (direction -1) or down (1): what it waits for before what it only reads; -1: none. */
export function along({ takes, awaits, uses, freed }, row, direction) {
  const near = rows => rows.filter(other => other !== row).sort((a, b) => Math.abs(a - row) - Math.abs(b - row))[0];
  const found = direction < 0 ? near(awaits) ?? near(takes) : near(uses) ?? near(freed);
  return found ?? -1;
}
