// The side panel: kernels of the active notebook, their resources and versions.

import type { TranslationBundle } from "@jupyterlab/translation";
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import { h } from "pyptx-renderer/dom.js";

import { ApiError, kernels } from "./api.js";
import { chipIcon } from "./icons.js";
import { changes, configuration, rows, size, type Kept, type Row, type Version } from "./logic/kernels.js";
import type { SessionFollower } from "./session.js";

const MOST = 8;                                         // versions that are compared

export interface Actions {
  open(ref: string): void;
  /** Compare two versions, or more side by side. */
  compare(versions: string[]): void;
  /** Insert a cell below the active one; run it, or leave it in edit mode. */
  insert(source: string, run: boolean): void;
}

export class KernelPanel extends Widget {
  private kept: Kept[] = [];
  private everywhere = false;
  private problem = "";
  private asked = 0;
  private picked: string[] = [];                        // versions to compare, in the order they were chosen
  private readonly opened = new Set<string>();          // kernels whose versions are listed
  private readonly status = h("p.pyptx-panel-status", { role: "status", "aria-live": "polite" });
  private readonly list = h("div.pyptx-panel-list");
  private readonly compare: HTMLButtonElement;

  constructor(private readonly follower: SessionFollower, private readonly actions: Actions, private readonly trans: TranslationBundle) {
    super();
    this.id = "pyptx-kernels";
    this.addClass("pyptx-panel");
    this.title.icon = chipIcon;
    this.title.caption = trans.__("PTX kernels");
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", trans.__("PTX kernels"));
    this.compare = h("button", { type: "button", onclick: () => this.onCompare() });
    this.compare.className = "pyptx-panel-compare jp-mod-styled jp-mod-accept";
    const all = h("input", { type: "checkbox", onchange: () => { this.everywhere = all.checked; this.refresh(); } });
    this.node.append(
      h("header.pyptx-panel-header", {}, h("h2", {}, trans.__("PTX kernels")),
        h("button.pyptx-panel-button", { type: "button", title: trans.__("Refresh"), "aria-label": trans.__("Refresh"), onclick: () => follower.refresh() }, "↻")),
      h("label.pyptx-panel-all", {}, all, " ", trans.__("All notebooks")),
      this.status, this.list, h("footer.pyptx-panel-footer", {}, this.compare));
    follower.changed.connect(this.refresh, this);
  }

  dispose(): void {
    this.follower.changed.disconnect(this.refresh, this);
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  /** Request the versions from the server, then draw; a hidden panel is refreshed when it is shown. */
  refresh(): void {
    if (!this.isVisible) return;
    const number = this.asked += 1, { notebook } = this.follower;
    const asked = this.everywhere ? kernels(null) : notebook ? kernels(notebook) : Promise.resolve([]);
    asked.then(kept => ({ kept, problem: "" }), (error: unknown) => ({ kept: [], problem: this.words(error) })).then(answer => {
      if (number !== this.asked || this.isDisposed) return;
      Object.assign(this, answer);
      this.draw();
    });
  }

  private words(error: unknown): string {
    if (error instanceof ApiError && error.missing) return this.trans.__("%1. Enable it with: jupyter server extension enable pyptx.jupyter.server", error.message);
    return error instanceof Error ? error.message : String(error);
  }

  private draw(): void {
    const { trans, follower } = this, found = rows(this.kept, this.everywhere ? null : follower.session);
    const known = new Set(this.kept.flatMap(({ versions }) => versions.map(({ ref }) => ref)));
    this.picked = this.picked.filter(ref => known.has(ref));
    this.status.textContent = this.problem || (this.everywhere ? trans._n("%1 kernel in all notebooks", "%1 kernels in all notebooks", found.length)
      : !follower.notebook ? trans.__("No notebook is active")
      : found.length ? follower.notebook
      : trans.__("%1 has compiled no kernel yet: run a %%ptxkernel cell", follower.notebook));
    this.status.classList.toggle("pyptx-panel-problem", Boolean(this.problem));
    const focused = document.activeElement instanceof HTMLElement && this.list.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    this.list.replaceChildren(...found.map(row => this.kernel(row)));
    if (focused) this.list.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    this.footer();
  }

  private kernel(row: Row): HTMLElement {
    const { trans } = this, [newest, before] = row.versions;
    const live = row.live ? h("span.pyptx-panel-live", { title: trans.__("Defined in the running kernel of the notebook") }, "●") : null;
    const head = h("div.pyptx-panel-name", {}, h("b", {}, row.name), live, row.arch ? h("span.pyptx-panel-badge", {}, row.arch) : null);
    if (!newest) return h("section.pyptx-panel-kernel", {}, head, h("p", {}, trans.__("Not compiled in a %%ptxkernel cell yet")), this.verdict(row), this.starts(row));
    const delta = changes(newest, before);
    const fact = (label: string, value: string, change?: number, bad = false) => h("div", {}, h("dt", {}, label),
      h(bad ? "dd.pyptx-panel-bad" : "dd", {}, value, change ? h("small", { title: trans.__("change from the previous version") }, ` ${change > 0 ? "+" : "−"}${Math.abs(change)}`) : null));
    const occupancy = newest.occupancy;
    return h("section.pyptx-panel-kernel", { "aria-label": row.name }, head,
      h("p.pyptx-panel-where", {}, [configuration(newest), this.everywhere ? newest.notebook : null, newest.cell].filter(Boolean).join("  ·  ")),
      h("dl.pyptx-panel-facts", {},
        fact(trans.__("registers"), String(newest.registers), delta.registers),
        fact(trans.__("spills"), newest.spills ? size(newest.spills) : trans.__("none"), delta.spills, newest.spills > 0),
        fact(trans.__("shared"), size(newest.shared), delta.shared),
        newest.instructions === null ? null : fact("SASS", String(newest.instructions), delta.instructions),
        occupancy ? h("div", { title: occupancy.why }, h("dt", {}, trans.__("occupancy")), h("dd", {}, occupancy.percent === null ? (occupancy.why.startsWith("cannot launch") ? trans.__("cannot launch") : "–") : `${occupancy.percent} %`)) : null),
      this.verdict(row), this.starts(row), this.versions(row));
  }

  /** The verdict of the kernel's last check. */
  private verdict(row: Row): HTMLElement | null {
    const { check } = row;
    return check && h(`p.pyptx-panel-check${check.ok ? "" : ".pyptx-panel-bad"}`, {}, `${check.ok ? "✔" : "✖"} ${this.trans.__("check: %1", check.text)}`);
  }

  /** Buttons that insert a cell into the running notebook. */
  private starts(row: Row): HTMLElement | null {
    const { trans } = this, { check, sweep } = row.cells;
    if (!check && !sweep) return null;
    const button = (name: string, label: string, title: string, go: () => void) =>
      h("button.pyptx-panel-button", { type: "button", "data-key": `${name} ${row.name}`, title, onclick: go }, label);
    return h("div.pyptx-panel-starts", {},
      check ? button("check", trans.__("Run check"), trans.__("Insert and run a cell that checks the kernel in several schedules"), () => this.actions.insert(check, true)) : null,
      sweep ? button("sweep", trans.__("Start sweep…"), trans.__("Insert a cell that sweeps the kernel's parameters; edit and run it"), () => this.actions.insert(sweep, false)) : null);
  }

  private versions(row: Row): HTMLElement {
    const { trans } = this;
    const details = h("details", { ontoggle: () => { if (details.open) this.opened.add(row.name); else this.opened.delete(row.name); } },
      h("summary", { "data-key": `versions ${row.name}` }, trans._n("%1 version", "%1 versions", row.versions.length)),
      h("ul", {}, ...row.versions.map(version => this.version(version))));
    details.open = this.opened.has(row.name);
    const open = h("button.pyptx-panel-button", { type: "button", "data-key": `open ${row.name}`, onclick: () => this.actions.open(row.versions[0].ref) }, trans.__("Open view"));
    return h("div.pyptx-panel-versions", {}, open, details);
  }

  private version(version: Version): HTMLElement {
    const { trans } = this, { ref } = version;
    const box = h("input", { type: "checkbox", "data-key": `pick ${ref}`, "aria-label": trans.__("Compare %1", ref), onchange: () => {
      this.picked = box.checked ? [...this.picked, ref].slice(-MOST) : this.picked.filter(other => other !== ref);
      this.draw();
    } });
    box.checked = this.picked.includes(ref);
    const when = new Date(version.last * 1000).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
    const uses = trans.__("%1 registers", version.registers) + (version.instructions === null ? "" : `, ${trans.__("%1 SASS", version.instructions)}`);
    return h("li", {}, box,
      h("button.pyptx-panel-link", { type: "button", "data-key": `view ${ref}`, title: trans.__("Open the view of %1", ref), onclick: () => this.actions.open(ref) }, ref),
      h("span", {}, [...version.labels, version.target, configuration(version), uses, when].filter(Boolean).join(" · ")));
  }

  private footer(): void {
    const { trans } = this, refs = this.ordered();
    this.compare.disabled = refs.length < 2;
    this.compare.textContent = refs.length < 2 ? trans.__("Choose two or more versions to compare")
      : refs.length === 2 ? trans.__("Compare %1 with %2", refs[0], refs[1]) : trans.__("Compare %1 versions", refs.length);
  }

  /** The selected versions, older first. */
  private ordered(): string[] {
    const age = new Map(this.kept.flatMap(({ versions }) => versions.map(({ ref, last }) => [ref, last] as const)));
    return [...this.picked].sort((a, b) => (age.get(a) ?? 0) - (age.get(b) ?? 0));
  }

  private onCompare(): void {
    const refs = this.ordered();
    if (refs.length > 1) this.actions.compare(refs);
  }
}
