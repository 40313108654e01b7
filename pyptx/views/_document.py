"""The forms that all views share: versioned JSON data and the standalone HTML page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from pyptx import renderer
from pyptx.errors import OptionError
from pyptx.views._packed import pack, unpack

__all__ = ["page", "require_kind"]


def require_kind(data: Mapping[str, Any], kind: str, version: int) -> Mapping[str, Any]:
    """Return `data`, unpacked; raise OptionError unless it has this kind and version."""
    if data.get("kind") != kind or data.get("version") != version:
        raise OptionError(
            f"expected kind '{kind}', version {version}; got {data.get('kind')!r}, {data.get('version')!r}"
        )
    return unpack(data)


def page(data: Mapping[str, Any], *, title: str, without_script: str) -> str:
    """Return one HTML file that shows `data` with the renderer: scripts, styles and data inside, nothing loaded.

    Args:
        data: the JSON form of a view.
        title: of the document.
        without_script: HTML shown where scripts are disabled.
    """
    text = json.dumps(pack(data), separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":  # in the title; these could end the script element or a line of it
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{renderer.stylesheet()}
</style>
</head>
<body class="pyptx-page">
<main id="view"></main>
<noscript>{without_script}</noscript>
<script type="application/json" id="data">{text}</script>
<script type="application/json" id="state">null</script>
<script type="module">
{renderer.bundle("page")}
window.pyptx = module_page.start();
</script>
</body>
</html>
"""
