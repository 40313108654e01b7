"""Floating-point formats over exact rational numbers: what IEEE 754 says a result is, without the simulator's code."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

__all__ = ["FORMATS", "Format"]


@dataclass(frozen=True)
class Format:
    """A binary format: bits of it, bits of a significand with the leading one, the largest exponent."""

    bits: int
    precision: int
    top: int

    @property
    def infinity(self) -> int:
        return (1 << self.bits - 1) - (1 << self.precision - 1)

    def is_finite(self, bits: int) -> bool:
        return bits & (1 << self.bits - 1) - 1 < self.infinity

    def is_negative(self, bits: int) -> bool:
        return bits >> self.bits - 1 == 1

    def number(self, bits: int) -> Fraction:
        """The value of a finite number; that of -0 is 0."""
        fraction = bits & (1 << self.precision - 1) - 1
        exponent = (bits & (1 << self.bits - 1) - 1) >> self.precision - 1
        significand = fraction | (1 << self.precision - 1 if exponent else 0)
        value = Fraction(significand) * Fraction(2) ** (max(exponent, 1) - self.top - self.precision + 1)
        return -value if self.is_negative(bits) else value

    def quantum(self, size: Fraction) -> Fraction:
        """The distance of numbers near a positive size."""
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > size
        return Fraction(2) ** (max(exponent, 1 - self.top) - self.precision + 1)

    def rounded(self, value: Fraction, mode: str, *, negative_zero: bool = False) -> int:
        """The bits of a value in a rounding mode: rn, rz, rm, rp. Of zero the sign must be given."""
        if not value:
            return negative_zero << self.bits - 1
        quantum = self.quantum(abs(value))
        count, rest = divmod(abs(value) / quantum, 1)
        return self._made(
            value < 0, count, Fraction(1, 2) < rest or (rest == Fraction(1, 2) and count % 2), rest > 0, quantum, mode
        )

    def root(self, value: Fraction, mode: str) -> int:
        """The bits of the square root of a positive value."""
        guess = Fraction(isqrt(value.numerator << 400), isqrt(value.denominator << 400))
        quantum = self.quantum(guess)
        quantum = next(q for q in (quantum / 2, quantum, 2 * quantum) if value / q**2 < Fraction(4) ** self.precision)
        square = value / quantum**2
        count = isqrt(square.numerator // square.denominator)
        return self._made(False, count, square > (count + Fraction(1, 2)) ** 2, square > count**2, quantum, mode)

    def _made(self, negative: bool, count: int, nearer_up: bool, inexact: bool, quantum: Fraction, mode: str) -> int:
        up = {"rn": nearer_up, "rz": False, "rm": inexact and negative, "rp": inexact and not negative}[mode]
        size = (count + up) * quantum
        largest = (2 - Fraction(2) ** (1 - self.precision)) * Fraction(2) ** self.top
        if size > largest:
            stays = mode == "rz" or mode == ("rp" if negative else "rm")
            bits = self.infinity - stays
        else:
            quantum = self.quantum(size) if size else quantum
            significand = int(size / quantum)
            exponent = (quantum / Fraction(2) ** (1 - self.top - self.precision + 1)).numerator.bit_length() - 1
            bits = significand + (exponent << self.precision - 1)  # the leading one counts as an exponent of one
        return bits | negative << self.bits - 1


FORMATS = {
    "f16": Format(16, 11, 15),
    "bf16": Format(16, 8, 127),
    "f32": Format(32, 24, 127),
    "f64": Format(64, 53, 1023),
}
