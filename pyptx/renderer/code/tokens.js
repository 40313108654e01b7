// Tokenizer: splits a line of Python, MLIR, PTX or SASS into [class, text] pieces that concatenate to the line; "" is plain text.

const RULES = {
  python: [
    ["c", /#.*/y],
    ["s", /[rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/y],
    ["d", /@[\w.]+/y],
    ["k", /(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False)\b/y],
    ["n", /(?:0[xX][\da-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b/y],
    ["o", /[A-Za-z_]\w*(?=\()/y],
    ["", /[A-Za-z_]\w*/y],
  ],
  ir: [
    ["c", /\/\/.*/y],
    ["s", /"[^"]*"/y],
    ["r", /%[\w$.-]+(?:[:#]\d+)?/y],
    ["x", /[#!][A-Za-z][\w.]*/y],
    ["l", /\^\w+/y],
    ["d", /@[\w$.-]+/y],
    ["k", /(?:tensor|memref|vector|index|none|true|false|dense|[su]?i\d+|b?f\d+\w*)(?![\w.])/y],
    ["n", /-?(?:0x[\dA-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\dA-Za-z_])/y],
    ["", /[\w$.]+/y],
  ],
  ptx: [
    ["c", /\/\/.*|\/\*.*?(?:\*\/|$)/y],
    ["s", /"[^"]*"/y],
    ["p", /@!?%?[\w$]+/y],
    ["x", /%(?:tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|smid|nsmid|gridid|clock(?:64|_hi)?|globaltimer\w*|lanemask_\w+|cluster\w*|is_explicit_cluster|dynamic_smem_size|total_smem_size|aggr_smem_size|pm\d+\w*|envreg\d+|reserved_smem\w*)(?:\.[xyzw])?(?![\w$])/y],
    ["r", /%[\w$]+/y],
    ["l", /\$?[A-Za-z_$][\w$]*(?=:)/y],
    ["n", /0[fF][\da-fA-F]{8}\b|0[dD][\da-fA-F]{16}\b|0[xX][\da-fA-F]+U?\b|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?U?\b/y],
    ["m", /(?:\.|::)[A-Za-z_][\w]*/y],
    ["", /[$\w]+/y],
  ],
  sass: [
    ["p", /@!?U?P\w+/y],
    ["n", /[+-]?(?:0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b|[+-]?(?:QNAN|INF)\b/iy],
    ["x", /SR_\w+(?:\.[XYZ])?/y],
    ["r", /U?R(?:\d+|Z)\b|U?P(?:\d|T)\b|B\d+\b/y],
    ["l", /`?\(?\.L_\w+\)?/y],
    ["m", /\.\w+/y],
    ["", /\w+/y],
  ],
};
const OPCODE = { ir: /^\s*(?:%[^=]*=\s*)?([a-z]\w*(?:\.\w+)+|module)\b/d, ptx: /^\s*(?:@!?%?[\w$]+\s+)?(\.?[a-z_]\w*)/d, sass: /^\s*(?:@!?U?P\w+\s+)?([A-Z]\w*)/d };

/** Pieces of one line; `inString` is the quote of a string that began on an earlier line of Python, or "". */
export function tokens(language, line, inString = "") {
  const pieces = [];
  const push = (kind, text) => {
    if (pieces.length && pieces.at(-1)[0] === kind && !kind) pieces.at(-1)[1] += text; else if (text) pieces.push([kind, text]);
  };
  let at = 0;
  if (inString) {
    const end = line.indexOf(inString);
    if (end < 0) return line ? [["s", line]] : [];
    push("s", line.slice(0, at = end + 3));
  }
  const opcode = OPCODE[language]?.exec(line)?.indices[1];
  const label = language === "ptx" && opcode && line[opcode[1]] === ":";
  while (at < line.length) {
    if (opcode && at === opcode[0] && !label) {
      const word = line.slice(opcode[0], opcode[1]);
      push(word.startsWith(".") ? "d" : "o", word);
      at = opcode[1];
      continue;
    }
    const quote = language === "python" && /^[rbfuRBFU]{0,2}("""|''')/.exec(line.slice(at, at + 5));
    if (quote) {
      const end = line.indexOf(quote[1], at + quote[0].length);
      const stop = end < 0 ? line.length : end + 3;
      push("s", line.slice(at, stop));
      at = stop;
      continue;
    }
    let found = null;
    for (const [kind, rule] of RULES[language]) {
      rule.lastIndex = at;
      if ((found = rule.exec(line))) { push(kind, found[0]); break; }
    }
    if (!found) push("", line[at]);
    at += found ? found[0].length : 1;
  }
  return pieces;
}

/** For each Python line, the quote of the string it begins in, or "". `starts`: first rows of sections. */
export function stringStates(lines, starts = [0]) {
  const states = [];
  let open = "";
  lines.forEach((line, row) => {
    if (starts.includes(row)) open = "";
    states.push(open);
    let rest = line;
    while (rest) {
      if (open) {
        const end = rest.indexOf(open);
        if (end < 0) break;
        rest = rest.slice(end + 3);
        open = "";
      } else {
        const next = /"""|'''|#|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/.exec(rest);
        if (!next || next[0] === "#") break;
        rest = rest.slice(next.index + next[0].length);
        if (next[0] === '"""' || next[0] === "'''") open = next[0];
      }
    }
  });
  return states;
}

/** Pieces split at the ends of `ranges`; those inside a range have true as third item. */
export function marked(pieces, ranges) {
  const cut = [];
  let at = 0;
  for (const [kind, text] of pieces) {
    const end = at + text.length;
    let from = at;
    for (const [start, stop] of ranges) {
      const [a, b] = [Math.max(start, from), Math.min(stop, end)];
      if (a >= b) continue;
      if (a > from) cut.push([kind, text.slice(from - at, a - at), false]);
      cut.push([kind, text.slice(a - at, b - at), true]);
      from = b;
    }
    if (from < end) cut.push([kind, text.slice(from - at), false]);
    at = end;
  }
  return cut;
}
