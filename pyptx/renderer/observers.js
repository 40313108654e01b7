// Observers of a view of panes: its size, the theme, clicks outside an open menu.

/** `view`: {root, grid, each(call), themed()}. Returns a function that disconnects the observers. */
export function observe({ root, grid, each, themed }) {
  const sizes = new ResizeObserver(() => each(pane => pane.resized()));
  sizes.observe(grid);
  const themes = new MutationObserver(() => requestAnimationFrame(themed));        // JupyterLab hides the page while the theme changes
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", themed);
  root.addEventListener("pointerdown", event => {
    for (const menu of root.querySelectorAll(".pyptx-menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  return () => {
    sizes.disconnect();
    themes.disconnect();
    dark.removeEventListener("change", themed);
  };
}
