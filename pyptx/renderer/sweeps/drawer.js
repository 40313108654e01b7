// The drawer below a sweep: the code of a point, a diff of two points, or the roofline of all.

import { h } from "../dom.js";

export class Drawer {
  /** view: {kept, actions, sweep}; draw: mounts a view's data. The open content is kept in `kept.open`. */
  constructor(view, draw) {
    Object.assign(this, { view, draw });
    this.opened = null;
    this.element = h("section.pyptx-drawer", { hidden: true, "aria-label": "Code of the selected points" });
  }

  /** Show the result of an action below the maps: "view" of a point, "diff" of two, "roofline". */
  open(what) {
    this.view.kept.open = { what, first: this.view.kept.first, second: this.view.kept.second };
    return this.reopen();
  }

  async reopen() {
    const { element: drawer, view } = this, { sweep, kept, actions } = view, wanted = kept.open, { what, first, second } = wanted;
    const title = { view: () => sweep.words(first), diff: () => `${sweep.words(first)}  |  ${sweep.words(second)}`, roofline: () => "Roofline" }[what]();
    const body = h("div.pyptx-drawer-body", {}, h("p.pyptx-soft", {}, what === "roofline" ? "Computing the roofline …" : "Compiling and disassembling …"));
    const close = h("button.pyptx-button", { type: "button", title: "Close (Esc)", onclick: () => this.close() }, "✕ Close");
    this.opened?.destroy();
    this.opened = null;
    drawer.hidden = false;
    drawer.setAttribute("aria-busy", "true");
    const bar = h("div.pyptx-drawer-bar", {}, h("b", {}, title), h("span.pyptx-space"), close);
    drawer.replaceChildren(bar, body);
    if (!wanted.data) bar.scrollIntoView({ block: "nearest" });
    const answer = wanted.data ? { data: wanted.data } : await this.answer(what, first, second);
    if (kept.open !== wanted || !drawer.isConnected) return;
    drawer.setAttribute("aria-busy", "false");
    if (answer.error) { body.replaceChildren(h("p.pyptx-reason", {}, answer.error)); return; }
    wanted.data = answer.data;
    body.replaceChildren();
    const code = name => actions.view(Number(name.replace("point ", "")));             // of a point of the roofline
    this.opened = this.draw(body, answer.data, what === "roofline" && actions.view ? { actions: { view: code } } : {});
  }

  async answer(what, first, second) {
    try {
      return { data: await this.view.actions[what](...(what === "roofline" ? [] : what === "diff" ? [first, second] : [first])) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  close() {
    this.view.kept.open = null;
    this.opened?.destroy();
    this.opened = null;
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  destroy() { this.opened?.destroy(); }
}
