// The report widget: `render` for anywidget. *Show me* makes a debugger widget in the kernel, which is drawn below the finding.

import { openComm } from "../comm.js";
import { render as renderDebugger } from "../debugger/widget.js";
import { mount } from "./report.js";

export function render({ model, el }) {
  const { request, close } = openComm(model), debuggers = [];
  const replay = async (finding, place) => {
    const { model_id: id } = await request({ request: "replay", finding }), manager = model.widget_manager;
    if (!manager?.get_model) throw new Error(`This notebook cannot show a widget inside another one. Run report.replay(${finding}) in a cell.`);
    const session = await manager.get_model(id);
    place.replaceChildren();
    debuggers.push(renderDebugger({ model: session, el: place }));
  };
  const view = mount(el, model.get("data"), { replay });
  return () => {
    close();
    debuggers.forEach(remove => remove());
    view.destroy();
  };
}
