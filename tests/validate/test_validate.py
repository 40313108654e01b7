"""Binding and checking of instructions, and the error messages."""

from __future__ import annotations

import pytest

from pyptx import isa, validate
from pyptx.errors import FormError
from pyptx.ir.nodes import (
    AddressOperand,
    AddressSize,
    Block,
    Function,
    ImmediateOperand,
    Instruction,
    Label,
    LabelOperand,
    Module,
    NegatedOperand,
    Operand,
    PipeOperand,
    Predicate,
    RegDecl,
    RegisterOperand,
    Target,
    VectorOperand,
    Version,
)
from pyptx.ir.types import ScalarType

TYPES = {"%f": "f32", "%d": "f64", "%r": "b32", "%u": "u32", "%rd": "u64", "%p": "pred", "%h": "b16", "plain": "u32"}


def operand(text: object) -> Operand:
    if isinstance(text, list):
        return VectorOperand(tuple(map(operand, text)))
    if isinstance(text, Operand):
        return text
    if text[0] == "[":
        base, _, rest = text[1:-1].partition(",")
        base, _, offset = base.partition("+")
        return AddressOperand(base, ", " + rest.strip() if rest else offset or None)
    if text[0] == "!":
        return NegatedOperand(operand(text[1:]))
    if "|" in text:
        return PipeOperand(*map(operand, text.split("|")))
    if text[0].isdigit() or text[0] == "-":
        return ImmediateOperand(text)
    return RegisterOperand(text) if text[0] == "%" else LabelOperand(text)


def ins(mnemonic: str, *operands: object) -> Instruction:
    opcode, *words = mnemonic.split(".")
    return Instruction(opcode, tuple("." + w for w in words), tuple(map(operand, operands)))


def bound(mnemonic: str, *operands: object) -> validate.Bound:
    return validate.bind(ins(mnemonic, *operands), TYPES.get)


def refused(mnemonic: str, *operands: object) -> FormError:
    with pytest.raises(FormError) as caught:
        bound(mnemonic, *operands)
    return caught.value


# bind -------------------------------------------------------------------------------------------------------------


def test_bind_returns_form_choices_operands_and_types():
    found = bound("mul.wide.s32", "%rd", "%r", "7")
    assert found.form.syntax == "mul.wide.type  d, a, b"
    assert found.choices == {"type": "s32"}
    assert found.types == {"d": "s64", "a": "s32", "b": "s32"}
    assert found["b"] == ImmediateOperand("7")


def test_vectors_pairs_negations_and_tensor_addresses_are_split_into_operands():
    assert bound("ld.global.v4.f32", ["%f"] * 4, "[%rd+16]")["d"] == VectorOperand((RegisterOperand("%f"),) * 4)
    found = bound("setp.lt.and.s32", "%p|%p", "%r", "3", "!%p")
    assert found["q"] == RegisterOperand("%p") and found["c"] == NegatedOperand(RegisterOperand("%p"))
    tma = bound(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", "[%u]", "[%rd, {%r, %r}]", "[%u]"
    )
    assert tma["c"] == VectorOperand((RegisterOperand("%r"), RegisterOperand("%r")))
    assert tma["tm"].base == "%rd" and tma.types["c"] == "s32"


def test_operand_kinds_select_the_form():
    ignore = bound("cp.async.ca.shared.global", "[%u]", "[%rd]", "16", "%p")
    assert "ign" in ignore.operands
    assert "sz" in bound("cp.async.ca.shared.global", "[%u]", "[%rd]", "16", "%r").operands
    assert bound("mov.u64", "%rd", "symbol").form.operands["a"].kind == "symbol"
    assert bound("mov.u32", "%u", "%tid.x").types == {"d": "u32", "a": "u32"}
    assert bound("mov.b64", "%rd", ["%r", "%r"]).form.syntax == "mov.b64  d, {a*2}"
    assert bound("add.u32", "%u", "plain", "1")


def test_modifiers_may_have_any_order_but_types_keep_theirs():
    assert bound("add.f32.rn", "%f", "%f", "%f").choices["rnd"] == "rn"
    refused("cvt.f64.f32.rn", "%f", "%d")


@pytest.mark.parametrize(
    ("mnemonic", "operands", "says", "hint"),
    [
        (
            "add.rn.ftz.f64",
            ("%d", "%d", "%d"),
            "add.rn.ftz.f64: '.f64' cannot follow '.ftz'; expected '.sat', '.f32', '.f32x2', '.f16' or '.f16x2'",
            "for .f64 the form is add{.rnd}.f64  d, a, b",
        ),
        ("ad.f32", (), "unknown instruction; did you mean 'sad', 'mad' or 'and'?", None),
        ("setp.lt", ("%p", "%r", "%r"), "incomplete mnemonic; expected", "setp"),
        ("add.rn.rn.f32", ("%f", "%f", "%f"), "'.rn' is repeated", None),
        ("add.f32", ("%f", "%f"), "takes 3 operands, not 2", "the form is add{.rnd}{.ftz}{.sat}.f32  d, a, b"),
        ("add.f32", ("%f", "%f", "1"), "1 is an integer, b is .f32; write 1.0", None),
        ("add.u32", ("%u", "%u", "1.5"), "1.5 is a float, b is .u32; expected an integer", None),
        ("add.f32", ("%f", "%r", "%rd"), "b is .f32 and takes '.b32' or '.f32' registers; %rd is .u64", None),
        ("add.f32", ("%f", "%x", "%f"), "register %x is not declared", None),
        ("add.u32", ("%u", "%tid.x", "1"), "%tid.x cannot be operand 2; expected a .u32 register or number", None),
        (
            "ld.global.v4.f32",
            (["%f", "%f"], "[%rd]"),
            "{%f, %f} cannot be operand 1; expected a vector of 4 .f32",
            None,
        ),
        ("ld.global.f32", ("%f", "[%u]"), "this address takes '.b64', '.s64' or '.u64' registers; %u is .u32", None),
        ("ld.global.f32", ("%f", "[%rd+%rd]"), "an address is [register+number]", None),
        ("ld.global.f32", ("%f", "[16]"), "16 is not an address", None),
        ("cp.async.cg.shared.global", ("[%u]", "[%rd]", "8"), "size is 8; expected 16", None),
        ("setmaxnreg.inc.sync.aligned.u32", ("100",), "n is 100; expected 24 to 256, a multiple of 8", None),
        ("ld.global.v2.b32", (["%r", "%rd"], "[%rd]"), "the registers of a vector must have one type", None),
        ("selp.b32", ("%r", "%r", "%r", "%r"), "%r cannot be operand 4; expected a predicate", None),
        (
            "cvt.rn.s32.f32",
            ("%r", "%f"),
            "'.rn' cannot be combined with '.s32.f32'; expected '.rni', '.rmi', '.rpi' or '.rzi'",
            "for .f32 the form is cvt.rnd{.ftz}{.sat}.dtype.f32  d, a",
        ),
        ("cvt.rn.f32.f16", ("%f", "%h"), "(or drop '.rn')", "for .f16 the form is cvt{.ftz}{.sat}.f32.f16  d, a"),
        (
            "mul.lo.f32",
            ("%f", "%f", "%f"),
            "(or drop '.lo')",
            "for .f32 the form is mul{.rnd}{.ftz}{.sat}.f32  d, a, b",
        ),
        ("ld.global.v3.f32", (["%f"] * 3, "[%rd]"), "expected '.v2', '.v4', '.v8'", "{d*vec}, [a]"),
        ("shfl.bfly.b32", ("%r", "%r", "1", "31", "-1"), "takes 4 operands, not 5", "shfl.sync.bfly.b32 takes 5"),
        ("wgmma.mma_async.sync.aligned.m64n260k16.f32.bf16.bf16", (), "did you mean '.m64n256k16'?", ".f32.type.type"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.f16", (), "cannot follow '.bf16'; expected '.bf16'", None),
        (
            "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16",
            (["%f"] * 31, "%rd", "%rd", "%p", "1", "1", "0", "0"),
            "a vector of 31, {%f, ..., %f}, cannot be operand 1; expected a vector of 32 .f32",
            None,
        ),
        ("ld.global.f32", ("%f", "%rd"), "in Python ptx.addr(register)", None),
        ("add.u32", ("%u", "%tid.x", "1"), "read a special register with mov", None),
        ("mma.sync.aligned.m16n8k16.row.row.f32.bf16.bf16.f32", (), "cannot follow '.row'; expected '.col'", None),
        ("tcgen05.mma.cta_group::1.kind::bf16", (), "did you mean '.kind::f16'?", None),
    ],
)
def test_an_error_names_the_refused_part_and_suggests_a_fix(mnemonic, operands, says, hint):
    error = refused(mnemonic, *operands)
    assert error.message.startswith(mnemonic + ":") and says in error.message, error.message
    assert hint is None or hint in (error.hint or "")


# check ------------------------------------------------------------------------------------------------------------


def module(*body: object, target: str = "sm_90a", version: tuple[int, int] = (8, 5)) -> Module:
    declared = tuple(RegDecl(ScalarType(t), n) for n, t in TYPES.items())
    function = Function(True, "k", body=(*declared, *body))
    return Module(Version(*version), Target((target,)), AddressSize(64), (function,))


def messages(*body: object, **options) -> list[str]:
    return [d.message for d in validate.check(module(*body, **options))]


def test_a_valid_module_has_no_diagnostics():
    assert messages(ins("add.f32", "%f", "%f", "%f"), ins("bra", "DONE"), Label("DONE"), ins("ret")) == []


def test_all_errors_are_reported_together():
    found = messages(ins("add.f32", "%f", "%f"), ins("add.f32", "%f", "%y", "%f"), ins("bra", "NOWHERE"))
    assert len(found) == 3 and "NOWHERE" in " ".join(found)


def test_unsupported_features_are_named_as_by_ptxas():
    tcgen = ins("tcgen05.fence::before_thread_sync")
    assert messages(tcgen) == [
        "tcgen05.fence::before_thread_sync: Feature 'tcgen05.fence::before_thread_sync' requires .target sm_100f, "
        "sm_100a, sm_103f, sm_103a, sm_107f, sm_107a, sm_110f or sm_110a; the module targets sm_90a"
    ]
    late = ins("ld.global.v8.b32", ["%r"] * 8, "[%rd]")
    assert "requires PTX ISA .version 8.8 or later" in messages(late, target="sm_100a", version=(8, 6))[0]
    assert "requires .target sm_100 or higher" in messages(late)[0]
    assert ".target sm_100a requires .version 8.6" in messages(target="sm_100a", version=(8, 0))[0]
    assert "unknown target" in messages(target="sm_91")[0]
    assert "%clusterid.x" in messages(ins("mov.u32", "%u", "%clusterid.x"), target="sm_80")[0]


def test_a_guard_must_be_a_predicate():
    guarded = Instruction("ret", (), (), Predicate("%r"))
    assert messages(guarded) == ["ret: guard %r is .b32; expected a predicate"]


def test_registers_are_scoped_to_their_block():
    inner = Block((RegDecl(ScalarType("f32"), "%inner"), ins("mov.f32", "%inner", "%f")))
    assert messages(inner) == []
    assert "register %inner is not declared" in messages(inner, ins("mov.f32", "%inner", "%f"))[0]


def test_parameterized_registers_are_declared_up_to_their_count():
    many = RegDecl(ScalarType("f32"), "%v", 10)
    assert messages(many, ins("mov.f32", "%v9", "%f")) == []
    assert "%v10 is not declared" in messages(many, ins("mov.f32", "%v10", "%f"))[0]


def test_required_version_is_the_lowest_that_supports_the_instructions():
    assert validate.required_version(module(ins("add.f32", "%f", "%f", "%f"))) == (8, 0)
    wait = ins("mbarrier.try_wait.parity.relaxed.cta.b64", "%p", "[%rd]", "0")
    assert validate.required_version(module(wait)) == (8, 6)
    assert validate.required_version(module(ins("add.f32", "%f"), target="sm_80")) == (7, 0)


@pytest.fixture(scope="module")
def instructions() -> list[Instruction]:
    """Return two instructions of each form: with the first choices only, and with every optional word and the last choices."""
    found: dict[tuple[str, tuple[str, ...], int], None] = {}
    for form in (form for op in isa.OPS.values() for form in op.forms):
        for choice in (0, -1):
            modifiers = tuple(
                f".{word.before}{form.slots[word.slot].choices[choice]}{word.after}" if word.slot else word.text
                for word in form.words
                if not word.optional or choice
            )
            found[form.op.opcode, modifiers, len(form.items)] = None
    return [Instruction(opcode, modifiers, (operand("0"),) * count) for opcode, modifiers, count in found]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_the_required_version_from_a_given_one_on_is_the_later_of_both(instructions, target):
    for instruction in instructions:
        one = module(instruction, target=target)
        lowest = validate.required_version(one)
        for at_least in ((7, 5), (8, 5), (8, 7)):
            assert validate.required_version(one, at_least) == max(at_least, lowest), instruction.mnemonic
