// File types .ptx, .cu, .sass and .cubin, and their linked views.

import type { JupyterFrontEnd } from "@jupyterlab/application";
import { ABCWidgetFactory, DocumentRegistry, DocumentWidget, type IDocumentWidget } from "@jupyterlab/docregistry";
import type { TranslationBundle } from "@jupyterlab/translation";
import { h } from "pyptx-renderer/dom.js";

import { fileView } from "./api.js";
import { chipIcon } from "./icons.js";
import { CUDA_MIME, PTX_MIME, SASS_MIME } from "./logic/cells.js";
import { View } from "./view.js";

export const FACTORY = "pyptx view";

type Context = DocumentRegistry.IContext<DocumentRegistry.IModel>;

/** The linked view of a file, updated when the file changes. */
class FileView extends View {
  constructor(private readonly context: Context, private readonly trans: TranslationBundle) {
    super(true);
    void context.ready.then(() => this.load());
    context.fileChanged.connect(() => this.load());
  }

  private async load(): Promise<void> {
    this.say(this.trans.__("Assembling and disassembling …"));
    try {
      const data = await fileView(this.context.localPath);
      if (!this.isDisposed) this.present(data);
    } catch (error) {
      if (!this.isDisposed) this.say(error instanceof Error ? error.message : String(error));
    }
  }

  private say(text: string): void {
    this.node.replaceChildren(h("pre.pyptx-message", { role: "status" }, text));
  }
}

class FileViewFactory extends ABCWidgetFactory<IDocumentWidget<FileView>> {
  constructor(options: DocumentRegistry.IWidgetFactoryOptions, private readonly trans: TranslationBundle) {
    super(options);
  }

  protected createNewWidget(context: Context): IDocumentWidget<FileView> {
    const content = new FileView(context, this.trans);
    content.title.icon = chipIcon;
    return new DocumentWidget({ content, context });
  }
}

/** The path of the document that an element belongs to, null for none. */
export function pathOf(shell: JupyterFrontEnd.IShell, element: Element): string | null {
  for (const widget of shell.widgets("main")) {
    if (widget instanceof DocumentWidget && widget.node.contains(element)) return widget.context.localPath;
  }
  return null;
}

export function addDocuments(registry: DocumentRegistry, trans: TranslationBundle): void {
  registry.addFileType({ name: "ptx", displayName: trans.__("PTX"), extensions: [".ptx"], mimeTypes: [PTX_MIME], icon: chipIcon });
  registry.addFileType({ name: "cuda", displayName: trans.__("CUDA C++"), extensions: [".cu", ".cuh"], mimeTypes: [CUDA_MIME], icon: chipIcon });
  registry.addFileType({ name: "nvidia-sass", displayName: trans.__("NVIDIA SASS"), extensions: [".sass", ".nvsass"], mimeTypes: [SASS_MIME], icon: chipIcon });
  registry.addFileType({ name: "cubin", displayName: trans.__("CUDA binary"), extensions: [".cubin"], mimeTypes: ["application/x-cubin"],
                         fileFormat: "base64", contentType: "file", icon: chipIcon });
  registry.addWidgetFactory(new FileViewFactory({ name: FACTORY, label: trans.__("PTX | SASS view"), modelName: "base64", readOnly: true,
                                                  fileTypes: ["cubin", "ptx", "cuda"], defaultFor: ["cubin"] }, trans));
}
