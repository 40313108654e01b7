// The state of pyptx in the kernel of the active notebook, requested after every run.

import { Signal } from "@lumino/signaling";
import type { ISessionContext } from "@jupyterlab/apputils";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel, KernelMessage } from "@jupyterlab/services";

import type { Session } from "./logic/kernels.js";

// Imports nothing that the notebook has not imported itself.
const EXPRESSION = "__import__('pyptx.jupyter.panel', fromlist=['NotebookState']).NotebookState(get_ipython()) if 'pyptx' in __import__('sys').modules else None";

async function requestState(kernel: Kernel.IKernelConnection): Promise<Session | null> {
  const info = await kernel.info;
  if (info.language_info.name !== "python") return null;
  const request = kernel.requestExecute({ code: "", silent: true, store_history: false, stop_on_error: false, allow_stdin: false,
                                          user_expressions: { pyptx: EXPRESSION } });
  const { content } = await request.done;
  const found = content.status === "ok" ? (content.user_expressions as Record<string, any>).pyptx : undefined;
  return found?.data?.["application/json"] ?? null;
}

/** Tracks the active notebook. `changed` is emitted for another notebook, the end of a run, a restart, a new state. */
export class SessionFollower {
  panel: NotebookPanel | null = null;
  session: Session | null = null;
  readonly changed = new Signal<this, void>(this);
  private readonly ran = new Set<string>();
  private asked = 0;

  constructor(tracker: INotebookTracker) {
    tracker.currentChanged.connect((_, panel) => this.follow(panel));
    this.follow(tracker.currentWidget);
  }

  /** File name of the notebook, as recorded with versions. */
  get notebook(): string | null {
    return this.panel?.context.localPath.split("/").at(-1) ?? null;
  }

  private follow(panel: NotebookPanel | null): void {
    if (panel === this.panel) return;
    const old = this.panel?.sessionContext;
    old?.iopubMessage.disconnect(this.onMessage, this);
    old?.statusChanged.disconnect(this.onStatus, this);
    old?.kernelChanged.disconnect(this.refresh, this);
    this.panel?.context.pathChanged.disconnect(this.refresh, this);
    this.panel = panel;
    this.session = null;
    panel?.sessionContext.iopubMessage.connect(this.onMessage, this);
    panel?.sessionContext.statusChanged.connect(this.onStatus, this);
    panel?.sessionContext.kernelChanged.connect(this.refresh, this);
    panel?.context.pathChanged.connect(this.refresh, this);
    this.refresh();
  }

  private onMessage(_: ISessionContext, message: KernelMessage.IMessage): void {
    const parent = (message.parent_header as { msg_id?: string }).msg_id ?? "", type = message.header.msg_type;
    if (type === "execute_input") this.ran.add(parent);
    if (type === "status" && (message.content as { execution_state: string }).execution_state === "idle" && this.ran.delete(parent)) this.refresh();
  }

  private onStatus(_: ISessionContext, status: Kernel.Status): void {
    if (["restarting", "autorestarting", "terminating", "dead"].includes(status)) {
      this.asked += 1;
      this.session = null;
      this.ran.clear();
      this.changed.emit();
    }
  }

  /** Request the state; emits `changed` at once, and again if the state differs. */
  refresh(): void {
    const number = this.asked += 1, kernel = this.panel?.sessionContext.session?.kernel ?? null;
    this.changed.emit();
    if (!kernel) return;
    requestState(kernel).then(session => {
      if (number !== this.asked || JSON.stringify(session) === JSON.stringify(this.session)) return;
      this.session = session;
      this.changed.emit();
    }, () => undefined);                                // the kernel terminated, which its status reports
  }
}
