"""Three matrix products written against the 0.1 API: they assemble, fit, and map back to their source lines."""

import pytest
from compat.kernels_ampere import ampere_gemm
from compat.kernels_blackwell import blackwell_gemm
from compat.kernels_hopper import hopper_gemm

from pyptx import sim
from pyptx.emitter import emit
from pyptx.errors import SimulationError
from pyptx.ir.nodes import Instruction
from pyptx.ir.normalize import diff_modules
from pyptx.ir.visit import statements
from pyptx.parser import parse

SIZES = {"M": 1024, "N": 1024, "K": 512}
KERNELS = [ampere_gemm, hopper_gemm, blackwell_gemm]
SHARED_KIB = {"ampere_gemm": (48, 0), "hopper_gemm": (0, 193), "blackwell_gemm": (0, 193)}  # static, dynamic
INSTRUCTIONS = {
    "ampere_gemm": {
        "cp.async.cg.shared.global",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    },
    "hopper_gemm": {
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
        "mbarrier.try_wait.parity.shared.b64",
        "setmaxnreg.inc.sync.aligned.u32",
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
    },
    "blackwell_gemm": {
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        "tcgen05.mma.cta_group::1.kind::f16",
        "tcgen05.ld.sync.aligned.32x32b.x32.b32",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
    },
}
MACHINE = {
    "ampere_gemm": ("LDGSTS", "LDSM", "HMMA"),
    "hopper_gemm": ("UTMALDG", "SYNCS", "HGMMA", "USETMAXREG"),
    "blackwell_gemm": ("UTMALDG", "UTCHMMA", "LDTM"),
}
OVERHEAD = {"LDC", "MOV", "IMAD", "ULDC", "LDCU", "BRA", "NOP"}  # stack pointer, memory descriptor, filling

each = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)


@each
def test_the_text_is_the_one_that_was_read(kernel, golden):
    text = kernel.ptx(**SIZES)
    golden(f"compat/{kernel.name}.ptx", text)
    assert emit(parse(text)) == text
    assert diff_modules(parse(text), kernel.module(**SIZES)) == []
    (entry,) = kernel.module(**SIZES).entries
    assert {s.mnemonic for s in statements(entry.body) if isinstance(s, Instruction)} >= INSTRUCTIONS[kernel.name]


@pytest.mark.sampled(3)
@each
def test_it_assembles_without_spills_for_its_architecture(kernel):
    compiled = kernel.compile(**SIZES)
    used = compiled.resources[kernel.name]
    assert compiled.target == kernel.arch
    assert (used.spill_loads, used.spill_stores, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "\n".join(map(str, compiled.warnings))
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert opcodes >= set(MACHINE[kernel.name])


@each
def test_every_machine_instruction_belongs_to_a_line_of_the_kernel(kernel):
    compiled = kernel.compile(**SIZES)
    added = [line for line in compiled.sass if line.added_by_ptxas and line.opcode != "NOP"]
    assert len(added) <= 4
    for index, line in enumerate(compiled.sass):
        owner = compiled.lines.owner(index)
        if owner.added_by_ptxas:
            assert line.opcode.partition(".")[0] in OVERHEAD, line.text
        else:
            assert owner.place.file == kernel.__wrapped__.__code__.co_filename, line.text


@each
def test_shared_memory_is_static_up_to_48_kib_and_one_extern_array_beyond(kernel):
    static, dynamic = SHARED_KIB[kernel.name]
    assert ("dyn_smem" in kernel.ptx(**SIZES)) == (dynamic > 0)
    assert kernel.compile(**SIZES).resources[kernel.name].shared_bytes == static * 1024


@each
def test_the_simulator_takes_it_or_names_what_it_cannot(kernel):
    try:
        sim.load(kernel.module(**SIZES))
    except SimulationError as refused:
        assert f"{kernel.__wrapped__.__code__.co_filename}:" in str(refused) and "is not simulated" in str(refused)
