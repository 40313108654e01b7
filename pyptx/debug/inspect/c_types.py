"""Types of C++ variables, as far as their values need them, and where a variable is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Array", "CType", "Located", "Pointer", "Scalar", "Structure", "size_of"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number: its C++ name, and the PTX type with its size and encoding."""

    name: str
    type: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address of elements; None where their type is not followed."""

    target: CType | None

    def __str__(self) -> str:
        return f"{self.target or 'void'} *"


@dataclass(frozen=True, slots=True)
class Array:
    """An array of `count` elements."""

    element: CType
    count: int

    def __str__(self) -> str:
        element, sizes = self.element, f"[{self.count}]"
        while isinstance(element, Array):
            element, sizes = element.element, f"{sizes}[{element.count}]"
        return f"{element} {sizes}"


@dataclass(frozen=True, slots=True)
class Structure:
    """A struct, class or union with its members: name, offset in bytes, type."""

    name: str
    size: int
    members: tuple[tuple[str, int, CType], ...]

    def __str__(self) -> str:
        return self.name or "struct"


CType = Scalar | Pointer | Array | Structure


@dataclass(frozen=True, slots=True)
class Located:
    """A variable of C++ and where it is: a register, or memory `offset` bytes after a symbol."""

    type: CType
    register: str | None = None
    space: str = ""
    symbol: str = ""
    offset: int = 0


def size_of(kind: CType) -> int:
    """Return the size of a value in bytes."""
    match kind:
        case Scalar():
            return int("".join(filter(str.isdigit, kind.type.removeprefix("bf").removeprefix("f")))) // 8
        case Pointer():
            return 8
        case Array():
            return kind.count * size_of(kind.element)
        case Structure():
            return kind.size
