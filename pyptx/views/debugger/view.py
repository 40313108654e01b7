"""The state of a debugging session as pure data, as `pyptx.debug.Session` provides it.

`document` holds the state, `sources` the code it refers to; both are JSON values. Text, HTML and the renderer
(`pyptx/renderer/debugger/`) use the same phrases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.isa import OPS
from pyptx.views._document import page, require_kind
from pyptx.views.debugger.html import html
from pyptx.views.debugger.text import headline, text

__all__ = ["MIME", "VERSION", "DebugView"]

MIME = "application/vnd.pyptx.debug+json"
VERSION = 1
_WORD = re.compile(r"^\s*(?:@!?%?[\w$]+\s+)?([a-z_]\w*)")


@dataclass(frozen=True)
class DebugView:
    """A kernel stopped in the debugger.

    Attributes:
        sources: {"python": [{"file", "first", "lines"}], "ptx": lines, "line_of_ptx", "file_of_ptx"}.
        document: step, stop, focus, warps, registers, barriers, memory, fragments, timeline, watches, breakpoints.
        help: PTX opcode -> one-sentence description; by default from the instruction table.
    """

    sources: Mapping[str, Any]
    document: Mapping[str, Any]
    help: Mapping[str, str] = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.help is None:
            found = {match[1] for line in self.sources["ptx"] if (match := _WORD.match(line))}
            object.__setattr__(self, "help", {word: OPS[word].summary for word in sorted(found & OPS.keys())})

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, the content of the MIME type. Files are named without folders."""
        document, names = dict(self.document), _names(self.sources)
        return {
            "kind": "debug",
            "version": VERSION,
            "title": f"{document['kernel']} at step {document['step']}",
            "sources": {**self.sources, "python": _renamed(self.sources["python"], names)},
            "document": document
            | {"place": _renamed(document["place"], names), "breakpoints": _renamed(document["breakpoints"], names)},
            "help": dict(self.help),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DebugView:
        """Rebuild a view from `to_json`.

        Raises:
            ValueError: the data has another kind, or the version of a newer pyptx.
        """
        data = require_kind(data, "debug", VERSION)
        return cls(data["sources"], data["document"], data["help"])

    def text(self, *, context: int = 4, width: int = 100) -> str:
        """Return text: the place with `context` lines of code around it, warps, values, the timeline."""
        return text(self, context, width)

    def html(self, *, context: int = 8) -> str:
        """Return static HTML for GitHub, nbviewer and nbconvert."""
        return html(self, context)

    def page(self) -> str:
        """Return one HTML file with the live view, except for commands of the debugger; works offline."""
        document = self.document
        return page(
            self.to_json(),
            title=f"{document['kernel']} · {document['arch']} · step {document['step']}",
            without_script=self.html(),
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return f"DebugView({headline(self)})"


def _names(sources: Mapping[str, Any]) -> dict[str, str]:
    """Return the display name of each file; files of the same name are shown with their folder."""
    names = {source["file"]: source.get("name", source["file"]) for source in sources["python"]}
    several = {name for name, count in Counter(names.values()).items() if count > 1}
    return {file: "/".join(file.split("/")[-2:]) if name in several else name for file, name in names.items()}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Replace file names under every key "file"."""
    if isinstance(value, Mapping):
        return {key: names.get(part, part) if key == "file" else _renamed(part, names) for key, part in value.items()}
    return [_renamed(part, names) for part in value] if isinstance(value, list) else value
