"""Instructions and constructs of a kernel body: `ptx.inst.*` for every instruction, typed wrappers for common ones."""

from pyptx.ptx import cluster, cp, fence, mbarrier, mma, tcgen05, tma, warp, wgmma
from pyptx.ptx._checked import emit_sequence as _emit  # noqa: F401
from pyptx.ptx._suggestions import unknown_attribute as __getattr__  # noqa: F401
from pyptx.ptx.arithmetic import add, and_, mad, mul, not_, or_, selp, setp, shl, shr, sub, xor_
from pyptx.ptx.barrier import NamedBarrier, bar, elect_sync, named_barrier, setmaxnreg, setmaxnreg_dec, setmaxnreg_inc
from pyptx.ptx.control import bra, else_, if_, kloop, label, loop, pragma, range_, ret, scope
from pyptx.ptx.data_movement import cvt, ld, mov, st
from pyptx.ptx.inline_ptx import file_, loc, raw
from pyptx.ptx.instructions import inst, pipe
from pyptx.ptx.intrinsics import expr, intrinsic
from pyptx.ptx.matrix import ldmatrix, movmatrix, stmatrix, stmatrix_x4_trans_f32_bf16
from pyptx.ptx.memory import addr, cvta, global_ptrs, param, var
from pyptx.ptx.pipeline_state import PipelineState, pipeline
from pyptx.ptx.special import ctaid_x, ctaid_y, special, sreg
from pyptx.ptx.texture import suld, sured, sust, tex, tld4

__all__ = [
    "NamedBarrier",
    "PipelineState",
    "add",
    "addr",
    "and_",
    "bar",
    "bra",
    "cluster",
    "cp",
    "ctaid_x",
    "ctaid_y",
    "cvt",
    "cvta",
    "elect_sync",
    "else_",
    "expr",
    "fence",
    "file_",
    "global_ptrs",
    "if_",
    "inst",
    "intrinsic",
    "kloop",
    "label",
    "ld",
    "ldmatrix",
    "loc",
    "loop",
    "mad",
    "mbarrier",
    "mma",
    "mov",
    "movmatrix",
    "mul",
    "named_barrier",
    "not_",
    "or_",
    "param",
    "pipe",
    "pipeline",
    "pragma",
    "range_",
    "raw",
    "ret",
    "scope",
    "selp",
    "setmaxnreg",
    "setmaxnreg_dec",
    "setmaxnreg_inc",
    "setp",
    "shl",
    "shr",
    "special",
    "sreg",
    "st",
    "stmatrix",
    "stmatrix_x4_trans_f32_bf16",
    "sub",
    "suld",
    "sured",
    "sust",
    "tcgen05",
    "tex",
    "tld4",
    "tma",
    "var",
    "warp",
    "wgmma",
    "xor_",
]
