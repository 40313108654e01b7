// Linked views in static HTML: each stands behind its static form, as a script that adds [itself, its parent, data] to
// window.pyptxViews; scripts of older notebooks add [itself, data].

import { h } from "./dom.js";
import { mount } from "./code/linked.js";
import { unpacked } from "./packed.js";

/** Show every view of the page, also those that are added later. A second call has no effect. */
export function embed(styles) {
  const waiting = window.pyptxViews ?? [];
  if (!Array.isArray(waiting)) return;
  document.head.append(h("style", {}, styles));
  window.pyptxViews = { push: show };
  waiting.forEach(show);
}

function show(entry) {
  const packed = entry.at(-1), script = elementOf(entry[0], entry[1], packed);
  const still = script.previousElementSibling, host = h("div");
  script.before(host);
  try {
    mount(host, unpacked({ packed }));
    still.hidden = true;
    host.closest(".jp-RenderedHTMLCommon")?.classList.remove("jp-RenderedHTMLCommon");   // Jupyter's style of lists, tables and buttons
  } catch (error) {
    host.replaceChildren(h("p", {}, `The interactive view failed: ${error.message}`));
    throw error;
  }
}

// VS Code runs a copy of each script at the end of the output and removes the copy: the original then marks the place.
function elementOf(script, parent, packed) {
  if (script.isConnected || !(parent instanceof Element)) return script;
  return [...parent.getElementsByTagName("script")].find(one => one.text.includes(packed)) ?? script;
}
