"""Compatibility with the public 0.1 API: names that current code spells differently, and what replaces each.

Kernels written for that API import and trace unchanged. The names live at their old import paths, marked as
compatibility aliases; `ALIASES` lists them, and `docs/migration/pyptx-0.1.md` is the page for readers.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ALIASES", "Alias"]


class Alias(NamedTuple):
    """A name of the 0.1 API.

    Attributes:
        name: dotted name; with `(parameter=)` for a parameter.
        replacement: spelling in new code.
        frozen: neither signature nor behavior changes any more. Others may gain optional parameters.
    """

    name: str
    replacement: str
    frozen: bool = True


ALIASES = (
    # modules
    Alias("pyptx._trace.trace_scope", "pyptx.tracing.trace.trace_scope"),
    Alias("pyptx._trace.get_ctx", "pyptx.tracing.trace.get_ctx"),
    Alias("pyptx._trace.TraceContext", "pyptx.tracing.trace.TraceContext", frozen=False),
    Alias("pyptx.codegen.codegen.ptx_to_python", "pyptx.codegen.ptx_to_python", frozen=False),
    Alias("pyptx.codegen.codegen.ir_to_python", "pyptx.codegen.ir_to_python", frozen=False),
    Alias("pyptx.ir.compound.CompoundExpr", "pyptx.ir.nodes.CompoundExpr"),
    # instruction specifications
    Alias("pyptx.spec.ptx.INSTRUCTIONS", "pyptx.isa.OPS"),
    Alias("pyptx.spec.ptx.InstructionSpec", "pyptx.isa.OPS"),
    Alias("pyptx.spec.ptx.ModifierGroup", "pyptx.isa.OPS"),
    Alias("pyptx.spec.get_specs", "pyptx.isa.OPS"),
    Alias("pyptx.spec.register_overload", "ptx.inst, which takes any instruction"),
    Alias("pyptx.spec.validate_instruction", "pyptx.check_ptx"),
    Alias("pyptx.spec.validate_or_raise", "pyptx.check_ptx"),
    Alias("pyptx.spec.validate.validate_instruction", "pyptx.check_ptx"),
    Alias("pyptx.spec.validate.validate_or_raise", "pyptx.check_ptx"),
    Alias("pyptx.spec.ValidationIssue", "pyptx.Diagnostic"),
    Alias("pyptx.spec.ValidationError", "pyptx.Diagnostic"),
    # the DSL
    Alias("pyptx.reg.alloc", "pyptx.reg.scalar"),
    Alias("pyptx.reg.alloc_array", "pyptx.reg.array"),
    Alias("pyptx.reg.RegArray.hw_order", "pyptx.reg.RegArray.regs"),
    Alias("pyptx.smem.alloc_with_layout", "pyptx.smem.wgmma_tile"),
    Alias("pyptx.ptx._emit", "ptx.inst"),
    Alias("pyptx.ptx.ctaid_x", "ptx.special.ctaid.x"),
    Alias("pyptx.ptx.ctaid_y", "ptx.special.ctaid.y"),
    Alias("pyptx.ptx.setp(pred_negate=)", "pred="),
    Alias("pyptx.ptx.mbarrier.Slot.addr_reg", "pyptx.ptx.mbarrier.Slot.address_register"),
    Alias("pyptx.ptx.tcgen05.mma(enable_input_d=)", "pred_operand=, or scale_d="),
    Alias("pyptx.ptx.tcgen05.commit(space=)", "the default, shared::cluster"),
    Alias("pyptx.ptx.tcgen05.cp(src_is_addr=)", "a matrix descriptor"),
    Alias("pyptx.ptx.tcgen05.make_instr_desc_f16bf16_f32", "pyptx.ptx.tcgen05.make_instr_desc"),
    # runtime
    Alias("pyptx.torch_support.extract_input_shapes", "pyptx.specs.Tile.extract_env"),
    Alias("pyptx.jax_support.compile_ptx_to_cubin", "pyptx.load"),
    Alias("pyptx.jax_support.ensure_ffi_registered", "nothing: the target is registered by the first call"),
    Alias("pyptx.jax_support.shim_is_available", "pyptx doctor"),
    Alias("pyptx.jax_support.shim_load_error", "pyptx doctor"),
)
