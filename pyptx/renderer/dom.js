// Creation of DOM elements. Text is always inserted as text, never as HTML.

/** Create an element: `h("span.a.b", {title: "x", onclick: f, "aria-label": "y"}, child, ...)`; null children are skipped. */
export function h(kind, attributes = {}, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

let made = 0;

/** An id unique in the document. */
export const freshId = () => `pyptx-${(made += 1)}-${Math.random().toString(36).slice(2, 8)}`;
