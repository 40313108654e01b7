// Help texts of pyptx.language: paragraphs with `code` and [links](...), and blocks of code, as Markdown.

/**
 * @typedef {{text: string, code?: boolean, href?: string}} Piece
 * @typedef {{code: string} | {pieces: Piece[]}} Part
 */

/** The parts of a help text, in order. @param {string} markdown @returns {Part[]} */
export function parts(markdown) {
  /** @type {Part[]} */
  const found = [];
  markdown.split(/^```\w*\n([\s\S]*?)\n```$/m).forEach((text, at) => {
    if (at % 2) found.push({ code: text });
    else for (const one of text.split("\n\n")) if (one.trim()) found.push({ pieces: pieces(one.trim()) });
  });
  return found;
}

/** @param {string} text @returns {Piece[]} */
function pieces(text) {
  /** @type {Piece[]} */
  const found = [];
  let at = 0;
  for (const match of text.matchAll(/`([^`]+)`|\[([^\]]+)\]\((https:[^)\s]+)\)/g)) {
    if (match.index > at) found.push({ text: plain(text.slice(at, match.index)) });
    found.push(match[1] ? { text: match[1], code: true } : { text: match[2], href: match[3] });
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push({ text: plain(text.slice(at)) });
  return found;
}

const plain = (/** @type {string} */ text) => text.replace(/\\([\\`*_[\]<>])/g, "$1");
