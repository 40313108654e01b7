"""tcgen05: tensor memory and products. Features that only sm_107 has are not simulated."""

from __future__ import annotations

from pyptx.ir.nodes import AddressOperand
from pyptx.sim import actions as act
from pyptx.sim.actions import Action, Address, Nop
from pyptx.sim.decode._registry import decodes, type_words
from pyptx.sim.decode.asynchronous import place
from pyptx.sim.symbols.operands import Operands

_SHAPES = ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
_COPIES = ("128x256b", "4x256b", "128x128b", "64x128b", "32x128b")
_EXPANSIONS = {"b6x16_p32": 6, "b4x16_p64": 4}
_VECTORS = {"scale_vec::1X": 1, "scale_vec::2X": 2, "scale_vec::4X": 4, "block16": 4}
_UNSUPPORTED = ("spcompress", "kind::ti16", "decompress::lut::b", "sync_restrict::shared::read::mma::a")


@decodes("tcgen05")
def tcgen05(o: Operands) -> Action | None:
    words = [m[1:] for m in o.instruction.modifiers]
    if any(word in _UNSUPPORTED for word in words):
        return None
    operation = words[0]
    match operation:
        case "alloc":
            return act.TmemAlloc(_group(words), place(o, "a"), o.value("n"), "exclusive" in words)
        case "dealloc":
            return act.TmemFree(_group(words), o.value("t"), o.value("n"), "exclusive" in words)
        case "relinquish_alloc_permit":
            return act.TmemRelinquish(_group(words))
        case "ld":
            return _load(o, words)
        case "st":
            return act.TmemStore(_shape(words), "unpack::16b" in words, _tmem(o, "t"), o.values("r"), _split(o))
        case "wait::ld" | "wait::st":
            return act.TmemWait(operation[-2:])
        case "cp":
            return _copy(o, words)
        case "shift":
            return act.TmemShift(_group(words), _tmem(o, "t"))
        case "commit":
            return act.Tcgen05Commit(
                _group(words), place(o, "mb", ".shared::cluster"), o.value("mask") if "mask" in o else None
            )
        case "mma":
            return _product(o, words)
    return Nop() if operation.startswith("fence::") else None  # instructions take effect in program order


def _group(words: list[str]) -> int:
    return next(int(w[-1]) for w in words if w.startswith("cta_group::"))


def _tmem(o: Operands, name: str) -> Address:
    return o.address(name, "tmem")


def _shape(words: list[str]) -> str:
    return next(w for w in words if w in _SHAPES)


def _split(o: Operands) -> int:
    return o.number("o") if "o" in o else 0


def _load(o: Operands, words: list[str]) -> Action:
    data, reduction = o.targets("r"), None
    if "red" in words:
        data = (*data, o.target("rv"))
        operation = next(w for w in words if w in ("min", "max"))
        reduction = operation, type_words(o.instruction.modifiers)[-1], "abs" in words, "NaN" in words
    return act.TmemLoad(_shape(words), "pack::16b" in words, data, _tmem(o, "t"), _split(o), reduction)


def _copy(o: Operands, words: list[str]) -> Action:
    shape = next(w for w in words if w in _COPIES)
    multicast = next((f".{w}" for w in words if w.startswith("warpx")), "")
    expansion = next((_EXPANSIONS[w] for w in words if w in _EXPANSIONS), 0)
    return act.TmemCopy(_group(words), shape + multicast, expansion, _tmem(o, "t"), o.value("sd"))


def _product(o: Operands, words: list[str]) -> Action:
    kind = next(w for w in words if w.startswith("kind::")).removeprefix("kind::")
    vector = 0
    if "block_scale" in words:
        vector = next((_VECTORS[w] for w in words if w in _VECTORS), 1 if kind == "mxf8f6f4" else 2)
    left = _tmem(o, "at") if "at" in o else o.value("ad")

    def optional(name: str) -> Address | None:
        return _tmem(o, name) if isinstance(o.bound.operands.get(name), AddressOperand) else None

    return act.Tcgen05Mma(
        kind,
        _group(words),
        _tmem(o, "d"),
        left,
        o.value("bd"),
        o.value("id"),
        o.value("en"),
        o.negated("en"),
        "ws" in words,
        "ashift" in words,
        o.number("si") if "si" in o else 0,
        optional("mt"),
        vector,
        optional("sa"),
        optional("sb"),
        o.values("dm") if "dm" in o else (),
        o.value("zm") if "zm" in o else None,
        o.target_name,
    )
