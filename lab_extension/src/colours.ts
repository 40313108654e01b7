// The reader's own colours of linked lines, in place of the renderer's.

import { preferences } from "./preferences.js";

const style = document.createElement("style");

export function applyColours(): void {
  const given = preferences.colours.slice(0, 8).filter(colour => CSS.supports("color", colour));
  const rules = given.length ? Array.from({ length: 8 }, (_, i) => `--px-c${i}: ${given[i % given.length]};`) : [];
  style.textContent = rules.length ? `body .pyptx-linked { ${rules.join(" ")} }` : "";
  if (!style.isConnected) document.head.append(style);
}
