// The settings of the extension, described in schema/plugin.json.

import type { ISettingRegistry } from "@jupyterlab/settingregistry";
import { Signal } from "@lumino/signaling";

export const PLUGIN = "pyptx-lab:plugin";

class Preferences {
  panes: string[] = [];
  colors: string[] = [];
  margin = true;
  diagnostics = true;
  diagnosticsDelay = 500;
  typing = true;
  typingDelay = 700;
  cellLinks = true;
  cellPane = false;
  readonly changed = new Signal<this, void>(this);

  async follow(registry: ISettingRegistry): Promise<void> {
    const settings = await registry.load(PLUGIN);
    this.read(settings);
    settings.changed.connect(() => this.read(settings));
  }

  private read(settings: ISettingRegistry.ISettings): void {
    const { panes, colors, margin, diagnostics, diagnosticsDelay, typing, typingDelay, cellLinks, cellPane } = settings.composite;
    Object.assign(this, { panes, colors, margin, diagnostics, diagnosticsDelay, typing, typingDelay, cellLinks, cellPane });
    this.changed.emit();
  }
}

export const preferences = new Preferences();
