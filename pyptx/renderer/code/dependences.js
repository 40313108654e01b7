// Producers and consumers of machine instructions. Pure; rows count from 0.

export const SIGNS = { takes: "▸", awaits: "»", uses: "◂" };        // of a producer, a scoreboard setter, a consumer of the pinned line

/**
 * Returns row -> {takes, awaits, uses, freed, stalled}: producers, setters of awaited scoreboards, consumers, instructions that await its
 * scoreboard; `stalled`: those it waits for in the model, longest first, or without a model the setters of awaited scoreboards.
 */
export function dependenceIndex({ text, takes = [], awaits = [], stalled_on = [] }) {
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
    const stalled = stalled_on.length ? stalled_on[row].map(distance => row - distance) : asked(row).reverse();
    return { takes: made(row), awaits: asked(row), uses: users[row], freed: waiters[row], stalled };
  };
}

/** The role of each related line: row -> "takes" | "awaits" | "uses". */
export function signs({ takes, awaits, uses, freed }) {
  const found = new Map();
  for (const row of [...uses, ...freed]) found.set(row, "uses");
  for (const row of awaits) found.set(row, "awaits");
  for (const row of takes) found.set(row, awaits.includes(row) ? "awaits" : "takes");
  return found;
}

/** The producer (direction -1) or consumer (1) of `row`: the one it waits for longest, else the nearest, awaited ones first; -1 for none. */
export function along({ takes, awaits, uses, freed, stalled = [] }, row, direction) {
  const near = rows => rows.filter(other => other !== row).sort((a, b) => Math.abs(a - row) - Math.abs(b - row))[0];
  const found = direction < 0 ? stalled.find(other => other !== row) ?? near(awaits) ?? near(takes) : near(uses) ?? near(freed);
  return found ?? -1;
}
