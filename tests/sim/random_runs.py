"""Random programs with random addresses, membermasks and operands, run on the C core in every schedule.

Unlike the programs of test_random_programs.py these are mostly wrong: they address memory out of bounds, misaligned and in
other spaces, diverge at collectives and misuse barriers. A run may end with any `PtxError`; the core must never touch
memory out of its buffers, which the sanitizers of sanitized.py detect.
"""

from __future__ import annotations

import random
import sys

import numpy as np
from sim.text import entry

from pyptx import sim
from pyptx.errors import PtxError

__all__ = ["main", "program", "run"]

_R, _D, _P = [f"%r{k}" for k in range(8)], [f"%d{k}" for k in range(6)], [f"%p{k}" for k in range(4)]

_ARITHMETIC = [
    "add.s32 {r}, {a}, {b}",
    "sub.cc.u32 {r}, {a}, {b}",
    "subc.u32 {r}, {a}, {b}",
    "mad.lo.s32 {r}, {a}, {b}, {r}",
    "mul.hi.s32 {r}, {a}, {b}",
    "mul.wide.s32 {d}, {a}, {b}",
    "mad.wide.u32 {d}, {a}, {b}, {d}",
    "div.s32 {r}, {a}, {b}",
    "rem.s32 {r}, {a}, {b}",
    "div.s64 {d}, {e}, {f}",
    "rem.u64 {d}, {e}, {f}",
    "abs.s32 {r}, {a}",
    "neg.s64 {d}, {e}",
    "shl.b32 {r}, {a}, {b}",
    "shr.s32 {r}, {a}, {b}",
    "shr.u64 {d}, {e}, {a}",
    "shl.b64 {d}, {e}, {a}",
    "shf.l.wrap.b32 {r}, {a}, {b}, {c}",
    "shf.r.clamp.b32 {r}, {a}, {b}, {c}",
    "bfe.s32 {r}, {a}, {b}, {c}",
    "bfe.u64 {d}, {e}, {a}, {b}",
    "bfi.b32 {r}, {a}, {b}, {c}, {n}",
    "bfi.b64 {d}, {e}, {f}, {a}, {b}",
    "bmsk.clamp.b32 {r}, {a}, {b}",
    "szext.wrap.s32 {r}, {a}, {b}",
    "fns.b32 {r}, {a}, {b}, {c}",
    "prmt.b32 {r}, {a}, {b}, {c}",
    "lop3.b32 {r}, {a}, {b}, {c}, 0x1b",
    "bfind.s64 {r}, {e}",
    "popc.b64 {r}, {e}",
    "brev.b64 {d}, {e}",
    "dp4a.s32.u32 {r}, {a}, {b}, {r}",
    "sad.s64 {d}, {e}, {f}, {d}",
    "fma.rm.ftz.f32 {r}, {a}, {b}, {r}",
    "add.rp.sat.f32 {r}, {a}, {b}",
    "div.rn.f32 {r}, {a}, {b}",
    "sqrt.rz.f32 {r}, {a}",
    "rcp.approx.ftz.f32 {r}, {a}",
    "ex2.approx.f32 {r}, {a}",
    "lg2.approx.f32 {r}, {a}",
    "sin.approx.f32 {r}, {a}",
    "fma.rn.f64 {d}, {e}, {f}, {d}",
    "rsqrt.approx.f64 {d}, {e}",
    "max.NaN.f32 {r}, {a}, {b}",
    "cvt.rni.s32.f32 {r}, {a}",
    "cvt.rzi.u64.f64 {d}, {e}",
    "cvt.rn.f64.s64 {d}, {e}",
    "cvt.rn.f32.u64 {r}, {e}",
    "cvt.sat.s16.s32 %h1, {a}",
    "cvt.rz.f16.f32 %h1, {a}",
    "cvt.rn.bf16x2.f32 {r}, {a}, {b}",
    "cvt.rn.satfinite.e4m3x2.f32 %h1, {a}, {b}",
    "cvt.rna.tf32.f32 {r}, {a}",
    "fma.rn.f16x2 {r}, {a}, {b}, {r}",
    "setp.lt.s32 {p}, {a}, {b}",
    "setp.neu.f32 {p}, {a}, {b}",
    "selp.b64 {d}, {e}, {f}, {p}",
    "mov.b64 {d}, {{{a}, {b}}}",
    "mov.b64 {{{a}, {b}}}, {e}",
    "activemask.b32 {r}",
    "mov.u64 {d}, %clock64",
    "vadd.s32.u32.s32.sat.min {r}, {a}.h1, {b}.b2, {r}",
]
_ADDRESSES = [
    "mov.u64 {d}, {x}; add.u64 {d}, {d}, {n}",
    "and.b64 {d}, {e}, 0xffff",
    "cvta.shared.u64 {d}, {e}",
    "cvta.local.u64 {d}, {e}",
    "mul.wide.u32 {d}, %lane, {n}; add.u64 {d}, {d}, {x}",
    "sub.u64 {d}, {d}, {n}",
    "mov.b64 {d}, {big}",
]
_MEMORY = [
    "ld.{g}u32 {r}, [{e}+{o}]",
    "ld.{g}v4.u32 {{{a}, {b}, {c}, {r}}}, [{e}+{o}]",
    "ld.{g}v2.u64 {{{d}, {f}}}, [{e}+{o}]",
    "ld.{g}s8 {r}, [{e}+{o}]",
    "ld.{g}u16 %h1, [{e}+{o}]",
    "st.{g}u32 [{e}+{o}], {a}",
    "st.{g}v4.f32 [{e}+{o}], {{{a}, {b}, {c}, {a}}}",
    "st.{g}u64 [{e}+{o}], {f}",
    "st.{g}u8 [{e}+{o}], {a}",
    "atom.{s}add.u32 {r}, [{e}+{o}], {a}",
    "atom.{s}cas.b64 {d}, [{e}+{o}], {f}, {d}",
    "atom.{s}cas.b32 {r}, [{e}+{o}], {a}, {b}",
    "atom.{s}exch.b32 {r}, [{e}+{o}], {a}",
    "atom.{s}inc.u32 {r}, [{e}+{o}], {a}",
    "atom.{s}min.s64 {d}, [{e}+{o}], {f}",
    "atom.{s}add.noftz.f16x2 {r}, [{e}+{o}], {a}",
    "red.{s}or.b32 [{e}+{o}], {a}",
    "ld.shared.u32 {r}, [x+{o}]",
    "st.shared.u32 [x+{o}], {a}",
    "ld.local.u32 {r}, [l+{o}]",
    "st.local.v2.u32 [l+{o}], {{{a}, {b}}}",
    "ld.const.u32 {r}, [c+{o}]",
    "ld.param.u32 {r}, [out+{o}]",
    "isspacep.shared {p}, {e}",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{a}, {b}, {c}, {r}}}, [{e}]",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [{e}], {{{a}, {b}}}",
    "st.bulk.shared::cta [{e}], {n16}, 0",
]
_COLLECTIVE = [
    "shfl.sync.{sh}.b32 {r}|{p}, {a}, {b}, {c}, {m}",
    "shfl.sync.bfly.b32 {r}, {a}, {n}, 31, -1",
    "vote.sync.{v} {p}, {q}, {m}",
    "vote.sync.ballot.b32 {r}, {p}, {m}",
    "match.any.sync.b32 {r}, {a}, {m}",
    "match.all.sync.b64 {r}|{p}, {e}, {m}",
    "redux.sync.{x1} {r}, {a}, {m}",
    "elect.sync {r}|{p}, {m}",
    "bar.warp.sync {m}",
    "bar.sync {bar}",
    "bar.arrive {bar}, {b}",
    "barrier.sync {a}, 64",
    "bar.red.popc.u32 {r}, 1, {p}",
    "barrier.cluster.arrive",
    "barrier.cluster.wait",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{{%r0, %r1, %r2, %r3}}, {{{a}, {b}, {c}, {r}}}, {{{b}, {c}}}, {{%r0, %r1, %r2, %r3}}",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite "
    "{{%r0, %r1, %r2, %r3}}, {{{a}, {b}, {c}, {r}}}, {{{b}, {c}}}, {{%r0, %r1, %r2, %r3}}",
]
_ASYNC = [
    "mbarrier.init.shared::cta.b64 [b+{o8}], {n2}",
    "mbarrier.inval.shared::cta.b64 [b+{o8}]",
    "mbarrier.arrive.shared::cta.b64 {d}, [b+{o8}]",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], {n}",
    "mbarrier.arrive_drop.shared::cta.b64 _, [{r}]",
    "mbarrier.test_wait.parity.shared::cta.b64 {p}, [b+{o8}], {n1}",
    "mbarrier.test_wait.shared::cta.b64 {p}, [{r}], {d}",
    "mbarrier.try_wait.parity.shared::cta.b64 {p}, [b], {n1}",
    "mbarrier.pending_count.b64 {r}, {d}",
    "cp.async.ca.shared.global [{r}], [{e}], {cp}",
    "cp.async.cg.shared.global [{r}], [{e}], 16, {b}",
    "cp.async.commit_group",
    "cp.async.wait_group {n1}",
    "cp.async.wait_all",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [b]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{r}], [{e}], {b}, [b]",
    "cp.async.bulk.global.shared::cta.bulk_group [{e}], [{r}], {n16}",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.{red} [{e}], [{r}], 32",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group {n1}",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [{r}], {a}, [{b}]",
    "mapa.shared::cluster.u32 {r}, {a}, {n1}",
    "fence.proxy.async",
    "membar.gl",
]


def program(seed: int) -> tuple[str, int, int]:
    """The body of a random program, the size of its clusters and of its CTAs."""
    g = random.Random(seed)
    wild = g.random() < 0.4  # otherwise most addresses are valid, so that programs run longer

    def fill(text: str) -> str:
        return text.format(
            r=g.choice(_R),
            a=g.choice(_R),
            b=g.choice(_R),
            c=g.choice(_R),
            d=g.choice(_D if wild else _D[4:]),
            e=g.choice(_D if wild else _D[:4]),
            f=g.choice(_D),
            p=g.choice(_P),
            q=g.choice(_P),
            n=g.choice((0, 1, 2, 4, 8, 16, 31, 32, 33, 63, 64, 100, 255)),
            n1=g.choice((0, 1)),
            n2=g.choice((1, 2, 32, 33, 4096)),
            n16=g.choice((0, 16, 32, 48, 64, 512, 1024, 65536)),
            bar=g.choice((0, 0, 1, 15)),
            o=g.choice((0, 0, 4, 8, 16, 1, -4, 60, 252, 256, 1 << 30, -(1 << 30)) if wild else (0, 16, 32, 48)),
            o8=g.choice((0, 8)),
            cp=g.choice((4, 8, 16)),
            g=g.choice(("", "", "global.", "shared.", "local.", "shared::cluster.") if wild else ("",)),
            s=g.choice(("", "global.", "shared.", "shared::cluster.") if wild else ("",)),
            m=g.choice(("-1", "-1", "0xffff", "0x3", g.choice(_R), "1")) if wild else "-1",
            sh=g.choice(("up", "down", "bfly", "idx")),
            v=g.choice(("all.pred", "any.pred", "uni.pred")),
            x1=g.choice(("add.u32", "min.s32", "xor.b32")),
            red=g.choice(("add.u32", "min.s32", "xor.b32", "inc.u32", "add.noftz.f16", "add.f32", "add.u64")),
            x=g.choice(("%out", "%shared", "%window")),
            big=g.choice(("0x7fffffffffffffff", "-1", "0x8000000000000000", "0x7f6000001000", "0xfffffffffffffff0")),
        )

    def block(depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(g.randint(2, 7)):
            kinds = g.choices((_ARITHMETIC, _ADDRESSES, _MEMORY, _COLLECTIVE, _ASYNC), (5, 3 * wild, 4, 2, 2))[0]
            for statement in fill(g.choice(kinds)).split(";"):
                lines.append(f"@{g.choice(('', '!'))}{g.choice(_P)} {statement}" if g.random() < 0.3 else statement)
        if depth < 2 and g.random() < 0.6:
            label = f"L{g.getrandbits(40)}"
            branch = f"@{g.choice(_P)} bra {g.choice((label, label, 'END'))}"
            if g.random() < 0.3:
                lines += [f"{label}:", *block(depth + 1), f"sub.s32 %c{depth}, %c{depth}, 1"]
                lines += [f"setp.gt.s32 %pc, %c{depth}, 0", f"@%pc bra {label}"]
            else:
                lines += [branch, *block(depth + 1), f"{label}:"]
            lines += block(depth + 1)
        return lines

    lines = [
        ".reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>; .reg .pred %pc; .reg .b16 %h<2>; .reg .b32 %c<3>",
        ".reg .b64 %out; .reg .b64 %shared; .reg .b64 %window; .reg .b64 %lane64; .reg .b32 %lane",
        ".shared .align 16 .b8 x[512]; .shared .align 8 .b8 b[16]; .local .align 16 .b8 l[64]",
        "ld.param.u64 %out, [out]; mov.u64 %shared, x; cvta.shared.u64 %window, %shared; mov.u32 %lane, %laneid",
        "mov.u32 %c0, 3; mov.u32 %c1, 2; mov.u32 %c2, 2; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, x",
        "add.u32 %r3, %r2, %r1; mov.u32 %r4, 64; not.b32 %r5, %r0; mov.u32 %r6, 0x3f800000; mov.u32 %r7, b",
        "mul.wide.u32 %d0, %r0, 4; add.u64 %d0, %d0, %out; mul.wide.u32 %d1, %r0, 16; add.u64 %d1, %d1, %out",
        f"mov.u64 %d2, {'%shared' if wild else '%window'}; mov.u64 %d3, %window; mov.u64 %d4, -1; add.u64 %d5, %d1, %window",
        "setp.gt.u32 %p0, %r0, 15; setp.eq.u32 %p1, %r0, 0; setp.lt.s32 %p2, %r5, 0; setp.ne.u32 %p3, %r0, 3",
        *([] if wild else ["@%p1 mbarrier.init.shared::cta.b64 [b], 1; @%p1 mbarrier.init.shared::cta.b64 [b+8], 32"]),
        *block(0),
        "END:",
        "st.global.u32 [%out], %r0",
        "ret",
    ]
    return "\n".join(lines), g.choice((1, 1, 2)), g.choice((1, 32, 33, 64, 128))


def run(seed: int) -> str:
    """Run a random program and return how it ended: "done" or the kind of the error."""
    body, cluster, threads = program(seed)
    arrays = (np.zeros(1024, np.uint32),)
    declarations = ".const .align 4 .b8 c[64]"
    try:
        loaded = sim.load(entry(body, "u64 out", declarations=declarations))
        sim.launch(
            loaded,
            2 * cluster,
            threads,
            arrays,
            cluster=cluster,
            engine="core",
            schedule=("eager", "late", "random")[seed % 3],
            seed=seed,
            sanitize=seed % 4 == 0,
            max_steps=20_000,
        )
    except PtxError as error:
        return getattr(error, "kind", None) or type(error).__name__
    return "done"


def main(first: int, count: int) -> None:
    """Run programs `first`.. and print how they ended."""
    ends: dict[str, int] = {}
    for seed in range(first, first + count):
        print(seed, end="\r", file=sys.stderr, flush=True)
        end = run(seed)
        ends[end] = ends.get(end, 0) + 1
    print(f"{count} random programs:", ", ".join(f"{n} {end}" for end, n in sorted(ends.items(), key=lambda e: -e[1])))
