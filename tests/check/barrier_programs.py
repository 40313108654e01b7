"""Random kernels whose threads synchronize at barriers of all threads only, some with races."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

__all__ = ["barrier_program"]

HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry test(.param .u64 memory, .param .u64 out) {
.reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .pred %p<6>; .shared .align 16 .b8 s[256];
ld.param.u64 %rd1, [memory]; ld.param.u64 %rd2, [out]; mov.u32 %r4, s;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r5, %r2, %r3, %r1; shr.u32 %r14, %r1, 5;
mov.u32 %r6, 1; mov.u32 %r16, 0;
mov.u32 %r17, 0; setp.ge.u32 %p3, %r1, 64; shl.b32 %r18, %r1, 2; add.u32 %r18, %r18, %r4; @!%p3 st.shared.u32 [%r18], %r17; bar.sync 0;"""
TAIL = "mad.wide.u32 %rd4, %r5, 4, %rd2; st.global.u32 [%rd4], %r6; ret; }"
GUARDS = (
    "",
    "setp.ne.u32 %p1, %r1, {thread};",
    "setp.ne.u32 %p1, %r14, {warp};",
    "setp.ne.u32 %p1, %r2, {cta};",
    "setp.ne.u32 %p1, %r2, {cta}; setp.ne.u32 %p2, %r14, {warp}; or.pred %p1, %p1, %p2;",
)
INDICES = ("mov.u32 %r10, {k};", "add.u32 %r10, %r1, {k};", "mad.lo.u32 %r10, %r1, 3, {k};", "add.u32 %r10, %r14, {k};")


def barrier_program(seed: int) -> tuple[str, int, int]:
    """Return the PTX text, the CTAs and the threads of a CTA; `memory` has 256 bytes, `out` 4 for each thread."""
    random = Random(seed)
    threads, ctas = 32 * random.choice((1, 2, 2, 3, 5, 6)), random.choice((1, 1, 2, 3))
    lines = [HEAD]
    for n in range(random.randrange(2, 9)):
        kind = random.random()
        if kind < 0.62:
            lines += _access(random, n, threads, ctas)
        elif kind < 0.75:
            trips = random.choice(("3", "%r18"))
            lines += [f"mov.u32 %r16, 0; L{n}:", *_access(random, n, threads, ctas)]
            lines += ["rem.u32 %r18, %r1, 3; add.u32 %r18, %r18, 1; add.u32 %r16, %r16, 1;"]
            lines += [f"setp.lt.u32 %p4, %r16, {trips}; @%p4 bra L{n};"]
        else:
            lines.append(random.choice(("bar.sync 0;", "bar.sync 1;", f"bar.sync 2, {threads};", "bar.warp.sync -1;")))
    return "\n".join([*lines, TAIL]), ctas, threads


def _access(random: Random, n: int, threads: int, ctas: int) -> Iterator[str]:
    """Yield a load or a store of 1, 4 or 8 bytes by some threads, in shared or in global memory."""
    size, words = random.choice((1, 4, 4, 8)), random.choice((4, 8, 32))
    yield random.choice(INDICES).format(k=random.randrange(words))
    yield f"add.u32 %r10, %r10, %r16; and.b32 %r10, %r10, {words - 1};"
    thread = random.randrange(threads)
    guard = random.choice(GUARDS).format(thread=thread, warp=thread // 32, cta=random.randrange(ctas))
    if guard:
        yield f"{guard} @%p1 bra E{n};"
    if space := random.choice(("", "shared")):
        address = "[%r11]"
        yield f"mad.lo.u32 %r11, %r10, {size}, %r4;"
    else:
        space, address = "global", "[%rd3]"
        yield f"mad.wide.u32 %rd3, %r10, {size}, %rd1;"
    kind = {1: "u8", 4: "u32", 8: "v2.u32"}[size]
    pair = size == 8
    if random.random() < 0.5:
        yield f"mov.u32 %r12, {random.choice(('%r6', '7', '7', '9'))};"
        yield f"st.{space}.{kind} {address}, {'{%r12, %r12}' if pair else '%r12'};"
    else:
        yield f"ld.{space}.{kind} {'{%r12, %r13}' if pair else '%r12'}, {address};"
        yield f"{'add.u32 %r12, %r12, %r13; ' if pair else ''}mad.lo.u32 %r6, %r6, 3, %r12;"
    if guard:
        yield f"E{n}:"
