// *Share*: one HTML file with a linked view as it is: pins, columns, search, scroll positions.

import { Notification } from "@jupyterlab/apputils";
import { downloaded } from "pyptx-renderer/sharing.js";

import { pageOf } from "./api.js";
import type { ViewData } from "./viewdata.js";

const EMPTY = '<script type="application/json" id="state">null</script>';

/** Download a view with a state. The server makes the page, whose styles and scripts are not those of JupyterLab. */
export async function share(view: ViewData, state: object): Promise<void> {
  try {
    const page = await pageOf(view), filled = EMPTY.replace("null", () => JSON.stringify(state).replaceAll("<", "\\u003c"));
    downloaded(page.replace(EMPTY, () => filled), view.title);
  } catch (error) {
    Notification.error(error instanceof Error ? error.message : String(error));
  }
}
