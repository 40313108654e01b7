"use strict";(self.rspackChunkpyptx_lab=self.rspackChunkpyptx_lab||[]).push([[0],{12(p,t,r){var e=r(13),o=r.n(e),a=r(14),i=r.n(a),n=r(15),x=r(16),d=i()(o());d.i(n.A),d.i(x.A),d.push([p.id,`.pyptx-view-output { padding: 2px 0; }
.pyptx-view-output.jp-mod-trusted { padding: 2px 0; }
.pyptx-document { height: 100%; overflow: hidden; background: var(--jp-layout-color1); }
.pyptx-document > .pyptx-linked { height: 100%; border: 0; border-radius: 0; }
`,""]),r.d(t,{},{A:d})},16(p,t,r){var e=r(13),o=r.n(e),a=r(14),i=(r.n(a))()(o());i.push([p.id,`/* The diff view: what it has beyond the linked view's styles. */

.pyptx-verdict { margin: 4px 0 2px; font-size: 14px; font-weight: 600; }
.pyptx-diff { --px-renamed: #66ccee; --px-moved: #ccbb44; --px-other: #ee6677; --px-better: light-dark(#1c6b2a, #7fd08f); }
.pyptx-diff .pyptx-worse small { color: var(--px-bad); }
.pyptx-diff .pyptx-better small { color: var(--px-better); }
.pyptx-diff .pyptx-right { border-left: 1px solid var(--px-edge); }
.pyptx-diff .pyptx-k0 { --k: transparent; }
.pyptx-diff .pyptx-k1 { --k: var(--px-renamed); }
.pyptx-diff .pyptx-k2 { --k: var(--px-moved); }
.pyptx-diff .pyptx-k3 { --k: var(--px-other); }
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
`,""]),r.d(t,{},{A:i})},15(p,t,r){var e=r(13),o=r.n(e),a=r(14),i=(r.n(a))()(o());i.push([p.id,`/* The linked view. Jupyter's theme variables where there are any; else light or dark as the reader's system says. */

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
  --px-bad: light-dark(#a3260a, #ff9b80);
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

/* summary */
.pyptx-header { padding: 8px 12px 6px; border-bottom: 1px solid var(--px-edge); }
.pyptx-title { display: flex; align-items: baseline; gap: 8px; font-size: 15px; }
.pyptx-badge { font-size: 12px; color: var(--px-soft); border: 1px solid var(--px-edge); border-radius: 10px; padding: 0 8px; }
.pyptx-entry { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 4px 20px; margin-top: 4px; }
.pyptx-facts { display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 0; }
.pyptx-fact { min-width: 0; }
.pyptx-fact dt { font-size: 11px; color: var(--px-soft); }
.pyptx-fact dd { margin: 0; }
.pyptx-fact b { font-size: 15px; font-variant-numeric: tabular-nums; }
.pyptx-fact small { color: var(--px-soft); margin-left: 5px; }
.pyptx-peak { font: inherit; font-size: 11px; margin-left: 5px; padding: 0; color: var(--px-focus); background: none; border: 0; text-decoration: underline dotted; cursor: pointer; }
.pyptx-bad b { color: var(--px-bad); }
.pyptx-mix { display: flex; flex-wrap: wrap; gap: 2px 8px; margin: 0 0 0 auto; padding: 4px 0 0; list-style: none; font-size: 11px; }
.pyptx-mix li { display: flex; gap: 5px; padding: 1px 6px 2px; border-radius: 3px; background: linear-gradient(var(--px-bar), var(--px-bar)) left bottom / var(--f) 3px no-repeat, var(--px-raised); }

.pyptx-notes { margin: 4px 0 0; padding: 0; list-style: none; font-size: 12px; }
.pyptx-notes b { color: var(--px-bad); margin-right: 6px; }

/* toolbar */
.pyptx-toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; padding: 5px 12px; border-bottom: 1px solid var(--px-edge); background: var(--px-raised); }
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
.pyptx-menu { position: relative; }
.pyptx-sheet { position: absolute; right: 0; z-index: 20; margin-top: 4px; padding: 10px 14px; max-height: 60vh; overflow: auto; width: max-content; max-width: 560px; color: var(--px-ink); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 6px; box-shadow: 0 6px 24px rgb(0 0 0 / 25%); }
.pyptx-sheet fieldset { border: 0; margin: 0 0 6px; padding: 0; }
.pyptx-sheet legend { font-weight: 600; padding: 0; }
.pyptx-sheet label { display: block; cursor: pointer; }
.pyptx-sheet small { color: var(--px-soft); }
.pyptx-keys { display: grid; grid-template-columns: max-content 1fr; gap: 3px 14px; margin: 0; }
.pyptx-keys dt { font-family: var(--jp-code-font-family, ui-monospace, monospace); font-weight: 600; }
.pyptx-keys dd { margin: 0; }

/* panes */
.pyptx-panes { display: flex; min-height: 120px; }
.pyptx-pane { display: flex; flex-direction: column; flex: 1 1 0; min-width: 90px; font: 12px/1.5 var(--jp-code-font-family, ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace); }
.pyptx-bar { padding: 2px 10px; font: 600 11px/1.6 var(--jp-ui-font-family, system-ui, sans-serif); color: var(--px-soft); border-bottom: 1px solid var(--px-edge); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.pyptx-view { display: flex; flex: 1; min-height: 0; }
.pyptx-list { position: relative; flex: 1; min-width: 0; overflow: auto; outline-offset: -2px; overscroll-behavior: contain; scrollbar-width: thin; }
.pyptx-strip { position: relative; width: 14px; flex: none; height: 100%; border-left: 1px solid var(--px-edge); cursor: pointer; touch-action: none; }
.pyptx-strip canvas { position: absolute; left: 0; top: 0; width: 14px; }
.pyptx-sight { position: absolute; left: 0; right: 0; top: 0; border: 1px solid var(--px-soft); background: color-mix(in srgb, var(--px-soft) 12%, transparent); pointer-events: none; }
.pyptx-separator { flex: none; width: 6px; cursor: col-resize; background: var(--px-raised); border: solid var(--px-edge); border-width: 0 1px; touch-action: none; }
.pyptx-separator:hover, .pyptx-separator:focus-visible { background: var(--px-focus); }
.pyptx-linked :focus-visible { outline: 2px solid var(--px-focus); }
.pyptx-lines { position: relative; }
.pyptx-columns, .pyptx-row { display: flex; align-items: stretch; white-space: pre; min-width: 100%; }
.pyptx-columns { position: sticky; top: 0; z-index: 3; width: max-content; background: var(--px-raised); color: var(--px-soft); font-size: 11px; line-height: 18px; height: 18px; user-select: none; }
.pyptx-row { position: absolute; left: 0; right: 0; height: var(--px-row); line-height: var(--px-row); cursor: default; --c: transparent; }
.pyptx-full .pyptx-row { content-visibility: auto; }
.pyptx-no { position: sticky; left: 0; z-index: 1; flex: none; width: calc(var(--px-number) + 18px); padding: 0 6px 0 12px; text-align: right; color: var(--px-soft); background: var(--px-bg); user-select: none; }
.pyptx-row .pyptx-no::before { content: ""; position: absolute; left: 0; top: 0; bottom: 0; width: 5px; background: var(--c); }
.pyptx-striped .pyptx-no::before { background: repeating-linear-gradient(var(--c) 0 3px, transparent 3px 6px); }
.pyptx-columns .pyptx-no { background: var(--px-raised); padding-left: 0; }
.pyptx-col { flex: none; box-sizing: content-box !important; padding: 0 0.7ch; text-align: right; color: var(--px-soft); user-select: none; overflow: hidden; font-variant-numeric: tabular-nums; }
.pyptx-share { color: var(--px-ink); background: linear-gradient(var(--px-bar), var(--px-bar)) left center / var(--f) 12px no-repeat; }
.pyptx-code { tab-size: 4; flex: 1 0 auto; padding: 0 12px 0 10px; cursor: text; }
.pyptx-row { background: color-mix(in srgb, var(--c) 11%, transparent); }
.pyptx-c0 { --c: var(--px-c0); } .pyptx-c1 { --c: var(--px-c1); } .pyptx-c2 { --c: var(--px-c2); } .pyptx-c3 { --c: var(--px-c3); }
.pyptx-c4 { --c: var(--px-c4); } .pyptx-c5 { --c: var(--px-c5); } .pyptx-c6 { --c: var(--px-c6); } .pyptx-c7 { --c: var(--px-c7); }
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
.pyptx-jump { font: inherit; font-size: 11px; line-height: 14px; margin-left: 10px; padding: 0 5px; color: var(--px-focus); background: var(--px-bg); border: 1px solid var(--px-edge); border-radius: 3px; cursor: pointer; }
.pyptx-tk { color: var(--px-k); } .pyptx-to { color: var(--px-o); font-weight: 600; } .pyptx-tm { color: var(--px-m); }
.pyptx-tr { color: var(--px-r); } .pyptx-tx { color: var(--px-x); } .pyptx-tn { color: var(--px-n); } .pyptx-ts { color: var(--px-s); }
.pyptx-tp { color: var(--px-p); font-weight: 600; } .pyptx-tc { color: var(--px-soft); font-style: italic; } .pyptx-tl { color: var(--px-x); font-weight: 600; }
.pyptx-ptx .pyptx-code { tab-size: 2; }
.pyptx-td { color: var(--px-k); } .pyptx-python .pyptx-to { font-weight: 400; }

.pyptx-status { padding: 4px 12px; min-height: 26px; border-top: 1px solid var(--px-edge); background: var(--px-raised); font-size: 12px; white-space: pre-wrap; }
@media (prefers-reduced-motion: no-preference) { .pyptx-fill .pyptx-list { scroll-behavior: auto; } }
`,""]),r.d(t,{},{A:i})},14(p){p.exports=function(p){var t=[];return t.toString=function(){return this.map(function(t){var r="",e=void 0!==t[5];return t[4]&&(r+="@supports (".concat(t[4],") {")),t[2]&&(r+="@media ".concat(t[2]," {")),e&&(r+="@layer".concat(t[5].length>0?" ".concat(t[5]):""," {")),r+=p(t),e&&(r+="}"),t[2]&&(r+="}"),t[4]&&(r+="}"),r}).join("")},t.i=function(p,r,e,o,a){"string"==typeof p&&(p=[[null,p,void 0]]);var i={};if(e)for(var n=0;n<this.length;n++){var x=this[n][0];null!=x&&(i[x]=!0)}for(var d=0;d<p.length;d++){var s=[].concat(p[d]);e&&i[s[0]]||(void 0!==a&&(void 0===s[5]||(s[1]="@layer".concat(s[5].length>0?" ".concat(s[5]):""," {").concat(s[1],"}")),s[5]=a),r&&(s[2]&&(s[1]="@media ".concat(s[2]," {").concat(s[1],"}")),s[2]=r),o&&(s[4]?(s[1]="@supports (".concat(s[4],") {").concat(s[1],"}"),s[4]=o):s[4]="".concat(o)),t.push(s))}},t}},13(p){p.exports=function(p){return p[1]}},6(p){var t=[];function r(p){for(var r=-1,e=0;e<t.length;e++)if(t[e].identifier===p){r=e;break}return r}function e(p,e){for(var o={},a=[],i=0;i<p.length;i++){var n=p[i],x=e.base?n[0]+e.base:n[0],d=o[x]||0,s="".concat(x," ").concat(d);o[x]=d+1;var l=r(s),c={css:n[1],media:n[2],sourceMap:n[3],supports:n[4],layer:n[5]};if(-1!==l)t[l].references++,t[l].updater(c);else{var f=function(p,t){var r=t.domAPI(t);return r.update(p),function(t){t?(t.css!==p.css||t.media!==p.media||t.sourceMap!==p.sourceMap||t.supports!==p.supports||t.layer!==p.layer)&&r.update(p=t):r.remove()}}(c,e);e.byIndex=i,t.splice(i,0,{identifier:s,updater:f,references:1})}a.push(s)}return a}p.exports=function(p,o){var a=e(p=p||[],o=o||{});return function(p){p=p||[];for(var i=0;i<a.length;i++){var n=r(a[i]);t[n].references--}for(var x=e(p,o),d=0;d<a.length;d++){var s=r(a[d]);0===t[s].references&&(t[s].updater(),t.splice(s,1))}a=x}}},8(p){var t={};p.exports=function(p,r){var e=function(p){if(void 0===t[p]){var r=document.querySelector(p);if(window.HTMLIFrameElement&&r instanceof window.HTMLIFrameElement)try{r=r.contentDocument.head}catch(p){r=null}t[p]=r}return t[p]}(p);if(!e)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");e.appendChild(r)}},10(p){p.exports=function(p){var t=document.createElement("style");return p.setAttributes(t,p.attributes),p.insert(t,p.options),t}},9(p,t,r){p.exports=function(p){var t=r.nc;t&&p.setAttribute("nonce",t)}},7(p){p.exports=function(p){if("u"<typeof document)return{update:function(){},remove:function(){}};var t=p.insertStyleElement(p);return{update:function(r){var e,o,a;e="",r.supports&&(e+="@supports (".concat(r.supports,") {")),r.media&&(e+="@media ".concat(r.media," {")),(o=void 0!==r.layer)&&(e+="@layer".concat(r.layer.length>0?" ".concat(r.layer):""," {")),e+=r.css,o&&(e+="}"),r.media&&(e+="}"),r.supports&&(e+="}"),(a=r.sourceMap)&&"u">typeof btoa&&(e+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(a))))," */")),p.styleTagTransform(e,t,p.options)},remove:function(){var p;null===(p=t).parentNode||p.parentNode.removeChild(p)}}}},11(p){p.exports=function(p,t){if(t.styleSheet)t.styleSheet.cssText=p;else{for(;t.firstChild;)t.removeChild(t.firstChild);t.appendChild(document.createTextNode(p))}}},5(p,t,r){var e=r(6),o=r.n(e),a=r(7),i=r.n(a),n=r(8),x=r.n(n),d=r(9),s=r.n(d),l=r(10),c=r.n(l),f=r(11),y=r.n(f),u=r(12),g={};g.styleTagTransform=y(),g.setAttributes=s(),g.insert=x().bind(null,"head"),g.domAPI=i(),g.insertStyleElement=c(),o()(u.A,g),u.A&&u.A.locals&&u.A.locals}}]);