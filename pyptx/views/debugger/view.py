"""A kernel stopped at one moment of its simulated run: pure data, as `pyptx.debug.Session` gives it.

`document` is how things stand, `sources` the lines it speaks of; both are plain JSON. What is drawn of them here, in
`pyptx/jupyter/static/debugger/` and in the terminal has the same words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.isa import OPS
from pyptx.views._data import require_kind
from pyptx.views._page import page
from pyptx.views.debugger.html import html
from pyptx.views.debugger.text import headline, text

__all__ = ["MIME", "VERSION", "DebugView"]

MIME = "application/vnd.pyptx.debug+json"
VERSION = 1
_WORD = re.compile(r"^\s*(?:@!?%?[\w$]+\s+)?([a-z_]\w*)")


@dataclass(frozen=True)
class DebugView:
    """How a debugged kernel stands.

    Attributes:
        sources: {"python": [{"file", "first", "lines"}], "ptx": lines, "line_of_ptx", "file_of_ptx"}.
        document: step, stop, focus, warps, registers, barriers, memory, fragments, timeline, watches, breakpoints.
        help: opcode of the PTX -> one sentence on what it does; by default from the table of the instruction set.
    """

    sources: Mapping[str, Any]
    document: Mapping[str, Any]
    help: Mapping[str, str] = field(default=None)       # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.help is None:
            found = {match[1] for line in self.sources["ptx"] if (match := _WORD.match(line))}
            object.__setattr__(self, "help", {word: OPS[word].summary for word in sorted(found & OPS.keys())})

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers; what the MIME type holds. Files have their names, without paths."""
        document, names = dict(self.document), _names(self.sources)
        return {"kind": "debug", "version": VERSION, "title": f"{document['kernel']} at step {document['step']}",
                "sources": {**self.sources, "python": _renamed(self.sources["python"], names)},
                "document": document | {"place": _renamed(document["place"], names),
                                        "breakpoints": _renamed(document["breakpoints"], names)},
                "help": dict(self.help)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DebugView:
        """The view that `to_json` wrote.

        Raises:
            ValueError: the data is of another kind, or written by a newer pyptx.
        """
        require_kind(data, "debug", VERSION)
        return cls(data["sources"], data["document"], data["help"])

    def text(self, *, context: int = 4, width: int = 100) -> str:
        """For a terminal: where it stands with `context` lines of code around, warps, values, the timeline."""
        return text(self, context, width)

    def html(self, *, context: int = 8) -> str:
        """Without script, style sheet or ids, for GitHub, nbviewer and nbconvert."""
        return html(self, context)

    def page(self) -> str:
        """One HTML file with the live view, as far as it needs no simulator: works offline."""
        document = self.document
        return page(self.to_json(), title=f"{document['kernel']} · {document['arch']} · step {document['step']}",
                    without_script=self.html())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.html(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return f"DebugView({headline(self)})"


def _names(sources: Mapping[str, Any]) -> dict[str, str]:
    """What each file is called; files of one name keep the folder they lie in."""
    names = {source["file"]: source.get("name", source["file"]) for source in sources["python"]}
    several = {name for name, count in Counter(names.values()).items() if count > 1}
    return {file: "/".join(file.split("/")[-2:]) if name in several else name for file, name in names.items()}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Plain data with other names of files, wherever they stand under "file"."""
    if isinstance(value, Mapping):
        return {key: names.get(part, part) if key == "file" else _renamed(part, names) for key, part in value.items()}
    return [_renamed(part, names) for part in value] if isinstance(value, list) else value
