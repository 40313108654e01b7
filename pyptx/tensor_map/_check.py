"""Validation of tensor maps against the driver's rules. Indices in messages are those of the arguments, outermost first.

Source: CUDA Driver API, cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2colWide; for im2col boxes
and innermost steps PTX ISA, "Tensors".
"""

from __future__ import annotations

from pyptx.errors import ShapeError

__all__ = ["check", "check_address"]

MAX_SIZE, MAX_STRIDE, MAX_BOX, MAX_PIXELS, MAX_STEP = 1 << 31, 1 << 40, 256, 1024, 8
_CORNER_BITS = {3: 16, 4: 8, 5: 5}
_PADDED_SWIZZLES = {
    "b4x16_p64": (None, "128B", "128B_ATOM_32B"),
    "b6x16_p32": (None, "128B", "128B_ATOM_32B", "128B_ATOM_64B"),
}
_WIDE_SWIZZLES = ("64B", "128B", "128B_ATOM_32B")


def _refuse(message: str) -> None:
    raise ShapeError(f"TensorMap: {message}")


def check(m) -> None:
    """Check a tensor map against the driver's rules.

    Raises:
        ShapeError: the first violated rule, with the argument and the expected values.
    """
    _check_shape(m)
    _check_strides(m)
    if m.im2col is None:
        _check_box(m)
    else:
        _check_im2col(m)
    _check_steps(m)
    _check_layout(m)
    if m.address is not None:
        check_address(m, m.address)


def _unit(m) -> int:
    """Return the required alignment of strides and addresses in bytes."""
    return 32 if m.interleave == "32B" or m.element.padded else 16


def _why(m) -> str:
    return f" ({m.element.name})" if m.element.padded else " (interleave='32B')" if m.interleave == "32B" else ""


def check_address(m, address: int) -> None:
    """Raise ShapeError unless the tensor's address is aligned."""
    if address < 0 or address % _unit(m):
        _refuse(
            f"the tensor starts at 0x{address:x}, which is not a multiple of {_unit(m)} bytes{_why(m)}; start at "
            "an aligned element, or copy the array"
        )


def _check_shape(m) -> None:
    least = 3 if m.interleave is not None or m.im2col is not None else 1
    if not least <= m.rank <= 5:
        why = " with interleave" if m.interleave else " with im2col" if m.im2col else ""
        _refuse(f"shape {m.shape} has {m.rank} dimensions; expected {least} to 5{why}")
    for i, size in enumerate(m.shape):
        if not 1 <= size <= MAX_SIZE:
            _refuse(f"shape[{i}] is {size}; expected 1 to 2**31")
    inner = m.rank - 1
    multiple = 128 if m.element.padded else 2 if m.element.bits == 4 else 1
    if m.shape[-1] % multiple:
        _refuse(f"shape[{inner}] is {m.shape[-1]}; expected a multiple of {multiple} with {m.element.name}")


def _check_strides(m) -> None:
    for i, stride in enumerate(m.strides[:-1]):
        if stride % _unit(m):
            pad = -(-stride // _unit(m)) * _unit(m)
            _refuse(
                f"strides[{i}] is {stride} bytes, which is not a multiple of {_unit(m)}{_why(m)}; pad the inner "
                f"dimensions so that it is {pad}"
            )
        if not 0 <= stride < MAX_STRIDE:
            _refuse(f"strides[{i}] is {stride} bytes; expected 0 to 2**40 - 1")


def _check_box(m) -> None:
    if len(m.box) != m.rank:
        _refuse(f"box {m.box} has {len(m.box)} sizes for {m.rank} dimensions")
    for i, size in enumerate(m.box):
        if not 1 <= size <= MAX_BOX:
            _refuse(f"box[{i}] is {size}; expected 1 to {MAX_BOX} (copy several boxes)")
    _check_inner(m, f"box[{m.rank - 1}]", m.box[-1])


def _check_inner(m, name: str, count: int) -> None:
    if m.element.padded and count != 128:
        _refuse(f"{name} is {count}; expected 128 with {m.element.name}")
    if m.interleave is None and count * m.element.bits % 128:
        _refuse(
            f"{name} is {count}, {count * m.element.bits / 8:g} bytes of {m.element.name}; the inner row of a box "
            f"must be a multiple of 16 bytes, {128 // m.element.bits} elements"
        )
    if m.interleave is None and m.span_bytes:
        bytes_ = count // 16 * 16 if m.element.padded else count * m.element.bits // 8
        if bytes_ > m.span_bytes:
            _refuse(
                f"{name} is {count}, {bytes_} bytes of {m.element.name}; swizzle={m.swizzle!r} supports at most "
                f"{m.span_bytes} bytes, {m.span_bytes * 8 // m.element.bits} elements: copy several boxes"
            )


def _check_im2col(m) -> None:
    if len(m.box) != 2:
        _refuse(f"box {m.box} has {len(m.box)} sizes; with im2col it is (pixels per column, channels per pixel)")
    pixels, channels = m.box
    if not 1 <= pixels <= MAX_PIXELS:
        _refuse(f"box[0], the pixels per column, is {pixels}; expected 1 to {MAX_PIXELS}")
    if not 1 <= channels <= MAX_BOX:
        _refuse(f"box[1], the channels per pixel, is {channels}; expected 1 to {MAX_BOX}")
    _check_inner(m, "box[1], the channels per pixel,", channels)
    wide = m.im2col.mode is not None
    spatial = 1 if wide else m.rank - 2
    bits = 16 if wide else _CORNER_BITS[m.rank]
    last = m.rank - 2 if m.interleave is None else m.rank - 1  # the dimension w
    for name in ("lower", "upper"):
        corner = getattr(m.im2col, name)
        if len(corner) != spatial:
            _refuse(
                f"im2col.{name} {corner} has {len(corner)} offsets; expected {spatial} for rank {m.rank}"
                f"{' in mode ' + repr(m.im2col.mode) if wide else ''}"
            )
        for offset in corner:
            if not -(1 << bits - 1) <= offset < 1 << bits - 1:
                _refuse(
                    f"im2col.{name} {corner}: expected offsets from {-(1 << bits - 1)} to {(1 << bits - 1) - 1} for rank {m.rank}"
                )
    for k, (low, high) in enumerate(zip(reversed(m.im2col.lower), reversed(m.im2col.upper), strict=True)):
        size = m.shape[last - k]
        if low >= size + high:
            _refuse(
                f"im2col: the bounding box is empty along shape[{last - k}] = {size}: it extends from {low} to "
                f"{size + high} (exclusive)"
            )


def _check_steps(m) -> None:
    if len(m.element_strides) != m.rank:
        _refuse(f"element_strides {m.element_strides} has {len(m.element_strides)} values for {m.rank} dimensions")
    for i, step in enumerate(m.element_strides):
        if not 1 <= step <= MAX_STEP:
            _refuse(f"element_strides[{i}] is {step}; expected 1 to {MAX_STEP}")
    if m.interleave is None and m.element_strides[-1] != 1:
        _refuse(
            f"element_strides[{m.rank - 1}] is {m.element_strides[-1]}; the innermost dimension must have step 1 without "
            "interleave"
        )


def _check_layout(m) -> None:
    if m.interleave == "32B" and m.swizzle != "32B":
        _refuse(f"swizzle={m.swizzle!r} with interleave='32B'; expected swizzle='32B'")
    if m.element.padded:
        if m.interleave is not None:
            _refuse(f"interleave={m.interleave!r} with {m.element.name}; expected None")
        allowed = _PADDED_SWIZZLES[m.element.name]
        if m.swizzle not in allowed:
            _refuse(f"swizzle={m.swizzle!r} with {m.element.name}; expected one of {', '.join(map(repr, allowed))}")
    if m.oob_fill == "nan" and not m.element.floating:
        _refuse(f"oob_fill='nan' with {m.element.name}; only floating-point elements can be filled with NaN")
    if m.im2col is not None and m.im2col.mode is not None:
        if m.interleave is not None:
            _refuse(f"interleave={m.interleave!r} with im2col mode {m.im2col.mode!r}; expected None")
        if m.swizzle not in _WIDE_SWIZZLES:
            _refuse(
                f"swizzle={m.swizzle!r} with im2col mode {m.im2col.mode!r}; expected one of "
                f"{', '.join(map(repr, _WIDE_SWIZZLES))}"
            )
