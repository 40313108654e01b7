"""A view as one HTML file: the renderer's modules, its styles and the data inside, nothing loaded."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

__all__ = ["STATIC", "bundle", "page"]

STATIC = Path(__file__).parents[1] / "jupyter" / "static"
STYLES = ("code/linked.css", "diffs/diff.css", "sweeps/sweep.css", "rooflines/roofline.css", "debugger/debug.css")

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./-]+)\.js";[^\n]*$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^(import\b|export (?!(?:async )?(?:function|const|let|class)\b)).*$", re.MULTILINE)


def page(data: dict[str, Any], *, title: str, without_script: str) -> str:
    """An HTML document that shows `data` with the renderer; `without_script` is HTML for readers without scripts."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":                # nothing that could end the script element or a line in it
        text = text.replace(character, f"\\u{ord(character):04x}")
    style = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in STYLES)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{style}
</style>
</head>
<body class="pyptx-page">
<main id="view"></main>
<noscript>{without_script}</noscript>
<script type="application/json" id="data">{text}</script>
<script type="module">
{bundle("renderer")}
const view = document.getElementById("view"), data = JSON.parse(document.getElementById("data").textContent);
const pinned = name => history.replaceState(null, "", `#${{name}}`);         // the address leads back to the line
window.pyptx = {{mount: module_renderer.mount, data, view: module_renderer.mount(view, data, {{fill: true, pinned}})}};
const follow = () => {{ if (location.hash.length > 1) window.pyptx.view.go?.(location.hash.slice(1)); }};
addEventListener("hashchange", follow);
if (parent === window) view.querySelector(".pyptx-list")?.focus({{preventScroll: true}});   // in a frame it takes none
follow();
</script>
</body>
</html>
"""


def bundle(entry: str, folder: Path = STATIC) -> str:
    """The module `entry` and what it imports as one script: each module `x/y` becomes an object `module_x_y`.

    Modules import by name from files near them (`import {a, b as c} from "../x.js";`) and export declarations.

    Raises:
        ValueError: another kind of import or export, or modules that import each other.
    """
    done: dict[str, str] = {}
    _add(entry, folder, done, ())
    return "\n".join(done.values()).replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _add(name: str, folder: Path, done: dict[str, str], path: tuple[str, ...]) -> None:
    if name in path:
        raise ValueError(f"modules import each other: {' -> '.join((*path, name))}")
    if name in done:
        return
    source = (folder / f"{name}.js").read_text(encoding="utf-8")
    for _, target in _IMPORT.findall(source):
        _add(_near(name, target), folder, done, (*path, name))
    exports = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = {_object(_near(name, m[2]))};", source)
    if other := _OTHER.search(body):
        raise ValueError(f"{name}.js: the bundle cannot take {other[0]!r}")
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    done[name] = f"const {_object(name)} = (() => {{\n{body}\nreturn {{{', '.join(exports)}}};\n}})();"


def _near(name: str, target: str) -> str:
    """The module that `name` means by `target`, a path from its own folder."""
    return normpath(join(dirname(name), target))


def _object(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name)
