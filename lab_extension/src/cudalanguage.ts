// CUDA C++ in editors: the editor's C++ with findings of the compiler. Loaded on first use.

import { LanguageSupport } from "@codemirror/language";
import { linter, type Diagnostic } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";

import { checkCuda } from "./api.js";
import { isCuda } from "./logic/cells.js";
import { squiggles } from "./logic/diagnostics.js";
import { preferences } from "./preferences.js";

/** cpp: the editor's C++; pathOf: the path of the file or notebook of an editor; problem: called once if the server cannot check. */
export function cuda(cpp: LanguageSupport, pathOf: (view: EditorView) => string | null, problem: (error: unknown) => void): LanguageSupport {
  const findings = async (view: EditorView): Promise<Diagnostic[]> => {
    const source = view.state.doc.toString(), path = pathOf(view);
    if (!preferences.diagnostics || !source.trim() || !isCuda(source, path)) return [];
    try {
      return squiggles(source, await checkCuda(source, path));
    } catch (error) {
      problem(error);
      return [];
    }
  };
  return new LanguageSupport(cpp.language, [cpp.support, linter(findings, { delay: preferences.diagnosticsDelay })]);
}
