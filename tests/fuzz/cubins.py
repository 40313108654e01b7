"""Mutated cubins: the loader, the listing, the view, and what reads single sections."""

from __future__ import annotations

import contextlib
import io
import random
import struct
from collections.abc import Callable
from pathlib import Path

from pyptx import cli, errors
from pyptx.compiled import load_cubin
from pyptx.toolchain.cubin_info import read_cubin_info
from pyptx.toolchain.elf import constant_bytes, embedded_ptx
from pyptx.toolchain.ptxas import run_ptxas

__all__ = ["mutated", "prepare"]

CORPUS = Path(__file__).parents[1] / "corpus" / "ptx" / "nvcc"
NAMES = {"reduce.sm_75": "sm_75", "softmax_lines.sm_90": "sm_90", "functions.sm_75": "sm_75", "mxfp.sm_121a": "sm_121a"}
READS_PER_ROUND = 20
_ODD = (0, 1, 7, 0x40, 0x7F, 0xFF, 1 << 15, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63, (1 << 64) - 1)


def mutated(cubin: bytes, rnd: random.Random) -> bytes:
    """Return the cubin with random edits in its header, its section headers or anywhere."""
    data = bytearray(cubin)
    table, count = struct.unpack_from("<Q", cubin, 40)[0], struct.unpack_from("<H", cubin, 60)[0]
    for _ in range(rnd.choice((1, 1, 2, 5, 40))):
        at = rnd.choice((rnd.randrange(64), table + rnd.randrange(64 * count), rnd.randrange(len(cubin))))
        size = rnd.choice("BHIQ")
        with contextlib.suppress(struct.error):
            struct.pack_into(f"<{size}", data, at, rnd.choice(_ODD) & ((1 << 8 * struct.calcsize(size)) - 1))
        match rnd.randrange(12):
            case 0:
                del data[rnd.randrange(len(data)) :]
            case 1:
                at = rnd.randrange(len(data))
                del data[at : at + rnd.choice((1, 8, 64, 1000))]
            case 2:
                data[rnd.randrange(len(data)) : 0] = rnd.randbytes(rnd.choice((1, 8, 500)))
        if len(data) < 100:
            break
    return bytes(data)


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return a round of the fuzzer; see fuzz.run."""
    cubins = [run_ptxas((CORPUS / f"{name}.ptx").read_text(), target, ()).cubin for name, target in NAMES.items()]
    assert all(cubins)
    path = folder / "mutated.cubin"

    def one(rnd: random.Random) -> str:
        cubin = rnd.choice(cubins)
        for _ in range(READS_PER_ROUND):
            data = mutated(cubin, rnd)
            for read in (read_cubin_info, embedded_ptx, constant_bytes):
                with contextlib.suppress(errors.PtxError):
                    read(data)
        path.write_bytes(data)
        try:
            loaded = load_cubin(path)
            loaded.listing(control=True)
            loaded.view().to_json()
            outcome = "displayed"
        except errors.PtxError:
            outcome = "refused"
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            cli.main([rnd.choice(("sass", "view", "ptx", "check", "roofline")), str(path)])
        assert "Traceback" not in out.getvalue(), out.getvalue()[-300:]
        return outcome

    return one
