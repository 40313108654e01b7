"""Specs of array parameters (`pyptx.specs`), and the spelling checks of single instructions (`pyptx.spec`)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyptx import Layout, Tile, isa, spec
from pyptx.errors import PtxValidationError
from pyptx.ir.nodes import AddressOperand, ImmediateOperand, Instruction, RegisterOperand
from pyptx.specs import unify_envs
from pyptx.types import b32, bf16, e4m3, f32, s32, u32

# tiles -------------------------------------------------------------------------------------------------------------


def test_items_of_a_tile_come_in_any_order():
    assert Tile("M", "K", f32) == Tile(f32, "M", "K") == Tile("M", "K", dtype=f32)
    tile = Tile("M", Layout.TMA_128B, 64, bf16)
    assert (tile.shape, tile.dtype, tile.layout, tile.rank) == (("M", 64), bf16, Layout.TMA_128B, 2)
    assert tile.symbolic_dims == ("M",) and hash(tile) == hash(Tile("M", 64, bf16, Layout.TMA_128B))


@pytest.mark.parametrize(("items", "error", "message"), [
    (("M",), ValueError, "needs a dtype"), ((f32,), ValueError, "at least one dimension"),
    ((4, f32, u32), ValueError, "two dtypes"), ((4.0, f32), TypeError, "4.0"), ((True, f32), TypeError, "True"),
])
def test_wrong_tiles_are_refused(items, error, message):
    with pytest.raises(error, match=message):
        Tile(*items)


def test_an_alignment_is_a_power_of_two():
    assert Tile("N", f32, align=16).align == 16 and Tile("N", f32).align is None
    with pytest.raises(ValueError, match="align=12 is no power of two"):
        Tile("N", f32, align=12)


@given(st.dictionaries(st.sampled_from("MNK"), st.integers(1, 10**6), min_size=3))
def test_a_shape_read_off_an_array_gives_the_array_back(env):
    tile = Tile("M", 4, "N", "K", f32)
    shape = tile.resolve_shape(env)
    assert tile.extract_env(shape) == env and tile.matches(shape, "float32")


def test_shapes_that_do_not_fit_are_refused():
    tile = Tile("M", "M", 8, f32)
    with pytest.raises(ValueError, match="rank 2"):
        tile.extract_env((4, 4))
    with pytest.raises(ValueError, match="expected 8, got 9"):
        tile.extract_env((4, 4, 9))
    with pytest.raises(ValueError, match="conflicting sizes for 'M': 4 and 5"):
        tile.extract_env((4, 5, 8))
    with pytest.raises(KeyError, match="size 'M'"):
        tile.resolve_shape({"N": 1})
    with pytest.raises(ValueError, match="conflicting"):
        unify_envs([{"a": 1}, {"a": 2}])


@pytest.mark.parametrize(("dtype", "name", "fits"), [
    (f32, "float32", True), (f32, "float16", False), (u32, "int32", True), (b32, "float32", True),
    (s32, "float32", False),
    (bf16, "bfloat16", True), (bf16, "float16", False), (e4m3, "float8_e4m3fn", True), (e4m3, "float8_e5m2", False),
])
def test_dtypes_of_equal_width_and_kind_are_taken(dtype, name, fits):
    assert Tile(4, dtype).accepts_dtype(name) is fits


@pytest.mark.parametrize(("columns", "layout"), [(8, Layout.ROW), (16, Layout.TMA_32B), (32, Layout.TMA_64B),
                                                 (64, Layout.TMA_128B), (256, Layout.TMA_128B), ("K", Layout.ROW)])
def test_the_bytes_of_a_row_choose_the_swizzle(columns, layout):
    assert Tile.wgmma_a("M", columns, bf16).layout == layout == Tile.wgmma_b("K", columns, bf16).layout


def test_boxes_of_wgmma_tiles():
    assert Tile.wgmma_a("M", "K", bf16, tile_m=128, tile_k=64).tma_box == (128, 64)
    assert Tile.wgmma_b("K", "N", bf16, tile_k=64, tile_n=256).tma_box == (64, 256)
    assert Tile.wgmma_a("M", "K", bf16).tma_box is None
    with pytest.raises(ValueError, match="16, 32, 64"):
        Tile.wgmma_a(64, 24, bf16)


# instructions ------------------------------------------------------------------------------------------------------

R, A = RegisterOperand("%r0"), AddressOperand("%r0")


def instruction(text: str, *operands) -> Instruction:
    opcode, *words = text.split(".")
    return Instruction(opcode, tuple("." + word for word in words), operands)


@pytest.mark.parametrize(("inst", "fragments"), [
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
    (instruction("wgmma.mma_async.sync.aligned.m64n999k16.f32.bf16.bf16", *[R] * 8),
     ["Unrecognized modifier", "m64n999k16"]),
], ids=lambda value: getattr(value, "mnemonic", None))
def test_the_spelling_of_an_instruction(inst, fragments):
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


def test_every_spelling_comes_from_the_table():
    assert set(spec.INSTRUCTIONS) == set(isa.OPS) and len(spec.INSTRUCTIONS) == len(isa.OPS) > 20
    for opcode in spec.INSTRUCTIONS:
        for one in spec.get_specs(opcode):
            assert one.opcode == opcode and one.description and one.min_operands <= one.max_operands
            assert all(len(set(g.options)) == len(g.options) > 0 for g in one.modifier_groups)
    assert len(spec.get_specs("cp")) >= 2 and len(spec.get_specs("tcgen05")) >= 2


def test_a_registered_spelling_is_known(monkeypatch):
    monkeypatch.setattr("pyptx.spec.ptx._OVERLOADS", {})
    speed = spec.ModifierGroup("speed", (".fast", ".slow"))
    own = spec.InstructionSpec("frobnicate", (speed,), "a", 1, 1, "Frobnicate.")
    spec.register_overload(own)
    assert spec.get_specs("frobnicate") == (own,) and "frobnicate" in spec.INSTRUCTIONS
    assert spec.validate_instruction(instruction("frobnicate.slow", R)) == []
    assert spec.validate_instruction(instruction("frobnicate.slow", R), {"frobnicate": own}) == []


def test_an_error_says_instruction_messages_and_place():
    issues = spec.validate_instruction(instruction("add.f32", R, R))
    error = PtxValidationError(issues, user_frame="k.py:7")
    assert (error.issues, error.user_frame) == (issues, "k.py:7")
    first, *messages, last = str(error).splitlines()
    assert first == "add.f32" and "Too few operands" in "".join(messages) and last == "at k.py:7"


def test_strictness_is_set_for_good_or_for_a_while():
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
