"""A small compiled kernel written by hand: SAXPY for sm_90a, with one helper called from two places.

The SASS is what ptxas 13.5 makes of the PTX below; control fields are examples.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace

from pyptx._loc import PACKAGE_DIR, SourceLocation, boundary, user_place
from pyptx.analysis.control_flow import ControlFlow
from pyptx.parser import parse
from pyptx.views import LinkedView, linked
from pyptx.views.code.panes import PtxPane, PythonPane, SassPane
from pyptx.views.code.python_sources import Section

SOURCE = '''\
def address(base, index):
    """The address of element `index`."""
    offset = emit(1)
    return emit(1), offset

def saxpy(x, y, n, a):
    """y = a * x + y & <b>bold</b> of *y*."""
    emit(4)
    index = emit(4)

    emit(2)
    px = address(x, index)
    py = address(y, index)
    vx, vy = emit(1), emit(1)
    emit(1)
    emit(1)
    emit(1); emit(1)
'''

PTX = """\
.version 8.5
.target sm_90a
.address_size 64

.visible .entry saxpy(
\t.param .u64 x,
\t.param .u64 y,
\t.param .u32 n,
\t.param .f32 a
)
{
\t.reg .b32 %r<6>;
\t.reg .b64 %rd<7>;
\t.reg .f32 %f<5>;
\t.reg .pred %p<2>;
\tld.param.u64 %rd0, [x];
\tld.param.u64 %rd1, [y];
\tld.param.u32 %r0, [n];
\tld.param.f32 %f0, [a];
\tmov.u32 %r1, %ctaid.x;
\tmov.u32 %r2, %ntid.x;
\tmov.u32 %r3, %tid.x;
\tmad.lo.s32 %r4, %r1, %r2, %r3;
\tsetp.ge.u32 %p0, %r4, %r0;
\t@%p0 bra $done;
\tmul.wide.u32 %rd2, %r4, 4;
\tadd.u64 %rd3, %rd0, %rd2;
\tmul.wide.u32 %rd5, %r4, 4;
\tadd.u64 %rd4, %rd1, %rd5;
\tld.global.f32 %f1, [%rd3];
\tld.global.f32 %f2, [%rd4];
\tfma.rn.f32 %f3, %f0, %f1, %f2;
\tst.global.f32 [%rd4], %f3;
$done:
\tret;
}
"""

# address | text | PTX line (0: by ptxas) | stall yield write read wait reuse | live GPR predicate uniform | target
SASS = """
0000 | LDC R1, c[0x0][0x28]                  |  0 | 1  0 0 - 000000 0 | 1 0 0
0010 | S2R R0, SR_TID.X                      | 22 | 7  1 0 - 000000 0 | 2 0 0
0020 | S2UR UR4, SR_CTAID.X                  | 20 | 7  1 0 - 000000 0 | 2 0 1
0030 | LDC R7, c[0x0][RZ]                    | 21 | 4  1 0 - 000000 0 | 3 0 1
0040 | IMAD R7, R7, UR4, R0                  | 23 | 5  1 - - 000001 0 | 3 0 1
0050 | ULDC UR4, c[0x0][0x220]               | 24 | 2  1 - - 000000 0 | 2 0 1
0060 | ISETP.GE.U32.AND P0, PT, R7, UR4, PT  | 24 | 13 0 - - 000000 0 | 2 1 1
0070 | @P0 EXIT                              | 25 | 5  1 - - 000000 0 | 2 1 0
0080 | LDC.64 R2, c[0x0][0x210]              | 27 | 1  1 0 - 000000 0 | 4 0 0
0090 | ULDC.64 UR4, c[0x0][0x208]            |  0 | 1  1 - - 000000 0 | 4 0 2
00a0 | ULDC UR6, c[0x0][0x224]               | 32 | 1  1 - - 000000 0 | 4 0 3
00b0 | LDC.64 R4, c[0x0][0x218]              | 29 | 1  1 1 - 000000 0 | 6 0 3
00c0 | IMAD.WIDE.U32 R2, R7.reuse, 0x4, R2   | 27 | 5  1 - - 000001 1 | 6 0 3
00d0 | LDG.E R2, desc[UR4][R2.64]            | 30 | 1  0 2 - 000000 0 | 6 0 3
00e0 | IMAD.WIDE.U32 R4, R7, 0x4, R4         | 29 | 5  1 - - 000010 0 | 5 0 3
00f0 | LDG.E R7, desc[UR4][R4.64]            | 31 | 2  1 2 - 000000 0 | 5 0 3
0100 | FFMA R7, R2, UR6, R7                  | 32 | 5  1 - - 000100 0 | 5 0 3
0110 | STG.E desc[UR4][R4.64], R7            | 33 | 1  1 - - 000000 0 | 4 0 2
0120 | EXIT                                  | 35 | 5  1 - - 000000 0 | 1 0 0
0130 | BRA 0x130                             |  0 | 0  0 - - 000000 0 | 1 0 0 | 130
"""


@dataclass(frozen=True)
class Owner:
    ptx_line: int | None
    place: SourceLocation | None
    added_by_ptxas: bool


class Lines:
    def __init__(self, places: list[SourceLocation | None], ptx_of: list[int | None]):
        self.places, self.ptx_of = places, ptx_of

    def python_of_ptx(self, line: int) -> SourceLocation | None:
        return self.places[line - 1]

    def ptx_of_sass(self, index: int) -> int | None:
        return self.ptx_of[index]

    def owner(self, index: int) -> Owner:
        line = self.ptx_of[index]
        return Owner(line, self.python_of_ptx(line) if line else None, line is None)


def _as_ours(function):
    """The function as if it stood in pyptx, so that the walk over frames passes over it."""
    code = function.__code__.replace(co_filename=f"{PACKAGE_DIR}/tracer.py")
    return type(function)(code, function.__globals__, function.__name__, None, function.__closure__)


@boundary
@_as_ours
def trace(body, *args) -> None:
    body(*args)


def places(
    file: str, source: str = SOURCE, count: int = len(PTX.splitlines()), first: int = 16
) -> list[SourceLocation | None]:
    """Run the source's `saxpy` with an `emit(n)` that records where it is called, as the tracer would."""
    found: list[SourceLocation | None] = [None] * (first - 1)

    def emit(lines: int) -> None:
        for _ in range(lines):
            found.append(user_place())

    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = {"emit": _as_ours(emit)}
    exec(compile(source, file, "exec"), scope)
    trace(scope["saxpy"], "x", "y", "n", "a")
    return found + [None] * (count - len(found))


def sass_line(row: str, entry: str = "saxpy") -> tuple[SimpleNamespace, int | None]:
    address, text, ptx, control, live, *target = (cell.strip() for cell in row.split("|"))
    stall, yields, write, read, wait, reuse = control.split()
    words = text.split()
    predicate = words.pop(0)[1:] if words[0].startswith("@") else ""
    operands = tuple(filter(None, " ".join(words[1:]).split(", ")))
    line = SimpleNamespace(
        entry=entry,
        address=int(address, 16),
        predicate=predicate,
        opcode=words[0],
        operands=operands,
        text=text,
        control=SimpleNamespace(
            stall=int(stall),
            yield_=yields == "1",
            wait_mask=int(wait, 2),
            reuse=int(reuse),
            write_barrier=None if write == "-" else int(write),
            read_barrier=None if read == "-" else int(read),
        ),
        live=SimpleNamespace(**dict(zip(("gpr", "pred", "ugpr"), map(int, live.split()), strict=True))),
        target_address=int(target[0], 16) if target else None,
    )
    return line, int(ptx) or None


def saxpy(file: str = "<ipython-input-3-0123456789ab>") -> SimpleNamespace:
    """The kernel, as `pyptx.assembly.Assembly` has it."""
    lines, ptx_of = zip(*map(sass_line, SASS.strip().splitlines()), strict=True)
    return SimpleNamespace(
        name="saxpy",
        target="sm_90a",
        warnings=(),
        ptx=PTX,
        sass=lines,
        lines=Lines(places(file), list(ptx_of)),
        module=parse(PTX),
        resources={
            "saxpy": SimpleNamespace(
                registers=10,
                spill_stores=0,
                spill_loads=0,
                shared_bytes=0,
                constant_bytes=552,
                stack_bytes=0,
                barriers=0,
            )
        },
    )


def large(sass: int = 20_000, ptx: int = 12_000, python: int = 400) -> LinkedView:
    """A view of the given numbers of lines: the small kernel's text over and over, as an unrolled kernel would be.

    Every 400 SASS and PTX rows are a loop of ten blocks.
    """
    small = linked(saxpy())
    body = [row for row in range(len(small.ptx.text)) if small.ptx.stack[row] >= 0]
    code = [row for row in range(len(small.sass.text)) if small.sass.ptx[row] >= 0]
    spread = [row * python // ptx for row in range(ptx)]
    columns = {
        f.name: tuple(getattr(small.sass, f.name)[code[row % len(code)]] for row in range(sass))
        for f in fields(SassPane)
        if f.name
        not in ("flow", "takes", "awaits", "issues", "modeled", "stalls", "stalled_on", "profile", "profile_stalls")
    }
    owners = tuple((row * 7919 % 97 + row * ptx // sass) % ptx for row in range(sass))
    columns |= {
        "takes": tuple((1, 3) if row > 3 else () for row in range(sass)),
        "awaits": tuple((3,) if row > 3 and not row % 4 else () for row in range(sass)),
    }
    columns |= {
        "address": tuple(16 * row for row in range(sass)),
        "ptx": owners,
        "flow": _loops(sass),
        "target": tuple(row - 399 if row % 400 == 399 else -1 for row in range(sass)),
    }
    made = [0] * ptx
    for row in owners:
        made[row] += 1
    folded = [0] * python
    for row, count in enumerate(made):
        folded[spread[row]] += count
    return LinkedView(
        "large",
        "sm_90a",
        "8.5",
        (replace(small.entries[0], name="large", count=sass),),
        PythonPane(
            (Section("large.py", "large", "kernel", 1, 0, python),),
            tuple(f"    acc[{row % 16}] = fma(a[{row}], b[{row}], acc[{row % 16}])" for row in range(python)),
            tuple(range(1, python + 1)),
            (ptx // python,) * python,
            tuple(folded),
            (64,) * python,
        ),
        PtxPane(
            tuple(small.ptx.text[body[row % len(body)]] for row in range(ptx)),
            tuple(spread),
            tuple(made),
            (64,) * ptx,
            flow=_loops(ptx),
        ),
        SassPane(**columns),
        tuple((row,) for row in range(python)),
    )


def _loops(rows: int) -> ControlFlow:
    return ControlFlow(
        tuple(range(0, rows, 40)),
        (1,) * rows,
        tuple((first, min(rows, first + 400) - 1) for first in range(0, rows, 400)),
    )
