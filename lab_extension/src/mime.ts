// Renderers of the MIME types of views; no kernel is needed.

import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";

import { LiveView } from "./live.js";
import { DEBUG_MIME, LIVE_MIME, MIME, View, viewOf } from "./view.js";

class Renderer extends View implements IRenderMime.IRenderer {
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const view = viewOf(model.data);
    if (view) this.present(view);
  }
}

const view: IRenderMime.IExtension = {
  id: "pyptx-lab:view",
  description: "Renders pyptx views: linked Python, PTX and SASS, diffs, rooflines, sweeps, the debugger.",
  // Rank 0, before text/html of rank 50, which such outputs also contain.
  rendererFactory: { safe: true, mimeTypes: [MIME, DEBUG_MIME], defaultRank: 0, createRenderer: () => new Renderer() },
  rank: 0,
  dataType: "json",
};

const live: IRenderMime.IExtension = {
  id: "pyptx-lab:live",
  description: "Renders pyptx widgets, or their saved views without a kernel.",
  // Before the widget manager's own type, of rank -10, which such outputs also contain for other front ends.
  rendererFactory: { safe: true, mimeTypes: [LIVE_MIME], defaultRank: -20, createRenderer: () => new LiveView() },
  rank: -20,
  dataType: "json",
};

export default [view, live];
