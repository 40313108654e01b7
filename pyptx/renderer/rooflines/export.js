// Export of a chart: SVG with the theme's colors resolved, PNG at twice the size, text.

const RULES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity", "font-size", "font-weight"];

/** Save an SVG element as `name`, which ends in .svg or .png; resolves when the download has started. */
export async function save(svg, name) {
  const text = standalone(svg);
  if (name.endsWith(".svg")) { saveAs(text, name, "image/svg+xml"); return; }
  const picture = new Image(), { width, height } = svg.getBoundingClientRect(), canvas = document.createElement("canvas");
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  Object.assign(canvas, { width: width * 2, height: height * 2 });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise(done => canvas.toBlob(done, "image/png"));
  saveAs(blob, name, "image/png");
}

/** The SVG as a standalone file, with computed styles inlined. */
export function standalone(svg) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, n) => {
    const style = getComputedStyle(element);
    for (const rule of RULES) {
      const value = style.getPropertyValue(rule);
      if (value && value !== "none" && value !== "normal" && value !== "1" || rule === "fill" && value === "none") to[n].setAttribute(rule, value);
    }
    to[n].removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, 'DejaVu Sans', sans-serif");
  copy.removeAttribute("aria-hidden");
  return new XMLSerializer().serializeToString(copy);
}

/** Download text or a blob as a file. */
export function saveAs(content, name, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
