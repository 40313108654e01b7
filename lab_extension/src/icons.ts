import { LabIcon } from "@jupyterlab/ui-components";

const OUTLINE = "M8 1h2v3h4V1h2v3h2a2 2 0 0 1 2 2v2h3v2h-3v4h3v2h-3v2a2 2 0 0 1-2 2h-2v3h-2v-3h-4v3H8v-3H6a2 2 0 0 1-2-2v-2H1v-2h3v-4H1V8h3V6a2 2 0 0 1 2-2h2zM6 6v12h12V6zm3 3h6v6H9z";

/** A chip; JupyterLab colors it for the theme by its classes. */
export const chipIcon = new LabIcon({
  name: "pyptx:chip",
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><path class="jp-icon3 jp-icon-selectable" fill="#616161" d="${OUTLINE}"/></svg>`,
});

/** The chip as an image for launcher cards, in a green visible on light and dark backgrounds. */
export const cardUrl = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="52" height="52" viewBox="0 0 24 24"><path fill="#5a9b00" d="${OUTLINE}"/></svg>`)}`;
