// PTX language support of CodeMirror: highlighting, hover help, diagnostics. Loaded on first use.

import { LanguageSupport, StreamLanguage } from "@codemirror/language";
import { linter, type Diagnostic } from "@codemirror/lint";
import { EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";
import words from "pyptx-isa";
import { h } from "pyptx-renderer/dom.js";

import { check, help } from "./api.js";
import { ptxOf, targetOf } from "./logic/cells.js";
import { squiggles } from "./logic/diagnostics.js";
import { parts } from "./logic/help.js";
import { ptxTokenizer } from "./logic/tokens.js";
import { preferences } from "./preferences.js";

const comments = { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } };

function bubble(markdown: string): HTMLElement {
  return h("div.pyptx-help", {}, ...parts(markdown).map(part => ("code" in part ? h("pre", {}, part.code) : h("p", {}, ...part.pieces.map(({ text, code, href }) =>
    (href ? h("a", { href, target: "_blank", rel: "noopener" }, text) : code ? h("code", {}, text) : text))))));
}

/** Help for the word at a position, from the server; problem: called if it does not answer. */
export async function helpAt(view: EditorView, position: number, python: boolean, problem: (error: unknown) => void): Promise<Tooltip | null> {
  const source = view.state.doc.toString();
  try {
    const found = await help(python ? source : ptxOf(source), position, python);
    return found && { pos: found.start, end: found.end, above: true, create: () => ({ dom: bubble(found.text) }) };
  } catch (error) {
    problem(error);
    return null;
  }
}

/** problem: called once if the server cannot check. */
function findings(problem: (error: unknown) => void) {
  return async (view: EditorView): Promise<Diagnostic[]> => {
    const source = view.state.doc.toString(), text = ptxOf(source);
    if (!preferences.diagnostics || !text.trim()) return [];
    try {
      return squiggles(source, await check(text, targetOf(source)));
    } catch (error) {
      problem(error);
      return [];
    }
  };
}

export function ptx(problem: (error: unknown) => void): LanguageSupport {
  const language = StreamLanguage.define({ name: "ptx", ...ptxTokenizer(words), languageData: comments });
  const hover = hoverTooltip((view, position) => helpAt(view, position, false, problem));
  return new LanguageSupport(language, [hover, linter(findings(problem), { delay: preferences.diagnosticsDelay })]);
}
