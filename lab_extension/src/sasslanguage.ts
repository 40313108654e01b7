// SASS language support of CodeMirror: highlighting.

import { LanguageSupport, StreamLanguage } from "@codemirror/language";

import { sassTokenizer } from "./logic/tokens.js";

export const sass = (): LanguageSupport =>
  new LanguageSupport(StreamLanguage.define({ name: "sass", ...sassTokenizer, languageData: { commentTokens: { line: "//" } } }));
