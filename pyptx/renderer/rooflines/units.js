// Numbers with SI prefixes, and logarithmic axes, as in pyptx.views.rooflines.units. Pure.

const LARGE = ["", "k", "M", "G", "T", "P", "E", "Z"], SMALL = ["", "m", "µ", "n", "p"];
const { ceil, floor, log10 } = Math;
const near = value => Math.round(value * 1e9) / 1e9;

/** "989 TFLOP/s", "3.4 µs", "0 B": three digits. */
export function quantity(value, unit) {
  if (value === 0) return `0 ${unit}`;
  let step = Math.min(Math.max(floor(log10(Math.abs(value)) / 3), 1 - SMALL.length), LARGE.length - 1);
  if (near(Math.abs(value) / 1000 ** step) >= 999.5 && step < LARGE.length - 1) step += 1;
  return `${number(value / 1000 ** step)} ${step >= 0 ? LARGE[step] : SMALL[-step]}${unit}`;
}

/** Three significant digits at least, without the zeros that end a fraction. */
export function number(value) {
  const text = value.toFixed(value ? Math.max(0, 2 - floor(log10(Math.abs(value)))) : 0);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A tick of an axis that counts without a unit. */
export const power = value => (value >= 0.001 && value < 10000 ? String(Number(value.toPrecision(6))) : quantity(value, "").replace(" ", ""));

/** The range of a logarithmic axis: the values with a factor of margin below and above. */
export function axis(values, below, above, decades) {
  const high = ceil(log10(Math.max(...values) * above) * 8) / 8;
  return [10 ** Math.min(floor(log10(Math.min(...values) / below) * 8) / 8, high - decades), 10 ** high];
}

/** [labeled powers of ten, lines between them] of an axis. */
export function ticks(low, high, most = 9) {
  const first = ceil(near(log10(low))), last = floor(near(log10(high))), step = Math.max(1, ceil((last - first + 1) / most));
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n), ten = n => Number(`1e${n}`);
  const between = powers.filter(n => (n - first) % step).map(ten);
  if (step === 1 && last - first < 6) for (let n = first - 1; n <= last; n += 1) for (let k = 2; k < 10; k += 1) between.push(k * ten(n));
  return [powers.filter(n => (n - first) % step === 0).map(ten), between.filter(value => low <= value && value <= high)];
}
