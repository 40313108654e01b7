"""Inline styles of static HTML.

Front ends strip scripts and style sheets from untrusted outputs, and GitHub strips more, so every color is an inline
style that sets text and background together, with Jupyter's theme variables and a fallback.
"""

INK = "color:var(--jp-content-font-color1,#1b1f24);background:var(--jp-layout-color0,#fff)"
SOFT = "color:var(--jp-content-font-color2,#57606a);background:var(--jp-layout-color0,#fff)"
RAISED = "color:var(--jp-content-font-color1,#1b1f24);background:var(--jp-layout-color2,#f0f2f5)"
FONT = "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px"
CODE = (
    "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.5;"
    "white-space:pre;margin:0"
)
EDGE = "var(--jp-border-color2,#c8ccd1)"
TABLE = "border-collapse:collapse;white-space:pre;line-height:1.5"
CELL = "text-align:left;vertical-align:top;padding:0 12px 0 0"  # overrides Jupyter's own
NUMBER = "text-align:right;vertical-align:top;padding:0 8px 0 0"
