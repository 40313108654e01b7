"""Every combination of the modifiers of an instruction, whether the table has it or not: check_ptx agrees with ptxas.

The other tests here start from the table's forms; a form that the table lacks shows only where all combinations are tried.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from oracle.ptxas import TAIL, Ptxas, frame

from pyptx import check_ptx
from pyptx.isa import targets

LATEST = targets.LATEST_PTX
SAMPLE = 2000
INTEGERS = "b16 b32 b64 u16 u32 u64 s16 s32 s64"
FLOATS = "f16 bf16 f32 f64 f16x2 bf16x2"
COMPARE = "eq ne lt lo hs gt equ nan num", "- and", "- ftz"
ATOMIC = (
    "- relaxed acq_rel",
    "- gpu",
    "- global shared",
    "add min max inc dec and or xor exch cas",
    "- noftz",
    "- L2::cache_hint",
)
ROUND = "- rn rz rm rp rna rni rzi rmi rpi"
SPELLINGS = {  # modifiers in order ("-": none), and operands with the types of modifiers from the end
    "set": ((*COMPARE, "u16 s16 u32 s32 f32 u64 f16 bf16 f16x2 bf16x2", f"{INTEGERS} {FLOATS}"), ("-2", "-1", "-1")),
    "setp": ((*COMPARE, f"{INTEGERS} {FLOATS}"), ("p", "-1", "-1")),
    "cvt": ((ROUND, "- ftz", "- relu", "- sat satfinite", *2 * [f"{INTEGERS[12:]} f16 bf16 f32 f64"]), ("-2", "-1")),
    "atom": ((*ATOMIC, f"{INTEGERS[4:]} {FLOATS}"), ("-1", "[]", "-1")),
    "red": ((*ATOMIC, f"{INTEGERS[4:]} {FLOATS}"), ("[]", "-1")),
    # ptxas also takes fma.rz.bf16, whose sum it converts to f16, and fma.rn.oob.sat.f16: neither is in the manual
    "fma": (("- rn", "- ftz", "- sat", "- relu", f"{FLOATS} f32x2"), ("-1", "-1", "-1", "-1")),
    "add": (("- rn rz rm rp", "- ftz", "- sat", f"{INTEGERS} {FLOATS} f32x2 u16x2 s16x2"), ("-1", "-1", "-1")),
    "min": (("- ftz", "- NaN", "- xorsign", "- abs", "- relu", f"{INTEGERS} {FLOATS} u16x2 s16x2"), ("-1", "-1", "-1")),
    "mul": (("- lo hi wide", "- rn rz rm rp", "- ftz", "- sat", f"{INTEGERS} {FLOATS} f32x2"), ("-1", "-1", "-1")),
}  # fmt: skip


def spellings(name: str) -> Iterator[str]:
    """Yield a sample of the statements with each combination of modifiers."""
    slots, operands = SPELLINGS[name]
    choices = list(itertools.product(*(slot.split() for slot in slots)))
    for chosen in random.Random(0).sample(choices, min(SAMPLE, len(choices))):
        given = [_operand(kind, chosen, k) for k, kind in enumerate(operands)]
        if "and" in chosen[1:2]:
            given.append("%pred_9")
        if "cas" in chosen:
            given.append(_operand("-1", chosen, 7))
        if "L2::cache_hint" in chosen:
            given.append("%b64_9")
        yield f"{name}{''.join(f'.{word}' for word in chosen if word != '-')} {', '.join(given)};"


def _operand(kind: str, chosen: tuple[str, ...], number: int) -> str:
    """Return a register as wide as the modifier at a position from the end, a predicate, or an address."""
    if kind in ("p", "[]"):
        return "%pred_1" if kind == "p" else "[%b64_1]"
    type_ = chosen[int(kind)]
    width = 64 if type_ == "f32x2" else 32 if type_.endswith("x2") else int("".join(filter(str.isdigit, type_)))
    if "wide" in chosen and number == 0:
        width *= 2
    return f"%b{width}_{number}"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_combinations_of_modifiers_are_valid_where_ptxas_takes_them(ptxas: Ptxas, name: str, target: str) -> None:
    statements = list(spellings(name))
    head = frame(target, LATEST)
    refused = {
        found.line - head.count("\n") - 1
        for found in check_ptx(head + "\n".join(statements) + TAIL)
        if found.severity == "error"
    }
    verdicts = ptxas.judge(statements, target, LATEST)
    assert [
        f"{statement} {verdict or 'accepted'}"
        for k, (statement, verdict) in enumerate(zip(statements, verdicts, strict=True))
        if (k in refused) != bool(verdict)
    ] == []
