// PTX language support of CodeMirror: highlighting, hover help, diagnostics. Loaded on first use.

import { LanguageSupport, StreamLanguage } from "@codemirror/language";
import { linter, type Diagnostic } from "@codemirror/lint";
import { EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";
import isa from "pyptx-isa";
import { h } from "pyptx-renderer/dom.js";

import { check } from "./api.js";
import { ptxOf, targetOf } from "./logic/cells.js";
import { squiggles } from "./logic/diagnostics.js";
import { complete, hover, type Help } from "./logic/ptx.js";
import { hoverPython } from "./logic/python.js";
import { ptxTokenizer } from "./logic/tokens.js";
import { preferences } from "./preferences.js";

export { complete, isa };

const comments = { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } };

function bubble(help: Help): HTMLElement {
  return h("div.pyptx-help", {}, h("b", {}, help.title), ...help.lines.map(line => h("p", {}, line)),
           help.code.length ? h("pre", {}, help.code.join("\n")) : null);
}

const help = hoverTooltip((view, position): Tooltip | null => {
  const line = view.state.doc.lineAt(position);
  const found = hover(isa, line.text, position - line.from);
  return found && { pos: line.from + found.from, end: line.from + found.to, above: true, create: () => ({ dom: bubble(found) }) };
});

/** Help for `ptx.inst` in Python. */
export function pythonHelp(view: EditorView, position: number): Tooltip | null {
  const line = view.state.doc.lineAt(position), found = hoverPython(isa, line.text, position - line.from);
  return found && { pos: line.from + found.from, end: line.from + found.to, above: true, create: () => ({ dom: bubble(found) }) };
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
  const language = StreamLanguage.define({ name: "ptx", ...ptxTokenizer(isa), languageData: comments });
  return new LanguageSupport(language, [help, linter(findings(problem), { delay: preferences.diagnosticsDelay })]);
}
