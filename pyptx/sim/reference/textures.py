"""tex and tld4: coordinates to elements, elements to values, filtering (core/src/texture.c).

Arithmetic is in double precision, rounded once to f32. `pyptx.sim` states its accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, frexp

import numpy as np

from pyptx.sim.abi import ObjectFlag, TextureProblem
from pyptx.sim.actions import Fetch
from pyptx.sim.reference import lane_values
from pyptx.sim.reference._registry import handles
from pyptx.sim.reference.state import Runner, lanes_of
from pyptx.sim.reference.texture_objects import Objects, Record, f16_bits, f32_bits, float_of

__all__: list[str] = []

_MODE_WRAP, _MODE_CLAMP, _MODE_MIRROR, _MODE_BORDER = range(4)
_ONE = 0x3F800000


@dataclass
class _Location:
    """Location that a lane reads: coordinates as floats and as integers, offsets, layer and sample."""

    u: list[float]
    i: list[int]
    dims: int
    integer: bool
    normalized: bool
    e: list[int] = field(default_factory=lambda: [0, 0, 0])
    layer: int = 0
    sample: int = 0


def _signed(bits: int) -> int:
    return (bits & 0xFFFFFFFF) - ((bits & 0x80000000) << 1)


def _placed(i: int, n: int, mode: int) -> int | None:
    """Apply an address mode to an index along one dimension; None is the border."""
    if mode == _MODE_WRAP:
        return i % n
    if mode == _MODE_MIRROR:
        k = i % (2 * n)
        return k if k < n else 2 * n - 1 - k
    if mode == _MODE_BORDER:
        return i if 0 <= i < n else None
    return min(max(i, 0), n - 1)


def _element(objects: Objects, r: Record, p: _Location, level: int, at: list[int]) -> list[int]:
    extents = r.level(level)[1:4]
    found = [0, 0, 0]
    for d in range(p.dims):
        mode = (
            _MODE_CLAMP if r.geometry.cube else _MODE_BORDER if r.flags & ObjectFlag.LINEAR else r.modes >> 4 * d & 15
        )
        index = _placed(at[d], extents[d], mode)
        if index is None:
            outside = [0] * 4 if r.flags & ObjectFlag.LINEAR or not r.floats else r.border
            values = list(outside[: r.channels])
            break
        found[d] = index
    else:
        x, y, z = found
        data = objects.memory(r.address(level, x, y, z, p.layer, p.sample), r.bytes).tobytes()
        values = [r.channel(data, c) for c in range(r.channels)]
    return values + [0, 0, 0, _ONE if r.floats else 1][r.channels :]


def _scaled(p: _Location, extents: list[int], d: int) -> float:
    u = p.u[d] * extents[d] if p.normalized else p.u[d]
    return min(max(u, -1073741824.0), 1073741824.0)


def _between(p: _Location, extents: list[int], d: int) -> tuple[int, int]:
    """Return the lower of two neighboring elements along a dimension, and the weight of the upper one in 1/256."""
    t = floor(_scaled(p, extents, d) * 256.0 + 0.5) - 128
    return t >> 8, t & 255


def _nearest(p: _Location, extents: list[int]) -> list[int]:
    return [(p.i[d] if p.integer else floor(_scaled(p, extents, d))) + p.e[d] for d in range(p.dims)]


def _sample(objects: Objects, r: Record, p: _Location, level: int) -> list[float]:
    """Filter a level at a location, for float formats."""
    extents = r.level(level)[1:4]
    if p.integer or not r.linear:
        return [float_of(v) for v in _element(objects, r, p, level, _nearest(p, extents))]
    parts = [_between(p, extents, d) for d in range(p.dims)]
    sums = [0.0] * 4
    for corner in range(1 << p.dims):
        weight, at = 1, []
        for d, (low, part) in enumerate(parts):
            upper = corner >> d & 1
            weight *= part if upper else 256 - part
            at.append(low + p.e[d] + upper)
        if weight:
            values = _element(objects, r, p, level, at)
            with np.errstate(invalid="ignore"):
                sums = [s + float(weight) * float_of(v) for s, v in zip(sums, values, strict=True)]
    return [s / float(1 << 8 * p.dims) for s in sums]


def _log2_parts(value: float) -> int:
    """4096 * log2(value), cut."""
    m, exponent = frexp(value)
    m, result = m * 2, exponent - 1
    for _ in range(12):
        m = m * m
        result *= 2
        if m >= 2:
            m, result = m / 2, result + 1
    return result


def _gradient_level(p: _Location, extents: list[int], gradients: list[list[float]]) -> float:
    """Return the level of detail of gradients: that of the longer one, in elements."""
    best = 0.0
    for gradient in gradients:
        sum_ = 0.0
        for d, v in enumerate(gradient):
            v = v * float(extents[d]) if p.normalized else v
            sum_ = sum_ + v * v
        if sum_ > best:
            best = sum_
    if not best > 0:
        return -64.0
    return 64.0 if best > 1e30 else _log2_parts(best) / 8192.0


def _level_of(r: Record, lod: float) -> tuple[int, int]:
    """Return the mip level, and the weight of the next one in 1/256."""
    lod = 0.0 if lod != lod else lod
    lod = lod + r.bias
    lod = r.most if lod > r.most else lod
    lod = r.least if lod < r.least else lod
    lod = min(lod, float(r.levels - 1))
    lod = max(lod, 0.0)
    if not r.mip_linear:
        return floor(lod + 0.5), 0
    t = floor(lod * 256.0 + 0.5)
    return t >> 8, t & 255


def _project(p: _Location) -> None:
    """A direction to a face and a place in it. Source: CUDA C++ Programming Guide, "Cubemap Textures"."""
    x, y, z = p.u
    if abs(x) >= abs(y) and abs(x) >= abs(z):
        face, m, s, t = int(x < 0), abs(x), z if x < 0 else -z, -y
    elif abs(y) >= abs(z):
        face, m, s, t = 2 + (y < 0), abs(y), x, -z if y < 0 else z
    else:
        face, m, s, t = 4 + (z < 0), abs(z), -x if z < 0 else x, -y
    p.layer += face
    p.u = [(s / m + 1) / 2, (t / m + 1) / 2, 0.0] if m > 0 else [0.5, 0.5, 0.0]


def _place_of(objects: Objects, action: Fetch, r: Record, values: dict[str, list[int]]) -> _Location:
    if r.flags & ObjectFlag.LINEAR and not action.integer:
        raise objects.fail(TextureProblem.LINEAR)
    bits = values["coordinates"] + [0] * (3 - len(values["coordinates"]))
    floats = [0.0 if v != v else min(max(v, -1e30), 1e30) for v in map(float_of, bits)]
    cube = r.geometry.cube
    p = _Location(
        floats,
        [_signed(v) for v in bits],
        r.geometry.dims,
        action.integer,
        cube or bool(r.flags & ObjectFlag.NORMALIZED),
    )
    for d, offset in enumerate(values["offset"]):
        p.e[d] = _signed(offset)
        if not -8 <= p.e[d] <= 7:
            raise objects.fail(TextureProblem.OFFSET, d, p.e[d])
    if values["index"]:
        [index], faces = values["index"], 6 if r.geometry.name == "acube" else 1
        if index * faces >= r.layers:
            raise objects.fail(TextureProblem.LAYER, 3, index)
        p.layer = index * faces
    if values["sample"]:
        [p.sample] = values["sample"]
        if p.sample >= r.samples:
            raise objects.fail(TextureProblem.SAMPLE, 0, p.sample)
    if cube:
        _project(p)
    return p


def _fetched(objects: Objects, action: Fetch, values: dict[str, list[int]]) -> list[int]:
    """Return the four 32-bit values of a lane."""
    r = objects.of("texture", action.geometry)
    if r.floats != (action.type[0] == "f"):
        raise objects.fail(TextureProblem.TYPE)
    p, level, part = _place_of(objects, action, r, values), 0, 0
    extents = r.level(0)[1:4]
    if action.mode == "gather":
        low = [_between(p, extents, d)[0] + p.e[d] for d in range(2)]
        return [
            _element(objects, r, p, 0, [low[0] + x, low[1] + y])[action.component]
            for x, y in ((0, 1), (1, 1), (1, 0), (0, 0))
        ]
    if action.mode == "level":
        [bits] = values["level"]
        level, part = _level_of(r, float(_signed(bits)) if action.integer else float_of(bits))
    elif action.mode == "grad":
        gradients = [[float_of(v) for v in values[name]] for name in ("dx", "dy")]
        level, part = _level_of(r, _gradient_level(p, extents, gradients))
    if (p.integer or not r.linear) and not part:
        return _element(objects, r, p, level, _nearest(p, r.level(level)[1:4]))
    low = _sample(objects, r, p, level)
    if part:
        high = _sample(objects, r, p, level + 1)
        low = [((256.0 - part) * a + float(part) * b) / 256.0 for a, b in zip(low, high, strict=True)]
    return [f32_bits(v) for v in low]


@handles(Fetch)
def _fetch(runner: Runner, action: Fetch, mask: int) -> None:
    objects, lanes = Objects(runner), lanes_of(mask)
    found = objects.handles(action.handle, mask)
    names = ("coordinates", "index", "sample", "level", "dx", "dy", "offset")
    columns = {}
    for name in names:
        value = getattr(action, name)
        parts = () if value is None else value if isinstance(value, tuple) else (value,)
        columns[name] = [[bits & 0xFFFFFFFF for bits in lane_values.read(runner, part, mask)] for part in parts]
    results = []
    for k, lane in enumerate(lanes):
        objects.lane, objects.handle = lane, found[k]
        four = _fetched(objects, action, {name: [column[k] for column in columns[name]] for name in names})
        if action.type.startswith("f16"):
            four = [f16_bits(float_of(v)) for v in four]
        results.append([four[0] | four[1] << 16, four[2] | four[3] << 16] if action.type == "f16x2" else four)
    objects.account()
    for k, register in enumerate(action.data):
        lane_values.write(runner, register, mask, [four[k] for four in results])
    lane_values.write(runner, action.inside, mask, [1] * len(lanes))
