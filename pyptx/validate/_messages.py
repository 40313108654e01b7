"""Problems of instructions, and phrases that error messages share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyptx._frozen import frozen
from pyptx.ir.nodes import Instruction

__all__ = ["Problem", "alternatives_text", "range_text", "requires_version", "short", "version_text"]


@frozen
class Problem:
    """An error of an instruction. `where` returns the text of the operand that replaces {operand} in the message."""

    message: str
    hint: str | None = None
    where: Callable[[Instruction], str] | None = None

    def text(self, instruction: Instruction) -> str:
        """Return the message for `instruction`."""
        operand = self.where(instruction) if self.where else ""
        return f"{short(instruction.mnemonic)}: {self.message.replace('{operand}', short(operand))}"


def short(text: str) -> str:
    """Abbreviate text of hostile length for a message."""
    return text if len(text) <= 400 else f"{text[:200]}..."


def alternatives_text(words: Iterable[str], limit: int = 12) -> str:
    """Format words as "'.a', '.b' or '.c'"; more than `limit` are counted instead."""
    words = list(words)
    shown = [f"'{w}'" for w in words[:limit]]
    if len(words) > limit:
        return ", ".join(shown) + f" or one of {len(words) - limit} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1] if shown else "nothing"


def range_text(allowed: str) -> str:
    """Format a range of the ISA table: "0..15" as "0 to 15", "*16" as "a multiple of 16"."""
    span, _, multiple = allowed.partition("*")
    words = []
    if ".." in span:
        words.append("{} to {}".format(*span.split("..")))
    elif span:
        words.append(" or ".join(span.split("/")))
    if multiple:
        words.append(f"a multiple of {multiple}")
    return ", ".join(words)


def version_text(version: tuple[int, int]) -> str:
    """Format a version as "8.5"."""
    return f"{version[0]}.{version[1]}"


def requires_version(feature: str, required: tuple[int, int], version: tuple[int, int]) -> str:
    """Return the error for a feature that is newer than the `.version` of the module."""
    return (
        f"Feature '{feature}' requires PTX ISA .version {version_text(required)} or later; "
        f"the module has .version {version_text(version)}"
    )
