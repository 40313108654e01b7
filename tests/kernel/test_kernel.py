"""Binding, tracing and specializing: what a @kernel does before assembly and launch."""

import subprocess
import sys

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.errors import LaunchError, TraceError, UnknownNameError
from pyptx.kernel import Kernel, TensorSpec, TmaDescriptorHandle
from pyptx.types import bf16, f32, u32


@kernel(
    arch="sm_80",
    in_specs=[Tile("R", "N", f32)],
    out_specs=[Tile("R", "N", f32)],
    grid=lambda R, N: (R,),
    block=(32, 1, 1),
)
def scaled(x, y, *, factor=2.0, N=None):
    """y = factor * x, one warp a row."""
    source, target = ptx.global_ptrs(x, y)
    row = reg.from_(ptx.special.ctaid.x(), u32)
    lane = reg.from_(ptx.special.tid.x(), u32)
    offset = reg.scalar(u32)
    ptx.inst.mad.lo.u32(offset, row, x.shape[1], lane)
    for _ in range(x.shape[1] // 32):
        value = reg.scalar(f32)
        byte = reg.scalar(u32)
        wide = reg.scalar(ptx_u64())
        ptx.inst.shl.b32(byte, offset, 2)
        ptx.inst.cvt.u64.u32(wide, byte)
        ptx.inst.ld.global_.f32(value, ptx.addr(source + wide))
        ptx.inst.mul.f32(value, value, factor)
        ptx.inst.st.global_.f32(ptx.addr(target + wide), value)
        offset += 32


def ptx_u64():
    from pyptx.types import u64

    return u64


def test_the_decorator_and_the_submodule_share_a_name():
    code = (
        "from pyptx.kernel import Kernel; from pyptx import kernel; import pyptx; "
        "assert callable(kernel) and pyptx.kernel is kernel and isinstance(kernel(lambda: None), Kernel)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_kernel_looks_like_the_function_it_wraps():
    assert isinstance(scaled, Kernel)
    assert scaled.__name__ == "scaled" and scaled.__doc__.startswith("y = factor") and "scaled" in repr(scaled)
    assert scaled.template_params == {"factor": 2.0, "N": None}
    assert scaled.block == (32, 1, 1) and scaled.arch == "sm_80"


def test_equal_parameters_share_a_module_and_others_do_not():
    assert scaled.module(R=4, N=64) is scaled.module(N=64, R=4, factor=2.0)
    assert scaled.module(R=4, N=64) is not scaled.module(R=4, N=64, factor=3.0)
    assert "0f40400000" in scaled.ptx(R=4, N=64, factor=3.0)


def test_the_text_of_a_kernel_depends_on_the_kernel_alone():
    @kernel
    def one():
        smem.alloc(f32, 4)
        smem.mbarrier(1)

    first = one.ptx()

    @kernel
    def other():
        smem.alloc(f32, 4)

    other.ptx()

    @kernel
    def two():
        smem.alloc(f32, 4)
        smem.mbarrier(1)

    assert two.ptx().replace("two", "one") == first


def test_a_template_parameter_named_like_a_size_gets_the_size():
    seen = []

    @kernel(in_specs=[Tile("N", f32)])
    def k(x, *, N=None):
        seen.append((N, x.shape))

    k.module(N=96)
    assert seen == [(96, (96,))]


def test_entry_parameters_come_in_abi_order():
    @kernel(
        in_specs=[Tile("M", "K", bf16)],
        out_specs=[Tile("M", "K", f32)],
        raw_params=[("u32", "K"), ("b8.align64.array128", "map"), ("u64.ptr.global.palign16", "p")],
    )
    def k(a, c):
        c.tma_desc()
        a.tma_desc()
        assert a.tma_desc() is a.tma_desc()

    head = k.ptx(M=64, K=64).split("{")[0]
    assert head.splitlines()[5:-1] == [
        "\t.param .u64 a,",
        "\t.param .u64 c,",
        "\t.param .u32 K,",
        "\t.param .align 64 .b8 map[128],",
        "\t.param .u64 .ptr .global .align 16 p,",
        "\t.param .u64 c_tma_desc,",
        "\t.param .u64 a_tma_desc",
    ]


def test_tensor_maps_are_loaded_at_the_start_even_when_first_used_in_a_branch():
    @kernel(in_specs=[Tile("M", "K", bf16)])
    def k(a):
        tid = reg.from_(ptx.special.tid.x(), u32)
        with ptx.if_(tid < 1), ptx.scope():
            a.tma_desc()

    lines = [line.strip() for line in k.ptx(M=64, K=64).splitlines()]
    assert lines.index("ld.param.u64 %rd0, [a_tma_desc];") < lines.index("mov.u32 %r0, %tid.x;")


def test_outside_a_trace_a_descriptor_is_a_handle():
    handle = TensorSpec("a").tma_desc()
    assert isinstance(handle, TmaDescriptorHandle) and handle.name == "a_tma_desc"


def test_shared_memory_beyond_48_kib_becomes_one_extern_array():
    @kernel
    def k():
        a = smem.alloc(f32, 8 * 1024)
        b = smem.alloc(f32, 8 * 1024)
        x = reg.scalar(u32)
        ptx.inst.mov.b32(x, a.name)
        ptx.inst.mov.b32(x, b.name)
        value = smem.load(f32, ptx.addr(b, 4))
        b[1, 0] if len(b.shape) == 2 else value

    text = k.ptx()
    assert ".extern .shared .align 128 .b8 dyn_smem[];" in text and ".shared .align 128 .b8 smem" not in text
    assert "mov.b32 %r0, dyn_smem;" in text and "mov.b32 %r0, dyn_smem+32768;" in text
    assert "[dyn_smem+32772]" in text
    assert k.specialize().dynamic_bytes == 64 * 1024


def test_the_version_grows_with_the_instructions_unless_it_is_given():
    @kernel(arch="sm_90a")
    def new():
        ptx.inst.fence.proxy.async__generic.acquire.sync_restrict__shared__cluster.cluster()

    assert new.module().version.major == 8 and new.module().version.minor == 6

    @kernel(arch="sm_90a", version=(8, 5))
    def pinned():
        ptx.inst.fence.proxy.async__generic.acquire.sync_restrict__shared__cluster.cluster()

    assert pinned.module().version.minor == 5
    with pytest.raises(ValueError, match="8.6"):
        pinned.compile()


def test_numpy_integers_are_sizes():
    assert scaled.module(R=np.int64(4), N=np.int32(64)) is scaled.module(R=4, N=64)


@pytest.mark.parametrize(("size", "error"), [(True, LaunchError), (2.0, LaunchError), ("64", LaunchError)])
def test_a_size_that_is_no_int_is_refused(size, error):
    with pytest.raises(error, match="must be an int"):
        scaled.ptx(N=size)


def test_an_unknown_parameter_is_refused_with_what_there_is():
    available = r"template \['factor', 'N'\], shape \['R', 'N'\]"
    with pytest.raises(TypeError, match=f"no template parameter BM; available: {available}"):
        scaled.ptx(BM=128)


def test_tracing_inside_a_trace_keeps_the_two_apart():
    @kernel
    def inner():
        reg.scalar(f32, 1.0)

    @kernel
    def outer():
        reg.scalar(f32, 2.0)
        assert "0f40000000" not in inner.ptx()
        reg.scalar(f32, 3.0)

    assert "0f3F800000" not in outer.ptx() and "mov.f32 %f1, 0f40400000;" in outer.ptx()


def test_extern_shared_memory_and_large_allocations_do_not_mix():
    @kernel(extern_smem=True)
    def k():
        smem.base()
        smem.alloc(f32, 16 * 1024)

    with pytest.raises(TraceError, match="extern_smem"):
        k.ptx()


def test_places_reach_through_helpers_to_the_kernel():
    def square(x):
        ptx.inst.mul.f32(x, x, x)

    @kernel
    def k():
        square(reg.scalar(f32, 1.0))

    special = k.specialize()
    line = special.emitted.text.splitlines().index("\tmul.f32 %f0, %f0, %f0;")
    place = special.emitted.places[line]
    assert [p.function.rsplit(".", 1)[-1] for p in place.stack] == ["square", "k"]
    assert place.source_line.strip() == "ptx.inst.mul.f32(x, x, x)"
    _, _, start, end = place.position
    assert place.source_line[start:end] == "ptx.inst.mul.f32(x, x, x)"


@kernel(
    in_specs=[Tile("N", u32)],
    out_specs=[Tile("N", u32)],
    grid=lambda N: N,
    cluster=lambda N, SIZE: min(SIZE, N),
    block=(1, 1, 1),
)
def cluster_sizes(x, y, *, SIZE=2):
    (to,) = ptx.global_ptrs(y)
    ptx.inst.mad.wide.u32(to, reg.from_(ptx.special.ctaid.x(), u32), 4, to)
    ptx.inst.st.global_.u32(ptx.addr(to), reg.from_(ptx.special.cluster_nctarank(), u32))


@pytest.mark.parametrize("n, options, size", [(4, {}, 2), (8, {"SIZE": 4}, 4), (1, {"SIZE": 4}, 1)], ids=str)
def test_the_cluster_may_depend_on_sizes_and_template_parameters(n: int, options: dict, size: int):
    x = np.zeros(n, np.uint32)
    assert cluster_sizes(x, **options).tolist() == [size] * n
    out = np.zeros(n, np.uint32)
    cluster_sizes.launch(n, 1, x, out, N=n, **options)
    assert out.tolist() == [size] * n


@pytest.mark.parametrize("what", ["grid", "block", "cluster"])
def test_an_unknown_name_in_a_launch_function_lists_the_names_there_are(what: str):
    @kernel(in_specs=[Tile("M", "N", f32)], out_specs=[Tile("M", "N", f32)], **{what: lambda Q: Q})
    def copies(x, y, *, BM=2): ...

    with pytest.raises(LaunchError, match=f"copies: {what} takes Q, which .*; sizes and template parameters: M, N, BM"):
        copies(np.zeros((2, 32), np.float32))


def test_a_size_of_results_alone_is_the_value_of_the_parameter_with_its_name():
    @kernel(in_specs=[Tile("N", f32)], out_specs=[Tile("PARTS", "N", f32)], grid=lambda PARTS: PARTS, block=(32, 1, 1))
    def copies(x, y, *, PARTS=2):
        lane, part = reg.from_(ptx.special.tid.x(), u32), reg.from_(ptx.special.ctaid.x(), u32)
        x_at, y_at = ptx.global_ptrs(x, y)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(x_at + lane * 4))
        ptx.inst.st.global_.f32(ptx.addr(y_at + (part * 32 + lane) * 4), value)
        assert y.shape == (PARTS, 32)

    x = np.arange(32, dtype=np.float32)
    assert copies(x).shape == (2, 32) and (copies(x, PARTS=3) == x).all()
    assert copies(x, out=np.zeros((2, 32), np.float32)).any() and copies.ptx(N=32) == copies.ptx(N=32, PARTS=2)
    with pytest.raises(LaunchError, match=r"y has shape \(4, 32\), the result has \(2, 32\)"):
        copies(x, out=np.zeros((4, 32), np.float32))


def test_defaults_of_template_parameters_apply_to_later_calls_and_are_shown():
    own = kernel(arch="sm_80", in_specs=[Tile("R", "N", f32)], out_specs=[Tile("R", "N", f32)],
                 grid=lambda R, N: (R,), block=(32, 1, 1))(scaled.declaration.function)  # fmt: skip
    x = np.ones((2, 32), np.float32)
    assert own(x)[0, 0] == 2.0 and own.defaults() == {"factor": 2.0, "N": None}
    assert own.defaults(factor=3.0) == {"factor": 3.0, "N": None}
    assert own(x)[0, 0] == 3.0, "a cached launch does not keep the old default"
    assert own(x, factor=5.0)[0, 0] == 5.0, "arguments of the call take precedence"
    assert "defaults factor=3.0" in repr(own) and "0f40400000" in own.ptx(R=2, N=32).lower()
    with pytest.raises(UnknownNameError, match="no template parameter BM; available: factor, N"):
        own.defaults(BM=64)
    assert own.defaults(None) == {"factor": 2.0, "N": None}
    assert own(x)[0, 0] == 2.0 and "defaults" not in repr(own)
