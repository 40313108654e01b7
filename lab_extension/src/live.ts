// A widget by its model: live where the notebook's widget manager has it, else the view that was saved with it.

import type { INotebookTracker } from "@jupyterlab/notebook";
import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import type { Message } from "@lumino/messaging";
import { Panel } from "@lumino/widgets";

import { LIVE_MIME, View } from "./view.js";
import type { ViewData } from "./viewdata.js";

const WIDGET_MIME = "application/vnd.jupyter.widget-view+json";

const TRIES_MS = [0, 300, 1000, 3000, 8000];

interface Live {
  model_id: string;
  view: ViewData;
}

let notebooks: INotebookTracker | null = null;
const drawn = new Set<LiveView>();

/** From now on widgets are looked for in the notebooks of the tracker. */
export function followWidgets(tracker: INotebookTracker): void {
  const embed = () => drawn.forEach(view => void view.embed());
  notebooks = tracker;
  // The widget manager takes a notebook a while after its kernel is there, and tells nobody.
  tracker.widgetAdded.connect((_, panel) => void panel.sessionContext.ready.then(() => TRIES_MS.forEach(wait => setTimeout(embed, wait))));
  embed();
}

export class LiveView extends Panel implements IRenderMime.IRenderer {
  private data: Live | null = null;
  private model = "";                                   // whose widget `widget` shows
  private widget: Panel | null = null;                  // the widget manager's own renderer; empty while it has none
  private saved: View | null = null;
  private readonly watcher = new MutationObserver(() => this.choose());

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.data = model.data[LIVE_MIME] as unknown as Live;
    this.saved?.present(this.data.view);
    if (this.isAttached) await this.embed();
  }

  dispose(): void {
    drawn.delete(this);
    this.watcher.disconnect();
    super.dispose();
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    drawn.add(this);
    void this.embed();
  }

  private get live(): boolean {
    return Boolean(this.widget && !this.widget.isDisposed && this.widget.widgets.length);
  }

  /** Ask the widget manager of the notebook that this stands in. A renderer that was made before there was one never learns of it: make another. */
  async embed(): Promise<void> {
    const { data } = this, rendermime = notebooks?.find(panel => panel.node.contains(this.node))?.content.rendermime;
    if (!data || (this.live && this.model === data.model_id)) return this.choose();
    if (rendermime?.mimeTypes.includes(WIDGET_MIME)) {
      this.model = data.model_id;
      this.widget?.dispose();
      const widget = this.widget = rendermime.createRenderer(WIDGET_MIME) as unknown as Panel & IRenderMime.IRenderer;
      this.watcher.disconnect();
      this.watcher.observe(widget.node, { childList: true });
      this.addWidget(widget);
      const asked = widget.renderModel(rendermime.createModel({ trusted: true, data: { [WIDGET_MIME]: { version_major: 2, version_minor: 0, model_id: data.model_id } } }));
      await Promise.race([asked, new Promise(resolve => setTimeout(resolve, 1500))]);      // without a kernel it may never answer
    }
    this.choose();
  }

  /** The widget when there is one, else what was saved. It comes late after a reload and goes when the kernel restarts. */
  private choose(): void {
    if (this.isDisposed || !this.data) return;
    const { live } = this;
    this.widget?.setHidden(!live);
    if (live) {
      this.saved?.dispose();
      this.saved = null;
    } else if (!this.saved) {
      this.saved = new View();
      this.saved.present(this.data.view);
      this.addWidget(this.saved);
    }
  }
}
