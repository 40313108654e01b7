// The modules that webpack.config.cjs names: the renderer's, and the table of the instruction set.

declare module "pyptx-static/renderer.js" {
  export interface Drawn {
    destroy(): void;
    select?(pane: string, row: number): void;
  }
  export function mount(element: HTMLElement, data: object, options?: { fill?: boolean; height?: number }): Drawn;
}

declare module "pyptx-isa" {
  const isa: import("./logic/ptx.js").Isa;
  export default isa;
}
