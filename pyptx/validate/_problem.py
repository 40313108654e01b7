"""A refusal in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyptx._value import value
from pyptx.ir.nodes import Instruction

__all__ = ["Problem", "dotted", "either_of", "range_words", "too_early"]


@value
class Problem:
    """A refusal. `where` finds the text of the operand it is about."""

    message: str                                            # may hold {operand}
    hint: str | None = None
    where: Callable[[Instruction], str] | None = None

    def text(self, instruction: Instruction) -> str:
        operand = self.where(instruction) if self.where else ""
        return f"{instruction.mnemonic}: {self.message.replace('{operand}', operand)}"


def either_of(words: Iterable[str], limit: int = 12) -> str:
    """ "'.a', '.b' or '.c'"."""
    words = list(words)
    shown = [f"'{w}'" for w in words[:limit]]
    if len(words) > limit:
        return ", ".join(shown) + f" or one of {len(words) - limit} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1] if shown else "nothing"


def range_words(allowed: str) -> str:
    """ "0..15" as "0 to 15", "*16" as "a multiple of 16"."""
    span, _, multiple = allowed.partition("*")
    words = []
    if ".." in span:
        words.append("{} to {}".format(*span.split("..")))
    elif span:
        words.append(" or ".join(span.split("/")))
    if multiple:
        words.append(f"a multiple of {multiple}")
    return ", ".join(words)


def dotted(version: tuple[int, int]) -> str:
    """ "8.5"."""
    return f"{version[0]}.{version[1]}"


def too_early(feature: str, wanted: tuple[int, int], version: tuple[int, int]) -> str:
    """What is said where a module is of an older version than a feature."""
    return f"Feature '{feature}' requires PTX ISA .version {dotted(wanted)} or later; the module says {dotted(version)}"
