// A view as a widget without a kernel: `render` for anywidget. The data is a trait.

import { capturePlainKeys } from "./comm.js";
import { mount } from "./renderer.js";

export function render({ model, el }) {
  const view = mount(el, model.get("data")), keys = capturePlainKeys(el);
  return () => {
    keys();
    view.destroy();
  };
}
