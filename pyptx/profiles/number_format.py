"""Numbers as Nsight Compute writes them: with separators of thousands, in the locale of the machine that wrote them.

The separators of a file follow from its unambiguous numbers, "1,234.5", "27.595.520" or "65,77"; without any they are those
of the C locale. A file with contradicting numbers is refused rather than read with a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyptx.errors import InputError

__all__ = ["NumberFormat"]

_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{3})+")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The decimal separator of a file, "." or ","; the other one groups thousands."""

    decimal: str = "."

    @classmethod
    def of(cls, texts: Iterable[str]) -> NumberFormat:
        """Return the format that a file's numbers have.

        Raises:
            InputError: they contradict each other.
        """
        evidence: dict[str, str] = {}  # decimal separator -> a number that shows it
        for text in texts:
            if ("," in text or "." in text) and _NUMBER.fullmatch(text) and (decimal := _decimal(text)):
                evidence.setdefault(decimal, text)
        if len(evidence) > 1:
            raise InputError(
                f"the numbers {evidence['.']!r} and {evidence[',']!r} have different decimal separators",
                hint="export the report again with LC_ALL=C",
            )
        return cls(next(iter(evidence), "."))

    def number(self, text: str) -> float | None:
        """Return a number; None for other text, such as "-", "n/a" or an instruction."""
        text = text.strip()
        if not _NUMBER.fullmatch(text):
            return None
        other = "," if self.decimal == "." else "."
        try:
            return float(text.replace(other, "").replace(self.decimal, "."))
        except ValueError:
            return None


def _decimal(text: str) -> str | None:
    """Return the decimal separator that a number shows; None if it does not show one."""
    points, commas = text.count("."), text.count(",")
    if points and commas:
        return "." if text.rfind(".") > text.rfind(",") else ","
    separator = "." if points else ","
    other = "," if points else "."
    if max(points, commas) > 1:
        return other if _GROUPED.fullmatch(text.lstrip("+-")) else None
    whole, _, part = text.lstrip("+-").partition(separator)
    return None if len(part) == 3 and len(whole) <= 3 and whole != "0" else separator
