// PTX as an editor sees it: its words, what may follow in a mnemonic, what a word means. All from isa.json.

/**
 * @typedef {{doc: string, syntax: string[], needs: string[], choices: Record<string, string>[]}} Op
 * @typedef {{opcodes: Record<string, Op>, modifiers: string[], types: string[], registers: Record<string, string>, directives: Record<string, string>}} Isa
 * @typedef {{label: string, kind: "opcode" | "modifier" | "register" | "type" | "directive", detail: string}} Offer
 * @typedef {{from: number, to: number, offers: Offer[]}} Completion
 * @typedef {{from: number, to: number, title: string, lines: string[], code: string[]}} Help
 */

const STATEMENT = /^(\s*(?:[A-Za-z_$][\w$]*\s*:(?!:)\s*)*(?:\{\s*)?(?:@!?%?[\w$]+\s+)?)([a-z][a-z0-9_]*)?((?:\.[\w:]*)*)$/;
const MOST_FORMS = 8;

/** The words of a form's mnemonic, in order: what may stand there, and whether it may be left out (with its group). */
function wordsOf(/** @type {Op} */ op, /** @type {number} */ number) {
  const mnemonic = op.syntax[number].split("  ")[0], words = [];
  let group = 0;
  for (const found of mnemonic.matchAll(/\{((?:\.[^.{}\s]+)+)\}|\.([^.{}\s]+)/g)) {
    group += 1;
    for (const word of found[1] ? found[1].slice(1).split(".") : [found[2]]) {
      const slot = /<(\w+)>/.exec(word)?.[1] ?? word;
      words.push({ choices: op.choices[number][slot]?.split(" ") ?? ["." + word], optional: Boolean(found[1]), group });
    }
  }
  return words;
}

/** Words that may come next, and whether the mnemonic may end here. @param {ReturnType<typeof wordsOf>} words @param {string[]} typed */
function follow(words, typed) {
  let states = new Set([0]);                            // places in `words` that may be the next to be read
  const skips = (/** @type {number} */ at) => {
    const reached = [at];
    while (at < words.length && words[at].optional && (at === 0 || words[at - 1].group !== words[at].group)) {
      const group = words[at].group;
      while (at < words.length && words[at].group === group) at += 1;
      reached.push(at);
    }
    return reached;
  };
  for (const word of typed) {
    const next = new Set();
    for (const state of states) for (const at of skips(state)) if (at < words.length && words[at].choices.includes(word)) next.add(at + 1);
    states = next;
  }
  const places = [...states].flatMap(skips);
  return { choices: places.filter(at => at < words.length).flatMap(at => words[at].choices), ends: places.includes(words.length) };
}

/** Modifiers that may follow in a mnemonic: word -> syntax of the first form that takes it. @param {Isa} isa @param {string} opcode @param {string[]} typed */
export function nextWords(isa, opcode, typed) {
  /** @type {Map<string, string>} */
  const found = new Map();
  const op = Object.hasOwn(isa.opcodes, opcode) ? isa.opcodes[opcode] : undefined;
  op?.syntax.forEach((syntax, number) => {
    for (const choice of follow(wordsOf(op, number), typed).choices) if (!found.has(choice)) found.set(choice, syntax);
  });
  return found;
}

/** Numbers of the forms that a mnemonic may still become, or all where none fits. @param {Op} op @param {string[]} typed */
function formsOf(op, typed) {
  const numbers = op.syntax.map((_, number) => number);
  const open = numbers.filter(number => { const { choices, ends } = follow(wordsOf(op, number), typed); return ends || choices.length; });
  const whole = open.filter(number => follow(wordsOf(op, number), typed).ends);
  return whole.length ? whole : open.length ? open : numbers;
}

const split = (/** @type {string} */ modifiers) => modifiers.match(/\.[\w:]+/g) ?? [];
const outsideComment = (/** @type {string} */ text) => !/\/\/|\/\*(?:(?!\*\/).)*$/.test(text.replace(/"[^"]*"/g, '""'));

/** What may stand at a column of a line; null where PTX has nothing to offer. @param {Isa} isa @param {string} line @param {number} column @returns {Completion | null} */
export function complete(isa, line, column) {
  const before = line.slice(0, column);
  if (!outsideComment(before)) return null;
  const statement = before.split(";").at(-1) ?? "";
  const register = /%[\w$]*(?:\.\w*)?$/.exec(before);
  if (register) {
    const offers = Object.entries(isa.registers).filter(([name]) => name.startsWith(register[0]))
      .map(([label, detail]) => /** @type {Offer} */ ({ label, kind: "register", detail }));
    return offers.length ? { from: register.index, to: column, offers } : null;
  }
  const type = /^\s*\.(?:reg|param|shared|global|const|local)(?:\s+\.(?:align\s+\d+|v[248]))*\s+(\.\w*)$/.exec(statement);
  if (type) return offered(isa.types.map(name => ({ label: `.${name}`, kind: "type", detail: "" })), type[1], column);
  const found = STATEMENT.exec(statement);
  if (!found) return null;
  const [, , opcode = "", modifiers = ""] = found;
  if (!opcode && !modifiers.includes(".")) return null;
  if (!opcode) return offered(Object.entries(isa.directives).map(([label, detail]) => ({ label, kind: "directive", detail })), modifiers, column);
  if (!modifiers) return offered(Object.entries(isa.opcodes).map(([label, op]) => ({ label, kind: "opcode", detail: op.doc })), opcode, column);
  const last = modifiers.slice(modifiers.lastIndexOf("."));
  const words = nextWords(isa, opcode, split(modifiers.slice(0, modifiers.length - last.length)));
  return offered([...words].map(([label, detail]) => ({ label, kind: "modifier", detail })), last, column);
}

/** @param {Offer[]} offers @param {string} word @param {number} column @returns {Completion | null} */
function offered(offers, word, column) {
  const fit = offers.filter(({ label }) => label.startsWith(word) && label !== word);
  return fit.length ? { from: column - word.length, to: column, offers: fit } : null;
}

/** What the word at a column means. @param {Isa} isa @param {string} line @param {number} column @returns {Help | null} */
export function hover(isa, line, column) {
  if (!outsideComment(line.slice(0, column))) return null;
  for (const found of line.matchAll(/%[A-Za-z_][\w$]*|@!?%?[\w$]+|\.?[A-Za-z_$][\w$]*(?:\.[\w:]+)*/g)) {
    const [from, to, word] = [found.index, found.index + found[0].length, found[0]];
    if (column < from || column >= to) continue;
    if (word.startsWith("%")) {
      const meaning = Object.hasOwn(isa.registers, word) ? isa.registers[word] : undefined;
      return meaning ? { from, to, title: word, lines: [meaning], code: [] } : null;
    }
    if (word.startsWith(".")) {
      const name = split(word)[0] ?? word;
      return Object.hasOwn(isa.directives, name) ? { from, to: from + name.length, title: name, lines: [isa.directives[name]], code: [] } : null;
    }
    const opcode = word.split(".")[0], op = Object.hasOwn(isa.opcodes, opcode) ? isa.opcodes[opcode] : undefined;
    const start = STATEMENT.exec(line.slice(0, from).split(";").at(-1) + opcode);
    if (!op || start?.[2] !== opcode) return null;
    const numbers = formsOf(op, split(word.slice(opcode.length)));
    const rows = [...new Set(numbers.map(number => op.syntax[number] + (op.needs[number] ? `   // ${op.needs[number]}` : "")))];
    const more = rows.length - MOST_FORMS;
    return { from, to, title: opcode, lines: [op.doc], code: more > 0 ? [...rows.slice(0, MOST_FORMS), `… and ${more} more forms`] : rows };
  }
  return null;
}
