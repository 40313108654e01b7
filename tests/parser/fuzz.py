"""A fuzzer for everything that reads PTX: damage files of the corpus and look for crashes, hangs and lost bytes.

    python tests/parser/fuzz.py --minutes 30 [--seed N] [--transpile] [--out FOLDER]

Each round damages a piece of a file: bytes, words, lines, and spliced pieces of other files. Recovering, the parser
must give back every byte; strictly it reads the text or refuses it with a ParseError; `check` names errors and raises
none; with --transpile, what is read is written as Python that traces back, plainly and with sugar. Each text that
fails is kept in the folder, and the process ends with status 1. A round may take ten seconds of
the processor.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from pyptx import validate
from pyptx.codegen import ptx_to_python
from pyptx.emitter import emit
from pyptx.ir.nodes import Module
from pyptx.parser import ParseError, parse

CORPUS = Path(__file__).parents[1] / "corpus"
LONGEST = 6000                          # bytes of a piece
PATIENCE_S = 10
WORDS = (b'{ } ( ) [ ] ; : , | ! @ % < > = // /* */ " .reg .entry .func .param .b32 .v4 .align .loc .file .section '
         b'.pragma .branchtargets .callprototype .alias @@DWARF 0x 0f _ ret; L: %r1 %p1|%p2 -1 1e400 '
         b'99999999999999999999 .const[3] %r<0x10> +-8 \xe2\x80\xa8 \0 \xff').split(b" ")
WORDS += [b"\n", b"\r\n", b"bra L;", b".version 8.5\n", b".target sm_90\n", b"{ { { { {", b"} } } } }"]


def damaged(pieces: list[bytes], rnd: random.Random) -> bytes:
    """A piece of a file with a few edits."""
    data = bytearray(cut(rnd.choice(pieces), rnd))
    for _ in range(rnd.choice((1, 1, 2, 3, 8))):
        at, length = rnd.randrange(len(data) + 1), rnd.choice((0, 1, 1, 2, 5, 30))
        match rnd.randrange(7):
            case 0:
                data[at:at + length] = b""
            case 1:
                data[at:at] = rnd.choice(WORDS)
            case 2:
                data[at:at + length] = rnd.choice(WORDS)
            case 3:
                data[at:at + 1] = bytes([rnd.randrange(256)])
            case 4:
                data[at:at] = data[at:at + length * 5] * rnd.choice((1, 2, 20))
            case 5:
                data[at:at] = cut(rnd.choice(pieces), rnd)[:rnd.choice((10, 100, 1000))]
            case 6:
                lines = bytes(data).split(b"\n")
                i, j = rnd.randrange(len(lines)), rnd.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
                data = bytearray(b"\n".join(lines))
    return bytes(data)


def cut(data: bytes, rnd: random.Random) -> bytes:
    """The whole of a short file; of a long one its head and some lines of the rest."""
    if len(data) <= LONGEST:
        return data
    lines = data.split(b"\n")
    start = rnd.randrange(len(lines))
    body = next((i for i, line in enumerate(lines) if line.strip() == b"{"), 20)
    return b"\n".join([*lines[:body + 12], *lines[start:start + 60], b"}"])


def check(data: bytes, transpile: bool) -> str:
    """What became of the text: "read", "refused". Raises where something is wrong."""
    module = parse(data, recover=True)
    if emit(module).encode("utf-8", "surrogateescape") != data:
        raise AssertionError("bytes were lost")
    validate.check(module)
    try:
        module = parse(data)
    except ParseError as refused:
        assert refused.line >= 1 and refused.col >= 1 and str(refused)
        return "refused"
    assert isinstance(module, Module) and emit(module).encode("utf-8", "surrogateescape") == data
    if transpile:
        ptx_to_python(data)
        ptx_to_python(data, sugar=True)
    return "read"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--transpile", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"))
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 10**9
    rnd, pieces = random.Random(seed), [p.read_bytes() for p in sorted(CORPUS.rglob("*.ptx"))]
    found: dict[str, bytes] = {}
    counts: Counter[str] = Counter()
    end = time.monotonic() + 60 * arguments.minutes

    def too_long(signum, frame):
        raise TimeoutError(f"more than {PATIENCE_S} s of the processor")
    signal.signal(signal.SIGVTALRM, too_long)
    while time.monotonic() < end:
        data = damaged(pieces, rnd)
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
        try:
            counts[check(data, arguments.transpile)] += 1
        except Exception as error:                      # whatever it is, it is a finding
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            frames = traceback.extract_tb(error.__traceback__)
            where = f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
            counts["failed"] += 1
            if where not in found or len(data) < len(found[where]):
                if where not in found:
                    print(f"{where}: {str(error)[:300]}", flush=True)
                found[where] = data
                arguments.out.mkdir(parents=True, exist_ok=True)
                (arguments.out / f"{where.replace(' ', '-').replace(':', '-')}.ptx").write_bytes(data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(f"seed {seed}: {sum(counts.values())} texts, {dict(counts)}; {len(found)} kinds of failure")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
