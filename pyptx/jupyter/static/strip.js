// The strip beside a pane: where linked lines, search hits and the part in sight are. A picture; the pane itself is read.

import { h } from "./dom.js";
import { EXACT } from "./links.js";

const WIDTH = 14;

export class Strip {
  /** `jump(share)` is called with 0..1 when the reader clicks or drags on it. */
  constructor(jump) {
    this.canvas = h("canvas.pyptx-strip", { "aria-hidden": "true" });
    const go = event => {
      const box = this.canvas.getBoundingClientRect();
      jump((event.clientY - box.top) / box.height);
    };
    this.canvas.addEventListener("pointerdown", event => { this.canvas.setPointerCapture(event.pointerId); go(event); });
    this.canvas.addEventListener("pointermove", event => { if (event.buttons) go(event); });
  }

  /** `style`: colours by name; `level`, `colour`, `hits` by row; `sight`: [top, height] as shares of the whole. */
  draw({ count, colour, level, hits, sight, palette, style, rowHeight }) {
    const height = this.canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!height) return;
    this.canvas.width = WIDTH * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const scale = Math.min(rowHeight, height / Math.max(1, count));
    const mark = (row, left, width, fill, tall) => {
      pen.fillStyle = fill;
      pen.fillRect(left, row * scale, width, Math.max(scale - (scale > 3 ? 1 : 0), tall));
    };
    const step = Math.max(1, Math.floor(0.5 / scale));
    for (let row = 0; row < count; row += step) if (colour[row] >= 0) mark(row, 1, 3, palette[colour[row] % palette.length], 0.5);
    if (level) for (let row = 0; row < count; row += 1) if (level[row]) mark(row, 5, level[row] === EXACT ? 5 : 3, style.link, 2);
    for (const row of hits) mark(row, 10, 4, style.hit, 2);
    const used = scale * count;
    pen.strokeStyle = style.sight;
    pen.strokeRect(0.5, sight[0] * used + 0.5, WIDTH - 1, Math.max(6, sight[1] * used) - 1);
  }
}
