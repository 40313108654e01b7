// Occupancy, as computed by pyptx.analysis.occupancy. Pure. `limits`: fields of pyptx.isa.targets.Limits.

const up = (value, unit) => Math.ceil(value / unit) * unit;

/** {blocks, warps, maxWarps, limits: resource -> blocks it allows, limiters} for registers per thread, threads and shared bytes per block. */
export function occupancy(has, { threads, registers, shared }) {
  const warps = Math.ceil(threads / 32), perWarp = up(registers * 32, has.regs_unit), limits = {};
  if (registers) {
    const fit = Math.floor(Math.floor(has.regs_per_sm / has.warp_unit) / perWarp) * has.warp_unit;
    limits.registers = registers > has.regs_per_thread || perWarp * up(warps, has.warp_unit) > has.regs_per_cta ? 0 : Math.floor(fit / warps);
  }
  const block = up(shared + has.smem_reserved, has.smem_unit);
  if (block) limits["shared memory"] = block > has.smem_per_cta + has.smem_reserved ? 0 : Math.floor(has.smem_per_sm / block);
  limits.warps = threads > has.threads_per_cta ? 0 : Math.floor(has.warps_per_sm / warps);
  limits.blocks = has.ctas_per_sm;
  const blocks = Math.min(...Object.values(limits));
  return { blocks, warps: blocks * warps, maxWarps: has.warps_per_sm, limits, limiters: Object.keys(limits).filter(name => limits[name] === blocks) };
}

/** Warps for each value of one resource: [[value, warps], ...]. */
export function curve(has, use, name) {
  const values = { registers: range(8, has.regs_per_thread + 1, 8).map(value => Math.min(value, has.regs_per_thread)),
                   threads: range(32, has.threads_per_cta, 32), shared: range(0, has.smem_per_cta, 1024) }[name];
  return values.map(value => [value, occupancy(has, { ...use, [name]: value }).warps]);
}

const range = (first, last, step) => Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => first + at * step);

/** For each resource the nearest value that allows more warps: [{name, value, warps}]. */
export function betters(has, use) {
  const now = occupancy(has, use).warps, found = [];
  const seek = (name, values) => {
    for (const value of values) {
      const { warps } = occupancy(has, { ...use, [name]: value });
      if (warps > now) { found.push({ name, value, warps }); return; }
    }
  };
  seek("registers", range(1, use.registers - 1, 1).reverse());
  seek("shared", range(0, Math.floor(Math.max(0, use.shared - 1) / 128) * 128, 128).reverse());
  const sizes = range(32, has.threads_per_cta, 32).filter(value => value !== use.threads);
  seek("threads", sizes.sort((a, b) => Math.abs(a - use.threads) - Math.abs(b - use.threads)));
  return found;
}
