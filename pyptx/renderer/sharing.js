// Saving a standalone page with the state of its view.

/** The text of the page with the given state, and without what the renderer has drawn. */
export function pageWith(document, state) {
  const copy = document.documentElement.cloneNode(true);
  copy.querySelector("#view").replaceChildren();
  copy.querySelector("#state").textContent = JSON.stringify(state).replaceAll("<", "\\u003c");
  return `<!doctype html>\n${copy.outerHTML}\n`;
}

/** Download a page named after a view. */
export function downloaded(page, title) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  link.download = `${(title ?? "view").replace(/[^\w.-]+/g, "-")}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Returns share(state): downloads the page with it. */
export const sharing = (document, title) => state => downloaded(pageWith(document, state), title);
