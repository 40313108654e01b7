// Arrows in the SASS pane, from the pinned or hovered instruction's producers to it: those it waits for.

const SVG = "http://www.w3.org/2000/svg";
const MOST = 4;                   // arrows of an instruction
const STEP = 7, WIDTH = 8 + MOST * STEP;

/** Paths of the arrows to the line at `to` from the lines at `from`: heights in pixels; the longest wait is the innermost. */
export function paths(to, from) {
  return from.slice(0, MOST).map((height, at) => {
    const right = 8 + (at + 1) * STEP - 3;
    return `M2 ${height}H${right}V${to}H4m4 -3l-4 3l4 3`;
  });
}

/** An overlay at the right edge of a pane's list, hidden from screen readers: the status bar names the producers. */
export class Arrows {
  constructor() {
    this.element = document.createElementNS(SVG, "svg");
    this.element.setAttribute("class", "pyptx-arrows");
    this.element.setAttribute("aria-hidden", "true");
    this.element.setAttribute("width", WIDTH);
    this.path = document.createElementNS(SVG, "path");
    this.element.append(this.path);
    this.drawn = "";
  }

  /** `row`, `from`: rows; `middle(row)`: the height of a line in the list's viewport; `height`: of the viewport. */
  draw(row, from, middle, height) {
    const near = value => Math.max(-20, Math.min(height + 20, value));      // where a line out of sight points
    const want = from.length ? paths(near(middle(row)), from.map(other => near(middle(other)))).join("") : "";
    if (want === this.drawn) return;
    this.drawn = want;
    this.path.setAttribute("d", want);
  }
}
