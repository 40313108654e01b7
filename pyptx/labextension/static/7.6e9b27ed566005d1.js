"use strict";(self.rspackChunkpyptx_lab=self.rspackChunkpyptx_lab||[]).push([[7],{38(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=e.n(a),x=e(41),n=e(42),l=e(43),d=e(44),s=e(45),y=e(46),c=e(47),f=i()(r());f.i(x.A),f.i(n.A),f.i(l.A),f.i(d.A),f.i(s.A),f.i(y.A),f.i(c.A),f.push([p.id,`/* views */
.pyptx-output { padding: 2px 0; }
/* JupyterLab lays out the lists of outputs; those of a view are laid out as elsewhere. */
.jp-OutputArea-output.pyptx-output dt, .jp-OutputArea-output.pyptx-output dd { float: none; width: auto; }
.jp-OutputArea-output.pyptx-output dt { font-weight: 400; }
.jp-OutputArea-output.pyptx-output dl { width: auto; overflow: visible; }
.jp-OutputArea-output.pyptx-output dl.pyptx-facts { display: flex; }
.jp-OutputArea-output.pyptx-output dl.pyptx-keys { display: grid; }
.jp-OutputArea-output.pyptx-output .pyptx-keys dt { font-weight: 600; }
.pyptx-document { height: 100%; overflow: hidden; background: var(--jp-layout-color1); }
.pyptx-document > .pyptx-linked { height: 100%; border: 0; border-radius: 0; }
.jp-Dialog-content:has(.pyptx-dialog) { width: 94vw; max-width: 94vw; max-height: 94vh; }
.pyptx-dialog { height: 74vh; }
.pyptx-message { margin: 0; padding: 16px; white-space: pre-wrap; color: var(--jp-content-font-color1); font-family: var(--jp-code-font-family); }

/* editors */
.pyptx-help { max-width: 640px; padding: 6px 10px; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); font: 13px/1.45 var(--jp-ui-font-family); }
.pyptx-help p { margin: 2px 0; }
.pyptx-help pre { margin: 4px 0 0; font: 12px/1.5 var(--jp-code-font-family); white-space: pre-wrap; }
.cm-tooltip-lint { max-width: 640px; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1); white-space: pre-wrap; }
.cm-tooltip:has(> .pyptx-help), .cm-tooltip:has(.cm-tooltip-lint) { border: 0; background: var(--jp-layout-color1); box-shadow: 0 2px 10px rgb(0 0 0 / 25%); }

/* the margin of cells with kernels */
.pyptx-margin { min-width: 66px; }
.pyptx-margin .cm-gutterElement { padding: 0 !important; }
.pyptx-mark { display: flex; align-items: center; justify-content: flex-end; gap: 3px; height: 100%; padding: 0 4px; cursor: pointer; font-size: 11px; font-variant-numeric: tabular-nums; color: var(--jp-content-font-color2); }
.pyptx-mark span { width: 27px; padding-right: 2px; line-height: 1.25; text-align: right; color: var(--jp-content-font-color2); }
.pyptx-mark span:first-child { color: var(--jp-content-font-color1); background: linear-gradient(var(--jp-brand-color3), var(--jp-brand-color3)) left / var(--pyptx-share) 100% no-repeat; }
body[data-jp-theme-light="false"] .pyptx-mark span:first-child { background-image: linear-gradient(#28476b, #28476b); }
.pyptx-mark span.pyptx-mark-cost { width: 34px; }
.pyptx-mark:hover { background-color: var(--jp-layout-color3); }
.pyptx-mark[data-stale] { opacity: 0.6; font-style: italic; text-decoration: line-through; }

.pyptx-signs .cm-gutterElement { padding: 0 !important; }
.pyptx-sign { width: 16px; text-align: center; font-size: 11px; cursor: pointer; color: var(--jp-info-color0); }
.pyptx-sign[data-severity="error"] { color: var(--jp-error-color0); }
.pyptx-sign[data-severity="warning"] { color: var(--jp-warn-color0); }

.pyptx-lit { background: color-mix(in srgb, var(--jp-brand-color1) 18%, transparent); }

/* cells while they are typed */
.cm-panels:has(.pyptx-typed) { background: var(--jp-cell-editor-background); border-top: 1px solid var(--jp-border-color2); }
.pyptx-typed { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 1px 8px; font: var(--jp-ui-font-size1) / 1.5 var(--jp-ui-font-family); color: var(--jp-content-font-color1); }
.pyptx-typed-note { color: var(--jp-content-font-color2); }

/* the panel */
.pyptx-panel { display: flex; flex-direction: column; min-width: 240px; overflow: hidden; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1); font-size: var(--jp-ui-font-size1); }
.pyptx-panel-header { display: flex; align-items: center; justify-content: space-between; padding: 8px 12px 2px; }
.pyptx-panel-header h2 { margin: 0; font-size: var(--jp-ui-font-size1); font-weight: 600; }
.pyptx-panel-all { display: block; padding: 0 10px; }
.pyptx-panel-all input { vertical-align: middle; }
.pyptx-panel-status { margin: 2px 12px 6px; color: var(--jp-ui-font-color2); overflow-wrap: anywhere; }
.pyptx-panel-problem { color: var(--jp-error-color1); }
.pyptx-panel-list { flex: 1; min-height: 0; overflow: auto; }
.pyptx-panel-kernel { padding: 8px 12px; border-top: 1px solid var(--jp-border-color2); }
.pyptx-panel-name { display: flex; align-items: baseline; gap: 6px; }
.pyptx-panel-name b { overflow-wrap: anywhere; font-family: var(--jp-code-font-family); }
.pyptx-panel-live { color: var(--jp-success-color1); }
.pyptx-panel-badge { margin-left: auto; padding: 0 7px; border: 1px solid var(--jp-border-color1); border-radius: 9px; font-size: var(--jp-ui-font-size0); color: var(--jp-ui-font-color2); }
.pyptx-panel-kernel p { margin: 2px 0; color: var(--jp-ui-font-color2); font-size: var(--jp-ui-font-size0); overflow-wrap: anywhere; }
.pyptx-panel-facts { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 4px 0; }
.pyptx-panel-facts dt { font-size: var(--jp-ui-font-size0); color: var(--jp-ui-font-color2); }
.pyptx-panel-facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
.pyptx-panel-facts small { font-weight: 400; color: var(--jp-ui-font-color2); }
.pyptx-panel-bad { color: var(--jp-error-color1); }
.pyptx-panel-starts { display: flex; flex-wrap: wrap; gap: 4px 6px; margin: 4px 0; }
.pyptx-panel-versions { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 4px 10px; }
.pyptx-panel-versions details { flex: 1; min-width: 140px; }
.pyptx-panel-versions details[open] { flex-basis: 100%; }
.pyptx-panel-versions summary { cursor: pointer; line-height: 22px; }
.pyptx-panel-versions ul { margin: 2px 0 0; padding: 0; list-style: none; }
.pyptx-panel-versions li { display: grid; grid-template-columns: 20px 1fr; align-items: center; padding: 2px 0; }
.pyptx-panel-versions li > span { grid-column: 2; color: var(--jp-ui-font-color2); font-size: var(--jp-ui-font-size0); overflow-wrap: anywhere; }
.pyptx-panel-versions input { margin: 0; }
.pyptx-panel-link { justify-self: start; padding: 0; font: inherit; color: var(--jp-content-link-color); background: none; border: 0; cursor: pointer; }
.pyptx-panel-link:hover { text-decoration: underline; }
.pyptx-panel-button { padding: 1px 9px; font: inherit; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); border-radius: 3px; cursor: pointer; }
.pyptx-panel-button:hover { border-color: var(--jp-brand-color1); }
.pyptx-panel :focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
.pyptx-panel-footer { padding: 8px 12px; border-top: 1px solid var(--jp-border-color2); }
.pyptx-panel-compare { width: 100%; white-space: normal; height: auto !important; min-height: 28px; line-height: 1.3 !important; padding: 5px 8px !important; }
.pyptx-panel-compare:disabled { color: var(--jp-ui-font-color2) !important; background: var(--jp-layout-color2) !important; cursor: default; }

.pyptx-status-item { padding: 0 6px; line-height: 24px; font-size: var(--jp-ui-font-size1); color: var(--jp-ui-font-color1); white-space: nowrap; }
`,""]),e.d(t,{},{A:f})},41(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* The linked view. Jupyter's theme variables where there are any; else light or dark as the reader's system says. */

.pyptx-linked {
  color-scheme: light dark;
  --px-bg: var(--jp-layout-color1, light-dark(#ffffff, #14171c));
  --px-raised: var(--jp-layout-color2, light-dark(#f3f5f8, #1d2229));
  --px-edge: var(--jp-border-color2, light-dark(#d5dae1, #333b46));
  --px-ink: light-dark(#1b222c, #e3e8ef);
  --px-soft: light-dark(#5b6675, #97a3b3);
  --px-focus: light-dark(#0b62b0, #6cb6ff);
  --px-bar: light-dark(#b9d3ee, #28476b);
  --px-hit: light-dark(#ffe58a, #6b5300);
  --px-hit-edge: light-dark(#b07a00, #ffd24d);
  --px-hot: light-dark(#ff9a3c, #c2500a);
  --px-bad: light-dark(#a3260a, #ff9b80);
  --px-error: light-dark(#b3261e, #ff9b80);
  --px-warning: light-dark(#8a4b00, #ffc266);
  --px-note: light-dark(#0b62b0, #6cb6ff);
  --px-loop: light-dark(#6a3d00, #f0b35e);
  /* Paul Tol's bright scheme and two more, in an order that keeps neighbours apart */
  --px-c0: #4477aa; --px-c1: #ccbb44; --px-c2: #aa3377; --px-c3: #228833;
  --px-c4: #ee7733; --px-c5: #66ccee; --px-c6: #ee6677; --px-c7: #009988;
  --px-k: light-dark(#8a1f87, #d59ae8);
  --px-o: light-dark(#08448a, #97caff);
  --px-m: light-dark(#2f4a61, #b9ccdf);
  --px-r: light-dark(#114f4a, #90dfcc);
  --px-x: light-dark(#7c4300, #f4c084);
  --px-n: light-dark(#7d320c, #f7b99c);
  --px-s: light-dark(#2b6a1e, #a5d68f);
  --px-p: light-dark(#8a1f87, #d59ae8);
  box-sizing: border-box;
  display: flex;
  flex-direction: column;
  color: var(--px-ink);
  background: var(--px-bg);
  border: 1px solid var(--px-edge);
  border-radius: 6px;
  font: 13px/1.4 var(--jp-ui-font-family, system-ui, sans-serif);
  overflow: hidden;
}
.pyptx-linked *, .pyptx-linked *::before { box-sizing: border-box; }
.pyptx-linked [hidden] { display: none !important; }
body[data-jp-theme-light="true"] .pyptx-linked { color-scheme: light; }
body[data-jp-theme-light="false"] .pyptx-linked { color-scheme: dark; }
.pyptx-page { margin: 0; background: light-dark(#ffffff, #14171c); color-scheme: light dark; }
.pyptx-fill { height: 100vh; border: 0; border-radius: 0; }
.pyptx-fill .pyptx-panes { flex: 1; min-height: 0; }
.pyptx-fill .pyptx-header { max-height: 60%; overflow: auto; flex: none; }

/* summary */
.pyptx-header { padding: 8px 12px 6px; border-bottom: 1px solid var(--px-edge); }
.pyptx-title { display: flex; align-items: baseline; gap: 8px; font-size: 15px; }
.pyptx-badge { font-size: 12px; color: var(--px-soft); border: 1px solid var(--px-edge); border-radius: 10px; padding: 0 8px; }
.pyptx-entry { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 4px 20px; margin-top: 4px; }
.pyptx-linked dl, .pyptx-linked dt, .pyptx-linked dd { float: none; width: auto; overflow: visible; }
.pyptx-linked .pyptx-facts { display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 0; }
.pyptx-fact { min-width: 0; }
.pyptx-fact dt { font-size: 11px; font-weight: 400; color: var(--px-soft); }
.pyptx-fact dd { margin: 0; }
.pyptx-fact b { font-size: 15px; font-variant-numeric: tabular-nums; }
.pyptx-fact small { color: var(--px-soft); margin-left: 5px; }
.pyptx-peak { font: inherit; font-size: 11px; margin-left: 5px; padding: 0; color: var(--px-focus); background: none; border: 0; text-decoration: underline dotted; cursor: pointer; }
.pyptx-bad b { color: var(--px-bad); }
.pyptx-mix { display: flex; flex-wrap: wrap; gap: 2px 8px; margin: 0 0 0 auto; padding: 4px 0 0; list-style: none; font-size: 11px; }
.pyptx-mix li { display: flex; gap: 5px; padding: 1px 6px 2px; border-radius: 3px; background: linear-gradient(var(--px-bar), var(--px-bar)) left bottom / var(--f) 3px no-repeat, var(--px-raised); }

.pyptx-notes { margin: 4px 0 0; padding: 0; list-style: none; font-size: 12px; }
.pyptx-notes b { color: var(--px-bad); margin-right: 6px; }

.pyptx-checked { margin: 4px 0 0; font-size: 12px; }
.pyptx-checked summary { cursor: pointer; }
.pyptx-checked ul { margin: 2px 0; padding: 0 0 0 14px; list-style: none; max-height: 150px; overflow: auto; }
.pyptx-checked .pyptx-button { margin-right: 4px; font-size: 11px; }
.pyptx-checked small { color: var(--px-soft); }
.pyptx-checked b { color: var(--px-f); }
.pyptx-linked .pyptx-f-error { --px-f: var(--px-error); } .pyptx-linked .pyptx-f-warning { --px-f: var(--px-warning); }
.pyptx-linked .pyptx-f-note { --px-f: var(--px-note); } .pyptx-linked .pyptx-f-good { --px-f: light-dark(#1d6b2c, #86d493); }
.pyptx-marked .pyptx-code { text-decoration: underline var(--px-f) 2px; text-underline-offset: 2px; }
.pyptx-marked .pyptx-no::after { content: ""; position: absolute; right: 0; top: 2px; bottom: 2px; width: 4px; background: var(--px-f); }

/* toolbar */
.pyptx-toolbar { position: relative; display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding: 5px 12px; border-bottom: 1px solid var(--px-edge); background: var(--px-raised); }
.pyptx-space { flex: 1; }
.pyptx-search { width: 190px; font: inherit; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 4px; padding: 2px 7px; }
.pyptx-search[aria-invalid="true"] { border-color: var(--px-bad); }
.pyptx-check { display: inline-flex; align-items: center; gap: 3px; color: var(--px-soft); font-family: monospace; }
.pyptx-hits { color: var(--px-soft); font-size: 12px; }
.pyptx-button { font: inherit; font-size: 12px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 4px; padding: 2px 9px; cursor: pointer; list-style: none; white-space: nowrap; }
.pyptx-button::-webkit-details-marker { display: none; }
.pyptx-button:hover { border-color: var(--px-focus); }
.pyptx-group { display: inline-flex; }
.pyptx-group .pyptx-button { border-radius: 0; margin-left: -1px; }
.pyptx-toggle[aria-pressed="false"] { color: var(--px-soft); text-decoration: line-through; background: var(--px-raised); }
.pyptx-narrow .pyptx-toggle[aria-pressed="false"] { text-decoration: none; }
.pyptx-narrow .pyptx-toggle[aria-pressed="true"] { font-weight: 600; border-bottom: 2px solid var(--px-focus); }
.pyptx-menu { position: relative; }
.pyptx-toolbar .pyptx-menu { position: static; }
.pyptx-sheet { position: absolute; right: 0; z-index: 20; margin-top: 4px; padding: 10px 14px; max-height: 60vh; overflow: auto; width: max-content; max-width: 560px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 6px; box-shadow: 0 6px 24px rgb(0 0 0 / 25%); }
.pyptx-toolbar .pyptx-sheet { right: 12px; top: 100%; margin-top: 0; max-width: min(560px, calc(100% - 24px)); }
.pyptx-sheet fieldset { border: 0; margin: 0 0 6px; padding: 0; }
.pyptx-sheet legend { font-weight: 600; padding: 0; }
.pyptx-sheet label { display: block; cursor: pointer; }
.pyptx-sheet small { color: var(--px-soft); }
.pyptx-linked .pyptx-keys { display: grid; grid-template-columns: max-content 1fr; gap: 3px 14px; margin: 0; }
.pyptx-keys dt { font-family: var(--jp-code-font-family, ui-monospace, monospace); font-weight: 600; }
.pyptx-keys dd { margin: 0; }

/* panes */
.pyptx-panes { display: flex; min-height: 120px; }
.pyptx-pane { contain: layout paint style; display: flex; flex-direction: column; flex: 1 1 0; min-width: 90px; font: 12px/1.5 var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace); }
.pyptx-bar { padding: 2px 10px; font: 600 11px/1.6 var(--jp-ui-font-family, system-ui, sans-serif); color: var(--px-soft); border-bottom: 1px solid var(--px-edge); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.pyptx-view { display: flex; flex: 1; min-height: 0; }
.pyptx-list { contain: strict; background: var(--px-bg); position: relative; flex: 1; min-width: 0; overflow: auto; outline-offset: -2px; overscroll-behavior: contain; scrollbar-width: thin; }
.pyptx-view { position: relative; }
.pyptx-arrows { position: absolute; right: 28px; top: 0; height: 100%; pointer-events: none; overflow: hidden; z-index: 2; fill: none; stroke: var(--px-focus); stroke-width: 1.5; }
.pyptx-strip { position: relative; width: 14px; flex: none; height: 100%; border-left: 1px solid var(--px-edge); cursor: pointer; touch-action: none; }
.pyptx-strip canvas { position: absolute; left: 0; top: 0; width: 14px; }
.pyptx-sight { position: absolute; left: 0; right: 0; top: 0; border: 1px solid var(--px-soft); background: color-mix(in srgb, var(--px-soft) 12%, transparent); pointer-events: none; }
.pyptx-separator { flex: none; width: 6px; cursor: col-resize; background: var(--px-raised); border: solid var(--px-edge); border-width: 0 1px; touch-action: none; }
.pyptx-separator:hover, .pyptx-separator:focus-visible { background: var(--px-focus); }
.pyptx-linked :focus-visible { outline: 2px solid var(--px-focus); }
.pyptx-lines { position: relative; }
.pyptx-columns, .pyptx-row { display: flex; align-items: stretch; white-space: pre; min-width: 100%; }
.pyptx-columns { position: sticky; top: 0; z-index: 3; width: max-content; background: var(--px-raised); color: var(--px-soft); line-height: 18px; height: 18px; user-select: none; }
.pyptx-row { position: absolute; left: 0; right: 0; height: var(--px-row); line-height: var(--px-row); cursor: default; --c: transparent; }
.pyptx-full .pyptx-row { content-visibility: auto; }
.pyptx-no { position: sticky; left: 0; z-index: 1; flex: none; width: calc(var(--px-number) + 18px); padding: 0 6px 0 12px; text-align: right; color: var(--px-soft); background: var(--px-bg); user-select: none; }
.pyptx-row .pyptx-no::before { content: ""; position: absolute; left: 0; top: 0; bottom: 0; width: 5px; background: var(--c); }
.pyptx-striped .pyptx-no::before { background: repeating-linear-gradient(var(--c) 0 3px, transparent 3px 6px); }
.pyptx-columns .pyptx-no { background: var(--px-raised); padding-left: 0; }
.pyptx-cells { flex: none; margin: 0 0.5ch 0 -0.5ch; color: var(--px-soft); user-select: none; font-variant-numeric: tabular-nums; }
.pyptx-col { flex: none; padding: 0 0.5ch; text-align: right; color: var(--px-soft); user-select: none; overflow: hidden; font-variant-numeric: tabular-nums; }
.pyptx-share { color: var(--px-ink); background: linear-gradient(var(--px-bar), var(--px-bar)) left center / var(--f) 12px no-repeat; }
.pyptx-code { tab-size: 4; flex: 1 0 auto; padding: 0 12px 0 13px; cursor: text; }
.pyptx-row { background: color-mix(in srgb, var(--c) 11%, transparent); }
.pyptx-c0 { --c: var(--px-c0); } .pyptx-c1 { --c: var(--px-c1); } .pyptx-c2 { --c: var(--px-c2); } .pyptx-c3 { --c: var(--px-c3); }
.pyptx-c4 { --c: var(--px-c4); } .pyptx-c5 { --c: var(--px-c5); } .pyptx-c6 { --c: var(--px-c6); } .pyptx-c7 { --c: var(--px-c7); }
.pyptx-warm .pyptx-no { color: var(--px-ink); background: color-mix(in srgb, var(--px-hot) var(--h), var(--px-bg)); }
.pyptx-kin { background: color-mix(in srgb, var(--c) 25%, transparent); }
.pyptx-kin .pyptx-no { box-shadow: inset 8px 0 0 -3px var(--c); }
.pyptx-exact { background: color-mix(in srgb, var(--c) 31%, transparent); }
.pyptx-exact .pyptx-no { color: var(--px-bg); background: var(--px-ink); font-weight: 600; }
.pyptx-heading { padding: 0 10px; font: 600 11px/18px var(--jp-ui-font-family, system-ui, sans-serif); color: var(--px-soft); }
.pyptx-head { background: var(--px-raised) !important; }
.pyptx-head .pyptx-no { background: var(--px-raised); }
.pyptx-kin .pyptx-no { color: var(--px-ink); }
.pyptx-active { outline: 2px solid var(--px-ink); outline-offset: -2px; z-index: 2; }
.pyptx-picked { box-shadow: inset 0 0 0 100px color-mix(in srgb, var(--px-focus) 22%, transparent); }
.pyptx-hit .pyptx-no { box-shadow: inset -3px 0 0 var(--px-hit-edge); }
.pyptx-linked mark { color: inherit; background: var(--px-hit); border-radius: 2px; }
.pyptx-jump { user-select: none; font: inherit; font-size: 11px; line-height: 14px; margin-left: 10px; padding: 0 5px; color: var(--px-focus); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 3px; cursor: pointer; }
.pyptx-tk { color: var(--px-k); } .pyptx-to { color: var(--px-o); font-weight: 600; } .pyptx-tm { color: var(--px-m); }
.pyptx-tr { color: var(--px-r); } .pyptx-tx { color: var(--px-x); } .pyptx-tn { color: var(--px-n); } .pyptx-ts { color: var(--px-s); }
.pyptx-tp { color: var(--px-p); font-weight: 600; } .pyptx-tc { color: var(--px-soft); font-style: italic; } .pyptx-tl { color: var(--px-x); font-weight: 600; }
.pyptx-ptx .pyptx-code { tab-size: 2; }
.pyptx-td { color: var(--px-k); } .pyptx-python .pyptx-to { font-weight: 400; }

.pyptx-status { padding: 4px 12px; min-height: 26px; border-top: 1px solid var(--px-edge); background: var(--px-raised); font-size: 12px; white-space: pre-wrap; }
.pyptx-foot { flex: none; }
.pyptx-explain { display: flex; gap: 0 18px; align-items: baseline; height: 26px; overflow: hidden; white-space: nowrap; padding: 0 12px 4px; background: var(--px-raised); color: var(--px-soft); font-size: 12px; }
.pyptx-explain b { color: var(--px-ink); font-family: var(--jp-code-font-family, ui-monospace, monospace); }
.pyptx-explain code { color: var(--px-ink); background: none; padding: 0; font: 12px/1.5 var(--jp-code-font-family, ui-monospace, monospace); flex: none; }
.pyptx-explain a { color: var(--px-focus); flex: none; }
.pyptx-explain .pyptx-button { padding: 0 5px; font-family: var(--jp-code-font-family, ui-monospace, monospace); font-size: 11px; }
.pyptx-stack + .pyptx-stack { margin-left: 14px; }
.pyptx-what { overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 1400px) { .pyptx-explain { flex-wrap: wrap; align-content: start; height: 48px; overflow-y: auto; } }
@media (max-width: 700px) { .pyptx-explain { height: 88px; } .pyptx-explain .pyptx-what, .pyptx-explain code { white-space: normal; } }

/* the machine instructions of a line */
.pyptx-expansion { max-height: 260px; overflow: auto; padding: 4px 12px 6px; border-top: 1px solid var(--px-edge); font-size: 12px; }
.pyptx-expansion-head { display: flex; justify-content: space-between; align-items: center; position: sticky; top: -4px; background: var(--px-bg); }
.pyptx-expansion-line { margin-top: 4px; color: var(--px-soft); }
.pyptx-expansion code, .pyptx-offer code { background: none; padding: 0; color: var(--px-ink); font: 12px/1.5 var(--jp-code-font-family, ui-monospace, monospace); }
.pyptx-expansion .pyptx-cost code { flex: 0 0 auto; width: min(44ch, 46%); }
.pyptx-expansion .pyptx-cost em { flex: 1; min-width: 0; font-style: normal; color: var(--px-soft); }
.pyptx-expansion p { margin: 2px 6px; }
@media (max-width: 700px) { .pyptx-expansion .pyptx-cost { flex-wrap: wrap; } .pyptx-expansion .pyptx-cost code { width: auto; flex: 1; } .pyptx-expansion .pyptx-cost em { flex-basis: 100%; } }

/* what an instruction needs, who needs it; what costs most */
.pyptx-row[data-sign] { outline: 1px dashed var(--px-ink); outline-offset: -1px; }
.pyptx-row.pyptx-active[data-sign] { outline: 2px solid var(--px-ink); }
.pyptx-no[data-sign]::after { content: attr(data-sign); position: absolute; left: 7px; font-weight: 700; color: inherit; }
.pyptx-needs { flex: none; }
.pyptx-needs .pyptx-button { margin-left: 3px; }
.pyptx-costs { margin: 4px 0; padding: 0; list-style: none; }
.pyptx-cost { display: flex; gap: 10px; width: 100%; font: inherit; font-size: 12px; text-align: left; color: var(--px-ink); padding: 1px 6px; border: 0; cursor: pointer; background: linear-gradient(var(--px-bar), var(--px-bar)) left bottom / var(--f) 3px no-repeat, transparent; }
.pyptx-cost:hover { outline: 1px solid var(--px-focus); }
.pyptx-cost[disabled] { cursor: default; }
.pyptx-cost b { flex: none; min-width: 5ch; text-align: right; font-variant-numeric: tabular-nums; }
.pyptx-cost span { flex: none; min-width: 4ch; text-align: right; color: var(--px-soft); }
.pyptx-cost code { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre; color: inherit; background: none; padding: 0; font: 12px/1.5 var(--jp-code-font-family, ui-monospace, monospace); }
.pyptx-held { margin: 6px 0 2px; padding: 6px 12px; border: 1px solid var(--px-edge); border-radius: 6px; background: var(--px-raised); }
.pyptx-held p { margin: 2px 0; font-size: 12px; color: var(--px-soft); }
.pyptx-sheet select { font: inherit; font-size: 12px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 4px; }

/* blocks, loops, labels */
.pyptx-row .pyptx-code { position: relative; padding-left: calc(13px + 0.5ch + var(--px-loops)); }
.pyptx-code[data-loops]::before { content: attr(data-loops); position: absolute; left: 0.5ch; color: var(--px-loop); font-weight: 700; }
.pyptx-fold { flex: none; margin: 0 calc(-12px - 0.5ch - var(--px-loops)) 0 calc(0.5ch + var(--px-loops)); padding: 0; width: 12px; height: var(--px-row); line-height: var(--px-row); font: inherit; font-size: 10px; color: var(--px-soft); background: none; border: 0; cursor: pointer; z-index: 1; }
.pyptx-fold:hover { color: var(--px-focus); }
.pyptx-folded { border-bottom: 1px dashed var(--px-soft); }
.pyptx-folded .pyptx-code { flex-grow: 0; }
.pyptx-more { color: var(--px-soft); font-style: italic; }
.pyptx-label { font: inherit; padding: 0; color: var(--px-focus); background: none; border: 0; text-decoration: underline; cursor: pointer; }
.pyptx-mark { background: var(--px-hit); }

/* what if */
.pyptx-ask, .pyptx-by { align-self: center; }
.pyptx-whatif { margin: 6px 0 2px; padding: 6px 12px; border: 1px solid var(--px-edge); border-radius: 6px; background: var(--px-raised); }
.pyptx-whatif p { margin: 2px 0; }
.pyptx-answer b { font-size: 15px; }
.pyptx-tries { display: flex; flex-wrap: wrap; gap: 6px 28px; margin: 4px 0; }
.pyptx-try { display: grid; grid-template-columns: auto auto; gap: 2px 8px; align-items: end; }
.pyptx-try label { display: flex; flex-direction: column; font-size: 11px; color: var(--px-soft); }
.pyptx-try input { width: 110px; font: inherit; font-size: 13px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 4px; padding: 1px 5px; }
.pyptx-chart { grid-column: 1 / 3; }
.pyptx-chart svg { display: block; background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 3px; cursor: crosshair; }
.pyptx-steps { fill: none; stroke: var(--px-focus); stroke-width: 1.5; }
.pyptx-now { fill: var(--px-ink); stroke: var(--px-bg); stroke-width: 1.5; }
.pyptx-hints { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: baseline; font-size: 12px; color: var(--px-soft); }

/* code and diff as tabs */
.pyptx-tabs > .pyptx-panel { flex: 1; min-height: 0; }
.pyptx-tabs > .pyptx-panel > .pyptx-linked { border: 0; border-radius: 0; }
.pyptx-tabs > .pyptx-panel > .pyptx-fill { height: 100%; }
.pyptx-tablist { display: flex; align-items: flex-end; gap: 2px; padding: 4px 8px 0; border-bottom: 1px solid var(--px-edge); background: var(--px-raised); }
.pyptx-tab { flex: none; white-space: nowrap; font: inherit; font-size: 12px; padding: 3px 12px; color: var(--px-soft); background: none; border: 1px solid transparent; border-bottom: 0; border-radius: 5px 5px 0 0; cursor: pointer; }
.pyptx-tab[aria-selected="true"] { color: var(--px-ink); font-weight: 600; background: var(--px-bg); border-color: var(--px-edge); margin-bottom: -1px; }
.pyptx-tabnote { margin-left: 12px; padding-bottom: 3px; font-size: 12px; color: var(--px-soft); overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
`,""]),e.d(t,{},{A:i})},47(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* Comparisons of several kernels. */
.pyptx-comparison {
  color-scheme: light dark;
  --px-bg: var(--jp-layout-color1, light-dark(#ffffff, #14171c));
  --px-edge: var(--jp-border-color2, light-dark(#d5dae1, #333b46));
  --px-ink: light-dark(#1b222c, #e3e8ef);
  --px-soft: light-dark(#5b6675, #97a3b3);
  --px-focus: light-dark(#0b62b0, #6cb6ff);
  --px-bar: light-dark(#8fb6dd, #3a6496);
  color: var(--px-ink); background: var(--px-bg); font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
  border: 1px solid var(--px-edge); border-radius: 6px; padding: 8px 12px; box-sizing: border-box;
}
body[data-jp-theme-light="false"] .pyptx-comparison { color-scheme: dark; }
body[data-jp-theme-light="true"] .pyptx-comparison { color-scheme: light; }
.pyptx-comparison.pyptx-fill { height: 100%; overflow: auto; }
.pyptx-comparison header b { font-size: 15px; }
.pyptx-comparison .pyptx-soft { color: var(--px-soft); }
.pyptx-comparison .pyptx-scroll { overflow-x: auto; margin-top: 6px; }
.pyptx-comparison table { border-collapse: collapse; width: 100%; table-layout: fixed; font-size: 13px; margin: 0; }
.pyptx-comparison th, .pyptx-comparison td { text-align: left; vertical-align: top; padding: 3px 14px 3px 0; font-weight: 400; white-space: normal; overflow-wrap: break-word; background: var(--px-bg); border: 0; border-bottom: 1px solid var(--px-edge); color: inherit; max-width: none; }
.pyptx-comparison th[scope="row"], .pyptx-comparison thead td { position: sticky; left: 0; z-index: 1; color: var(--px-soft); }
.pyptx-comparison thead td { width: 110px; }
@media (min-width: 1000px) { .pyptx-comparison thead td { width: 220px; } }
.pyptx-comparison .pyptx-of-group th { padding-left: 10px; }
.pyptx-comparison td b { font-variant-numeric: tabular-nums; }
.pyptx-baseline { font: inherit; font-weight: 600; color: var(--px-focus); background: none; border: 0; border-bottom: 2px solid transparent; padding: 0; cursor: pointer; }
.pyptx-baseline[aria-pressed="true"] { color: var(--px-ink); border-bottom-color: var(--px-focus); }
.pyptx-target { display: block; font-size: 11px; color: var(--px-soft); }
.pyptx-measure { height: 5px; margin: 2px 0 1px; background: var(--px-bar); border-radius: 1px; min-width: 1px; }
.pyptx-tone { color: var(--px-soft); }
.pyptx-comparison .pyptx-worse { color: light-dark(#a3260a, #ff9b80); } .pyptx-comparison .pyptx-better, .pyptx-winner { color: light-dark(#1d6b2c, #86d493); }
.pyptx-problems { margin: 6px 0 0; padding: 0 0 0 16px; font-size: 12px; color: var(--px-soft); }
.pyptx-comparison :focus-visible { outline: 2px solid var(--px-focus); outline-offset: 2px; }
`,""]),e.d(t,{},{A:i})},45(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* The debugger: what it has beyond the linked view's styles. */

.pyptx-debug {
  --px-now: light-dark(#b35900, #ffb066);
  --px-now-ink: light-dark(#8a4300, #ffb066);
  --px-low: light-dark(#e3ebf4, #1d2b3a);
  --px-high: light-dark(#08306b, #ffe28a);
  --px-run: light-dark(#7f9cbb, #5f83a8);
  --px-wait: light-dark(#c27b00, #e0a33a);
  --px-wait-ink: light-dark(#7d4e00, #e8b257);
  --px-fly: light-dark(#1a5499, #6cb6ff);
  --px-landed: light-dark(#00766a, #45c8b4);
  --px-good: light-dark(#00665c, #5fd3c1);
  --px-label: 170px;
  container: debugger / inline-size;
}
.pyptx-debug .pyptx-soft { color: var(--px-soft); font-size: 12px; margin: 2px 0; }
.pyptx-debug h3 { margin: 0; font-size: 12px; font-weight: 600; line-height: 1.6; color: var(--px-soft); }
.pyptx-debug kbd { margin-left: 5px; padding: 0 3px; font: 10px/1.3 var(--jp-code-font-family, ui-monospace, monospace); color: var(--px-soft); background: none; border: 1px solid var(--px-edge); border-radius: 3px; box-shadow: none; }
.pyptx-debug .pyptx-button:disabled { opacity: 0.45; cursor: default; border-color: var(--px-edge); }
.pyptx-debug p { margin: 4px 0; }
.pyptx-debug .pyptx-scroll { overflow: auto; scrollbar-width: thin; outline-offset: -2px; }
.pyptx-debug .pyptx-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; }
.pyptx-debug .pyptx-section-body .pyptx-tools { padding: 5px 0; }
.pyptx-debug .pyptx-search { width: 170px; font-size: 12px; }
.pyptx-debug .pyptx-toolbar .pyptx-search { width: 130px; }
.pyptx-switch[aria-pressed=true] { border-color: var(--px-focus); box-shadow: inset 0 -2px 0 var(--px-focus); font-weight: 600; }
.pyptx-debug .pyptx-drop { padding: 0 5px; margin-left: 4px; font: inherit; line-height: 1.2; color: var(--px-soft); background: none; border: 0; cursor: pointer; }
.pyptx-debug .pyptx-drop:hover { color: var(--px-bad); }
.pyptx-debug .pyptx-link { padding: 0; font: inherit; font-family: var(--jp-code-font-family, ui-monospace, monospace); color: var(--px-focus); background: none; border: 0; text-decoration: underline; cursor: pointer; }
.pyptx-debug .pyptx-small { padding: 0 5px; font-size: 11px; }
.pyptx-debug select { font: inherit; font-size: 12px; max-width: 280px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 4px; padding: 1px 2px; }

/* JupyterLab lays out tables and lists of outputs; those of a view are laid out as elsewhere. */
.pyptx-linked.pyptx-debug table { margin: 0; border-collapse: collapse; border: 0; table-layout: auto; font-size: 12px; width: auto; }
.pyptx-linked.pyptx-debug th, .pyptx-linked.pyptx-debug td { border: 0; text-align: left; vertical-align: middle; max-width: none; white-space: nowrap; color: var(--px-ink); }
.pyptx-linked.pyptx-debug tr, .pyptx-linked.pyptx-debug tbody tr:nth-child(odd), .pyptx-linked.pyptx-debug tbody tr:hover { background: none; }
.pyptx-linked.pyptx-debug dt, .pyptx-linked.pyptx-debug dd { float: none; width: auto; margin: 0; padding: 0; }
.pyptx-linked.pyptx-debug dl { margin: 0; overflow: visible; }
.pyptx-linked.pyptx-debug ul { margin: 0; padding: 0; list-style: none; }
.pyptx-linked.pyptx-debug dl.pyptx-keys { display: grid; }
.pyptx-linked.pyptx-debug .pyptx-keys dt { font-weight: 600; }
.pyptx-linked.pyptx-debug .pyptx-number { text-align: right; font-variant-numeric: tabular-nums; }

/* where it stands */
.pyptx-debug-header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 16px; padding: 6px 12px 4px; }
.pyptx-debug-name { font-size: 15px; }
.pyptx-fact-inline { font-size: 12px; color: var(--px-soft); }
.pyptx-fact-inline b { color: var(--px-ink); font-weight: 600; font-variant-numeric: tabular-nums; }
.pyptx-debug-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 5px 12px; border-bottom: 1px solid var(--px-edge); }
.pyptx-stop { display: flex; align-items: baseline; gap: 8px; flex: 3 1 420px; min-width: 0; border-left: 4px solid var(--px-focus); padding: 1px 8px; }
.pyptx-stop[data-reason=breakpoint], .pyptx-stop[data-reason=watchpoint] { border-left-color: var(--px-now); }
.pyptx-stop:is([data-reason=fault], [data-reason=deadlock], [data-reason=finding]) { border-left-color: var(--px-bad); }
.pyptx-stop:is([data-reason=fault], [data-reason=deadlock], [data-reason=finding]) b { color: var(--px-bad); }
.pyptx-stop[data-reason=exit] { border-left-color: var(--px-good); }
.pyptx-stop-sign { min-width: 1.2em; text-align: center; color: var(--px-now); }
.pyptx-stop-words { overflow-wrap: anywhere; white-space: pre-wrap; }
.pyptx-stop-where { margin-left: 10px; color: var(--px-soft); font-variant-numeric: tabular-nums; }
.pyptx-scrubber { display: flex; align-items: center; gap: 8px; flex: 2 1 300px; font-variant-numeric: tabular-nums; }
.pyptx-count { min-width: 84px; text-align: right; font-weight: 600; }
.pyptx-slider { flex: 1; min-width: 80px; margin: 0; accent-color: var(--px-now); }
.pyptx-error { display: flex; gap: 6px; padding: 5px 12px; color: var(--px-bad); border-bottom: 1px solid var(--px-edge); white-space: pre-wrap; overflow-wrap: anywhere; }
.pyptx-error .pyptx-drop { margin-left: auto; }
.pyptx-debug .pyptx-toolbar { gap: 5px 8px; padding: 5px 12px; }
.pyptx-pause:not(:disabled) { color: var(--px-bg); background: var(--px-now); border-color: var(--px-now); }
.pyptx-pause:not(:disabled) kbd { color: inherit; }
.pyptx-busy .pyptx-code, .pyptx-busy .pyptx-section-body { opacity: 0.6; }

/* warps and code */
.pyptx-debug-code { display: flex; border-bottom: 1px solid var(--px-edge); }
.pyptx-debug.pyptx-fill { overflow: hidden auto; }
.pyptx-debug.pyptx-fill .pyptx-header { max-height: none; overflow: visible; }
.pyptx-debug.pyptx-fill > * { flex: none; }
.pyptx-debug.pyptx-fill > .pyptx-debug-code { flex: 3 0 260px; min-height: 0; }
.pyptx-debug.pyptx-fill > .pyptx-debug-values { flex: 2 0 220px; min-height: 0; }
.pyptx-debug.pyptx-fill .pyptx-section-body { max-height: none; }
.pyptx-debug-code > .pyptx-panes { flex: 1; min-width: 0; }
.pyptx-warpsbox { display: flex; flex-direction: column; flex: 0 0 228px; min-height: 0; border-right: 1px solid var(--px-edge); position: relative; }
.pyptx-warpsbox h3 { padding: 2px 10px; border-bottom: 1px solid var(--px-edge); font-size: 11px; }
.pyptx-chips { display: flex; flex-wrap: wrap; gap: 3px; padding: 4px 8px; }
.pyptx-debug .pyptx-chip { font: inherit; font-size: 11px; line-height: 17px; padding: 0 6px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 9px; white-space: nowrap; cursor: pointer; }
.pyptx-debug button.pyptx-chip[aria-pressed=false] { text-decoration: none; color: var(--px-ink); }
.pyptx-debug .pyptx-chip[aria-pressed=true] { border-color: var(--px-focus); box-shadow: inset 0 0 0 1px var(--px-focus); font-weight: 600; }
.pyptx-warplist { flex: 1 1 0; min-height: 0; overflow: auto; outline-offset: -2px; scrollbar-width: thin; position: relative; }
.pyptx-warp { display: grid; grid-template-columns: 1.4em 1fr auto; gap: 0 4px; padding: 2px 8px 3px; border-left: 4px solid transparent; border-bottom: 1px solid var(--px-edge); font-size: 12px; line-height: 1.35; }
.pyptx-live .pyptx-warp { cursor: pointer; }
.pyptx-live .pyptx-warp:hover { background: var(--px-raised); }
.pyptx-warp[aria-selected=true] { border-left-color: var(--px-now); background: color-mix(in srgb, var(--px-now) 14%, transparent); font-weight: 600; }
.pyptx-warpname { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.pyptx-warpname em { color: var(--px-soft); }
.pyptx-warpplace, .pyptx-waits { grid-column: 2 / 4; font-size: 11px; font-weight: 400; color: var(--px-soft); }
.pyptx-waits { color: var(--px-wait-ink); overflow-wrap: anywhere; overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; line-clamp: 2; }
.pyptx-w-waiting .pyptx-sign { color: var(--px-wait-ink); }
.pyptx-w-running .pyptx-sign { color: var(--px-now-ink); }
.pyptx-w-exited { color: var(--px-soft); }
.pyptx-mask { align-self: center; width: 34px; height: 8px; border: 1px solid var(--px-edge); border-radius: 2px; }

.pyptx-debug .pyptx-pane { position: relative; }
.pyptx-debug .pyptx-columns { display: none; }
.pyptx-debug .pyptx-row:not(.pyptx-kin, .pyptx-exact) { background: color-mix(in srgb, var(--c) 4%, transparent); }
.pyptx-debug .pyptx-kin:not(.pyptx-exact) { background: color-mix(in srgb, var(--c) 18%, transparent); }
.pyptx-debug .pyptx-no { width: calc(var(--px-number) + 60px); padding-left: 8px; display: flex; justify-content: flex-end; }
.pyptx-debug .pyptx-row .pyptx-no { cursor: default; }
.pyptx-live .pyptx-row:not(.pyptx-head) .pyptx-no { cursor: pointer; }
.pyptx-debug .pyptx-exact .pyptx-no { color: var(--px-ink); background: color-mix(in srgb, var(--px-ink) 14%, var(--px-bg)); }
.pyptx-debug .pyptx-point { position: absolute; left: 6px; width: 1.2em; text-align: center; color: light-dark(#9c1d16, #ffa497); font-size: 13px; }
.pyptx-live .pyptx-row:not(.pyptx-stops):not(.pyptx-head) .pyptx-no:hover .pyptx-point::after { content: "○"; opacity: 0.6; }
.pyptx-here-sign { position: absolute; left: 21px; width: 1em; text-align: center; color: var(--px-now-ink); font-size: 11px; }
.pyptx-warps { position: absolute; left: 33px; top: 2px; bottom: 2px; min-width: 0; padding: 0 3px; font-size: 10px; line-height: calc(var(--px-row) - 4px); color: var(--px-ink); background: color-mix(in srgb, var(--px-run) 45%, transparent); border-radius: 3px; }
.pyptx-warps:empty { display: none; }
.pyptx-debug .pyptx-row.pyptx-here { background: color-mix(in srgb, var(--px-now) 26%, var(--px-bg)); box-shadow: inset 0 1px 0 var(--px-now), inset 0 -1px 0 var(--px-now); }
.pyptx-debug .pyptx-here .pyptx-no { color: var(--px-ink); background: color-mix(in srgb, var(--px-now) 34%, var(--px-bg)); font-weight: 700; }
.pyptx-debug .pyptx-row.pyptx-caller { box-shadow: inset 0 -1px 0 var(--px-now); }
.pyptx-debug .pyptx-active { outline: 1px dashed var(--px-ink); outline-offset: -1px; }
.pyptx-condition { position: absolute; left: 44px; z-index: 10; display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding: 6px 8px; font: 12px/1.4 var(--jp-ui-font-family, system-ui, sans-serif); color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-focus); border-radius: 6px; box-shadow: 0 4px 16px rgb(0 0 0 / 25%); }

/* timeline */
.pyptx-timeline { border-bottom: 1px solid var(--px-edge); padding: 2px 12px 4px; }
.pyptx-timehead { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 14px; }
.pyptx-timelegend { display: flex; flex-wrap: wrap; gap: 2px 12px; font-size: 11px; color: var(--px-soft); }
.pyptx-timelegend span { display: inline-flex; align-items: center; gap: 4px; }
.pyptx-debug .pyptx-timelegend .pyptx-span { position: static; display: inline-block; width: 18px; }
.pyptx-timesaid { flex: 1; min-width: 120px; height: 18px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; text-align: right; font-size: 11px; color: var(--px-ink); font-variant-numeric: tabular-nums; }
.pyptx-timehead .pyptx-button { padding: 0 7px; font-size: 11px; }
.pyptx-plot { position: relative; overflow: hidden; outline-offset: 1px; user-select: none; }
.pyptx-live .pyptx-plot { cursor: crosshair; }
.pyptx-timerows { max-height: 274px; overflow: hidden auto; scrollbar-width: none; }
.pyptx-fill .pyptx-timerows { max-height: 24vh; }
.pyptx-timerow { display: flex; height: 16px; }
.pyptx-timename { flex: 0 0 var(--px-label); padding-right: 8px; font-size: 11px; line-height: 16px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; cursor: default; }
.pyptx-timebars { position: relative; flex: 1; min-width: 0; border-bottom: 1px solid color-mix(in srgb, var(--px-edge) 55%, transparent); overflow: hidden; }
.pyptx-debug .pyptx-span { position: absolute; top: 3px; height: 10px; border-radius: 1px; }
.pyptx-k-run { background: var(--px-run); }
.pyptx-k-wait { background: repeating-linear-gradient(135deg, var(--px-wait) 0 2px, transparent 2px 5px); }
.pyptx-k-issued { background: none; border: 1px solid var(--px-fly); }
.pyptx-k-in-flight { background: repeating-linear-gradient(90deg, var(--px-fly) 0 5px, color-mix(in srgb, var(--px-fly) 35%, transparent) 5px 8px); }
.pyptx-k-completed { background: linear-gradient(var(--px-landed), var(--px-landed)) left / 100% 4px no-repeat, color-mix(in srgb, var(--px-landed) 30%, transparent); }
.pyptx-k-waited { background: var(--px-landed); }
.pyptx-axis { position: relative; height: 15px; margin-left: var(--px-label); font-size: 10px; color: var(--px-soft); font-variant-numeric: tabular-nums; }
.pyptx-axis span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.pyptx-axis span:first-child { transform: none; }
.pyptx-axis .pyptx-last { transform: translateX(-100%); }
.pyptx-access { position: absolute; top: calc(var(--row) * 16px + 1px); width: 14px; height: 14px; margin-left: -7px; padding: 0; font: 700 10px/12px system-ui, sans-serif; text-align: center; color: var(--px-bg); background: var(--px-ink); border: 1px solid var(--px-bg); border-radius: 7px; cursor: pointer; z-index: 2; }
.pyptx-access.pyptx-second { background: var(--px-bad); }
.pyptx-told { margin: 2px 0 0; padding: 0 0 0 22px; font-size: 12px; }
.pyptx-now-line { position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px; background: var(--px-now); pointer-events: none; }
.pyptx-now-line::after { content: "▲"; position: absolute; bottom: -2px; left: -5px; font-size: 11px; line-height: 1; color: var(--px-now); }
.pyptx-pointer-line { position: absolute; top: 0; bottom: 15px; width: 1px; background: var(--px-soft); pointer-events: none; }

/* values */
.pyptx-debug-values { display: flex; align-items: stretch; }
.pyptx-sections { display: flex; flex-direction: column; flex: 1 1 0; min-width: 0; min-height: 0; }
.pyptx-sections + .pyptx-sections { border-left: 1px solid var(--px-edge); }
.pyptx-section-body { flex: 1; min-height: 160px; max-height: 340px; padding: 0 10px 6px; overflow: hidden; display: flex; }
.pyptx-section-body > * { flex: 1; min-width: 0; display: flex; flex-direction: column; min-height: 0; overflow: auto; }
.pyptx-section-body > .pyptx-scroll { display: block; padding-top: 4px; }
.pyptx-debug .pyptx-note { color: var(--px-soft); font-weight: 400; }
.pyptx-lanebox { display: inline-flex; align-items: center; gap: 6px; }
.pyptx-lane-said { min-width: 50px; text-align: right; font-size: 12px; font-variant-numeric: tabular-nums; }
.pyptx-lanes { display: inline-flex; border: 1px solid var(--px-edge); border-radius: 3px; }
.pyptx-lanes span { width: 6px; height: 14px; border-right: 1px solid var(--px-bg); background: repeating-linear-gradient(135deg, var(--px-edge) 0 1px, transparent 1px 4px); cursor: pointer; }
.pyptx-lanes .pyptx-on { background: var(--px-soft); }
.pyptx-lanes .pyptx-own { background: var(--px-now); }
.pyptx-registers { font-family: var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace); }
.pyptx-linked.pyptx-debug .pyptx-registers th, .pyptx-linked.pyptx-debug .pyptx-registers td { padding: 0 8px 0 0; line-height: 18px; font-weight: 400; }
.pyptx-linked.pyptx-debug .pyptx-registers thead th { position: sticky; top: 0; z-index: 1; color: var(--px-soft); background: var(--px-bg); font: 11px/18px var(--jp-ui-font-family, system-ui, sans-serif); }
.pyptx-registers b { font-weight: 600; }
.pyptx-registers small, .pyptx-registers .pyptx-type, .pyptx-registers .pyptx-spread { color: var(--px-soft) !important; font-size: 11px; }
.pyptx-changed-sign { display: inline-block; width: 1.2em; color: var(--px-now-ink); font-weight: 700; }
.pyptx-linked.pyptx-debug .pyptx-changed .pyptx-value { font-weight: 700; }
.pyptx-linked.pyptx-debug tr.pyptx-changed { background: color-mix(in srgb, var(--px-now) 13%, transparent) !important; }
.pyptx-linked.pyptx-debug .pyptx-wide th[scope=row] { position: sticky; left: 0; background: var(--px-bg); }
.pyptx-linked.pyptx-debug .pyptx-wide .pyptx-own { box-shadow: inset 1px 0 0 var(--px-now), inset -1px 0 0 var(--px-now); }
.pyptx-linked.pyptx-debug .pyptx-wide .pyptx-off { color: var(--px-soft); text-decoration: line-through; }
.pyptx-wide [data-lane] { cursor: pointer; padding-left: 6px !important; padding-right: 6px !important; }
.pyptx-heat { position: relative; display: block; width: 128px; height: 12px; border: 1px solid var(--px-edge); border-radius: 2px; cursor: pointer; }
.pyptx-heat i { position: absolute; top: -2px; bottom: -2px; width: 4px; box-sizing: border-box; border: 1px solid var(--px-now); }
.pyptx-linked.pyptx-debug .pyptx-table-plain th, .pyptx-linked.pyptx-debug .pyptx-table-plain td { padding: 1px 12px 1px 0; line-height: 18px; }
.pyptx-linked.pyptx-debug .pyptx-table-plain thead th { color: var(--px-soft); font-weight: 400; font-size: 11px; }
.pyptx-linked.pyptx-debug .pyptx-table-plain tbody th { font-weight: 600; }
.pyptx-table-plain small { color: var(--px-soft); font-weight: 400; }
.pyptx-arrived { display: inline-block; min-width: 70px; padding: 0 5px; border: 1px solid var(--px-edge); border-radius: 2px; background: linear-gradient(var(--px-bar), var(--px-bar)) left / var(--f) 100% no-repeat; font-variant-numeric: tabular-nums; }
.pyptx-elsewhere { opacity: 0.75; }
.pyptx-linked.pyptx-debug .pyptx-watches { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; padding: 4px 0; font-family: var(--jp-code-font-family, ui-monospace, monospace); font-size: 12px; }
.pyptx-linked.pyptx-debug .pyptx-watches dt { color: var(--px-soft); font-weight: 400; }
.pyptx-linked.pyptx-debug .pyptx-watches dd { overflow-wrap: anywhere; }
.pyptx-watches .pyptx-bad { color: var(--px-bad); }
.pyptx-add { display: flex; flex-wrap: wrap; gap: 6px; padding: 4px 0; }
.pyptx-points li { display: flex; align-items: baseline; gap: 7px; padding: 1px 0; font-size: 12px; }
.pyptx-debug .pyptx-points .pyptx-point { position: static; }
.pyptx-points small { color: var(--px-soft); }
.pyptx-points .pyptx-hit-now { background: color-mix(in srgb, var(--px-now) 16%, transparent); }

/* matrices */
.pyptx-figures { flex: 1; }
.pyptx-linked.pyptx-debug .pyptx-figure { margin: 0 0 10px; }
.pyptx-figure figcaption { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 6px; padding: 3px 0; }
.pyptx-figure figcaption small { color: var(--px-soft); }
.pyptx-pager { display: inline-flex; align-items: center; gap: 5px; font-size: 11px; color: var(--px-soft); }
.pyptx-pager .pyptx-button { padding: 0 6px; }
.pyptx-linked.pyptx-debug .pyptx-matrix { font: 10.5px/1.3 var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", monospace); border-collapse: separate; border-spacing: 1px; font-variant-numeric: tabular-nums; }
.pyptx-linked.pyptx-debug .pyptx-matrix th { padding: 0 3px; font-weight: 400; font-size: 9.5px; text-align: center; color: var(--px-soft); background: var(--px-bg); }
.pyptx-linked.pyptx-debug .pyptx-matrix thead th, .pyptx-linked.pyptx-debug .pyptx-matrix thead td { position: sticky; top: 0; z-index: 2; background: var(--px-bg); }
.pyptx-linked.pyptx-debug .pyptx-matrix th[scope=row] { position: sticky; left: 0; text-align: right; }
.pyptx-linked.pyptx-debug .pyptx-matrix tbody td { min-width: 26px; padding: 0 3px; text-align: right; }
.pyptx-matrix td small { display: block; font-size: 8.5px; line-height: 1; color: var(--px-soft); }
.pyptx-tone0 { --c: var(--px-c0); } .pyptx-tone1 { --c: var(--px-c1); } .pyptx-tone2 { --c: var(--px-c2); } .pyptx-tone3 { --c: var(--px-c3); }
.pyptx-tone4 { --c: var(--px-c4); } .pyptx-tone5 { --c: var(--px-c5); } .pyptx-tone6 { --c: var(--px-c6); } .pyptx-tone7 { --c: var(--px-c7); }
.pyptx-debug [class*=pyptx-tone] { background: color-mix(in srgb, var(--c) 26%, var(--px-bg)); }
.pyptx-linked.pyptx-debug .pyptx-cell-changed { font-weight: 700; box-shadow: inset 0 -2px 0 var(--px-now); }
.pyptx-linked.pyptx-debug .pyptx-cell-own { outline: 2px solid var(--px-now); outline-offset: -1px; }
.pyptx-banks span { display: inline-block; padding: 0 5px; margin-right: 2px; color: var(--px-ink); }

@container debugger (max-width: 1180px) {
  .pyptx-debug kbd { display: none; }
  .pyptx-debug .pyptx-toolbar .pyptx-search { width: 90px; }
  .pyptx-debug .pyptx-toolbar .pyptx-button { padding: 2px 7px; }
  .pyptx-warpsbox { flex-basis: 180px; }
  .pyptx-timeline { --px-label: 130px; }
}
@container debugger (max-width: 900px) {
  .pyptx-debug-values { flex-direction: column; }
  .pyptx-sections { flex: none; }
  .pyptx-sections + .pyptx-sections { border-left: 0; border-top: 1px solid var(--px-edge); }
  .pyptx-warpsbox { flex-basis: 150px; }
  .pyptx-timeline { --px-label: 100px; }
  .pyptx-debug .pyptx-move { display: none; }
}
`,""]),e.d(t,{},{A:i})},42(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* The diff view: what it has beyond the linked view's styles. */

.pyptx-verdict { margin: 4px 0 2px; font-size: 14px; font-weight: 600; }
.pyptx-diff { --px-renamed: #66ccee; --px-moved: #ccbb44; --px-other: #ee6677; --px-better: light-dark(#1c6b2a, #7fd08f); }
.pyptx-diff .pyptx-worse small { color: var(--px-bad); }
.pyptx-diff .pyptx-better small { color: var(--px-better); }
.pyptx-diff .pyptx-right { border-left: 1px solid var(--px-edge); }
.pyptx-diff .pyptx-k0 { --k: transparent; }
.pyptx-diff .pyptx-k1 { --k: var(--px-renamed); }
.pyptx-diff .pyptx-k2 { --k: var(--px-moved); }
.pyptx-diff .pyptx-k3 { --k: var(--px-other); }
.pyptx-diff .pyptx-level { border-bottom: 3px solid var(--px-edge); }
.pyptx-diff .pyptx-level[aria-pressed=true] { border-bottom-color: var(--px-focus); font-weight: 700; }
.pyptx-diff .pyptx-class { border-bottom: 3px solid var(--k); }
.pyptx-diff .pyptx-class.pyptx-k0 { border-bottom-color: var(--px-edge); }
.pyptx-diff .pyptx-row { --c: var(--k, transparent); background: color-mix(in srgb, var(--k, transparent) 14%, transparent); }
.pyptx-diff .pyptx-row.pyptx-k3 { background: color-mix(in srgb, var(--k) 22%, transparent); }
.pyptx-diff .pyptx-row.pyptx-kin { box-shadow: inset 0 0 0 100px color-mix(in srgb, var(--px-focus) 14%, transparent); }
.pyptx-diff .pyptx-head { cursor: pointer; }
.pyptx-diff .pyptx-head .pyptx-heading { color: var(--px-focus); }
.pyptx-diff .pyptx-right .pyptx-no + .pyptx-col { text-align: left; }
.pyptx-changed { text-decoration: underline 2px color-mix(in srgb, var(--k) 80%, var(--px-ink)); text-underline-offset: 3px; font-weight: 700; }
.pyptx-diff .pyptx-list { overflow-x: scroll; }
`,""]),e.d(t,{},{A:i})},46(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* Reports of checks. */
.pyptx-report {
  color-scheme: light dark;
  --px-bg: var(--jp-layout-color1, light-dark(#ffffff, #14171c));
  --px-edge: var(--jp-border-color2, light-dark(#d5dae1, #333b46));
  --px-ink: light-dark(#1b222c, #e3e8ef);
  --px-soft: light-dark(#5b6675, #97a3b3);
  --px-focus: light-dark(#0b62b0, #6cb6ff);
  color: var(--px-ink); background: var(--px-bg); font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); padding: 4px 0;
}
body[data-jp-theme-light="false"] .pyptx-report { color-scheme: dark; }
body[data-jp-theme-light="true"] .pyptx-report { color-scheme: light; }
.pyptx-headline { font-weight: 600; color: var(--px-f); }
.pyptx-f-error { --px-f: light-dark(#b3261e, #ff9b80); } .pyptx-f-warning { --px-f: light-dark(#8a4b00, #ffc266); }
.pyptx-f-note { --px-f: light-dark(#0b62b0, #6cb6ff); } .pyptx-good { --px-f: light-dark(#1d6b2c, #86d493); }
.pyptx-finding { border-left: 3px solid var(--px-f); margin: 8px 0; padding: 2px 0 2px 10px; }
.pyptx-finding b { color: var(--px-f); }
.pyptx-report p { margin: 2px 0; white-space: pre-wrap; }
.pyptx-report code { background: none; color: inherit; padding: 0; font: 12px/1.5 var(--jp-code-font-family, ui-monospace, monospace); }
.pyptx-report .pyptx-soft { color: var(--px-soft); }
.pyptx-places { margin: 4px 0; padding: 0 0 0 12px; list-style: none; }
.pyptx-place { font: 12px/1.5 var(--jp-code-font-family, ui-monospace, monospace); color: var(--px-focus); background: none; border: 0; padding: 0; text-decoration: underline; cursor: pointer; }
.pyptx-source { display: block; white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 12px !important; }
.pyptx-report :focus-visible { outline: 2px solid var(--px-focus); }
.pyptx-replay { margin-top: 6px; }
`,""]),e.d(t,{},{A:i})},44(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* The roofline: what it has beyond the linked view's styles. */

.pyptx-roofline {
  --rf-grid: light-dark(#e3e7ec, #2a313b);
  --rf-fine: light-dark(#f1f3f6, #1d2229);
  --rf-edge: light-dark(#8a94a3, #6b7685);
  --rf-tensor: light-dark(#0b62b0, #6cb6ff);
  --rf-core: light-dark(#8a5000, #f0b35e);
  --rf-ceiling: light-dark(#a3260a, #ff9b80);
}
.pyptx-roofline.pyptx-fill { overflow: auto; }
.pyptx-roofline .pyptx-soft { color: var(--px-soft); font-size: 12px; }
.pyptx-roofline .pyptx-title { flex-wrap: wrap; }
.pyptx-roofline .pyptx-level { border-bottom: 3px solid var(--px-edge); }
.pyptx-roofline .pyptx-level[aria-pressed=true] { border-bottom-color: var(--px-focus); font-weight: 700; }
.pyptx-roofline > .pyptx-status:empty { min-height: 0; padding: 0; border: 0; }
.pyptx-roof-stage { position: relative; padding: 6px 8px 0; }
.pyptx-roof-plot { min-width: 0; overflow: hidden; border-radius: 4px; }
.rf-chart { display: block; font: 11.5px/1 var(--jp-ui-font-family, system-ui, "DejaVu Sans", sans-serif); }

.rf-page { fill: var(--px-bg); }
.rf-chart text { fill: var(--px-ink); }
.rf-chart .rf-soft { fill: var(--px-soft); }
.rf-grid { fill: none; stroke: var(--rf-grid); }
.rf-fine { fill: none; stroke: var(--rf-fine); }
.rf-edge { fill: none; stroke: var(--rf-edge); }
.rf-shade { fill: color-mix(in srgb, var(--rf-tensor) 6%, transparent); }
line.rf-slope { stroke: var(--px-ink); stroke-width: 2; }
line.rf-roof { stroke-width: 2; }
line.rf-tensor { stroke: var(--rf-tensor); }
line.rf-core { stroke: var(--rf-core); }
line.rf-ceiling { stroke: var(--rf-ceiling); stroke-width: 1.4; stroke-dasharray: 2 4; }
line.rf-other { stroke-width: 1.2; stroke-dasharray: 6 4; opacity: 0.75; }
line.rf-slope.rf-other { stroke: var(--px-soft); }
.rf-chart text.rf-tensor { fill: var(--rf-tensor); }
.rf-chart text.rf-core { fill: var(--rf-core); }
.rf-chart text.rf-ceiling { fill: var(--rf-ceiling); }
.rf-chart text.rf-slope.rf-other { fill: var(--px-soft); }
.rf-leader { stroke: var(--rf-edge); }
.rf-halo { paint-order: stroke; stroke: var(--px-bg); stroke-width: 3.5px; stroke-linejoin: round; }
.rf-name { font-weight: 600; pointer-events: none; }
.rf-m0 { --m: #4477aa; } .rf-m1 { --m: #ee7733; } .rf-m2 { --m: #228833; } .rf-m3 { --m: #aa3377; }
.rf-m4 { --m: #009988; } .rf-m5 { --m: #ccbb44; } .rf-m6 { --m: #ee6677; } .rf-m7 { --m: #66ccee; }
.rf-point circle { stroke: var(--m); stroke-width: 2.2; fill: var(--px-bg); }
.rf-point path { stroke: var(--m); stroke-width: 1.6; fill: none; }
.rf-solid circle { fill: var(--m); }
.rf-chosen .rf-point:not(.rf-on) { opacity: 0.55; }
.rf-chosen .rf-name:not(.rf-on) { opacity: 0.2; }
.rf-on circle { stroke: var(--px-ink); r: 7px; }
.rf-hollow.rf-on circle { fill: color-mix(in srgb, var(--m) 30%, var(--px-bg)); }
.rf-room { stroke: var(--px-ink); stroke-dasharray: 1 3; stroke-width: 1.5; }
.rf-chart .rf-roomlabel { font-weight: 600; }
.rf-ghost { fill: var(--px-bg); stroke: var(--m); stroke-width: 1.4; stroke-dasharray: 2 2; }
.rf-ghostline { stroke: var(--px-soft); stroke-dasharray: 1 4; }

.pyptx-roof-tip { position: absolute; z-index: 15; max-width: min(470px, 92%); padding: 7px 11px; pointer-events: none; font-size: 12px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--rf-edge); border-radius: 6px; box-shadow: 0 4px 18px rgb(0 0 0 / 22%); }
.pyptx-roof-name { margin-bottom: 3px; font-size: 13px; }
.pyptx-roof-formula { font-variant-numeric: tabular-nums; }
.pyptx-roof-why { color: var(--rf-ceiling); }

.pyptx-roof-table { overflow: auto; max-height: 260px; margin: 2px 12px 8px; scrollbar-width: thin; }
.pyptx-fill .pyptx-roof-table { flex: none; }
.pyptx-roof-table table { border-collapse: collapse; font-size: 12px; width: 100%; margin: 0; }
.pyptx-roof-table th { position: sticky; top: 0; z-index: 1; text-align: left; font-weight: 400; color: var(--px-soft); background: var(--px-bg); padding: 3px 14px 3px 0; white-space: nowrap; box-shadow: inset 0 -1px var(--px-edge); }
.pyptx-roof-table td { text-align: left; padding: 2px 14px 2px 0; white-space: nowrap; vertical-align: top; background-color: transparent; }
.pyptx-roof-table td:last-child { white-space: normal; min-width: 180px; }
.pyptx-roof-table .pyptx-num { text-align: right; font-variant-numeric: tabular-nums; }
.pyptx-roof-table .pyptx-share { min-width: 74px; padding-left: 6px; background-position: left 0 top 5px; }
.pyptx-roof-table tr.pyptx-roof-on td { background-color: var(--px-raised); }
.pyptx-roof-open { font: inherit; padding: 0; color: var(--px-focus); background: none; border: 0; text-decoration: underline; cursor: pointer; }
.pyptx-roof-dot { --m: #4477aa; display: inline-block; width: 9px; height: 9px; border: 2px solid var(--m); border-radius: 50%; }
.pyptx-roof-dot.pyptx-solid { background: var(--m); }
.pyptx-roof-dot.pyptx-m1 { --m: #ee7733; } .pyptx-roof-dot.pyptx-m2 { --m: #228833; } .pyptx-roof-dot.pyptx-m3 { --m: #aa3377; }
.pyptx-roof-dot.pyptx-m4 { --m: #009988; } .pyptx-roof-dot.pyptx-m5 { --m: #ccbb44; } .pyptx-roof-dot.pyptx-m6 { --m: #ee6677; } .pyptx-roof-dot.pyptx-m7 { --m: #66ccee; }
.pyptx-roof-drawer { border-top: 1px solid var(--px-edge); }
.pyptx-roof-drawer-bar { display: flex; align-items: center; gap: 8px; padding: 5px 12px; background: var(--px-raised); }
.pyptx-roof-drawer-body > .pyptx-linked { border: 0; border-radius: 0; }
.pyptx-roof-drawer-body > p { margin: 8px 12px; }
`,""]),e.d(t,{},{A:i})},43(p,t,e){var o=e(39),r=e.n(o),a=e(40),i=(e.n(a))()(r());i.push([p.id,`/* The sweep: what it has beyond the linked view's styles. */

.pyptx-sweep {
  --px-fast: light-dark(#08306b, #ffe28a);
  --px-mid: light-dark(#5b9bd0, #4f9a94);
  --px-slow: light-dark(#e6eff8, #20303f);
  --px-wrong: light-dark(#fbdcd3, #5a2317);
  --px-wrong-ink: light-dark(#7a1a06, #ffb9a6);
}
.pyptx-sweep.pyptx-fill { overflow: auto; }
.pyptx-sweep.pyptx-fill > * { flex: none; }
.pyptx-sweep .pyptx-soft { color: var(--px-soft); font-size: 12px; margin: 2px 0; }
.pyptx-sweep .pyptx-header .pyptx-facts { margin-top: 4px; }
.pyptx-sweep .pyptx-dashed { border-style: dashed; border-color: var(--px-soft); }
.pyptx-sweep .pyptx-sign { display: inline-block; min-width: 1.1em; text-align: center; }

/* JupyterLab lays out the lists of outputs; those of a view are laid out as elsewhere. */
.pyptx-linked.pyptx-sweep dt, .pyptx-linked.pyptx-sweep dd { float: none; width: auto; margin: 0; padding: 0; }
.pyptx-linked.pyptx-sweep dt { font-weight: 400; }
.pyptx-linked.pyptx-sweep .pyptx-keys dt { font-weight: 600; }
.pyptx-linked.pyptx-sweep dl { width: auto; overflow: visible; display: flex; }
.pyptx-linked.pyptx-sweep dl.pyptx-keys { display: grid; }

/* the run */
.pyptx-run { padding: 6px 12px; border-bottom: 1px solid var(--px-edge); }
.pyptx-progress { display: flex; height: 8px; overflow: hidden; border-radius: 4px; background: var(--px-raised); border: 1px solid var(--px-edge); }
.pyptx-progress span { flex: 0 0 0; min-width: 0; background: var(--px-bar-color, transparent); transition: flex-grow 0.3s; }
.pyptx-progress .pyptx-s-modeled { --px-bar-color: light-dark(#5b9bd0, #4f9a94); }
.pyptx-progress .pyptx-s-measured { --px-bar-color: light-dark(#1a5499, #ffe28a); }
.pyptx-progress .pyptx-s-duplicate { --px-bar-color: light-dark(#a9cbe8, #2d6661); }
.pyptx-progress .pyptx-s-refused { background: repeating-linear-gradient(135deg, light-dark(#b4bcc7, #5a6573) 0 2px, transparent 2px 5px); }
.pyptx-progress.pyptx-finished .pyptx-s-refused { background: light-dark(#8a94a3, #6b7685); }   /* hatched, a finished bar would look unfinished */
.pyptx-progress .pyptx-s-wrong, .pyptx-progress .pyptx-s-failed { --px-bar-color: light-dark(#c8452a, #e0745a); }
.pyptx-run-line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin-top: 6px; font-variant-numeric: tabular-nums; }
.pyptx-chip { font: inherit; font-size: 11px; line-height: 18px; padding: 0 7px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 10px; white-space: nowrap; }
button.pyptx-chip { cursor: pointer; }
button.pyptx-chip[aria-pressed=false] { text-decoration: line-through; color: var(--px-soft); }
.pyptx-chip.pyptx-s-wrong, .pyptx-chip.pyptx-s-failed { color: var(--px-wrong-ink); background: var(--px-wrong); }

.pyptx-sweep .pyptx-select { display: inline-flex; align-items: center; gap: 4px; font-size: 12px; color: var(--px-soft); }
.pyptx-sweep select { font: inherit; font-size: 12px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 4px; padding: 1px 2px; }
.pyptx-sweep .pyptx-level { border-bottom: 3px solid var(--px-edge); }
.pyptx-sweep .pyptx-level[aria-pressed=true] { border-bottom-color: var(--px-focus); font-weight: 700; }

.pyptx-sweep > .pyptx-status:empty { min-height: 0; padding: 0; border: 0; }

/* maps */
.pyptx-sweep-body { display: flex; align-items: stretch; min-height: 200px; }
.pyptx-sweep-main { flex: 1 1 auto; min-width: 0; padding: 10px 12px; overflow: auto; }
.pyptx-pickers { display: flex; flex-wrap: wrap; gap: 4px 18px; }
.pyptx-pickers:not(:empty) { margin-bottom: 10px; }
.pyptx-picker { display: flex; align-items: center; gap: 8px; }
.pyptx-picker small { color: var(--px-soft); }
.pyptx-picker [aria-pressed=true] { border-color: var(--px-focus); box-shadow: inset 0 -2px 0 var(--px-focus); font-weight: 700; z-index: 1; }
.pyptx-picker .pyptx-none { color: var(--px-soft); text-decoration: line-through; }
.pyptx-maps { display: flex; flex-wrap: wrap; gap: 12px 20px; }
.pyptx-sweep .pyptx-map { border-collapse: separate; border-spacing: 2px; margin: 0; font: 12px/1.3 var(--jp-ui-font-family, system-ui, sans-serif); font-variant-numeric: tabular-nums; table-layout: auto; width: auto; border: 0; }
.pyptx-map caption { caption-side: top; text-align: left; padding: 0 0 2px 2px; color: var(--px-soft); font-size: 12px; }
.pyptx-map caption b { color: var(--px-ink); }
.pyptx-sweep .pyptx-map th { padding: 1px 4px; vertical-align: bottom; font-weight: 600; text-align: center; color: var(--px-soft); background: none; border: 0; }
.pyptx-sweep .pyptx-map th[scope=row] { text-align: right; vertical-align: middle; }
.pyptx-sweep .pyptx-map .pyptx-corner { font-weight: 400; font-size: 11px; white-space: nowrap; text-align: right; }
.pyptx-corner span { display: block; }
.pyptx-corner span:first-child:not(:empty)::after { content: " ↓"; }
.pyptx-sweep .pyptx-map tr { background: none; }
.pyptx-sweep .pyptx-cell { position: relative; box-sizing: border-box; min-width: 64px; height: 34px; padding: 0 5px; text-align: center; white-space: nowrap; cursor: pointer; border: 1px solid transparent; border-radius: 3px; color: var(--px-ink); }
.pyptx-cell .pyptx-sign { font-size: 10px; opacity: 0.85; margin-right: 2px; min-width: 1em; }
.pyptx-star { position: absolute; left: 3px; top: 0; font-size: 11px; }
.pyptx-sweep .pyptx-shaded { background: color-mix(in oklab, var(--px-from), var(--px-to) var(--px-part)); color: light-dark(var(--px-li), var(--px-di)); --px-li: #000000; --px-di: #ffffff; }
.pyptx-sweep .pyptx-shaded.pyptx-light-ink { --px-li: #ffffff; }
.pyptx-sweep .pyptx-shaded.pyptx-dark-ink { --px-di: #000000; }
.pyptx-cell.pyptx-s-queued, .pyptx-cell.pyptx-s-compiling, .pyptx-cell.pyptx-s-compiled { border: 1px dashed var(--px-edge); }
.pyptx-cell.pyptx-s-compiling { border-color: var(--px-focus); color: var(--px-focus); animation: pyptx-pulse 1.2s ease-in-out infinite alternate; }
.pyptx-cell.pyptx-s-refused { color: var(--px-soft); background: repeating-linear-gradient(135deg, var(--px-raised) 0 4px, var(--px-bg) 4px 8px); border-color: var(--px-edge); }
.pyptx-cell.pyptx-s-hole { color: var(--px-soft); opacity: 0.6; cursor: default; }
.pyptx-cell.pyptx-s-wrong, .pyptx-cell.pyptx-s-failed { color: var(--px-wrong-ink); background: var(--px-wrong); border-color: var(--px-wrong-ink); }
.pyptx-cell.pyptx-s-wrong .pyptx-sign, .pyptx-cell.pyptx-s-failed .pyptx-sign { font-size: 13px; font-weight: 700; opacity: 1; }
.pyptx-cell.pyptx-is-best { font-weight: 700; }
.pyptx-cell:hover { outline: 2px solid var(--px-soft); outline-offset: 0; }
.pyptx-cell.pyptx-is-first { outline: 3px solid var(--px-focus); outline-offset: 0; z-index: 1; }
.pyptx-cell.pyptx-is-second { outline: 3px dashed var(--px-focus); outline-offset: 0; z-index: 1; }
.pyptx-sweep .pyptx-cell:focus-visible { outline: 3px solid light-dark(#b35900, #ffb066); outline-offset: 1px; z-index: 2; }
@keyframes pyptx-pulse { from { opacity: 1; } to { opacity: 0.45; } }
@media (prefers-reduced-motion: reduce) { .pyptx-cell.pyptx-s-compiling { animation: none; } .pyptx-progress span { transition: none; } }
.pyptx-legend { display: flex; flex-wrap: wrap; align-items: center; gap: 3px 10px; margin-top: 10px; font-size: 12px; font-variant-numeric: tabular-nums; }
.pyptx-ramp { width: 150px; height: 10px; border-radius: 3px; border: 1px solid var(--px-edge); background: linear-gradient(to right in oklab, var(--px-fast), var(--px-mid), var(--px-slow)); }

/* the table */
.pyptx-table { max-height: 460px; overflow: auto; }
.pyptx-sweep .pyptx-table table { border-collapse: collapse; margin: 0; font: 12px/1.5 var(--jp-ui-font-family, system-ui, sans-serif); font-variant-numeric: tabular-nums; width: 100%; border: 0; table-layout: auto; }
.pyptx-sweep .pyptx-table th { position: sticky; top: 0; padding: 0; text-align: left; background: var(--px-raised); z-index: 1; border: 0; }
.pyptx-table th button { width: 100%; font: inherit; font-weight: 600; text-align: inherit; padding: 2px 8px; color: var(--px-soft); background: none; border: 0; cursor: pointer; white-space: nowrap; }
.pyptx-sweep .pyptx-table .pyptx-number { text-align: right; }
.pyptx-sweep .pyptx-table td { padding: 1px 8px; text-align: left; white-space: nowrap; border: 0; color: var(--px-ink); }
.pyptx-sweep .pyptx-table td:last-child { white-space: normal; min-width: 220px; }
.pyptx-sweep .pyptx-table tr[data-point] { cursor: pointer; background: none; }
.pyptx-sweep .pyptx-table tr[data-point]:hover { background: var(--px-raised); }
.pyptx-sweep .pyptx-table tr.pyptx-is-best td { font-weight: 700; }
.pyptx-sweep .pyptx-table tr.pyptx-is-first { box-shadow: inset 3px 0 0 var(--px-focus); background: var(--px-raised); }
.pyptx-sweep .pyptx-table tr.pyptx-is-second { box-shadow: inset 3px 0 0 var(--px-hit-edge); background: var(--px-raised); }
.pyptx-sweep .pyptx-table tr.pyptx-s-refused td, .pyptx-sweep .pyptx-table tr.pyptx-s-queued td { color: var(--px-soft); }
.pyptx-sweep .pyptx-table tr.pyptx-s-wrong td, .pyptx-sweep .pyptx-table tr.pyptx-s-failed td { color: var(--px-wrong-ink); }

/* one point */
.pyptx-details { flex: 0 0 260px; padding: 10px 14px; border-left: 1px solid var(--px-edge); overflow: auto; }
.pyptx-sweep .pyptx-badge { white-space: nowrap; }
.pyptx-sweep .pyptx-details h3 { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 6px; margin: 0 0 6px; font-size: 13px; font-weight: 600; color: var(--px-ink); }
.pyptx-sweep .pyptx-details h3.pyptx-s-wrong, .pyptx-sweep .pyptx-details h3.pyptx-s-failed { color: var(--px-wrong-ink); }
.pyptx-sweep .pyptx-details p { margin: 4px 0; overflow-wrap: anywhere; }
.pyptx-sweep dl.pyptx-config { display: flex; flex-wrap: wrap; gap: 2px 12px; margin: 0 0 6px; }
.pyptx-config dt { font-size: 11px; color: var(--px-soft); }
.pyptx-config dd { margin: 0; font-weight: 600; font-size: 14px; }
.pyptx-details .pyptx-facts { margin: 6px 0; gap: 4px 18px; }
.pyptx-details .pyptx-fact small { display: block; margin: 0; }
.pyptx-reason { color: var(--px-wrong-ink); }
.pyptx-acts { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 10px; }
.pyptx-strong { color: var(--px-bg) !important; background: var(--px-focus) !important; border-color: var(--px-focus) !important; }
.pyptx-acts [aria-pressed=true] { border-color: var(--px-focus); }

.pyptx-sweep .pyptx-edit pre { margin: 4px 0 6px; padding: 4px 6px; overflow-x: auto; font-size: 12px; line-height: 1.5; background: var(--px-raised); border: 1px solid var(--px-edge); }
.pyptx-edit ins, .pyptx-edit del { text-decoration: none; }
.pyptx-edit ins { color: var(--px-s); }
.pyptx-edit del { color: var(--px-wrong-ink); }

/* the code of points */
.pyptx-drawer { border-top: 2px solid var(--px-focus); }
.pyptx-drawer-bar { display: flex; align-items: center; gap: 8px; padding: 4px 12px; background: var(--px-raised); border-bottom: 1px solid var(--px-edge); }
.pyptx-drawer-body > p { padding: 8px 12px; }
.pyptx-drawer-body > .pyptx-linked { border: 0; border-radius: 0; }
@media (max-width: 760px) { .pyptx-sweep-body { flex-direction: column; } .pyptx-details { flex-basis: auto; border-left: 0; border-top: 1px solid var(--px-edge); } }
`,""]),e.d(t,{},{A:i})},40(p){p.exports=function(p){var t=[];return t.toString=function(){return this.map(function(t){var e="",o=void 0!==t[5];return t[4]&&(e+="@supports (".concat(t[4],") {")),t[2]&&(e+="@media ".concat(t[2]," {")),o&&(e+="@layer".concat(t[5].length>0?" ".concat(t[5]):""," {")),e+=p(t),o&&(e+="}"),t[2]&&(e+="}"),t[4]&&(e+="}"),e}).join("")},t.i=function(p,e,o,r,a){"string"==typeof p&&(p=[[null,p,void 0]]);var i={};if(o)for(var x=0;x<this.length;x++){var n=this[x][0];null!=n&&(i[n]=!0)}for(var l=0;l<p.length;l++){var d=[].concat(p[l]);o&&i[d[0]]||(void 0!==a&&(void 0===d[5]||(d[1]="@layer".concat(d[5].length>0?" ".concat(d[5]):""," {").concat(d[1],"}")),d[5]=a),e&&(d[2]&&(d[1]="@media ".concat(d[2]," {").concat(d[1],"}")),d[2]=e),r&&(d[4]?(d[1]="@supports (".concat(d[4],") {").concat(d[1],"}"),d[4]=r):d[4]="".concat(r)),t.push(d))}},t}},39(p){p.exports=function(p){return p[1]}},32(p){var t=[];function e(p){for(var e=-1,o=0;o<t.length;o++)if(t[o].identifier===p){e=o;break}return e}function o(p,o){for(var r={},a=[],i=0;i<p.length;i++){var x=p[i],n=o.base?x[0]+o.base:x[0],l=r[n]||0,d="".concat(n," ").concat(l);r[n]=l+1;var s=e(d),y={css:x[1],media:x[2],sourceMap:x[3],supports:x[4],layer:x[5]};if(-1!==s)t[s].references++,t[s].updater(y);else{var c=function(p,t){var e=t.domAPI(t);return e.update(p),function(t){t?(t.css!==p.css||t.media!==p.media||t.sourceMap!==p.sourceMap||t.supports!==p.supports||t.layer!==p.layer)&&e.update(p=t):e.remove()}}(y,o);o.byIndex=i,t.splice(i,0,{identifier:d,updater:c,references:1})}a.push(d)}return a}p.exports=function(p,r){var a=o(p=p||[],r=r||{});return function(p){p=p||[];for(var i=0;i<a.length;i++){var x=e(a[i]);t[x].references--}for(var n=o(p,r),l=0;l<a.length;l++){var d=e(a[l]);0===t[d].references&&(t[d].updater(),t.splice(d,1))}a=n}}},34(p){var t={};p.exports=function(p,e){var o=function(p){if(void 0===t[p]){var e=document.querySelector(p);if(window.HTMLIFrameElement&&e instanceof window.HTMLIFrameElement)try{e=e.contentDocument.head}catch(p){e=null}t[p]=e}return t[p]}(p);if(!o)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");o.appendChild(e)}},36(p){p.exports=function(p){var t=document.createElement("style");return p.setAttributes(t,p.attributes),p.insert(t,p.options),t}},35(p,t,e){p.exports=function(p){var t=e.nc;t&&p.setAttribute("nonce",t)}},33(p){p.exports=function(p){if("u"<typeof document)return{update:function(){},remove:function(){}};var t=p.insertStyleElement(p);return{update:function(e){var o,r,a;o="",e.supports&&(o+="@supports (".concat(e.supports,") {")),e.media&&(o+="@media ".concat(e.media," {")),(r=void 0!==e.layer)&&(o+="@layer".concat(e.layer.length>0?" ".concat(e.layer):""," {")),o+=e.css,r&&(o+="}"),e.media&&(o+="}"),e.supports&&(o+="}"),(a=e.sourceMap)&&"u">typeof btoa&&(o+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(a))))," */")),p.styleTagTransform(o,t,p.options)},remove:function(){var p;null===(p=t).parentNode||p.parentNode.removeChild(p)}}}},37(p){p.exports=function(p,t){if(t.styleSheet)t.styleSheet.cssText=p;else{for(;t.firstChild;)t.removeChild(t.firstChild);t.appendChild(document.createTextNode(p))}}},31(p,t,e){var o=e(32),r=e.n(o),a=e(33),i=e.n(a),x=e(34),n=e.n(x),l=e(35),d=e.n(l),s=e(36),y=e.n(s),c=e(37),f=e.n(c),g=e(38),b={};b.styleTagTransform=f(),b.setAttributes=d(),b.insert=n().bind(null,"head"),b.domAPI=i(),b.insertStyleElement=y(),r()(g.A,b),g.A&&g.A.locals&&g.A.locals}}]);