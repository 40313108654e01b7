"""Compatibility rules for specs, the decorator and calls."""

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.errors import PtxValidationError
from pyptx.ir.nodes import FunctionDirective
from pyptx.isa import targets
from pyptx.kernel import Kernel, TensorSpec, TmaDescriptorHandle
from pyptx.parser import LexError, ParseError, parse
from pyptx.runtime import device
from pyptx.types import bf16, e4m3, f32, u8, u32

N = np.arange(64, dtype=np.float32)


@kernel(
    arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N, BM: N // BM, block=(32, 1, 1)
)
def add_constant(x, y, *, BM=32, by=1.0):
    """y = x + by, BM elements a CTA."""
    source, target = ptx.global_ptrs(x, y)
    first = reg.from_(ptx.special.ctaid.x(), u32) * BM + reg.from_(ptx.special.tid.x(), u32)
    for start in range(0, BM, 32):
        at = first + start
        for pointer in (source, target):
            ptx.inst.mad.wide.u32(pointer, at, 4, pointer)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(source))
        ptx.inst.add.f32(value, value, by)
        ptx.inst.st.global_.f32(ptx.addr(target), value)


def head(k: Kernel, **params) -> list[str]:
    """The lines of the entry from its name to its body."""
    text = k.ptx(**params)
    return text[text.index(".visible") : text.index("\n{")].splitlines()


# specs -------------------------------------------------------------------------------------------------------------


def test_a_box_takes_the_other_side_of_the_array():
    assert Tile.wgmma_a("M", 64, bf16, tile_m=128).tma_box == (128, 64)
    assert Tile.wgmma_b("K", 256, bf16, tile_k=64).tma_box == (64, 256)


@pytest.mark.parametrize(
    ("arch", "version"),
    [
        ("sm_80", (8, 5)),
        ("sm_90a", (8, 5)),
        ("sm_100a", (8, 8)),
        ("sm_101a", (8, 8)),
        ("sm_103a", (8, 8)),
        ("sm_110a", (9, 0)),
        ("sm_120", (8, 7)),
    ],
)
def test_the_version_follows_the_target(arch, version):
    assert targets.default_version(arch) == version
    module = kernel(lambda: ptx.ret(), arch=arch).module()
    assert (module.version.major, module.version.minor) == version and module.target.targets == (arch,)


# the decorator -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "dims"),
    [
        (None, (1, 1, 1)),
        (7, (7, 1, 1)),
        ((3, 2), (3, 2, 1)),
        (lambda N: N // 32, (2, 1, 1)),
        (lambda N: (N, 2), (64, 2, 1)),
        (lambda N: (1, 2, 3, 4), (1, 2, 3)),
        (lambda rows: (rows,), (64, 1, 1)),
        (lambda **sizes: (sizes["N"],), (64, 1, 1)),
    ],
)
def test_a_grid_is_three_numbers_however_it_is_given(grid, dims):
    assert kernel(lambda x: None, in_specs=[Tile("N", f32)], grid=grid)._resolve_grid({"N": 64}) == dims


def test_a_kernel_shows_what_it_was_given():
    tile = Tile("N", f32)
    k = kernel(in_specs=[tile], out_specs=[tile], block=(64, 1, 1), cluster=(2, 1, 1), smem=1024, arch="sm_90a")(
        add_constant.__wrapped__
    )
    assert k.in_specs == k.out_specs == (tile,) and k.__wrapped__ is add_constant.__wrapped__
    assert (k.block, k.cluster, k.smem, k.grid, k.arch) == ((64, 1, 1), (2, 1, 1), 1024, None, "sm_90a")
    k.template_params["BM"] = 7
    assert k.template_params == {"BM": 32, "by": 1.0}
    assert isinstance(kernel(lambda: None), Kernel)  # bare


def test_directives_are_written_in_order_and_displace_reqntid():
    both = kernel(
        reqntid=(128, 1, 1),
        raw_directives=[("maxntid", (384, 1, 1)), ("explicitcluster", ()), ("reqnctapercluster", (2, 1, 1))],
    )(lambda: None)
    assert head(both)[1:] == [".maxntid 384, 1, 1", ".explicitcluster", ".reqnctapercluster 2, 1, 1"]
    assert head(kernel(reqntid=(128, 1, 1))(lambda: None))[1:] == [".reqntid 128, 1, 1"]
    assert both.module().entries[0].directives[1] == FunctionDirective("explicitcluster", ())


@pytest.mark.parametrize(("extern", "name"), [(True, "global_smem"), ("arena", "arena")])
def test_an_extern_array_has_the_default_name_or_its_own(extern, name):
    k = kernel(lambda: smem.base(), extern_smem=extern)
    assert f".extern .shared .align 128 .b8 {name}[];" in k.ptx() and f"mov.u32 %r0, {name};" in k.ptx()
    k.compile()


def test_parameters_without_specs():
    assert head(kernel(lambda a, b: None)) == [".visible .entry _lambda_(", "\t.param .u64 a,", "\t.param .u64 b", ")"]
    assert head(kernel(lambda a: None, raw_params=[("u32", "n")]))[1:-1] == ["\t.param .u32 n"]
    assert head(kernel(lambda: None)) == [".visible .entry _lambda_()"]


def test_auto_asks_the_device_and_says_so_when_there_is_none(monkeypatch):
    monkeypatch.setattr(device, "_from_torch", lambda: None)
    monkeypatch.setattr(device, "_from_driver", lambda: None)
    device.detect_arch.cache_clear()
    with pytest.raises(RuntimeError, match=r"(?s)detect_arch.*arch='sm_90a'"):
        kernel(lambda: None, arch="auto")
    for capability, arch in {
        (8, 0): "sm_80",
        (9, 0): "sm_90a",
        (10, 0): "sm_100a",
        (10, 1): "sm_101a",
        (10, 3): "sm_103a",
        (11, 0): "sm_110a",
        (12, 0): "sm_120",
        (12, 1): "sm_121",
    }.items():
        monkeypatch.setattr(device, "_from_driver", lambda c=capability: c)
        device.detect_arch.cache_clear()
        assert device.detect_arch().startswith(arch), capability
    device.detect_arch.cache_clear()


def test_tensors_represent_arrays():
    seen = []

    @kernel(in_specs=[Tile("M", "K", bf16)])
    def k(a, more, *, K=None):
        seen[:] = [a, more]

    k.module(M=64, K=32)
    a, more = seen
    assert (a.name, a.shape, a.dtype, a.layout.value) == ("a", (64, 32), bf16, "row") and "a" in repr(a)
    assert (more.name, more.shape, more.dtype, more.layout) == ("more", None, None, None)
    k.module(K=32)
    assert seen[0].shape is None
    handle = TensorSpec("a").tma_desc()
    assert isinstance(handle, TmaDescriptorHandle) and handle.tensor.name == "a"


def test_a_descriptor_is_one_register_however_often_it_is_asked_for():
    @kernel(in_specs=[Tile("M", "K", bf16)])
    def k(a):
        assert a.tma_desc() is a.tma_desc() and a.tma_desc().dtype.name == "u64"

    assert k.ptx(M=64, K=64).count("ld.param.u64") == 1


# shared memory -----------------------------------------------------------------------------------------------------


def test_much_memory_on_demand_is_declared_where_it_is_used():
    @kernel(smem=64 * 1024)
    def k():
        tile = smem.alloc(f32, 32)
        smem.load(f32, tile)

    assert ".extern .shared .align 128 .b8 dyn_smem[];" in k.ptx() and "[dyn_smem]" in k.ptx()
    k.compile()


def test_each_variant_knows_its_own_shared_memory():
    @kernel
    def k(*, kib=64):
        smem.alloc(f32, kib * 256)

    assert k.specialize(kib=64).dynamic_bytes == 64 * 1024
    assert k.specialize(kib=100).dynamic_bytes == 100 * 1024
    assert k.specialize(kib=64).dynamic_bytes == 64 * 1024
    assert k.specialize(kib=8).dynamic_bytes == 0


def test_the_address_of_an_allocation_by_name_and_offset_is_right_in_both_modes():
    """`mov` from the name, then add byte_offset when it is not 0: of allocations, and of single mbarriers."""

    def address_of(handle):
        at = reg.from_(handle.name, u32)
        if handle.byte_offset:
            ptx.inst.add.u32(at, at, handle.byte_offset)

    @kernel
    def k(*, kib=1):
        smem.alloc(f32, 256 * kib)
        address_of(smem.alloc(f32, 32, name="second"))
        bars = smem.mbarrier(4, name="bars")
        assert bars.byte_offset == 0 and bars[3].byte_offset == 24 and bars[3].name == bars.name
        address_of(bars[3])

    def addresses(text):
        return [line.strip() for line in text.splitlines() if line.startswith(("\tmov", "\tadd"))]

    assert addresses(k.ptx()) == ["mov.u32 %r0, second;", "mov.u32 %r1, bars;", "add.u32 %r1, %r1, 24;"]
    assert addresses(k.ptx(kib=64)) == [
        "mov.u32 %r0, dyn_smem+65536;",
        "mov.u32 %r1, dyn_smem+65664;",
        "add.u32 %r1, %r1, 24;",
    ]


# calls -------------------------------------------------------------------------------------------------------------


def test_a_call_with_other_parameters_does_not_change_the_next_one():
    assert np.array_equal(add_constant(N), N + 1)
    assert np.array_equal(add_constant(N, by=5.0, BM=32), N + 5)
    assert np.array_equal(add_constant(N), N + 1)


def test_several_outputs_are_a_tuple_and_one_is_an_array():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32), Tile(4, u32)])
    def two(x, y, z):
        ptx.ret()

    y, z = two(N)
    assert y.shape == (64,) and y.dtype == np.float32 and z.shape == (4,) and z.dtype == np.uint32
    assert isinstance(add_constant(N), np.ndarray)


def test_sizes_of_outputs_may_be_given_by_name():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("M", f32)])
    def k(x, y):
        ptx.ret()

    assert k(N, M=3).shape == (3,)
    with pytest.raises(ValueError, match="N"):
        k(N, M=3, N=65)
    with pytest.raises(KeyError, match="no input tells the size M of y"):
        k(N)


def test_same_width_integers_are_taken():
    @kernel(arch="sm_80", in_specs=[Tile("N", u32)], out_specs=[Tile("N", u32)])
    def k(x, y):
        ptx.ret()

    assert k(np.zeros(4, np.int32)).dtype == np.uint32
    with pytest.raises(TypeError, match="float32"):
        k(np.zeros(4, np.float32))


def test_other_values_of_raw_parameters_compile_nothing_again():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], raw_params=[("u32", "n")])
    def k(x, y):
        ptx.ret()

    for n in range(4):
        k(N, n=n)
    assert len(k._cache) == 1


# errors at a glance ------------------------------------------------------------------------------------------------


def traced(body):
    return lambda: kernel(body).ptx()


def launched(*arrays, **params):
    return lambda: add_constant(*arrays, **params)


def of_array(text):
    k = kernel(lambda x, y: None, in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], raw_params=[(text, "p")])
    return lambda: k(N, p=0)


def an_else_alone():
    with ptx.else_():
        pass


ERRORS = [
    ("outside a trace", lambda: reg.scalar(f32), RuntimeError, "No active kernel trace"),
    ("unknown parameter", lambda: add_constant.ptx(BN=1), TypeError, "no template parameter BN.*BM.*N"),
    (
        "unknown, with all there is",
        lambda: kernel(lambda x, *, BM=1: None, in_specs=[Tile("N", f32)], raw_params=[("u32", "count")]).ptx(
            FOO=1, BAR=2
        ),
        TypeError,
        "FOO, BAR; .*'BM'.*'N'.*'count'",
    ),
    ("size that is no int", lambda: add_constant.ptx(N="64"), TypeError, "N='64'"),
    ("call without specs", lambda: kernel(lambda: None)(), NotImplementedError, "in_specs"),
    ("too few inputs", launched(), TypeError, "takes 1 input"),
    ("rank", launched(N.reshape(8, 8)), ValueError, "rank"),
    ("fixed size", lambda: kernel(lambda x: None, in_specs=[Tile(8, f32)])(N), ValueError, "expected 8, got 64"),
    (
        "two sizes of one name",
        lambda: kernel(lambda x: None, in_specs=[Tile("N", "N", f32)])(N.reshape(4, 16)),
        ValueError,
        "conflicting",
    ),
    (
        "raw parameter without a value",
        lambda: kernel(lambda x: None, in_specs=[Tile("N", f32)], raw_params=[("u32", "n")])(N),
        TypeError,
        "'n'",
    ),
    ("raw pointer at a call", of_array("u64.ptr.global"), NotImplementedError, "not a scalar"),
    ("raw array at a call", of_array("b8.align64.array128"), NotImplementedError, "not a scalar"),
    ("raw type", lambda: kernel(lambda: None, raw_params=[("u32.big", "n")]), ValueError, "u32.big"),
    (
        "modifier of a wrapper",
        traced(lambda: ptx._emit("add", "f99", [reg.scalar(f32)] * 3)),
        PtxValidationError,
        "f99",
    ),
    ("operand count of a wrapper", traced(lambda: ptx._emit("bar", "sync", [])), PtxValidationError, "bar.sync"),
    ("register index", traced(lambda: reg.array(f32, 2)[2]), IndexError, r"0\.\.1"),
    ("barrier index", traced(lambda: smem.mbarrier(2)[2]), IndexError, r"0\.\.1"),
    ("else without if", traced(an_else_alone), RuntimeError, "ptx.if_"),
    ("operator on fp8", traced(lambda: reg.scalar(e4m3) * 2), TypeError, "e4m3"),
    ("operator on u8", traced(lambda: reg.scalar(u8) + 1), TypeError, "u8"),
    ("operand", traced(lambda: ptx.inst.mov.u32(reg.scalar(u32), object())), TypeError, "not a PTX operand"),
    ("cache of a load", traced(lambda: ptx.ld(f32, reg.scalar(f32), "x", cache="nowhere")), ValueError, "nowhere"),
    ("cache of a store", traced(lambda: ptx.st(f32, "x", reg.scalar(f32), cache="nc")), ValueError, "nc"),
    ("header", lambda: parse(".target sm_80\n"), ParseError, r"Parse error at 1:1"),
    ("character", lambda: parse(".version 8.5\n.target sm_80\n\x01"), LexError, "3:1"),
]


def test_machine_code_without_the_tools_names_their_source(monkeypatch, tmp_path):
    monkeypatch.setenv("PYPTX_PTXAS", str(tmp_path / "nothing"))
    with pytest.raises(RuntimeError, match="CUDA toolkit"):
        kernel(lambda: ptx.ret(), arch="sm_90a").sass()


@pytest.mark.parametrize(("call", "error", "message"), [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
def test_errors_at_a_glance(call, error, message):
    with pytest.raises(error, match=message):
        call()
