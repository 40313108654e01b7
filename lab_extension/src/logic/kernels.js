// The panel's rows: kept versions from the server, joined with what the running kernel has.

/**
 * @typedef {{ref: string, number: number, labels: string[], target: string, params: Record<string, string>, options: string[], registers: number, spills: number, shared: number,
 *            instructions: number | null, occupancy: {percent: number | null, why: string} | null, cell: string | null, notebook: string | null, last: number}} Version
 * @typedef {{name: string, versions: Version[]}} Kept
 * @typedef {{device: {backend: string, arch: string | null}, notebook: string | null, kernels: {name: string, variable: string, arch: string | null, cells?: Record<string, string>, check?: Verdict | null}[]}} Session
 * @typedef {{name: string, live: boolean, arch: string, versions: Version[], cells: Record<string, string>, check: Verdict | null}} Row
 * @typedef {{ok: boolean, text: string}} Verdict
 */

/** Kernels in order: those that the running kernel has first, each group as the server lists it. @param {Kept[]} kept @param {Session | null} session @returns {Row[]} */
export function rows(kept, session) {
  const defined = new Map((session?.kernels ?? []).map(kernel => [kernel.name, kernel]));
  const listed = kept.map(({ name, versions }) => ({ name, live: defined.has(name), arch: versions[0].target, versions, cells: defined.get(name)?.cells ?? {}, check: defined.get(name)?.check ?? null }));
  const known = new Set(kept.map(({ name }) => name));
  const bare = [...defined.values()].filter(({ name }) => !known.has(name))
    .map(({ name, arch, cells, check }) => ({ name, live: true, arch: arch ?? "", versions: [], cells: cells ?? {}, check: check ?? null }));
  return [...listed.filter(row => row.live), ...bare, ...listed.filter(row => !row.live)];
}

/** Bytes for people. @param {number} bytes */
export const size = bytes => (bytes < 1024 ? `${bytes} B` : `${Number((bytes / 1024).toPrecision(4))} KiB`);

/** Parameters and options of a version in one line. @param {Version} version */
export function configuration(version) {
  return [...Object.entries(version.params).map(([name, value]) => `${name}=${value}`), ...version.options].join(" ");
}

/** What changed from `before` to `version`, as signed numbers, e.g. {registers: 4}. @param {Version} version @param {Version | undefined} before */
export function changes(version, before) {
  /** @type {Record<string, number>} */
  const found = {};
  if (!before) return found;
  for (const key of /** @type {const} */ (["registers", "spills", "shared", "instructions"])) {
    const [now, then] = [version[key], before[key]];
    if (now !== null && then !== null && now !== then) found[key] = now - then;
  }
  return found;
}

/** Where kernels run, for the status bar: {words, arch}; null while nothing is known. @param {Session | null} session */
export function where(session) {
  if (!session) return null;
  return session.device.backend === "sim" ? { simulated: true, arch: null } : { simulated: false, arch: session.device.arch };
}
