"""Random command lines over all subcommands, on ordinary and odd files."""

from __future__ import annotations

import contextlib
import io
import os
import random
from collections.abc import Callable
from pathlib import Path

from support.cells import FILE

from pyptx import cli

__all__ = ["COMMANDS", "arguments", "make_files", "prepare"]

TWO_ENTRIES = """
.version 8.0
.target sm_90
.address_size 64
.global .u32 counter;
.func (.reg .u32 %y) twice(.reg .u32 %x) { add.u32 %y, %x, %x; ret; }
.visible .entry calls(.param .u64 out)
{
.reg .u32 %r<3>; .reg .u64 %rd<2>;
ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; call (%r1), twice, (%r0); st.global.u32 [%rd0], %r1; ret;
}
.visible .entry counts()
{
.reg .u32 %r<2>;
ld.global.u32 %r0, [counter]; add.u32 %r0, %r0, 1; st.global.u32 [counter], %r0; ret;
}
"""
COMMANDS = ["ptx", "sass", "view", "diff", "run", "check", "debug", "tune", "roofline", "transpile", "history", "cache"]
OPTIONS = [
    "-p",
    "N=64",
    "N=",
    "M=3",
    "=1",
    "N=[1]",
    "--arch",
    "sm_90a",
    "sm_1",
    "--json",
    "--grid",
    "1",
    "2,2",
    "x",
    "--block",
    "32",
    "0",
    "-1",
    "--args",
    "f32[64]",
    "f99[2]",
    "u32[0]",
    "1e9",
    "x.npy",
    "--seed",
    "--schedules",
    "late",
    "soon",
    "--level",
    "ptx",
    "--context",
    "-3",
    "-c",
    "continue",
    "print x",
    "-x",
    "--batch",
    "--space",
    "N=1,2",
    "--view",
    "--source",
    "verify",
    "--sugar",
    "--kernel",
    "--smem",
    "99999999999",
    "--cluster",
    "3",
    "-o",
    "--max-steps",
    "10",
]


LINES = (  # valid ones, of which one word is replaced now and then
    "ptx two.ptx:calls",
    "ptx one.py:double -p N=64 --arch sm_90a",
    "sass two.ptx --arch sm_100a",
    "sass one.py:double -p N=64",
    "view one.py:double -p N=64 -o page.html",
    "view two.ptx:counts -o page.html",
    "diff two.ptx:calls two.ptx:counts --level ptx",
    "diff one.py:double one.py:double -p N=64",
    "run one.py:double -p N=64",
    "run two.ptx:calls --grid 1 --block 32 --args u32[64]",
    "check one.py:double -p N=64 --schedules late",
    "check two.ptx:calls --grid 1 --block 32 --args u32[64]",
    "debug one.py:double -p N=64 --batch -x continue",
    "roofline one.py:double -p N=64",
    "transpile two.ptx --sugar",
    "transpile two.ptx:calls",
    "history list",
    "cache",
)
NAMES = ("two.ptx:calls", "two.ptx:", ":", "one.py:double", "one.py:nothing", "one.py:double:1", "none", "-", "é.ptx")


def make_files(folder: Path) -> list[str]:
    """Write the files that the command lines name into `folder`, and return the names."""
    (folder / "one.py").write_text(FILE)
    (folder / "broken.py").write_text("import nothing_like_it\n")
    (folder / "two.ptx").write_text(TWO_ENTRIES)
    (folder / "cut.ptx").write_text(TWO_ENTRIES[: len(TWO_ENTRIES) // 2])
    (folder / "README.md").write_text("# Not a kernel\n")
    (folder / "x.cu").write_text("__global__ void k() {}\n")
    (folder / "x.cpp").write_text("int main() {}\n")
    (folder / "x.npy").write_bytes(b"\x93NUMPY")
    (folder / "x.cubin").write_bytes(b"\x7fELF" + bytes(90))
    (folder / "bytes.ptx").write_bytes(bytes(range(256)))
    (folder / "empty").write_text("")
    (folder / "sub").mkdir()
    return [*sorted(path.name for path in folder.iterdir() if path.name != "cache"), *NAMES]


def arguments(rnd: random.Random, files: list[str]) -> list[str]:
    """Return a random command line."""
    if rnd.random() < 0.6:
        found = rnd.choice(LINES).split()
        if rnd.random() < 0.8:
            found[rnd.randrange(len(found))] = rnd.choice(rnd.choice((OPTIONS, files)))
        return found
    found = [rnd.choice(COMMANDS)]
    found += [rnd.choice(files) for _ in range(rnd.randrange(3))]
    return found + [rnd.choice(rnd.choice((OPTIONS, OPTIONS, files))) for _ in range(rnd.randrange(6))]


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return a round of the fuzzer; see fuzz.run."""
    os.environ["PYPTX_CACHE_DIR"] = str(folder / "cache")
    os.chdir(folder)
    files = make_files(folder)

    def one(rnd: random.Random) -> str:
        line = arguments(rnd, files)
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            try:
                status = cli.main(line)
            except SystemExit as ended:
                status = ended.code
            except Exception as error:
                error.add_note(f"pyptx {' '.join(line)}")
                raise
        assert "Traceback" not in out.getvalue(), (line, out.getvalue()[-300:])
        return f"status {status}"

    return one
