"""The tree of a PTX module: frozen nodes, tuples only, compared by value.

Equality means "the same PTX". Formatting and the Python place are carried along and never compared. Field names and
order are the public contract.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyptx._loc import Place
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = ["AddressOperand", "AddressSize", "BlankLine", "Block", "Comment", "Directive", "FormattingInfo", "Function",
           "FunctionDirective", "ImmediateOperand", "Instruction", "IntrinsicScope", "Label", "LabelOperand", "Module",
           "NegatedOperand", "Operand", "Param", "ParenthesizedOperand", "PipeOperand", "PragmaDirective", "Predicate",
           "RawLine", "RegDecl", "RegisterOperand", "Statement", "Target", "VarDecl", "VectorOperand", "Version"]


@dataclass(frozen=True, slots=True)
class FormattingInfo:
    """Blanks and comments around a node, as they were written."""

    indent: str = ""
    trailing: str = ""
    blank_lines_before: int = 0
    preceding_comments: tuple[str, ...] = ()


def _carried():
    """A field that travels with the node and takes no part in equality."""
    return field(default=None, compare=False, repr=False)


# operands -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class RegisterOperand:
    name: str


@dataclass(frozen=True, slots=True)
class LabelOperand:
    """A bare name: a label, a variable, a parameter, a function."""

    name: str


@dataclass(frozen=True, slots=True)
class ImmediateOperand:
    """A literal or constant expression, as text."""

    text: str


@dataclass(frozen=True, slots=True)
class VectorOperand:
    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class ParenthesizedOperand:
    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class AddressOperand:
    """`[base+offset]`; `offset` is text without a leading plus, None when there is none.

    Tensor addresses `[map, {c0, c1}]` keep everything after the base in `offset`, comma included.
    """

    base: str
    offset: str | None = None


@dataclass(frozen=True, slots=True)
class NegatedOperand:
    operand: Operand


@dataclass(frozen=True, slots=True)
class PipeOperand:
    left: Operand
    right: Operand


Operand = (RegisterOperand | LabelOperand | ImmediateOperand | VectorOperand | ParenthesizedOperand | AddressOperand
           | NegatedOperand | PipeOperand)


@dataclass(frozen=True, slots=True)
class Predicate:
    """The guard in front of an instruction."""

    register: str
    negated: bool = False


# statements ---------------------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class RegDecl:
    type: ScalarType
    name: str
    count: int | None = None
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


@dataclass(frozen=True, slots=True)
class VarDecl:
    """`array_size` 0 is an unsized array, `name[]`."""

    state_space: StateSpace
    type: ScalarType
    name: str
    array_size: int | None = None
    alignment: int | None = None
    initializer: str | None = None
    linking: LinkingDirective | None = None
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. Modifiers keep their dots and their order."""

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    predicate: Predicate | None = None
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()

    @property
    def mnemonic(self) -> str:
        return self.opcode + "".join(self.modifiers)


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


@dataclass(frozen=True, slots=True)
class PragmaDirective:
    value: str
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its delimiters."""

    text: str


@dataclass(frozen=True, slots=True)
class BlankLine:
    pass


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line that no other node describes; printed as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A `{ }` scope inside a body."""

    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


@dataclass(frozen=True, slots=True)
class IntrinsicScope:
    """The statements one `@intrinsic` call emitted; printed between two comments."""

    name: str
    args_repr: str
    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


Statement = (RegDecl | VarDecl | Instruction | Label | PragmaDirective | Comment | BlankLine | RawLine | Block
             | IntrinsicScope)


# module -------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Version:
    major: int
    minor: int


@dataclass(frozen=True, slots=True)
class Target:
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddressSize:
    size: int


@dataclass(frozen=True, slots=True)
class Param:
    state_space: StateSpace
    type: ScalarType
    name: str
    array_size: int | None = None
    alignment: int | None = None
    ptr_state_space: StateSpace | None = None
    ptr_alignment: int | None = None


@dataclass(frozen=True, slots=True)
class FunctionDirective:
    """A directive between parameter list and body: name without its dot, and its values."""

    name: str
    values: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    is_entry: bool
    name: str
    params: tuple[Param, ...] = ()
    return_params: tuple[Param, ...] | None = None
    body: tuple[Statement, ...] = ()
    linking: LinkingDirective | None = None
    directives: tuple[FunctionDirective, ...] = ()
    formatting: FormattingInfo | None = _carried()
    place: Place | None = _carried()


Directive = VarDecl | Function | PragmaDirective | Comment | BlankLine | RawLine | Instruction


@dataclass(frozen=True, slots=True)
class Module:
    version: Version
    target: Target
    address_size: AddressSize
    directives: tuple[Directive, ...] = ()

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(d for d in self.directives if isinstance(d, Function))

    @property
    def entries(self) -> tuple[Function, ...]:
        return tuple(f for f in self.functions if f.is_entry)
