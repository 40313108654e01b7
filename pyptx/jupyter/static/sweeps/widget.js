// The sweep as a widget: `render` for anywidget. Data come as a trait; what points are asked goes as messages.

import { asking, plainKeys } from "../asking.js";
import { mount } from "../renderer.js";

const kept = {};                                // what the reader has chosen, for the next drawing of this widget

export function render({ model, el }) {
  const { ask, stop } = asking(model);
  const actions = Object.fromEntries(model.get("actions").map(name => [name, (...points) => ask({ ask: name, points })]));
  const view = mount(el, model.get("data"), { actions, kept });
  const update = () => view.update(model.get("data"));
  const keys = plainKeys(el);
  model.on("change:data", update);
  return () => {
    model.off("change:data", update);
    stop();
    keys();
    view.destroy();
  };
}
