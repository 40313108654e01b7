"""Instruction specs of the 0.1 API (`pyptx.spec`)."""

import pytest

from pyptx import isa, spec
from pyptx.errors import PtxValidationError
from pyptx.ir.nodes import AddressOperand, ImmediateOperand, Instruction, RegisterOperand

R, A = RegisterOperand("%r0"), AddressOperand("%r0")


def instruction(text: str, *operands) -> Instruction:
    opcode, *words = text.split(".")
    return Instruction(opcode, tuple("." + word for word in words), operands)


@pytest.mark.parametrize(
    ("inst", "fragments"),
    [
        (instruction("add.f32", R, R, R), []),
        (instruction("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", A, A), []),
        (instruction("tcgen05.alloc.cta_group::1.sync.aligned.b32", A, R), []),
        (instruction("barrier.cluster.wait.aligned"), []),
        (instruction("mbarrier.try_wait.parity.shared.b64", R, A, R), []),
        (instruction("ld.global.v4.f32", R, A), []),
        (instruction("setmaxnreg.inc.sync.aligned.u32", ImmediateOperand("40")), []),
        (instruction("setmaxnreg.sync.aligned.u32", ImmediateOperand("40")), ["Missing required modifier", "'action'"]),
        (instruction("add", R, R, R), ["Missing required modifier", "'type'"]),
        (instruction("add.f32", R, R), ["Too few operands"]),
        (instruction("add.f32", R, R, R, R), ["Too many operands"]),
        (instruction("mbarrier.arrive.expect_tx.shared::cta.b64", A), ["Too few operands"]),
        (instruction("add.f99", R, R, R), ["Unrecognized modifier '.f99'", "'type'"]),
        (
            instruction("wgmma.mma_async.sync.aligned.m64n999k16.f32.bf16.bf16", *[R] * 8),
            ["Unrecognized modifier", "m64n999k16"],
        ),
    ],
    ids=lambda value: getattr(value, "mnemonic", None),
)
def test_modifiers_and_operand_count_are_checked(inst, fragments):
    issues = spec.validate_instruction(inst)
    assert bool(issues) is bool(fragments)
    assert all(any(fragment in str(issue) for issue in issues) for fragment in fragments)
    if fragments:
        with pytest.raises(PtxValidationError) as caught:
            spec.validate_or_raise(inst)
        assert caught.value.issues == issues and str(caught.value).splitlines()[0] == inst.mnemonic


def test_an_unknown_opcode_is_a_warning():
    (issue,) = spec.validate_instruction(instruction("frobnicate.fast"))
    assert issue.severity == "warning" and "Unknown opcode" in issue.message
    with pytest.warns(spec.UnvalidatedInstructionWarning, match="frobnicate.fast"):
        assert spec.validate_or_raise(instruction("frobnicate.fast")) == [issue]


def test_every_spec_comes_from_the_isa_table():
    assert set(spec.INSTRUCTIONS) == set(isa.OPS) and len(spec.INSTRUCTIONS) == len(isa.OPS) > 20
    for opcode in spec.INSTRUCTIONS:
        for one in spec.get_specs(opcode):
            assert one.opcode == opcode and one.description and one.min_operands <= one.max_operands
            assert all(len(set(g.options)) == len(g.options) > 0 for g in one.modifier_groups)
    assert len(spec.get_specs("cp")) >= 2 and len(spec.get_specs("tcgen05")) >= 2


def test_a_registered_overload_is_accepted(monkeypatch):
    monkeypatch.setattr("pyptx.compat.spec._OVERLOADS", {})
    speed = spec.ModifierGroup("speed", (".fast", ".slow"))
    own = spec.InstructionSpec("frobnicate", (speed,), "a", 1, 1, "Frobnicate.")
    spec.register_overload(own)
    assert spec.get_specs("frobnicate") == (own,) and "frobnicate" in spec.INSTRUCTIONS
    assert spec.validate_instruction(instruction("frobnicate.slow", R)) == []
    assert spec.validate_instruction(instruction("frobnicate.slow", R), {"frobnicate": own}) == []


def test_an_error_shows_instruction_messages_and_location():
    issues = spec.validate_instruction(instruction("add.f32", R, R))
    error = PtxValidationError(issues, user_frame="k.py:7")
    assert (error.issues, error.user_frame) == (issues, "k.py:7")
    first, *messages, last = str(error).splitlines()
    assert first == "add.f32" and "Too few operands" in "".join(messages) and last == "at k.py:7"


def test_strictness_can_be_set_permanently_or_temporarily():
    with spec.strict(True):
        spec.set_strict(False)
        assert not spec.is_strict()
    assert spec.is_strict()


def test_strictness_is_restored():
    assert spec.is_strict()
    with spec.strict(False):
        assert not spec.is_strict()
        with spec.strict(True):
            assert spec.is_strict()
        assert not spec.is_strict()
    assert spec.is_strict()
    with pytest.raises(KeyError), spec.strict(False):
        raise KeyError
    assert spec.is_strict()
