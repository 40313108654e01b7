"""The wrappers of textures and surfaces: emitted instructions and refused arguments."""

from __future__ import annotations

import pytest

from pyptx import kernel, ptx, reg
from pyptx.errors import PtxError
from pyptx.types import b8, b16, b64, f32, u32, u64

HEAD = "tex tld4 suld sust sured".split()


def written(body) -> list[str]:
    """Instructions on textures that a kernel body writes, assembled too."""
    made = kernel(arch="sm_80", raw_params=[("u64", "image")], name="k")(body)
    made.compile()
    return [line.strip().rstrip(";") for line in made.ptx().splitlines() if line.strip().split(".")[0] in HEAD]


def shape(line: str) -> str:
    """The mnemonic and, of the operands, how many there are in each brace."""
    mnemonic, _, operands = line.partition(" ")
    counts = [part.count("%") for part in operands.replace("[", "{").split("{")[1:]]
    return f"{mnemonic} {counts}"


def test_every_geometry_is_padded_as_ptx_wants_it():
    def body():
        image, x, i = ptx.param(u64, "image"), reg.scalar(f32, 0.5), reg.scalar(u32, 1)
        ptx.tex("1d", image, x)
        ptx.tex("2d", image, (x, x))
        ptx.tex("3d", image, (x, x, x))
        ptx.tex("a1d", image, x, layer=i)
        ptx.tex("a2d", image, (x, x), layer=1)
        ptx.tex("cube", image, (x, x, x))
        ptx.tex("acube", image, (x, x, x), layer=i)
        ptx.tex("2dms", image, (i, i), sample=2, dtype="u32")
        ptx.tex("a2dms", image, (i, i), layer=1, sample=i)
        ptx.tex("1d", image, 7, dtype="s32")
        ptx.ret()

    found = written(body)
    assert [line.split()[0] for line in found] == [
        "tex.1d.v4.f32.f32",
        "tex.2d.v4.f32.f32",
        "tex.3d.v4.f32.f32",
        "tex.a1d.v4.f32.f32",
        "tex.a2d.v4.f32.f32",
        "tex.cube.v4.f32.f32",
        "tex.acube.v4.f32.f32",
        "tex.2dms.v4.u32.s32",
        "tex.a2dms.v4.f32.s32",
        "tex.1d.v4.s32.s32",
    ]
    assert [line.partition("[")[2].count("%") - 1 for line in found] == [1, 2, 4, 2, 4, 4, 4, 4, 4, 1]


def test_levels_gradients_offsets_and_gathers():
    def body():
        image, x = ptx.param(u64, "image"), reg.scalar(f32, 0.5)
        ptx.tex("2d", image, (x, x), level=1.5, offset=(1, -2))
        ptx.tex("3d", image, (x, x, x), gradients=((x, x, x), (0.0, 0.0, 1.0)))
        ptx.tex("2d", image, (x, x), dtype="f16")
        ptx.tld4("g", "2d", image, (x, x), offset=(1, 0))
        ptx.tld4("a", "a2d", image, (x, x), layer=0, dtype="u32")
        ptx.ret()

    assert [line.split()[0] for line in written(body)] == [
        "tex.level.2d.v4.f32.f32",
        "tex.grad.3d.v4.f32.f32",
        "tex.2d.v4.f16.f32",
        "tld4.g.2d.v4.f32.f32",
        "tld4.a.a2d.v4.u32.f32",
    ]


def test_surfaces_are_loaded_stored_and_reduced():
    def body():
        image, x = ptx.param(u64, "image"), reg.scalar(u32, 4)
        word = ptx.suld("2d", image, (x, x))
        four = ptx.suld("2d", image, (x, 0), count=4, dtype=b8, outside="zero")
        wide = ptx.suld("1d", image, x, dtype=b64, outside="clamp")
        ptx.sust("2d", image, (x, x), word)
        ptx.sust("a2d", image, (x, x), four, layer=1, dtype=b8)
        ptx.sust("3d", image, (x, x, x), wide, dtype=b64)
        ptx.sust("2d", image, (x, x), (word, word), formatted=True)
        ptx.sust("1d", image, (x,), four[:2], dtype=b16)
        ptx.sured("max", "2d", image, (x, x), word, dtype="s32")
        ptx.sured("or", "1d", image, x, word, dtype="b32", formatted=True)
        ptx.ret()

    assert [line.split()[0] for line in written(body)] == [
        "suld.b.2d.b32.trap",
        "suld.b.2d.v4.b8.zero",
        "suld.b.1d.b64.clamp",
        "sust.b.2d.b32.trap",
        "sust.b.a2d.v4.b8.trap",
        "sust.b.3d.b64.trap",
        "sust.p.2d.v2.b32.trap",
        "sust.b.1d.v2.b16.trap",
        "sured.b.max.2d.s32.trap",
        "sured.p.or.1d.b32.trap",
    ]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t: ptx.tex("4d", t, (0.5,)), "geometry='4d'; expected '1d'"),
        (lambda t: ptx.tex("2d", t, 0.5), "geometry '2d' takes 2 coordinates, x first; got 1"),
        (lambda t: ptx.tex("a2d", t, (0.5, 0.5)), "geometry 'a2d' needs layer="),
        (lambda t: ptx.tex("2d", t, (0.5, 0.5), layer=1), "geometry '2d' has no layer="),
        (lambda t: ptx.tex("2dms", t, (1, 1)), "geometry '2dms' needs sample="),
        (lambda t: ptx.tex("2d", t, (0.5, 0.5), level=0, gradients=((0, 0), (0, 0))), "level= or gradients="),
        (lambda t: ptx.tex("2d", t, (0.5, 0.5), dtype="f64"), "f64"),
        (lambda t: ptx.tld4("x", "2d", t, (0.5, 0.5)), "component='x'"),
        (lambda t: ptx.suld("2d", t, (0, 0), outside="wrap"), "outside='wrap'"),
        (lambda t: ptx.suld("2d", t, (0, 0), count=3), "3 values; expected 1, 2 or 4"),
    ],
)
def test_a_missing_form_is_refused_at_the_users_line(call, message):
    @kernel(arch="sm_80", raw_params=[("u64", "image")])
    def wrong():
        call(ptx.param(u64, "image"))

    with pytest.raises(PtxError, match=message):
        wrong.ptx()
