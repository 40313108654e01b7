// The modules that webpack.config.cjs names: the renderer's, and the words of the instruction set; and pictures.

declare module "pyptx-renderer/renderer.js" {
  export interface Drawn {
    destroy(): void;
    select?(pane: string, row: number): void;
    point?(pane: string | null, row: number): void;
  }
  export function mount(element: HTMLElement, data: object, options?: { fill?: boolean; height?: number; hidden?: string[]; share?: (state: object) => void; pointed?: (lines: [string, number][]) => void; actions?: Record<string, (...values: never[]) => Promise<object>> }): Drawn;
}

declare module "pyptx-renderer/packed.js" {
  /** The data of a view that may be packed. */
  export function unpacked<T extends { packed?: string }>(data: T): T;
}

declare module "pyptx-renderer/dom.js" {
  type Child = Node | string | null | undefined;
  export function h<K extends keyof HTMLElementTagNameMap>(kind: K, attributes?: Record<string, unknown>, ...children: Child[]): HTMLElementTagNameMap[K];
  export function h(kind: string, attributes?: Record<string, unknown>, ...children: Child[]): HTMLElement;
}

declare module "pyptx-renderer/sharing.js" {
  export function downloaded(page: string, title: string | undefined): void;
}

declare module "pyptx-renderer/reports/report.js" {
  export const SIGNS: { error: string; warning: string; note: string };
}

declare module "pyptx-isa" {
  const words: import("./logic/tokens.js").Words;
  export default words;
}
