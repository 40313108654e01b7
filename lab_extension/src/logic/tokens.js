// Splits lines of PTX and SASS into words for highlighting. A tokenizer keeps what the next line needs in its state.

/**
 * Words of pyptx/isa/isa.json.
 * @typedef {{opcodes: string[], types: string[], registers: string[], directives: string[]}} Words
 * What CodeMirror's StringStream offers of use here.
 * @typedef {{match(pattern: RegExp): any, next(): string | void, skipToEnd(): void, sol(): boolean, eatSpace(): boolean, peek(): string | void | undefined}} Stream
 * @typedef {{comment: boolean, start: boolean}} State
 */

/** Each rule: what it is called in CodeMirror, its pattern. Tried in order. @type {[string, RegExp][]} */
const PTX = [
  ["string", /^"(?:\\.|[^"\\])*"?/],
  ["number", /^(?:0[fF][\da-fA-F]{8}|0[dD][\da-fA-F]{16}|0[xX][\da-fA-F]+U?|0[bB][01]+U?|\d+\.\d*(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?U?)\b/],
  ["meta", /^@!?%?[\w$]+/],
  ["labelName", /^[A-Za-z_$][\w$]*(?=\s*:(?!:))/],
];

/** @param {Words} words */
export function ptxTokenizer(words) {
  const [opcodes, types, registers, directives] = [words.opcodes, words.types, words.registers, words.directives].map(list => new Set(list));
  const special = (/** @type {string} */ word) => registers.has(word) || registers.has(word.replace(/\d+$/, "<n>"));
  const tokenizer = {
    /** @returns {State} */
    startState: () => ({ comment: false, start: true }),
    copyState: (/** @type {State} */ state) => ({ ...state }),

    /** @param {Stream} stream @param {State} state @returns {string | null} */
    token(stream, state) {
      if (state.comment) {
        if (stream.match(/^.*?\*\//)) state.comment = false; else stream.skipToEnd();
        return "comment";
      }
      if (stream.sol() && stream.match(/^\s*%%\w.*/)) return "meta";      // the magic of a cell
      if (stream.eatSpace()) return null;
      if (stream.match(/^\/\//)) { stream.skipToEnd(); return "comment"; }
      if (stream.match(/^\/\*/)) { state.comment = !stream.match(/^.*?\*\//); if (state.comment) stream.skipToEnd(); return "comment"; }
      for (const [kind, pattern] of PTX) if (stream.match(pattern)) { if (kind !== "meta" && kind !== "labelName") state.start = false; return kind; }
      const word = stream.match(/^%[A-Za-z_][\w$]*|^%[\w$]+|^\.[A-Za-z_][\w$]*(?:::[\w$]+)*|^\.[0-9][\w]*(?:::[\w$]+)*|^[A-Za-z_$][\w$]*/);
      if (!word) {
        const character = stream.next();
        if (character === ";" || character === "{" || character === "}") state.start = true;
        if (character === ":") state.start = true;
        return /[-+*/%!~&|^<>=?]/.test(String(character)) ? "operator" : "punctuation";
      }
      const text = Array.isArray(word) ? word[0] : String(word);
      if (text.startsWith("%")) return special(text) ? "variableName.standard" : "variableName";
      if (text.startsWith(".")) { const opens = state.start; state.start = false; return types.has(text) ? "atom" : opens || directives.has(text) ? "definitionKeyword" : "attributeName"; }
      const opcode = state.start && opcodes.has(text);
      state.start = false;
      return opcode ? "keyword" : text === "WARP_SZ" ? "atom" : "name";
    },
  };
  return tokenizer;
}

/** @type {[string, RegExp][]} */
const SASS = [
  ["comment", /^\/\/.*/],
  ["number", /^\/\*(?:0x)?[\da-fA-F]+\*\//],
  ["comment", /^\/\*.*?\*\//],
  ["string", /^"(?:\\.|[^"\\])*"?/],
  ["labelName", /^\.[A-Za-z_][\w.$]*:|^`?\(\.?[\w.$]+\)|^[A-Za-z_$][\w$]*:/],
  ["meta", /^@!?U?PT?\d*\b/],
  ["definitionKeyword", /^\.[a-z_][\w.$]*/],
  ["variableName.standard", /^SR_[\w.]+|^(?:c|desc|gdesc|cx)(?=\[)/],
  ["variableName", /^(?:U?R(?:\d+|Z)|U?P(?:\d+|T)|S?B\d+)\b(?:\.(?:reuse|64|H[01](?:_H[01])?|X\d+|B[0-3]))*/],
  ["number", /^[-+]?(?:0x[\da-fA-F]+|(?:INF|QNAN|NAN)\b|\d+(?:\.\d*)?(?:e[+-]?\d+)?)/i],
  ["keyword", /^[A-Z][A-Z0-9_]*/],
  ["attributeName", /^\.[A-Za-z0-9_]+/],
  ["name", /^[\w$]+/],
];

/** SASS as nvdisasm, cuobjdump and `Compiled.save` print it. */
export const sassTokenizer = {
  startState: () => ({}),
  /** @param {Stream} stream @returns {string | null} */
  token(stream) {
    if (stream.eatSpace()) return null;
    for (const [kind, pattern] of SASS) if (stream.match(pattern)) return kind;
    return /[-+*/%!~&|^<>=?@]/.test(String(stream.next())) ? "operator" : "punctuation";
  },
};
