"""The browser renderer of views: ES modules and style sheets, and the scripts bundled from them.

`renderer.js` mounts any view by its kind. The standalone page and the widgets embed a bundle; the JupyterLab extension
imports the modules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from posixpath import dirname, join, normpath

from pyptx._lazy import pattern
from pyptx.errors import UnsupportedError

__all__ = ["FOLDER", "bundle", "stylesheet"]

FOLDER = Path(__file__).parent

_STYLES = (
    "code/linked.css",
    "diffs/diff.css",
    "sweeps/sweep.css",
    "rooflines/roofline.css",
    "debugger/debug.css",
    "reports/report.css",
    "comparisons/comparison.css",
)
_IMPORT = pattern(r'^import \{([^}]*)\} from "(\.[\w./-]+)\.js";[^\n]*$', re.MULTILINE)
_EXPORT = pattern(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
_COMMENTS = pattern(
    r"^\s*/\*\*.*?\*/[^\S\n]*$"  # of a declaration
    r"|(?:^|(?<=[;,{}()\]>&|?:]))[^\S\n]+//[^\n\"'`]*$|^//[^\n]*$",  # of a line; one with quotes could be part of a string
    re.MULTILINE | re.DOTALL,
)
_UNSUPPORTED = pattern(r"^(import\b|export (?!(?:async )?(?:function|const|let|class)\b)).*$", re.MULTILINE)


def stylesheet(names: Sequence[str] = _STYLES) -> str:
    """Return the CSS of all views, or of the named files, without comments."""
    sheets = ((FOLDER / name).read_text(encoding="utf-8") for name in names)
    return re.sub(r"\n\s*", "\n", re.sub(r"/\*.*?\*/", "", "\n".join(sheets), flags=re.DOTALL))


def bundle(entry: str, folder: Path = FOLDER) -> str:
    """Bundle the module `entry` and its imports into one script, in which module `x/y` is the object `module_x_y`.

    Modules use named imports from relative paths (`import {a, b as c} from "../x.js";`) and export declarations; template
    literals end on their line. Comments and indentation are left out.

    Raises:
        UnsupportedError: another form of import or export, or a cycle of imports.
    """
    done: dict[str, str] = {}
    _add(entry, folder, done, ())
    return _squeezed("\n".join(done.values())).replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _add(name: str, folder: Path, done: dict[str, str], path: tuple[str, ...]) -> None:
    if name in path:
        raise UnsupportedError(f"modules import each other: {' -> '.join((*path, name))}")
    if name in done:
        return
    source = (folder / f"{name}.js").read_text(encoding="utf-8")
    for _, target in _IMPORT.findall(source):
        _add(_resolve(name, target), folder, done, (*path, name))
    exports = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = {_object(_resolve(name, m[2]))};", source)
    if other := _UNSUPPORTED.search(body):
        raise UnsupportedError(f"{name}.js: the bundler does not support {other[0]!r}")
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    done[name] = f"const {_object(name)} = (() => {{\n{body}\nreturn {{{', '.join(exports)}}};\n}})();"


def _squeezed(script: str) -> str:
    """Return the script without comments, indentation and empty lines."""
    return re.sub(r"\n\s*", "\n", _COMMENTS.sub("", script))


def _resolve(importer: str, target: str) -> str:
    """Resolve a relative import of the module `importer`."""
    return normpath(join(dirname(importer), target))


def _object(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name)
