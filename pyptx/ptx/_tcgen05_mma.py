"""`tcgen05.mma` in its forms: dense, sparse and block-scaled."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ir.nodes import AddressOperand
from pyptx.ptx._checked import check_option, emit_checked
from pyptx.reg import NegPred, Reg
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import b32, u32
from pyptx.types import pred as pred_type

__all__ = ["group_word", "mma"]

Guard = Reg | NegPred | None

_KINDS = ("tf32", "f16", "i8", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
_BLOCK_SCALED = ("mxf8f6f4", "mxf4", "mxf4nvf4")
_COLLECTORS = ("discard", "lastuse", "fill", "use")
_SCALE_VECTORS = ("1X", "2X", "4X", "block16", "block32")
_MASK_SINCE = (8, 8)


def group_word(cta_group: int) -> str:
    """Return the modifier `cta_group::1` or `cta_group::2`."""
    check_option(cta_group, (1, 2), "cta_group")
    return f"cta_group::{cta_group}"


def mma(
    d: object,
    a_desc: object,
    b_desc: object,
    idesc: object,
    *,
    cta_group: int = 1,
    kind: str = "f16",
    enable_input_d: bool = True,
    scale_d: object = None,
    sparse: bool = False,
    ashift: bool = False,
    collector_a: str | None = None,
    a_is_tmem: bool = False,
    sparse_metadata: object = None,
    pred_operand: object = None,
    scale_c: object = None,
    scale_a_tmem: object = None,
    scale_b_tmem: object = None,
    scale_vec: str | None = None,
    pred: Guard = None,
) -> None:
    """Emit `tcgen05.mma`: D = A * B, plus D if the accumulate predicate holds. Issued by one thread.

    Args:
        d: tensor memory address of the accumulator (u32).
        a_desc, b_desc: matrix descriptors (u64); with a_is_tmem, a_desc is a tensor memory address.
        idesc: instruction descriptor (u32), see make_instr_desc.
        kind: "f16", "tf32", "i8", "f8f6f4", and block-scaled "mxf8f6f4", "mxf4", "mxf4nvf4".
        cta_group: 1, or 2 for a pair of CTAs.
        enable_input_d: without effect, part of the 0.1 API; use `pred_operand` or `scale_d`.
        pred_operand, scale_d: accumulate into D: a predicate, another register (nonzero accumulates), or an int.
        sparse: A is sparse; needs `sparse_metadata`.
        ashift: shift the rows of A in tensor memory.
        collector_a: use of the collector buffer of A: "discard", "lastuse", "fill" or "use".
        sparse_metadata: tensor memory address of the metadata of a sparse A.
        scale_c: scale D by 2**-scale_c (0..15) before accumulating.
        scale_a_tmem, scale_b_tmem: tensor memory addresses of the block scales.
        scale_vec: "1X", "2X", "4X", "block16" or "block32".
    Raises:
        ShapeError: missing or unsupported arguments of the kind.
    """
    check_option(kind, _KINDS, "kind")
    if collector_a is not None:
        check_option(collector_a, _COLLECTORS, "collector_a")
    scaled = _require_scales(kind, scale_a_tmem, scale_b_tmem, scale_vec)
    if sparse and sparse_metadata is None:
        raise ShapeError(
            "a sparse tcgen05.mma needs sparse_metadata=, the tensor memory address of its metadata", at=user_place()
        )
    keep = _predicate(pred_operand if pred_operand is not None else scale_d)
    words = ["mma", *(["sp"] if sparse else []), group_word(cta_group), f"kind::{kind}"]
    if scaled:
        words.append("block_scale")
        if scale_vec is not None:
            words.append(scale_vec if scale_vec.startswith("block") else f"scale_vec::{scale_vec}")
    words += ["ashift"] if ashift else []
    words += [f"collector::a::{collector_a}"] if collector_a else []
    operands = [_tensor_memory(d), _tensor_memory(a_desc) if a_is_tmem else a_desc, b_desc]
    operands += [_tensor_memory(sparse_metadata)] if sparse else []
    operands.append(idesc)
    if scaled:
        operands += [_tensor_memory(scale_a_tmem), _tensor_memory(scale_b_tmem)]
    elif not sparse and _takes_mask():
        zero = reg.scalar(u32)
        emit("mov", "u32", zero, 0)
        operands.append([zero] * (4 * cta_group))
    operands.append(keep)
    operands += [] if scale_c is None else [scale_c]
    emit_checked("tcgen05", ".".join(words), *operands, pred=pred)


def _takes_mask() -> bool:
    """Return True if the mask of disabled output lanes is emitted: from PTX ISA 8.8 on."""
    version = get_ctx().ptx_version
    return version is not None and tuple(version) >= _MASK_SINCE


def _tensor_memory(value: object) -> AddressOperand:
    """Return `[value]`; ptxas accepts b32 registers only, so others are copied."""
    if isinstance(value, Reg) and value.dtype.bits == 32 and value.dtype != b32:
        copy = reg.scalar(b32)
        emit("mov", "b32", copy, value)
        value = copy
    return address(value)


def _require_scales(kind: str, scale_a: object, scale_b: object, scale_vec: str | None) -> bool:
    """Return True if the kind is block-scaled.

    Raises:
        ShapeError: scales are missing, or given for a kind without scales.
    """
    given = [v for v in (scale_a, scale_b, scale_vec) if v is not None]
    if kind not in _BLOCK_SCALED:
        if given:
            raise ShapeError(
                f"kind={kind!r} has no block scales; the kinds {', '.join(_BLOCK_SCALED)} have", at=user_place()
            )
        return False
    if scale_a is None or scale_b is None:
        raise ShapeError(
            f"kind={kind!r} needs scale_a_tmem= and scale_b_tmem=, tensor memory addresses of the scales",
            at=user_place(),
        )
    if scale_vec is not None:
        check_option(scale_vec, _SCALE_VECTORS, "scale_vec")
    return True


def _predicate(value: object) -> object:
    """Return the accumulate predicate for a predicate, another register, or an int (None is 0)."""
    if isinstance(value, NegPred) or (isinstance(value, Reg) and value.dtype == pred_type):
        return value
    keep = reg.scalar(pred_type)
    if isinstance(value, Reg):
        emit("setp", "ne.b32", keep, value, 0)
        return keep
    number = reg.scalar(u32)
    emit("mov", "u32", number, int(bool(value)))
    emit("setp", "ne.b32", keep, number, 0)
    return keep
