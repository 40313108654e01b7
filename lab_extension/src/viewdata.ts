// The fields of a view's JSON form that the extension uses.

export interface ViewData {
  kind: string;
  version: number;
  title?: string;
  panes?: string[];
  embedded?: boolean;
  packed?: string;           // the other fields, as pyptx/views/_packed.py packs them
}
