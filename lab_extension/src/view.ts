// A widget that shows a view: in an output of a notebook, or as a tab of its own.

import { mount, type Drawn } from "pyptx-static/renderer.js";
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";

export const MIME = "application/vnd.pyptx.view+json";

export interface ViewData {
  kind: string;
  version: number;
  title?: string;
  panes?: string[];
}

const shown = new Set<View>();

/** The views in sight below an element, in order of the document. */
export function viewsIn(element: HTMLElement): View[] {
  const found = [...shown].filter(view => element.contains(view.node));
  return found.sort((a, b) => (a.node.compareDocumentPosition(b.node) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
}

/** Options of all views: how the reader set them. */
export const preferences: { panes: string[] } = { panes: [] };

export class View extends Widget {
  data: ViewData | null = null;
  private drawn: Drawn | null = null;

  constructor(private readonly fill = false) {
    super();
    this.addClass(fill ? "pyptx-document" : "pyptx-view-output");
    this.node.addEventListener("focusin", () => window.addEventListener("keydown", this.keys, true));
    this.node.addEventListener("focusout", () => window.removeEventListener("keydown", this.keys, true));
  }

  present(data: ViewData): void {
    this.data = data;
    if (this.isAttached) this.draw();
  }

  /** Make a line the chosen one, in sight in all panes. */
  select(pane: string, row: number): void {
    this.drawn?.select?.(pane, row);
  }

  dispose(): void {
    shown.delete(this);
    window.removeEventListener("keydown", this.keys, true);
    this.drawn?.destroy();
    this.drawn = null;
    super.dispose();
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    shown.add(this);
    if (!this.drawn) this.draw();
  }

  protected onBeforeDetach(message: Message): void {
    shown.delete(this);
    super.onBeforeDetach(message);
  }

  private draw(): void {
    if (!this.data) return;
    this.drawn?.destroy();
    this.node.replaceChildren();
    this.drawn = mount(this.node, this.data, { fill: this.fill });
  }

  // Letters belong to the view while it has the focus, not to the notebook, where x cuts the cell.
  private readonly keys = (event: KeyboardEvent): void => {
    this.node.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey || event.altKey));
  };
}
