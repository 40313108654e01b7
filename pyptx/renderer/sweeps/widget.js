// The sweep widget: `render` for anywidget. The data is a trait; requests are messages.

import { openComm, capturePlainKeys } from "../comm.js";
import { mount } from "../renderer.js";

const kept = {};                                // state that outlives a view of this widget

export function render({ model, el }) {
  const { request, close } = openComm(model);
  const actions = Object.fromEntries(model.get("actions").map(name => [name, (...points) => request({ request: name, points })]));
  const view = mount(el, model.get("data"), { actions, kept });
  const update = () => view.update(model.get("data"));
  const keys = capturePlainKeys(el);
  model.on("change:data", update);
  return () => {
    model.off("change:data", update);
    close();
    keys();
    view.destroy();
  };
}
