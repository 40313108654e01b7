"""`.file` and `.loc` directives that map PTX to Python, for Nsight Compute and cuda-gdb."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyptx._lazy import pattern
from pyptx._loc import SourceLocation
from pyptx.emitter.printer import Emitted

__all__ = ["with_locations"]


def with_locations(emitted: Emitted) -> Emitted:
    """Insert a `.loc` in front of every instruction whose Python location differs from the previous one.

    An instruction emitted by a helper function gets the location of the call first, then its own with
    `function_name` and `inlined_at`, in the order that ptxas requires. `.file` indices and labels of the text itself
    are kept, and after a `.loc` of the text itself none is added up to the end of the function.

    Returns:
        The new text with the Python location of every line.
    """
    files = _Numbers(max(_most(_FILE, emitted.text) + 1, 1))
    labels = _Numbers(_most(_LABEL, emitted.text) + 1)
    lines: list[tuple[str, SourceLocation | None]] = []
    last: list[str] | None = None
    own = False
    for text, place in zip(emitted.text.removesuffix("\n").split("\n"), emitted.places, strict=True):
        code = text.strip()
        if code.startswith(".loc"):
            own = True
        elif text == "}":
            own = False
        if place is not None and not own and code.endswith(";") and not code.startswith("."):
            directives = [_loc(p, files, labels) for p in reversed(place.stack)]
            if directives != last:
                lines += [(f"\t{d}", place) for d in directives]
                last = directives
        elif code == "}" or code.endswith(":"):
            last = None
        lines.append((text, place))
    names = [(f'.file {index} "{_quoted(name)}"', None) for name, index in files.numbers.items()]
    head = next(i for i, (text, _) in enumerate(lines) if text.startswith((".address_size", ".target"))) + 1
    if head < len(lines) and lines[head][0].startswith(".address_size"):
        head += 1
    lines[head:head] = names
    lines += [(text, None) for text in _debug_strings(labels)]
    return Emitted("".join(text + "\n" for text, _ in lines), tuple(place for _, place in lines))


_FILE = pattern(r"^\s*\.file\s+(\d+)", re.MULTILINE)
_LABEL = pattern(r"\$L__info_string(\d+)")


def _most(pattern: re.Pattern, text: str) -> int:
    """Return the largest number that `pattern` captures in the text, -1 without a match."""
    return max(map(int, pattern.findall(text)), default=-1)


class _Numbers:
    """Consecutive numbers for names, starting at `first`."""

    def __init__(self, first: int):
        self.first = max(first, 0)
        self.numbers: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.numbers.setdefault(name, self.first + len(self.numbers))


def _loc(place: SourceLocation, files: _Numbers, labels: _Numbers) -> str:
    text = _position(place, files)
    if place.caller is None:
        return f".loc {text}"
    label = f"$L__info_string{labels[place.function]}"
    return f".loc {text}, function_name {label}, inlined_at {_position(place.caller, files)}"


def _position(place: SourceLocation, files: _Numbers) -> str:
    return f"{files[place.file]} {place.line} {(place.position.column or 0) + 1}"


def _debug_strings(labels: _Numbers) -> Iterator[str]:
    """Yield the `.debug_str` section: names of helper functions as zero-terminated bytes."""
    if not labels.numbers:
        return
    yield "\t.section .debug_str"
    yield "\t{"
    for name, number in labels.numbers.items():
        yield f"$L__info_string{number}:"
        yield from (f".b8 {byte}" for byte in (*name.encode(), 0))
    yield "\t}"


def _quoted(name: str) -> str:
    """Return the text as the content of a PTX string, which is ASCII and has no escape sequences."""
    return name.replace('"', "'").replace("\n", " ").encode("ascii", "replace").decode("ascii")
