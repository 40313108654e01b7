// Draws the project's views wherever Jupyter shows outputs; no kernel is needed.

import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";

import { MIME, View, type ViewData } from "./view.js";

class Renderer extends View implements IRenderMime.IRenderer {
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.present(model.data[MIME] as unknown as ViewData);
  }
}

const extension: IRenderMime.IExtension = {
  id: "pyptx-lab:view",
  description: "Draws pyptx views: Python, PTX and SASS linked line by line, and differences.",
  // Rank 0: text/html, which every output also holds, has rank 50 and would win against a higher number.
  rendererFactory: { safe: true, mimeTypes: [MIME], defaultRank: 0, createRenderer: () => new Renderer() },
  rank: 0,
  dataType: "json",
};

export default extension;
