"""What tensor copies do, element by element and slowly: index arithmetic and swizzle tables as the manual prints them.

Written without a look at pyptx/sim: only the public attributes of a `TensorMap` are used.
Source: PTX ISA, "Tensors"; CUDA Driver API, "Tensor Map Object Management".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

__all__ = ["Oracle"]

# row r of a table: which 16-byte chunk of the row lies at each place of line r (lines of 128 bytes)
TABLES = {
    None: ["01234567"],
    "32B": ["01234567", "10325476"],
    "64B": ["01234567", "10325476", "23016745", "32107654"],
    "128B": ["01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"],
    "128B_ATOM_32B": ["01234567", "23016745", "45670123", "67452301"],
    "128B_ATOM_32B_FLIP_8B": ["01234567", "23016745", "45670123", "67452301"],
    "128B_ATOM_64B": ["01234567", "45670123"],
}
SPANS = {None: 0, "32B": 32, "64B": 64}
DATA_BITS = {"b4x16": 4, "b4x16_p64": 4, "b6x16_p32": 6}


class Oracle:
    """One tensor map over host memory `memory` (bytes, the tensor starts at byte 0)."""

    def __init__(self, tensor_map, memory: np.ndarray):
        self.map, self.memory = tensor_map, memory
        m = tensor_map
        self.sizes, self.steps = m.shape[::-1], m.element_strides[::-1]
        self.strides = (None, *m.strides[-2::-1])
        self.bits = m.element.bits
        self.slice = {None: 0, "16B": 16, "32B": 32}[m.interleave]

    # shared memory

    def place(self, address: int) -> int:
        """Where a byte goes that a dense layout has at `address`."""
        table = TABLES[self.map.swizzle]
        line, byte = divmod(address, 128)
        row = table[line % len(table)]
        chunk = row.index(str(byte // 16))
        byte = byte % 16
        if self.map.swizzle == "128B_ATOM_32B_FLIP_8B" and line % 2:
            byte = (byte + 8) % 16
        return line * 128 + chunk * 16 + byte

    def pitch(self, row_bytes: int) -> int:
        return max(row_bytes, SPANS.get(self.map.swizzle, 128))

    # the tensor

    def inside(self, at) -> bool:
        return all(0 <= c < n for c, n in zip(at, self.sizes, strict=True))

    def bit_address(self, at) -> int:
        outer = sum(c * s for c, s in zip(at[1:], self.strides[1:], strict=True))
        return 8 * outer + at[0] * (8 * self.slice or self.bits)

    def read(self, at) -> int:
        start, count = self.bit_address(at), 8 * self.slice or self.bits
        value = 0
        for k in range(count):
            value |= int(self.memory[(start + k) // 8] >> (start + k) % 8 & 1) << k
        return value

    def write(self, at, value: int) -> None:
        start, count = self.bit_address(at), 8 * self.slice or self.bits
        for k in range(count):
            byte, bit = divmod(start + k, 8)
            self.memory[byte] = int(self.memory[byte]) & ~(1 << bit) & 255 | (value >> k & 1) << bit

    def fill(self) -> int:
        bits = 8 * self.slice or self.bits
        return int("7ff7" * (bits // 16), 16) if self.map.oob_fill == "nan" else 0

    # which elements, in which place of the box: (number of the row, number in the row, coordinates)

    def tile(self, start) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        counts = [-(-b // s) for b, s in zip(self.map.box[::-1], self.steps, strict=True)]
        for row, outer in enumerate(np.ndindex(*counts[:0:-1])):
            for i in range(counts[0]):
                index = (i, *outer[::-1])
                yield row, i, tuple(c + k * s for c, k, s in zip(start, index, self.steps, strict=True))

    def rows4(self, column: int, four) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        for row, y in enumerate(four):
            for i in range(self.map.box[-1]):
                yield row, i, (column + i, y)

    def _walk(self, start, lower, upper, steps) -> Iterator[tuple[int, ...]]:
        """Spatial positions image after image, the first dimension fastest; the first pass begins at `start`."""
        first = [True] * len(lower)
        image = 0

        def along(k: int):
            if k < 0:
                yield ()
                return
            position = start[k] if first[k] else lower[k]
            first[k] = False
            while position < upper[k]:
                for inner in along(k - 1):
                    yield (*inner, position)
                position += steps[k]

        while True:
            for place in along(len(lower) - 1):
                yield (*place, image)
            image += 1

    def im2col(self, start, offsets) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        m, skip = self.map, 0 if self.slice else 1
        spatial = len(start) - 2
        lower, upper = m.im2col.lower[::-1], m.im2col.upper[::-1]
        end = [self.sizes[skip + k] + upper[k] for k in range(spatial)]
        walk = self._walk(start[skip : skip + spatial], lower, end, self.steps[skip : skip + spatial])
        for row in range(m.box[0]):
            *place, image = next(walk)
            place = [p + o for p, o in zip(place, offsets, strict=True)]
            batch = start[-1] + image * self.steps[-1]
            if self.slice:
                yield row, 0, (*place, start[-2], batch)
            else:
                for i in range(m.box[1]):
                    yield row, i, (start[0] + i, *place, batch)

    def im2col_w(self, start, halo: int, shift: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        m = self.map
        low, high = m.im2col.lower[0] + shift, self.sizes[1] + m.im2col.upper[0] + shift
        walk = self._walk((start[1] + shift,), (low,), (high,), self.steps[1:2])
        runs, pixels = (4, 128) if m.im2col.mode == "w128" else (1, m.box[0])
        positions = [next(walk) for _ in range(pixels + halo)]
        numbered = [(p, positions[p]) for p in range(pixels)]
        for run in range(runs):  # a halo is what would come next
            end = (run + 1) * pixels // runs
            numbered += [(pixels + h * runs + run, positions[end + h]) for h in range(halo)]
        for row, (w, image) in numbered:
            for i in range(m.box[1]):
                yield row, i, (start[0] + i, w, *start[2:-1], start[-1] + image * self.steps[-1])

    # copies

    def _cell(self, elements) -> tuple[int, int]:
        """Bytes of a row in shared memory; elements in it."""
        count = 1 + max(i for _, i, _ in elements)
        if self.slice:
            return count * self.slice, count
        return count if self.map.element.padded else count * self.bits // 8, count

    def load(self, shared: np.ndarray, address: int, elements, base: int = 0x400) -> np.ndarray:
        """Write to shared memory, whose first byte has address `base`; which bytes were written."""
        elements = list(elements)
        written = np.zeros(len(shared), bool)
        row_bytes, _ = self._cell(elements)
        bits = 8 * self.slice or self.bits
        for row, i, at in elements:
            value = self.convert(self.read(at)) if self.inside(at) else self.fill()
            first = 8 * (16 * (i // 16)) + i % 16 * bits if self.map.element.padded else i * bits
            for k in range(bits):
                byte, bit = divmod(first + k, 8)
                place = self.place(address + row * self.pitch(row_bytes) + byte) - base
                shared[place] = int(shared[place]) & ~(1 << bit) & 255 | (value >> k & 1) << bit
                written[place] = True
        return written

    def store(self, shared: np.ndarray, address: int, elements, base: int = 0x400, combine=None) -> None:
        elements = list(elements)
        row_bytes, _ = self._cell(elements)
        bits = 8 * self.slice or self.bits
        for row, i, at in elements:
            if not self.inside(at):
                continue
            first = 8 * i if self.map.element.name == "b6x16_p32" else i * bits
            value = 0
            for k in range(bits):
                byte, bit = divmod(first + k, 8)
                place = self.place(address + row * self.pitch(row_bytes) + byte) - base
                value |= int(shared[place] >> bit & 1) << k
            self.write(at, value if combine is None else combine(self.read(at), value))

    def convert(self, value: int) -> int:
        name = self.map.element.name
        exponent = value >> 23 & 255
        if name.endswith(".ftz") and exponent == 0:
            value &= 1 << 31
        if name.startswith("tf32") and exponent == 255 and value & 0x7FFFFF:
            value = 0x7FFFE000
        if name.startswith("tf32") and exponent < 255:
            kept, rest = divmod(value, 1 << 13)
            kept += rest > 0x1000 or (rest == 0x1000 and kept & 1)
            value = kept << 13
        return value
