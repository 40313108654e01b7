"""Mutations that are rare in practice.

Numbers at the limits of their types, names of every state space, special registers, vectors of another length, unusual
addresses, brackets, selectors, modifiers of other instructions, guards.
"""

from __future__ import annotations

import random
import re

from oracle.mutations import words_of
from oracle.nodes import _split

from pyptx import isa
from pyptx.isa import _types

__all__ = ["unusual"]

EDGES = """0 1 -1 4 8 15 16 17 31 32 63 64 127 255 256 1024 4096 65536 2147483648 -2147483648 4294967295 4294967296 1.0
    18446744073709551615 0f3F800000 0d3FF0000000000000 07 08 0b11 3U WARP_SZ (1+2) 1<<3 -0""".split()
NAMES = """sym_global sym_const sym_shared sym_local xa xr p0 fn0 fn1 L0 pr0 ts0 nosuch sym_global+4 sym_shared+8 _
    k""".split()
SPECIAL = """%tid.x %tid %laneid %clock64 %lanemask_lt %nosuch %envreg3 %ctaid.w %ctaid.q %globaltimer %pm0
    %is_explicit_cluster %clusterid.x""".split()
DECORATED = ("!{}", "-{}", "{}|%pred_3", "{}|_", "{}.x", "{}.b0", "{}.h1", "({})", "~{}", "{}+1")
VECTORS = ("{{{0}}}", "{{{0}, {0}}}", "{{{0}, {0}, {0}, {0}}}")
ADDRESSES = (
    "{}+4",
    "{}+-4",
    "{}-4",
    "{}+%b32_9",
    "{}+4096000000",
    "{}+1.0",
    "{}[1]",
    "{}+(1+2)",
    "sym_global",
    "sym_shared+4",
    "p0",
    "xa",
    "fn0",
    "L0",
    "nosuch",
    "16",
    "%b32_9",
    "%u16_9",
    "%f32_9",
    "%s32_9",
    "%pred_9",
    "%tid.x",
)
_PIECE = re.compile(r"%[a-z]+\d*(?:x2)?_\d+|(?<![\w%.])\d+(?![\w.])|\bsym_\w+|\bp0\b|\bx[ar]\b|\bL0\b|\bfn\d\b")
_BASE = re.compile(r"\[([^\[\]{},]+)(?=[\],])")
_VECTOR = re.compile(r"\{([^{}]*)\}")


def unusual(text: str, rng: random.Random) -> str:
    """Return the statement with one unusual change."""
    mnemonic, _, rest = text.rstrip(";").partition(" ")
    opcode, *words = mnemonic.split(".")
    kind = rng.randrange(11)
    if kind < 4:
        pool = (EDGES, NAMES, SPECIAL, DECORATED + VECTORS)[kind]
        rest = _instead(rest, _PIECE, 0, pool, rng)
    elif kind == 4:
        rest = _instead(rest, _BASE, 1, ADDRESSES, rng)
    elif kind == 5:
        rest = _reshaped(rest, rng)
    elif kind == 6:
        rest = _bracketed(rest, rng)
    elif kind == 7 and words:
        words.insert(rng.randrange(len(words) + 1), rng.choice(words))
    elif kind == 8 and words:
        words[rng.randrange(len(words))] = rng.choice(sorted(_types.TYPE_WORDS))[1:]
    elif kind == 9:
        other = isa.OPS[rng.choice(sorted(isa.OPS))]
        words.insert(rng.randrange(len(words) + 1), rng.choice(words_of(other) or [".f32"])[1:])
    guard = rng.choice(("@%pred_1 ", "@!%pred_1 ", "@%b32_1 ", "@%nosuch ")) if kind == 10 else ""
    return f"{guard}{'.'.join([opcode, *words])} {rest};"


def _instead(rest: str, pattern: re.Pattern, group: int, pool, rng: random.Random) -> str:
    found = list(pattern.finditer(rest))
    if not found:
        return rest
    one = rng.choice(found)
    return rest[: one.start(group)] + rng.choice(pool).format(one[group]) + rest[one.end(group) :]


def _reshaped(rest: str, rng: random.Random) -> str:
    found = list(_VECTOR.finditer(rest))
    if not found:
        return rest
    one = rng.choice(found)
    elements = [element.strip() for element in one[1].split(",")]
    new = rng.choice(
        ("{" + ", ".join(elements[:-1]) + "}", "{" + ", ".join([*elements, elements[-1]]) + "}", elements[0])
    )
    return rest[: one.start()] + new + rest[one.end() :]


def _bracketed(rest: str, rng: random.Random) -> str:
    parts = _split(rest)
    if parts:
        at = rng.randrange(len(parts))
        parts[at] = parts[at][1:-1] if parts[at].startswith("[") else f"[{parts[at]}]"
    return ", ".join(parts)
