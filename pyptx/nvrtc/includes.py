"""Headers that a source includes, directly or not: found without a preprocessor, for the cache and for host code.

Both branches of a condition count, so the result may have more headers than the compiler reads, never fewer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Header", "fingerprint", "included_headers"]

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\S[^\n]*))', re.M)


class Header(NamedTuple):
    """A header below a folder of the user.

    Attributes:
        names: how it is spelled in `#include`.
        path: its file.
        text: its content.
    """

    names: tuple[str, ...]
    path: Path
    text: str


def included_headers(
    text: str, folder: Path | None, include: Sequence[Path], known: Iterable[str] = ()
) -> tuple[list[Header], set[str], bool]:
    """Return the headers of the user, the names of all others, and whether all names are known.

    Args:
        folder: of the source; None for a text.
        include: folders of the user, in order.
        known: names that are found elsewhere and are not followed.
    Returns:
        The third value is False if an `#include` names its header by a macro.
    """
    found: dict[str, tuple[set[str], Path, str]] = {}
    others: set[str] = set()
    complete = True
    work = [(text, folder)]
    while work:
        body, own = work.pop()
        for quoted, angled, macro in _INCLUDE.findall(body):
            if macro:
                complete = False
                continue
            name = quoted or angled
            folders = ([own] if quoted and own is not None else []) + list(include)
            path = next((each / name for each in folders if (each / name).is_file()), None)
            if path is None:
                others.add(name)
                continue
            real = os.path.realpath(path)
            if real in found:
                found[real][0].add(name)
                continue
            content = path.read_text(encoding="utf-8", errors="replace")
            found[real] = {name}, path, content
            work.append((content, path.parent))
    return [Header(tuple(sorted(n)), path, body) for n, path, body in found.values()], others, complete


def fingerprint(headers: Sequence[Header], others: Iterable[str]) -> Mapping[str, str]:
    """Return what the headers contribute to a cache key."""
    import hashlib

    return {
        **{f"header {h.path}": hashlib.sha256(h.text.encode()).hexdigest() for h in headers},
        "others": " ".join(sorted(others)),
    }
