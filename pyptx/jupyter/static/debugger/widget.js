// The debugger as a widget: `render` for anywidget. Sources and the document come as traits; commands go as messages.

import { asking, plainKeys } from "../asking.js";
import { mount } from "./debug.js";

const kept = {};                                // what the reader has chosen, for the next drawing of this widget

export function render({ model, el }) {
  const { ask, stop } = asking(model);
  const command = (name, values = {}) => ask({ ask: name, values });
  const data = { kind: "debug", version: 1, sources: model.get("sources"), document: model.get("document"), help: model.get("help") };
  const view = mount(el, data, { command, kept });
  const update = () => view.update(model.get("document"));
  const keys = plainKeys(el);
  model.on("change:document", update);
  return () => {
    model.off("change:document", update);
    stop();
    keys();
    view.destroy();
  };
}
