"""Kernels that fill shared and tensor memory, run tcgen05 instructions in one thread, and deallocate tensor memory."""

from __future__ import annotations

import numpy as np
from sim.engines import run_both
from sim.text import entry

from pyptx import sim

__all__ = ["Machine", "descriptor", "idesc"]

SWIZZLES = {1: 0, 2: 6, 4: 4, 8: 2}  # chunks of a swizzled row -> bits 63..61


def descriptor(offset: int, leading: int, stride: int, chunks: int = 1, *, atom32: bool = False) -> int:
    """A matrix descriptor of tcgen05 for bytes `offset` behind the start of the buffer, which 0x400 is."""
    layout = 1 if atom32 else SWIZZLES[chunks]
    return (0x400 + offset) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | layout << 61


def idesc(m: int, n: int, *, a: int = 0, b: int = 0, d: int = 1, **bits: int) -> int:
    """An instruction descriptor; `bits` by name: sparse, saturate, negate_a, negate_b, mn_a, mn_b, selector, shift."""
    places = {
        "selector": 0,
        "sparse": 2,
        "saturate": 3,
        "negate_a": 13,
        "negate_b": 14,
        "mn_a": 15,
        "mn_b": 16,
        "scale_type": 23,
        "id_a": 29,
        "id_b": 4,
        "shift": 30,
    }
    word = a << 7 | b << 10 | n >> 3 << 17 | m >> 4 << 24 | d << 4
    for name, value in bits.items():
        word |= int(value) << places[name]
    return word


class Machine:
    """Shared memory `image` and tensor memory `cells` [128][columns] of each CTA, and what the first thread runs.

    `columns` is a multiple of 32. Everything is allocated from column 0 on. Registers to use: %r0.., %rd0.., %p0.. In
    `code`, {name} is a 64-bit parameter in %rd register `name`.
    """

    def __init__(self, image, cells, code: str, *, group: int = 1, target: str = "sm_100a", **values: int):
        self.images = [np.asarray(i, np.uint8) for i in (image if group == 2 else [image])]
        self.cells = np.array(cells if group == 2 else [cells], np.uint32)
        self.code, self.group, self.target, self.values = code, group, target, values
        self.waits = True  # for what was committed

    def program(self) -> sim.Program:
        size, columns, group = len(self.images[0]), self.cells.shape[2], self.group
        assert size % 2048 == 0 and columns % 32 == 0
        allocated = max(32, 1 << (columns - 1).bit_length())
        everybody = "barrier.cluster.arrive.aligned\nbarrier.cluster.wait.aligned" if group == 2 else "bar.sync 0"
        registers = ", ".join(f"%v{i}" for i in range(32))
        quads = [", ".join(f"%v{i + j}" for j in range(4)) for i in range(0, 32, 4)]
        lines = [
            f".shared .align 1024 .b8 buffer[{size}]",
            ".shared .align 8 .b8 bar[8]",
            ".shared .align 8 .b8 slot[8]",
            ".reg .b32 %v<32>",
            ".reg .b32 %r<16>",
            ".reg .b64 %rd<8>",
            ".reg .pred %p<8>",
            ".reg .b64 %g<8>",
            ".reg .b32 %t<9>",
            ".reg .pred %q<4>",
        ]
        lines += [f".reg .b64 %{name}" for name in self.values]
        lines += [f"ld.param.u64 %{name}, [{name}]" for name in self.values]
        lines += [
            "ld.param.u64 %g0, [image]",
            "ld.param.u64 %g1, [cells]",
            "mov.u32 %t0, %tid.x",
            "mov.u32 %t1, %cluster_ctarank",
            f"mad.wide.u32 %g0, %t1, {size}, %g0",
            f"mad.wide.u32 %g1, %t1, {128 * columns * 4}, %g1",
            "mad.wide.u32 %g0, %t0, 16, %g0",
            f"mad.wide.u32 %g1, %t0, {columns * 4}, %g1",
            "shl.b32 %t2, %t0, 4",
            "mov.u32 %t3, buffer",
            "add.u32 %t2, %t2, %t3",
        ]
        for at in range(0, size, 2048):
            lines += [
                f"ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%g0+{at}]",
                f"st.shared.v4.b32 [%t2+{at}], {{%v0, %v1, %v2, %v3}}",
            ]
        lines += [
            "shr.u32 %t4, %t0, 5",
            "setp.eq.u32 %q0, %t4, 0",
            "setp.eq.u32 %q1, %t0, 0",
            f"@%q0 tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [slot], {allocated}",
            "@%q1 mbarrier.init.shared::cta.b64 [bar], 1",
            everybody,
            "ld.shared.b32 %t5, [slot]",
            "shl.b32 %t6, %t4, 21",
            "add.u32 %t6, %t5, %t6",
        ]
        for first in range(0, columns, 32):
            lines += [f"ld.global.v4.b32 {{{quad}}}, [%g1+{4 * first + 16 * k}]" for k, quad in enumerate(quads)]
            lines.append(f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%t6+{first}], {{{registers}}}")
        lines += [
            "tcgen05.wait::st.sync.aligned",
            "tcgen05.fence::before_thread_sync",
            everybody,
            "tcgen05.fence::after_thread_sync",
            "add.u32 %t7, %t0, %t1",
            "setp.ne.u32 %q2, %t7, 0",
            "@%q2 bra after",
            *self.code.splitlines(),
        ]
        commit = f"tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster"
        both = ["mov.b16 %h0, 3", f"{commit}.multicast::cluster.b64 [bar], %h0"]
        lines += both if group == 2 else [f"{commit}.b64 [bar]"]
        lines.append("after:")
        if self.waits:
            lines += ["mbarrier.try_wait.parity.shared::cta.b64 %q3, [bar], 0", "@!%q3 bra after"]
        lines.append("tcgen05.fence::after_thread_sync")
        for first in range(0, columns, 32):
            lines += [
                f"tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{registers}}}, [%t6+{first}]",
                "tcgen05.wait::ld.sync.aligned",
            ]
            lines += [f"st.global.v4.b32 [%g1+{4 * first + 16 * k}], {{{quad}}}" for k, quad in enumerate(quads)]
        lines += [everybody, f"@%q0 tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %t5, {allocated}", "ret"]
        if group == 2:
            lines.insert(10, ".reg .b16 %h<2>")
        params = ", ".join(["u64 image", "u64 cells", *(f"u64 {name}" for name in self.values)])
        return sim.load(entry("\n".join(line for line in lines if line), params, target=self.target))

    def run(self, **options) -> np.ndarray:
        """Tensor memory afterwards, [CTA][128][columns] for a pair; on both engines."""
        cells = self.cells.copy()
        args = (np.concatenate(self.images), cells, *self.values.values())
        run_both(self.program(), self.group, 128, args, cluster=self.group, **options)
        return cells if self.group == 2 else cells[0]
