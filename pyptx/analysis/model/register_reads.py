"""Operand reads of machine instructions: slots of a sub-core's read stage, which one instruction at a time passes.

The register file of a sub-core delivers `gpu_table.REGISTER_READS` operands of a warp per cycle. An instruction with more
operands stays in the read stage longer; operands that the reuse cache holds, and a register that the instruction names
twice, cost nothing. A wgmma adds to accumulators in registers: it reads each once, in as many steps as the tensor cores
need cycles, and every step takes a slot from other instructions. An instruction for a pipe with 16 lanes is dispatched in
two cycles (`Operation.dispatch`); other instructions may be dispatched beside it, but no step of a wgmma. The accumulators of
tcgen05 are in tensor memory and take none.

Sources: Huerta et al. 2025 (arXiv 2503.20481): one instruction at a time in the read stage, two banks of one port, the
reuse cache. Chains of `x = fma(y, x, y)` reach 93 % of the peak of B200 and B300 (OpenCL-Benchmark by ProjectPhysX).
That the steps of a wgmma pass through the same stage is not documented: it follows from the published rates of
FlashAttention-3, whose time per block, for D = 64, 128 and 256 and for f16 and fp8, is that of its products and of the
instructions between them, not the longer of the two. That warps are dispatched over several cycles to pipes that are not 32
lanes wide, such as the ALU: NVIDIA, forums.developer.nvidia.com/t/286305 (post 11). That steps of a wgmma wait for both
cycles is derived from FlashAttention-3 with heads of 64, half of whose instructions beside the products are for the ALU.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.analysis.gpu_table import REGISTER_READS
from pyptx.toolchain.sass import SassLine
from pyptx.toolchain.sass_registers import READ, WRITE, Access, register_accesses

__all__ = ["read_slots"]


def read_slots(lines: Sequence[SassLine]) -> tuple[float, ...]:
    """Return the cycles in the read stage of one warp's execution of each instruction; 0 without register operands."""
    found: list[float] = []
    kept: dict[int, int] = {}  # operand slot -> register in the reuse cache
    for line in lines:
        accesses = [one for one in register_accesses(line.opcode, line.operands) if one.bank == "R"]
        reads = [one for one in accesses if one.role == READ]
        read = {(one.number, one.width) for slot, one in enumerate(reads) if not _is_kept(kept, slot, one)}
        registers = sum(width for _, width in read)
        kept = {slot: one.number for slot, one in enumerate(reads) if line.control.reuse >> slot & 1}
        if line.opcode.partition(".")[0].endswith("GMMA"):
            found.append(_product_slots(accesses))
        else:
            found.append(max(1.0, registers / REGISTER_READS.value) if registers else 0.0)
    return tuple(found)


def _product_slots(accesses: Sequence[Access]) -> float:
    """Return the steps of a wgmma: one for each accumulator, also when it starts from zero, and those that read A."""
    accumulators = next(one.width for one in accesses if one.role == WRITE)
    own = next((one.width for one in accesses if one.role == READ and one.width != accumulators), 0)
    return accumulators + own / REGISTER_READS.value


def _is_kept(kept: dict[int, int], slot: int, access: Access) -> bool:
    return access.width == 1 and kept.get(slot) == access.number
