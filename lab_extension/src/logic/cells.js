// Which language a cell holds, by the magic on its first line.

export const PTX_MIME = "text/x-ptx";
export const SASS_MIME = "text/x-nvidia-sass";
export const CUDA_MIME = "text/x-cuda";
export const CPP_MIME = "text/x-c++src";                // the editor's C++, which reads CUDA C++ as well

const MIMES = new Map([["ptx", PTX_MIME], ["cuda", CUDA_MIME]]);
const MAGIC = /^\s*%%(\w+)\b/;

/** MIME type of a code cell whose magic says so, null for the notebook's own language. @param {string} source */
export function mimeOf(source) {
  return MIMES.get(MAGIC.exec(source)?.[1] ?? "") ?? null;
}

/** The PTX of a `%%ptx` cell, with an empty line in place of the magic, so that line numbers stay. Other text as it is. @param {string} source */
export function ptxOf(source) {
  if (mimeOf(source) !== PTX_MIME) return source;
  const lines = source.split("\n");
  const magic = lines.findIndex(line => MAGIC.test(line));
  return lines.map((line, number) => (number <= magic ? "" : line)).join("\n");
}

/** Lines of a `%%ptx` cell up to its magic, null for another cell: line 1 of the PTX is the one behind them. @param {string} source */
export function bodyOf(source) {
  return mimeOf(source) !== PTX_MIME ? null : source.split("\n").findIndex(line => MAGIC.test(line)) + 1;
}

/** True for the text of a `%%cuda` cell, or of a file that is compiled by itself: a header belongs to the files that include it. @param {string} source @param {string | null} path */
export function isCuda(source, path) {
  return MAGIC.exec(source)?.[1] === "cuda" || Boolean(path?.endsWith(".cu"));
}

/** The target that a `%%ptx` cell asks for with --arch, null where it does not. @param {string} source */
export function targetOf(source) {
  const line = MAGIC.test(source) ? source.trimStart().split("\n")[0] : "";
  return /\s--arch[=\s]+(\w+)/.exec(line)?.[1] ?? null;
}

/** Whether a cell holds kernels in Python. @param {string} source */
export function isKernelCell(source) {
  return MAGIC.exec(source)?.[1] === "ptxkernel";
}

/** Whether a Python cell may contain PTX, in a string or as instructions. @param {string} source */
export function mayHavePtx(source) {
  return /\.version\b|\bptx\s*\.\s*(?:raw|inst)\b/.test(source);
}
