"""Textures and surfaces as arguments: their rules, the simulator, and the driver calls."""

from __future__ import annotations

import gc
import struct

import numpy as np
import pytest
from support.fake_cuda import FakeDriver, real

import pyptx
from pyptx import Surface, Texture
from pyptx.errors import LaunchError, ShapeError, SimulationError
from pyptx.runtime import Runtime, dim3
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda import CudaBackend, DeviceArray

PTX = """.version 9.0
.target sm_90
.address_size 64
.visible .entry shift(.param .u64 from, .param .u64 to, .param .u32 n)
{
    .reg .b64 %from, %to; .reg .b32 %x, %y, %column; .reg .f32 %u, %v, %d<4>;
    ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
    mov.u32 %x, %tid.x; mov.u32 %y, %ctaid.x; shl.b32 %column, %x, 2;
    cvt.rn.f32.u32 %u, %x; cvt.rn.f32.u32 %v, %y; add.f32 %u, %u, 0f3FC00000; add.f32 %v, %v, 0f3F000000;
    tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%from, {%u, %v}];
    sust.b.2d.b32.trap [%to, {%column, %y}], %d0;
    ret;
}
"""
IMAGE = np.arange(48, dtype=np.float32).reshape(6, 8)
SHIFTED = IMAGE[:, [1, 2, 3, 4, 5, 6, 7, 7]]


def launch(cuda: CudaBackend, *args, **options):
    entry = pyptx.load(PTX)["shift"]
    with cuda.staged(args) as staged:
        return entry._specialization.launch(
            Runtime(cuda, arrays_of(IMAGE)),
            dim3(6, "grid"),
            dim3(8, "block"),
            staged,
            cluster=(1, 1, 1),
            smem_bytes=0,
            outputs=(),
            settings=options,
        )


def backend() -> CudaBackend:
    api = FakeDriver()
    api.sizes = {"shift": [8, 8, 4]}
    return CudaBackend(api)


def test_a_texture_is_read_and_a_surface_written_on_the_simulator():
    out = np.zeros((6, 8), np.float32)
    pyptx.load(PTX)["shift"].launch(6, 8, Texture(IMAGE), Surface(out), 0)
    np.testing.assert_array_equal(out, SHIFTED)
    assert pyptx.load(PTX)["shift"].check(6, 8, Texture(IMAGE), Surface(out), 0, random=1).ok


def test_views_of_arrays_are_textures_and_surfaces_in_place():
    wide, out = np.zeros((6, 20), np.float32), np.zeros((8, 12), np.float32)
    wide[:, 4:12] = IMAGE
    pyptx.load(PTX)["shift"].launch(6, 8, Texture(wide[:, 4:12]), Surface(out[1:7, 3:11]), 0)
    np.testing.assert_array_equal(out[1:7, 3:11], SHIFTED)
    assert not out[0].any() and not out[:, :3].any()


def test_what_is_wrong_names_texture_coordinate_lane_and_line():
    out = np.zeros((6, 4), np.float32)
    with pytest.raises(
        SimulationError,
        match=r"thread \(4, 0, 0\).*surface to \(2d, 1 channel of f32\) at x = 16, "
        r"outside its 4 elements, 16 bytes",
    ):
        pyptx.load(PTX)["shift"].launch(6, 8, Texture(IMAGE), Surface(out), 0)
    report = pyptx.load(PTX)["shift"].check(6, 8, Texture(IMAGE), Surface(out), 0, random=0)
    assert {finding.rule for finding in report.findings} == {"texture"}
    with pytest.raises(SimulationError, match="uses surface from .* where a texture is expected"):
        pyptx.load(PTX)["shift"].launch(6, 8, Surface(IMAGE.copy()), Surface(out), 0)
    with pytest.raises(SimulationError, match=r"reads texture from \(2d, 1 channel of s32\) as another type"):
        pyptx.load(PTX)["shift"].launch(6, 8, Texture(IMAGE.astype(np.int32)), Surface(out), 0)
    with pytest.raises(SimulationError, match="accesses texture from .* with another geometry"):
        pyptx.load(PTX)["shift"].launch(6, 8, Texture(IMAGE, "a1d"), Surface(out), 0)
    with pytest.raises(SimulationError, match="is not the handle of a texture"):
        pyptx.load(PTX)["shift"].launch(6, 8, 77, Surface(out), 0)


def test_reading_what_the_same_launch_wrote_is_found():
    code = PTX.replace(
        "    ret;",
        "    bar.sync 0;\n    suld.b.2d.b32.trap %column, [%to, {%column, %y}];\n"
        "    sust.b.2d.b32.trap [%from, {0, %y}], %column;\n    ret;",
    )
    code = code.replace("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%from, {%u, %v}]", "mov.f32 %d0, %u")
    a, b = Surface(np.zeros((6, 8), np.float32)), Surface(np.zeros((6, 8), np.float32))
    report = pyptx.load(code)["shift"].check(6, 8, a, b, 0, random=0)
    assert "stale-texture" in {f.rule for f in report.findings}
    assert "suld.b.2d" in report.text() and "undefined" in report.text()


def test_a_handle_is_no_pointer():
    code = PTX.replace("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%from, {%u, %v}]", "ld.global.f32 %d0, [%from]")
    with pytest.raises(SimulationError, match="outside every buffer"):
        pyptx.load(code)["shift"].launch(6, 8, Texture(IMAGE), Surface(np.zeros((6, 8), np.float32)), 0)


def test_a_handle_needs_a_parameter_of_64_bits():
    with pytest.raises(LaunchError, match=r"parameter n is \.u32; the handle of a texture or surface is \.u64"):
        pyptx.load(PTX)["shift"].launch(6, 8, Texture(IMAGE), Surface(IMAGE.copy()), Texture(IMAGE))


def test_a_parameter_declared_as_a_texture_holds_its_handle():
    code = (
        PTX.replace(".param .u64 from", ".param .texref from")
        .replace("[%from, {%u", "[from, {%u")
        .replace("ld.param.u64 %from, [from];", "")
    )
    out = np.zeros((6, 8), np.float32)
    pyptx.load(code)["shift"].launch(6, 8, Texture(IMAGE), Surface(out), 0)
    np.testing.assert_array_equal(out, SHIFTED)
    with pytest.raises(LaunchError, match=r"from is \.texref; pass a pyptx\.Texture"):
        pyptx.load(code)["shift"].launch(6, 8, IMAGE, Surface(out), 0)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Texture(np.zeros((4, 4, 4), np.float32)), "fits several geometries"),
        (
            lambda: Texture(np.zeros((4, 4, 3), np.float32), "2d"),
            "3 channels in shape .*; expected 1, 2 or 4; pad them to 4",
        ),
        (lambda: Texture(np.zeros((4, 4))), "unsupported dtype float64.*view them as two channels"),
        (lambda: Texture(IMAGE, "4d"), "unknown geometry '4d'"),
        (lambda: Texture(IMAGE, address="wrap"), "address='wrap' without normalized=True"),
        (lambda: Texture(IMAGE, address="repeat"), "address='repeat'; expected one of 'wrap'"),
        (lambda: Texture(IMAGE.astype(np.int32), filter="linear"), "only floating point is filtered"),
        (lambda: Texture(IMAGE, read="normalized_float"), "expected 8- or 16-bit integers"),
        (lambda: Texture(IMAGE, srgb=True), "srgb=True needs uint8"),
        (lambda: Texture(IMAGE, border=(1, 0, 0, 0)), "border= without address='border'"),
        (lambda: Texture([IMAGE, IMAGE], "2d"), "level 1 is float32 of shape .*; each level halves"),
        (lambda: Texture(IMAGE, memory="linear"), "memory='linear' is for geometry 1d"),
        (lambda: Texture(IMAGE[0], memory="linear", filter="linear"), "takes integer coordinates"),
        (
            lambda: (
                Texture(IMAGE[:, :5], memory="pitch2d").levels
                and Texture(np.zeros((4, 5), np.float32), memory="pitch2d")
            ),
            "row pitch 20 bytes; with memory='pitch2d', expected a multiple of 32",
        ),
        (lambda: Texture(np.zeros((5, 4, 4), np.float32), "cube"), "5 faces"),
        (lambda: Texture(np.zeros((6, 4, 5), np.float32), "cube"), "expected squares"),
        (lambda: Texture(np.zeros((3000, 1), np.uint8), "a1d"), "layers is 3000; at most 2048"),
        (lambda: Texture(IMAGE.T), "elements of a row must be contiguous"),
        (lambda: Surface(np.zeros((4, 4, 2), np.float32), "2dms"), "geometry 2dms is not supported"),
        (lambda: Surface(np.zeros(40000, np.float32)), "width is 40000; at most 32768"),
    ],
)
def test_what_the_driver_refuses_is_refused_with_what_would_do(make, message):
    with pytest.raises(ShapeError, match=message):
        make()


def test_on_a_gpu_arrays_are_copied_to_cuda_arrays_and_surfaces_back():
    cuda, out = backend(), np.full((6, 8), 7, np.float32)
    texture, surface = Texture(IMAGE, filter="linear", address="border"), Surface(out)
    launch(cuda, texture, surface, 0)
    api = cuda.driver.api
    (done,) = api.launches
    handles = [struct.unpack("<Q", v)[0] for v in done.values[:2]]
    read, written = (api.objects[handle] for handle in handles)
    assert bytes(api.images[read.array].data) == IMAGE.tobytes()
    image = api.images[written.array]
    assert (image.width, image.height, image.depth, image.format, image.channels) == (8, 6, 0, "CU_AD_FORMAT_FLOAT", 1)
    assert image.flags & real.CUDA_ARRAY3D_SURFACE_LDST
    assert read.reading.filterMode == real.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
    assert read.reading.addressMode == [real.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER] * 3
    names = api.names()
    assert names.count("cuMemcpy3DAsync") == 3 and names.index("cuLaunchKernelEx") < names.index("cuStreamSynchronize")
    image.data[:] = SHIFTED.tobytes()
    with cuda.driver.on(cuda.driver.device(0)):
        cuda.texture_objects.back(cuda.driver.device(0), 0, [surface])
    np.testing.assert_array_equal(out, SHIFTED)


def test_arrays_on_a_gpu_are_copied_there_and_read_in_place_where_asked():
    cuda = backend()
    image, out = DeviceArray.of(cuda.driver, 0, IMAGE), DeviceArray.of(cuda.driver, 0, np.zeros_like(IMAGE))
    plain, surface = Texture(image, memory="pitch2d"), Surface(out)
    launch(cuda, Texture(image), surface, 0)
    api = cuda.driver.api
    made = api.images[api.objects[2].array]
    made.data[:] = SHIFTED.tobytes()
    names = api.names()
    assert names.count("cuMemcpy3DAsync") == 3 and "cuStreamSynchronize" not in names
    with cuda.driver.on(cuda.driver.device(0)):
        cuda.texture_objects.back(cuda.driver.device(0), 0, [surface])
    np.testing.assert_array_equal(out.get(np.empty_like(IMAGE)), SHIFTED)
    launch(cuda, plain, surface, 0)
    part = next(o for o in api.objects.values() if o is not None and o.kind == "PITCH2D").resource.res.pitch2D
    assert (int(part.devPtr), part.width, part.height, part.pitchInBytes) == (image.address, 8, 6, 32)


def test_what_was_made_is_used_again_and_given_back_with_the_value():
    cuda, out = backend(), np.zeros((6, 8), np.float32)
    texture, surface = Texture(IMAGE), Surface(out)
    for _ in range(3):
        launch(cuda, texture, surface, 0)
    names = cuda.driver.api.names()
    assert names.count("cuTexObjectCreate") == names.count("cuSurfObjectCreate") == 1
    assert names.count("cuMemcpy3DAsync") == 9
    del texture, surface
    gc.collect()
    names = cuda.driver.api.names()
    assert names.count("cuTexObjectDestroy") == names.count("cuSurfObjectDestroy") == 1
    assert names.count("cuArrayDestroy") == 2 and not cuda.driver.api.images


def test_levels_memory_and_flags_reach_the_driver():
    cuda, out = backend(), np.zeros((6, 8), np.float32)
    levels = Texture(
        [np.zeros((8 >> k, 8 >> k, 4), np.uint8) for k in range(3)],
        "2d",
        read="normalized_float",
        srgb=True,
        normalized=True,
        mip_filter="linear",
        lod_bias=0.5,
        lod_clamp=(0, 1),
    )
    launch(cuda, levels, Surface(out), 0)
    reading = cuda.driver.api.objects[1].reading
    assert cuda.driver.api.objects[1].kind == "MIPMAPPED_ARRAY" and reading.flags == 0x12
    assert (reading.mipmapLevelBias, reading.minMipmapLevelClamp, reading.maxMipmapLevelClamp) == (0.5, 0, 1)
    assert cuda.driver.api.names().count("cuMemcpy3DAsync") == 5
    line, surface = Texture(np.arange(9, dtype=np.int32), memory="linear"), Surface(out)
    launch(cuda, line, surface, 0)
    made = cuda.driver.api.objects[3]
    assert made.kind == "LINEAR" and made.resource.res.linear.sizeInBytes == 36 and made.reading.flags == 1
    padded = np.zeros((3, 8), np.float32)[:, :5]
    texture = Texture(padded, memory="pitch2d")
    launch(cuda, texture, surface, 0)
    part = cuda.driver.api.objects[5].resource.res.pitch2D
    assert (part.width, part.height, part.pitchInBytes) == (5, 3, 32)


REFERENCES = PTX.replace(".visible .entry", ".global .texref image;\n.visible .entry", 1).replace(
    "[%from, {%u, %v}]", "[image, {%u, %v}]"
)


def test_variables_that_are_textures_are_refused_with_what_to_do():
    message = r"image.*CUDA no longer binds a \.texref by name.*pass a pyptx\.Texture for it, and write \[%handle"
    with pytest.raises(SimulationError, match=message):
        pyptx.load(REFERENCES)["shift"].launch(6, 8, 0, Surface(IMAGE.copy()), 0)
    with pytest.raises(LaunchError, match=message):
        entry = pyptx.load(REFERENCES)["shift"]
        entry._specialization.program(Runtime(backend(), arrays_of(IMAGE)))


def test_what_a_gpu_cannot_take_is_refused_by_name():
    cuda, out = backend(), np.zeros((6, 8), np.float32)
    with pytest.raises(LaunchError, match="from: CUDA has no multisample textures"):
        launch(cuda, Texture(np.zeros((4, 4, 2), np.float32), "2dms"), Surface(out), 0)
