// Saving a standalone page with the state of its view.

/** The text of the page with the given state, and without what the renderer has drawn. */
export function pageWith(document, state) {
  const copy = document.documentElement.cloneNode(true);
  copy.querySelector("#view").replaceChildren();
  copy.querySelector("#state").textContent = JSON.stringify(state).replaceAll("<", "\\u003c");
  return `<!doctype html>\n${copy.outerHTML}\n`;
}

/** Returns share(state): downloads the page with it. */
export const sharing = (document, title) => state => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([pageWith(document, state)], { type: "text/html" }));
  link.download = `${(title ?? "view").replace(/[^\w.-]+/g, "-")}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
