// The debugger widget: `render` for anywidget. Sources and the document are traits; commands are messages.

import { openComm, capturePlainKeys } from "../comm.js";
import { mount } from "./debug.js";

const kept = {};                                // state that outlives a view of this widget

export function render({ model, el }) {
  const { request, close } = openComm(model);
  const command = (name, values = {}) => request({ request: name, values });
  const data = { kind: "debug", version: 1, sources: model.get("sources"), document: model.get("document"), help: model.get("help") };
  const view = mount(el, data, { command, kept });
  const update = () => view.update(model.get("document"));
  const keys = capturePlainKeys(el);
  model.on("change:document", update);
  return () => {
    model.off("change:document", update);
    close();
    keys();
    view.destroy();
  };
}
