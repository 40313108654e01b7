"""Control bits of ptxas output for four generations of GPUs, as the replay interprets them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from support.sass import compiled

from pyptx.toolchain import SassLine

TARGETS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
PTX = """.version 8.8
.target {target}
.address_size 64
.visible .entry k(.param .u64 x)
{{
.reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<40>; .reg .pred %p1;
.shared .align 16 .b8 part[1024];
ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+512];
{chain}
ex2.approx.f32 %f30, %f20;
shl.b32 %r2, %r1, 2; mov.u32 %r3, part; add.u32 %r2, %r2, %r3;
st.shared.f32 [%r2], %f30; bar.sync 0; xor.b32 %r2, %r2, 64; ld.shared.f32 %f31, [%r2];
shfl.sync.bfly.b32 %f32, %f31, 1, 31, -1;
add.f32 %f33, %f32, %f31; cvt.rni.s32.f32 %r3, %f33; cvt.rn.f32.s32 %f34, %r3;
st.global.f32 [%rd3], %f34;
ret;
}}
"""
CHAIN = "\n".join(f"fma.rn.f32 %f{k + 1}, %f{k}, %f{k}, %f2;" for k in range(2, 20))


@pytest.fixture(scope="module", params=TARGETS)
def code(request) -> tuple[SassLine, ...]:
    text = PTX.format(target=request.param, chain=CHAIN)
    return compiled(text, request.param)


@pytest.mark.sampled(4)
def test_a_chain_of_multiply_adds_takes_four_cycles_each(code):
    chain = [line for line in code if line.opcode.startswith("FFMA")]
    assert len(chain) == 18
    gaps = [
        sum(max(1, line.control.stall) for line in code[code.index(first) : code.index(second)])
        for first, second in pairwise(chain)
    ]
    assert min(gaps) == 4 and sorted(gaps)[len(gaps) // 2] == 4


def test_every_awaited_scoreboard_was_set(code):
    was_set: set[int] = set()
    for line in code:
        waits = {k for k in range(6) if line.control.wait_mask >> k & 1}
        assert waits <= was_set, line.text
        was_set |= {line.control.write_barrier, line.control.read_barrier} - {None}


@pytest.mark.parametrize("opcode", ["LDG", "LDS", "MUFU", "SHFL", "S2R", "F2I"])
def test_results_of_unknown_delay_set_a_scoreboard_that_their_reader_waits_for(code, opcode):
    """The reader, or an instruction before it."""
    found = [line for line in code if line.opcode.startswith(opcode)]
    assert found
    for line in found:
        assert line.control.write_barrier is not None, line.text
        register = next(word for word in line.operands if re.fullmatch(r"R\d+", word))
        after = code[code.index(line) + 1 :]
        reader = next(
            k
            for k, other in enumerate(after)
            if any(
                re.search(rf"\b{register}\b", word)
                for word in other.operands
                if word != other.operands[0] or other.opcode.startswith("ST")
            )
        )
        assert any(other.control.wait_mask >> line.control.write_barrier & 1 for other in after[: reader + 1]), (
            line.text
        )


def test_fixed_delays_set_none(code):
    for line in code:
        if line.opcode.startswith(("FFMA", "FADD", "FMUL", "LOP3", "EXIT")):
            assert line.control.write_barrier is None and line.control.read_barrier is None, line.text


def test_stores_say_when_their_operands_were_read_or_nothing_writes_them(code):
    stores = [line for line in code if line.opcode.startswith(("STG", "STS"))]
    assert stores
    for line in stores:
        assert line.control.write_barrier is None
