// Draws the project's views wherever Jupyter shows outputs; no kernel is needed.

import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";

import { LIVE_MIME, LiveView } from "./live.js";
import { DEBUG_MIME, MIME, View } from "./view.js";
import type { ViewData } from "./viewdata.js";

class Renderer extends View implements IRenderMime.IRenderer {
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.present((model.data[MIME] ?? model.data[DEBUG_MIME]) as unknown as ViewData);
  }
}

const view: IRenderMime.IExtension = {
  id: "pyptx-lab:view",
  description: "Draws pyptx views: Python, PTX and SASS linked line by line, differences, rooflines, sweeps, the debugger.",
  // Rank 0: text/html, which every output also holds, has rank 50 and would win against a higher number.
  rendererFactory: { safe: true, mimeTypes: [MIME, DEBUG_MIME], defaultRank: 0, createRenderer: () => new Renderer() },
  rank: 0,
  dataType: "json",
};

const live: IRenderMime.IExtension = {
  id: "pyptx-lab:live",
  description: "Shows pyptx widgets, and what was saved of them where no kernel has them any more.",
  // Before the widget manager's own type, of rank -10, which every such output also holds for other front ends.
  rendererFactory: { safe: true, mimeTypes: [LIVE_MIME], defaultRank: -20, createRenderer: () => new LiveView() },
  rank: -20,
  dataType: "json",
};

export default [view, live];
