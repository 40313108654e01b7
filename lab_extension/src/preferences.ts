// How the reader set things, for all parts of the extension; plugin.json says what each is.

import type { ISettingRegistry } from "@jupyterlab/settingregistry";
import { Signal } from "@lumino/signaling";

export const PLUGIN = "pyptx-lab:plugin";

class Preferences {
  panes: string[] = [];
  colours: string[] = [];
  margin = true;
  diagnostics = true;
  diagnosticsDelay = 500;
  readonly changed = new Signal<this, void>(this);

  async follow(registry: ISettingRegistry): Promise<void> {
    const settings = await registry.load(PLUGIN);
    this.read(settings);
    settings.changed.connect(() => this.read(settings));
  }

  private read(settings: ISettingRegistry.ISettings): void {
    const { panes, colours, margin, diagnostics, diagnosticsDelay } = settings.composite;
    Object.assign(this, { panes, colours, margin, diagnostics, diagnosticsDelay });
    this.changed.emit();
  }
}

export const preferences = new Preferences();
