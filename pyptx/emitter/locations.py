"""`.loc` directives for tools that read debug information (ncu, cuda-gdb): Python lines as the source of a kernel."""

from __future__ import annotations

import re

from pyptx._loc import Place
from pyptx.emitter.printer import Emitted

__all__ = ["with_locations"]


def with_locations(emitted: Emitted) -> Emitted:
    """The text with a `.loc` in front of every instruction that comes from another place than the one before.

    An instruction written in a helper gets the place of the call first, then its own with `function_name` and
    `inlined_at`, the order ptxas asks for. Lines keep their places. `.file` numbers and labels that the text has itself
    stay its own, and behind a `.loc` of its own nothing is added up to the end of the function.
    """
    files = _Numbers(max(_most(_FILE, emitted.text) + 1, 1))
    labels = _Numbers(_most(_LABEL, emitted.text) + 1)
    lines: list[tuple[str, Place | None]] = []
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


_FILE = re.compile(r"^\s*\.file\s+(\d+)", re.MULTILINE)
_LABEL = re.compile(r"\$L__info_string(\d+)")


def _most(pattern: re.Pattern, text: str) -> int:
    """The largest number of its kind in the text, -1 for none."""
    return max(map(int, pattern.findall(text)), default=-1)


class _Numbers:
    """A number for each name, from `first` on."""

    def __init__(self, first: int):
        self.first = max(first, 0)
        self.numbers: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.numbers.setdefault(name, self.first + len(self.numbers))


def _loc(place: Place, files: _Numbers, labels: _Numbers) -> str:
    text = _position(place, files)
    if place.caller is None:
        return f".loc {text}"
    label = f"$L__info_string{labels[place.function]}"
    return f".loc {text}, function_name {label}, inlined_at {_position(place.caller, files)}"


def _position(place: Place, files: _Numbers) -> str:
    return f"{files[place.file]} {place.line} {(place.position.column or 0) + 1}"


def _debug_strings(labels: _Numbers):
    """The names of helper functions, as zero-terminated bytes under their labels."""
    if not labels.numbers:
        return
    yield "\t.section .debug_str"
    yield "\t{"
    for name, number in labels.numbers.items():
        yield f"$L__info_string{number}:"
        yield from (f".b8 {byte}" for byte in (*name.encode(), 0))
    yield "\t}"


def _quoted(name: str) -> str:
    return name.replace('"', "'").replace("\n", " ")        # PTX texts know no escapes
