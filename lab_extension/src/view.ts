// A widget that shows a view in an output of a notebook or in a tab.

import { unpacked } from "pyptx-renderer/packed.js";
import { mount, type Drawn } from "pyptx-renderer/renderer.js";
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";

import { preferences } from "./preferences.js";
import type { ViewData } from "./viewdata.js";

export const MIME = "application/vnd.pyptx.view+json";
export const LIVE_MIME = "application/vnd.pyptx.live+json";       // a widget by its model, with the view to show without it
export const DEBUG_MIME = "application/vnd.pyptx.debug+json";      // a kernel stopped in the debugger

const EMBEDDED = /\.push\(\[document\.currentScript, (?:document\.currentScript\.parentNode, )?'([\w+/=]+)'\]\)/;

/** The view in the data of an output, unpacked. `embedded`: its data is in the script of the HTML form. */
export function viewOf(bundle: Record<string, unknown>): ViewData | null {
  const live = bundle[LIVE_MIME] as { view: ViewData } | undefined, view = (bundle[MIME] ?? bundle[DEBUG_MIME] ?? live?.view ?? null) as ViewData | null;
  if (!view?.embedded) return view && unpacked(view);
  const html = bundle["text/html"], packed = EMBEDDED.exec(Array.isArray(html) ? html.join("") : String(html))?.[1];
  return packed ? unpacked({ ...view, packed }) : view;
}

const shown = new Set<View>();

/** Actions of a roofline: the code of a version in the history. */
const actions = { view: async (version: string): Promise<object> => (await import("./api.js")).versionView(version) };

/** The views inside an element, in document order. */
export function viewsIn(element: Element): View[] {
  const found = [...shown].filter(view => element.contains(view.node));
  return found.sort((a, b) => (a.node.compareDocumentPosition(b.node) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
}

export class View extends Widget {
  data: ViewData | null = null;
  private drawn: Drawn | null = null;

  /** fill: use the whole area, as in a tab; otherwise the height of the content. */
  constructor(private readonly fill = false) {
    super();
    this.addClass(fill ? "pyptx-document" : "pyptx-output");
    this.node.addEventListener("focusin", () => window.addEventListener("keydown", this.keys, true));
    this.node.addEventListener("focusout", () => window.removeEventListener("keydown", this.keys, true));
  }

  present(data: ViewData): void {
    this.data = unpacked(data);
    if (this.isAttached) this.draw();
  }

  /** Highlight the links of a line, or with null none. */
  point(pane: string | null, row: number): void {
    this.drawn?.point?.(pane, row);
  }

  /** Pin a line and scroll to its links. */
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
    const hidden = preferences.cellPane && !this.fill && inCell(this.data) ? ["python"] : [];
    const { data } = this, shared = data.kind === "linked" ? (state: object) => void import("./sharing.js").then(({ share }) => share(data, state)) : undefined;
    const pointed = (lines: [string, number][]) => { this.node.dispatchEvent(new CustomEvent("pyptx-point", { bubbles: true, detail: lines })); };
    this.drawn = mount(this.node, withPanes(this.data), this.data.kind === "roofline" ? { fill: this.fill, actions } : { fill: this.fill, pointed, hidden, share: shared });
  }

  // Suppress the notebook's shortcuts for plain keys while the view has the focus (x would cut the cell). The attribute must
  // be on the target itself, because the bindings match the focused element.
  private readonly keys = (event: KeyboardEvent): void => {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey);
    if (event.target instanceof Element && this.node.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", plain);
  };
}

/** The panes of the user's settings, unless the view was created with a choice of panes. */
function withPanes(data: ViewData): ViewData {
  const chosen = (data.panes ?? []).filter(pane => preferences.panes.includes(pane));
  return data.panes?.length === 3 && chosen.length ? { ...data, panes: chosen } : data;
}

/** Whether all Python of a linked view is in cells. */
function inCell(data: ViewData): boolean {
  const sections = data.kind === "linked" ? (data as ViewData & { python: { sections: { file: string }[] } }).python.sections : [];
  return sections.length > 0 && sections.every(({ file }) => file === "notebook cell" || file.startsWith("Cell In["));
}
