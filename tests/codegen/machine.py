"""The machine code of PTX, section by section, for comparing two texts."""

from __future__ import annotations

import struct

from pyptx.toolchain.ptxas import run_ptxas

__all__ = ["machine_code"]

_COMPARED = (".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.info.")


def machine_code(text: str, target: str) -> dict[str, bytes] | None:
    """Sections with code and data by name; None when ptxas does not take the text."""
    done = run_ptxas(text, target, ("-c",) if ".extern .func" in text or ".extern .global" in text else ())
    return _sections(done.cubin) if done.cubin else None


def _sections(cubin: bytes) -> dict[str, bytes]:
    start, count, names = (struct.unpack_from("<Q", cubin, 40)[0], *struct.unpack_from("<HH", cubin, 60))
    heads = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + 64 * i) for i in range(count)]
    strings = cubin[heads[names][4] :][: heads[names][5]]
    found = {}
    for name, kind, _, _, offset, size, *_ in heads:
        text = strings[name : strings.index(b"\0", name)].decode()
        if kind == 1 and text.startswith(_COMPARED):
            found[text] = cubin[offset : offset + size]
    return found
