// The minimap beside a pane: linked lines, findings, search matches and the visible part. Hidden from screen readers.

import { h } from "../dom.js";

const WIDTH = 14;

export class Minimap {
  /** `jump(share)` is called with 0..1 for a click or drag. */
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

  /** Show the visible part: top and height as shares of the whole. */
  see(top, height) {
    this.sight.style.transform = `translateY(${Math.round(top * this.used)}px)`;
    this.sight.style.height = `${Math.max(6, Math.round(height * this.used))}px`;
  }

  /** `style`: colors by name; `color` and `heat` (0..1) by row; `exact`, `kin`, `hits`: rows; `findings`: Map row -> {severity}. The background, which links and matches do not change, is drawn once. */
  draw({ count, place = row => row, folded = false, color, heat = null, exact = [], kin = [], hits, findings = null, palette, style, rowHeight }) {
    const height = this.element.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!height) return;
    const scale = Math.min(rowHeight, height / Math.max(1, count)), key = [height, ratio, count, folded, scale, palette, color, heat];
    const marks = pen => (row, left, width, fill, tall) => {
      pen.fillStyle = fill;
      pen.fillRect(left, (folded ? place(row) : row) * scale, width, Math.max(scale - (scale > 3 ? 1 : 0), tall));
    };
    if (folded || !this.known || key.some((value, at) => value !== this.known[at])) {
      this.known = key;
      this.ground = canvasOf(this.ground ?? h("canvas"), height, ratio);
      const pen = penOf(this.ground, ratio), mark = marks(pen), step = Math.max(1, Math.floor(0.5 / scale));
      if (heat) heat.forEach((share, row) => { if (share > 0.02) { pen.globalAlpha = share; mark(row, 0, WIDTH, style.hot, 1); } });
      if (heat) pen.globalAlpha = 1;
      for (let row = 0; row < color.length; row += step) if (color[row] >= 0) mark(row, 1, 3, palette[color[row] % palette.length], 0.5);
    }
    if (this.canvas.height !== this.ground.height) canvasOf(this.canvas, height, ratio).style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.ground, 0, 0);
    pen.scale(ratio, ratio);
    const mark = marks(pen);
    if (findings) for (const [row, { severity }] of findings) mark(row, 0, WIDTH, style[severity], 2);
    for (const row of kin) mark(row, 5, 3, style.link, 2);
    for (const row of exact) mark(row, 5, 5, style.link, 2);
    for (const row of hits) mark(row, 10, 4, style.hit, 2);
    this.used = scale * count;
  }
}

function canvasOf(canvas, height, ratio) {
  canvas.width = WIDTH * ratio;                     // also clears it
  canvas.height = height * ratio;
  return canvas;
}

function penOf(canvas, ratio) {
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return pen;
}
