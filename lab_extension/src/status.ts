// The status bar item: the backend of the active notebook.

import type { TranslationBundle } from "@jupyterlab/translation";
import { Signal } from "@lumino/signaling";
import { Widget } from "@lumino/widgets";

import { where } from "./logic/kernels.js";
import type { SessionFollower } from "./session.js";

export class BackendStatus extends Widget {
  readonly activeChanged = new Signal<this, void>(this);

  constructor(private readonly follower: SessionFollower, private readonly trans: TranslationBundle) {
    super();
    this.addClass("pyptx-status-item");
    follower.changed.connect(this.refresh, this);
    this.refresh();
  }

  /** True once the kernel has loaded pyptx. */
  get active(): boolean {
    return this.follower.session !== null;
  }

  dispose(): void {
    this.follower.changed.disconnect(this.refresh, this);
    super.dispose();
  }

  private refresh(): void {
    const { trans } = this, place = where(this.follower.session);
    this.node.textContent = !place ? "" : place.simulated ? trans.__("PTX: simulator") : trans.__("PTX: GPU %1", place.arch ?? "");
    this.node.title = !place ? "" : place.simulated ? trans.__("pyptx kernels of this notebook run on the CPU simulator") : trans.__("pyptx kernels of this notebook run on the GPU");
    this.activeChanged.emit();
  }
}
