"""`.loc` directives for tools that read debug information (ncu, cuda-gdb): Python lines as the source of a kernel."""

from __future__ import annotations

from pyptx._loc import Place
from pyptx.emitter.printer import Emitted

__all__ = ["with_locations"]


def with_locations(emitted: Emitted) -> Emitted:
    """The text with a `.loc` in front of every instruction that comes from another place than the one before.

    An instruction written in a helper gets the place of the call first, then its own with `function_name` and
    `inlined_at`, the order ptxas asks for. Lines keep their places.
    """
    files: dict[str, int] = {}
    labels: dict[str, str] = {}
    lines: list[tuple[str, Place | None]] = []
    last: tuple | None = None
    for text, place in zip(emitted.text.removesuffix("\n").split("\n"), emitted.places, strict=True):
        code = text.strip()
        if place is not None and code.endswith(";") and not code.startswith("."):
            directives = [_loc(p, files, labels) for p in reversed(place.stack)]
            if directives != last:
                lines += [(f"\t{d}", place) for d in directives]
                last = directives
        elif code == "}" or code.endswith(":"):
            last = None
        lines.append((text, place))
    names = [(f'.file {index} "{_quoted(name)}"', None) for name, index in files.items()]
    head = next(i for i, (text, _) in enumerate(lines) if text.startswith((".address_size", ".target"))) + 1
    if head < len(lines) and lines[head][0].startswith(".address_size"):
        head += 1
    lines[head:head] = names
    lines += [(text, None) for text in _debug_strings(labels)]
    return Emitted("".join(text + "\n" for text, _ in lines), tuple(place for _, place in lines))


def _loc(place: Place, files: dict[str, int], labels: dict[str, str]) -> str:
    text = _position(place, files)
    if place.caller is None:
        return f".loc {text}"
    label = labels.setdefault(place.function, f"$L__info_string{len(labels)}")
    return f".loc {text}, function_name {label}, inlined_at {_position(place.caller, files)}"


def _position(place: Place, files: dict[str, int]) -> str:
    index = files.setdefault(place.file, len(files) + 1)
    return f"{index} {place.line} {(place.position.column or 0) + 1}"


def _debug_strings(labels: dict[str, str]):
    """The names of helper functions, as zero-terminated bytes under their labels."""
    if not labels:
        return
    yield "\t.section .debug_str"
    yield "\t{"
    for name, label in labels.items():
        yield f"{label}:"
        yield from (f".b8 {byte}" for byte in (*name.encode(), 0))
    yield "\t}"


def _quoted(name: str) -> str:
    return name.replace('"', "'").replace("\n", " ")        # PTX texts know no escapes
