// The colors of linked lines from the settings.

import { preferences } from "./preferences.js";

const style = document.createElement("style");

export function applyColors(): void {
  const given = preferences.colors.slice(0, 8).filter(color => CSS.supports("color", color));
  const rules = given.length ? Array.from({ length: 8 }, (_, i) => `--px-c${i}: ${given[i % given.length]};`) : [];
  style.textContent = rules.length ? `body .pyptx-linked { ${rules.join(" ")} }` : "";
  if (!style.isConnected) document.head.append(style);
}
