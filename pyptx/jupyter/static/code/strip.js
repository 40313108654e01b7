// The strip beside a pane: where linked lines, search hits and the part in sight are. A picture; the pane itself is read.

import { h } from "../dom.js";
import { EXACT } from "./links.js";

const WIDTH = 14;

export class Strip {
  /** `jump(share)` is called with 0..1 when the reader clicks or drags on it. */
  constructor(jump) {
    this.canvas = h("canvas");
    this.sight = h("div.pyptx-sight");
    this.element = h("div.pyptx-strip", { "aria-hidden": "true" }, this.canvas, this.sight);
    const go = event => {
      const box = this.element.getBoundingClientRect();
      jump((event.clientY - box.top) / Math.max(1, this.used));
    };
    this.used = 0;
    this.element.addEventListener("pointerdown", event => { this.element.setPointerCapture(event.pointerId); go(event); });
    this.element.addEventListener("pointermove", event => { if (event.buttons) go(event); });
  }

  /** Show which part is in sight: top and height as shares of the whole. */
  see(top, height) {
    this.sight.style.transform = `translateY(${Math.round(top * this.used)}px)`;
    this.sight.style.height = `${Math.max(6, Math.round(height * this.used))}px`;
  }

  /** `style`: colours by name; `level`, `colour` by row, `hits`: rows. */
  draw({ count, place = row => row, folded = false, colour, level, hits, palette, style, rowHeight }) {
    const height = this.element.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!height) return;
    this.canvas.width = WIDTH * ratio;              // this also wipes it
    this.canvas.height = height * ratio;
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const scale = Math.min(rowHeight, height / Math.max(1, count));
    const mark = (row, left, width, fill, tall) => {
      pen.fillStyle = fill;
      pen.fillRect(left, (folded ? place(row) : row) * scale, width, Math.max(scale - (scale > 3 ? 1 : 0), tall));
    };
    const step = Math.max(1, Math.floor(0.5 / scale)), rows = colour.length;
    for (let row = 0; row < rows; row += step) if (colour[row] >= 0) mark(row, 1, 3, palette[colour[row] % palette.length], 0.5);
    if (level) for (let row = 0; row < rows; row += 1) if (level[row]) mark(row, 5, level[row] === EXACT ? 5 : 3, style.link, 2);
    for (const row of hits) mark(row, 10, 4, style.hit, 2);
    this.used = scale * count;
  }
}
