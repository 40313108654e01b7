"""Cases of tcgen05.mma and their operands: laid out in shared memory and in tensor memory as the manual has it.

Formulas of the PTX ISA: "Data Path Layout Organization", "Shared Memory Layout and Swizzling", "Packing formats",
"Block Scaling", "Sparsity selector", "Zero-Column Mask Descriptor".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sim.matrices import bits_of, random_matrix

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "fp4": 4}  # others 8
K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
TYPES = {
    "f16": [("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f16", "f16", "f16")],
    "tf32": [("tf32", "tf32", "f32")],
    "f8f6f4": [("e4m3", "e5m2", "f32"), ("e2m1", "e3m2", "f32"), ("e2m3", "e4m3", "f16")],
    "i8": [("s8", "u8", "s32"), ("u8", "s8", "s32")],
    "mxf8f6f4": [("e5m2", "e4m3", "f32"), ("e3m2", "e2m1", "f32")],
    "mxf4": [("fp4", "fp4", "f32")],
    "mxf4nvf4": [("fp4", "fp4", "f32")],
}
CODES = {
    "f16": 0,
    "bf16": 1,
    "tf32": 2,
    "e4m3": 0,
    "e5m2": 1,
    "e2m3": 3,
    "e3m2": 4,
    "e2m1": 5,
    "u8": 0,
    "s8": 1,
    "fp4": 1,
}
RESULTS = {"f16": 0, "f32": 1, "s32": 2}
D, A, META, SCALE_A, SCALE_B, COLUMNS = 0, 64, 96, 100, 112, 128  # columns


@dataclass(frozen=True)
class Case:
    """A form with its types and sizes. `vector`: scales of a row; `half`: D begins at lane 16."""

    mnemonic: str
    kind: str
    group: int
    types: tuple[str, str, str]
    m: int
    n: int
    in_tmem: bool = False
    sparse: bool = False
    ws: bool = False
    ashift: bool = False
    mask: bool = False
    scaled: bool = False  # scale-input-d
    zero: bool = False
    vector: int = 0
    ue4m3: bool = False
    majors: tuple[bool, bool] = (False, False)
    chunks: tuple[int, int] = (1, 1)
    negate: tuple[bool, bool] = (False, False)
    half: int = 0
    keep: bool = True

    @property
    def k(self) -> int:
        return K[self.kind] << self.sparse

    @property
    def stored(self) -> int:
        return K[self.kind]

    @property
    def rows(self) -> int:
        """Of a CTA."""
        return self.m // self.group

    @property
    def groups(self) -> int:
        return 1 if self.is_half else 128 // self.rows

    @property
    def is_half(self) -> bool:
        return self.rows == 64 and (self.sparse if self.group == 2 else not self.ws)

    def lane(self, row: int, part: int) -> int:
        """Layouts A to G."""
        if self.is_half:
            return 16 * self.half + row % 16 + 32 * (row // 16)
        return row + 128 // self.groups * part

    def __str__(self) -> str:
        return (
            f"{self.mnemonic.removeprefix('tcgen05.')} {'-'.join(self.types)} {self.m}x{self.n}"
            f"{' tmem' * self.in_tmem}{' mask' * self.mask}{' scaled' * self.scaled}{' zero' * self.zero}"
        )


def image(codes: np.ndarray, type_name: str, kind: str, chunks: int, mn: bool) -> tuple[bytes, int, int, bool]:
    """Codes [row][k] as bytes from an address that 1024 divides, both byte offsets, and whether atoms have 32 bytes."""
    rows, columns = codes.shape
    bits = BITS.get(type_name, 8)
    padded = type_name in ("e2m1", "e3m2", "e2m3") and not kind.startswith("mxf4")
    per, wide = 128 // bits, mn and type_name == "tf32"
    chunks = 8 if wide else chunks
    table = (codes.T if mn else codes).astype(np.uint64)
    table = table[:, : table.shape[1] // per * per].reshape(table.shape[0], -1, per)
    size = {"e2m1": 4, "e3m2": 6, "e2m3": 6}[type_name] if padded else bits
    fields = table >> np.uint64(2 if padded and type_name == "e2m1" else 0)
    digits = (fields[..., None] >> np.arange(size, dtype=np.uint64) & np.uint64(1)).astype(np.uint8)
    lines = np.zeros((*table.shape[:2], 16), np.uint8)
    packed = np.packbits(digits.reshape(*table.shape[:2], -1), axis=2, bitorder="little")
    lines[..., : packed.shape[2]] = packed
    atom = 4 if wide else 8
    width = 16 * chunks
    groups = -(-lines.shape[1] // chunks)  # atoms along the contiguous direction
    if not mn:
        stride, leading = 8 * width, 8 * width * (rows // 8)
    elif chunks == 1:
        leading, stride = 128, 128 * (columns // 8)  # along k, along the rows
    else:
        stride, leading = atom * width, atom * width * (columns // atom)
    memory = np.zeros(max(1024, atom * width * (lines.shape[0] // atom) * groups), np.uint8)
    line, chunk = np.indices(lines.shape[:2])
    if mn and chunks == 1:
        at = line % 8 * 16 + line // 8 * leading + chunk * stride
    else:
        at = line % atom * width + line // atom * stride + chunk % chunks * 16 + chunk // chunks * leading
    at ^= (at >> 7 & 3) << 5 if wide else (at >> 7 & chunks - 1) << 4
    memory[at[..., None] + np.arange(16)] = lines
    return memory.tobytes(), leading, stride, wide


def sparse_left(rng, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """What is stored of A, and the four bits of each chunk."""
    span = {"tf32": 2, "fp4": 8}.get(case.types[0], 4)
    stored = random_matrix(rng, case.m, case.k // 2, case.types[0])
    if span == 2:
        return stored, rng.choice([0b0100, 0b1110], (case.m, case.k // 2))
    return stored, rng.choice([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], (case.m, case.k // span))


def dense_left(case: Case, stored: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """A with its zeros: of two columns one (tf32), of four or of four pairs two."""
    dense, span = np.zeros((case.m, case.k)), case.k // codes.shape[1]
    for row in range(case.m):
        for chunk, code in enumerate(codes[row]):
            if span == 2:
                dense[row, 2 * chunk + (code == 0b1110)] = stored[row, chunk]
                continue
            each = span // 4
            for i, place in enumerate((code & 3, code >> 2)):
                to, source = span * chunk + each * place, span // 2 * chunk + each * i
                dense[row, to : to + each] = stored[row, source : source + each]
    return dense


def put_metadata(cells: np.ndarray, case: Case, codes: np.ndarray, selector: int) -> None:
    """Four bits of each chunk of each row of each CTA, in all parts of the lanes."""
    for row in range(case.m):
        for part in range(case.groups):
            lane, cta = case.lane(row % case.rows, part), row // case.rows
            for chunk, code in enumerate(codes[row]):
                if case.kind in ("f16", "tf32"):  # halves of k in lanes 8 apart, rows 8 apart in a word
                    at = lane // 16 * 16 + lane % 8 + 8 * (chunk // 4), META + selector
                    shift = 16 * (lane // 8 % 2) + 4 * (chunk % 4)
                else:
                    at, shift = (lane, META + chunk // 8), 4 * (chunk % 8)
                word = int(cells[cta][at]) & ~(15 << shift)
                cells[cta][at] = word | int(code) << shift


def scales_of(rng, case: Case, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Values and codes [row][scale]: powers of two, or small e4m3."""
    if case.ue4m3:
        values = rng.choice([0.5, 1.0, 1.5, 2.0], (rows, case.vector))
        return values, bits_of(values, "e4m3")
    exponents = rng.integers(-1, 2, (rows, case.vector))
    return 2.0**exponents, (exponents + 127).astype(np.uint64)


def put_scales(cells: np.ndarray, case: Case, codes: np.ndarray, column: int, first: int, *, left: bool) -> None:
    """In each of the four datapaths: row r in lane r % 32, column r / 32; of B the rows its columns of D need."""
    width = case.n // case.groups
    for cta in range(case.group):
        for path in range(4):
            part = path // (4 // case.groups)
            first_row, count = (cta * case.rows, case.rows) if left else (part * width, width)
            own = codes[first_row : first_row + count]
            for row, some in enumerate(own):
                for i, code in enumerate(some):
                    at, shift = (32 * path + row % 32, column + row // 32), 8 * (first + i)
                    cells[cta][at] = int(cells[cta][at]) & ~(255 << shift) | int(code) << shift
