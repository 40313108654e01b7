// What pyptx sends of a view, as far as the extension looks into it; the renderer reads the rest.

export interface ViewData {
  kind: string;
  version: number;
  title?: string;
  panes?: string[];
}
