"""Linked views that stay interactive in static HTML, such as the pages of nbconvert.

The static form comes first; where scripts run, the view takes its place. Pages that strip scripts keep the static form.
The renderer is in one output of a notebook, which all of its views use.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from typing import Any

from pyptx import renderer
from pyptx._notebook import first_in_notebook
from pyptx.views._packed import pack

__all__ = ["MAX_CHARACTERS", "embedded"]

MAX_CHARACTERS = 1_000_000  # of the packed data of a view that is embedded


def embedded(html: str, data: Mapping[str, Any]) -> str:
    """Return the static HTML of a linked view, followed by its data for the renderer, and once in a notebook the renderer.

    A view whose packed data exceeds MAX_CHARACTERS stays static.

    Args:
        html: one element.
        data: the JSON form of the view.
    """
    packed = pack(data)["packed"]
    if len(packed) > MAX_CHARACTERS:
        return html
    script = f"<script>(window.pyptxViews ??= []).push([document.currentScript, document.currentScript.parentNode, '{packed}']);</script>"
    return f"{html}{script}{_renderer() if first_in_notebook('renderer') else ''}"


@cache
def _renderer() -> str:
    """Return a script element that unpacks the renderer and starts it; without DecompressionStream views stay static."""
    style = renderer.stylesheet(("code/linked.css",)).replace("\\", "\\\\").replace("`", "\\`")
    source = f"(() => {{\n{renderer.bundle('embedded')}\nmodule_embedded.embed(`{style}`);\n}})();"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b64encode(packer.compress(source.encode()) + packer.flush()).decode()
    return (
        '<script>if (window.DecompressionStream) new Response(new Blob([Uint8Array.from(atob("'
        f'{packed}"), character => character.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw")))'
        '.text().then(text => { const script = document.createElement("script"); script.textContent = text; '
        "document.head.append(script); });</script>"
    )
