"""Memory and objects that a program under `pyptx exec --check` did not free or destroy, by the calls that made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyptx.cuda_device.server.call_sites import call_site

__all__ = ["KINDS", "Left", "described"]

# kind, bytes of memory or None, and return addresses of the call that made it
Left = Sequence[tuple[str, int | None, tuple[int, ...]]]

# kinds of objects by the name of their class
KINDS = {
    "Stream": "stream",
    "Event": "event",
    "Graph": "graph",
    "GraphExec": "executable graph",
    "Array": "array",
    "MipmappedArray": "mipmapped array",
    "ImageObject": "texture or surface object",
    "Module": "module",
    "Pool": "memory pool",
    "UserObject": "user object",
    "LinkState": "linker",
}


def described(process: int, left: Left) -> list[str]:
    """Return a line for each call that made what is left: its number and kind, and the place of the call."""
    groups: dict[tuple[str, str], list[int | None]] = {}
    for kind, size, sites in left:
        site = call_site(process, [address for address in sites if address])
        groups.setdefault((kind, site.text if site else "an unknown place"), []).append(size)
    return [f"{_counted(kind, sizes)}, made by {place}" for (kind, place), sizes in groups.items()]


def _counted(kind: str, sizes: list[int | None]) -> str:
    count = len(sizes)
    total = _total(sizes)
    plural = kind if count == 1 else f"{kind.replace(' object', '')} objects" if " object" in kind else f"{kind}s"
    return f"{count} {plural}" + (f" of {total:,} bytes" if total is not None else "")


def _total(sizes: Iterable[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None
