"""The tree of a PTX module: frozen nodes, tuples only, compared by value.

Equality means "the same PTX". Formatting and the Python place are carried along and never compared. Field names and
their order are the public contract; fields that came later are keyword-only.

Names of one declaration (`.reg .b32 a, b;`) are nodes of their own; the formatting of all but the last says that the
next one continues it.
"""

from __future__ import annotations

import re
from dataclasses import field
from math import prod

from pyptx._loc import Place
from pyptx._value import value
from pyptx.errors import Diagnostic
from pyptx.ir.formatting import FormattingInfo, Layout, integer
from pyptx.ir.operands import (
    AddressOperand,
    FieldOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    NegativeOperand,
    Operand,
    ParenthesizedOperand,
    PipeOperand,
    RegisterOperand,
    SubscriptOperand,
    VectorOperand,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = ["AddressOperand", "AddressSize", "Alias", "Attribute", "BlankLine", "Block", "BranchTargets",
           "CallPrototype", "CallTargets", "Comment", "CompoundExpr", "Directive", "DwarfLine", "FieldOperand", "File",
           "FormattingInfo", "Function", "FunctionDirective", "ImmediateOperand", "Instruction", "IntrinsicScope",
           "Label", "LabelOperand", "Layout", "Loc", "Module", "NegatedOperand", "NegativeOperand", "Operand", "Param",
           "ParenthesizedOperand", "PipeOperand", "PragmaDirective", "Predicate", "RawLine", "RegDecl",
           "RegisterOperand", "SILENT", "Section", "SectionData", "Statement", "SubscriptOperand", "Target", "VarDecl",
           "VectorOperand", "Version"]


# Options of a field that travels with the node and takes no part in equality; the second kind the contract does not
# know, so that it is keyword-only and positions stay.
_CARRIED = {"default": None, "compare": False, "repr": False}
_FORMAT = {**_CARRIED, "kw_only": True}


@value
class Predicate:
    """The guard in front of an instruction."""

    register: str
    negated: bool = False


# statements ---------------------------------------------------------------------------------------------------------

@value
class RegDecl:
    """`.reg .v<vector> .type name<count>;`"""

    type: ScalarType
    name: str
    count: int | None = None
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)
    vector: int | None = field(default=None, kw_only=True)
    alignment: int | None = field(default=None, kw_only=True)


@value
class Attribute:
    """One entry of `.attribute(.name(values))`."""

    name: str
    values: tuple[int, ...] = ()


_DIMENSIONS = re.compile(r"\[([^\]]*)\]")


@value
class VarDecl:
    """A variable. `array_size` 0 is an unsized array, `name[]`; several dimensions are kept in the name, `a[2][3]`.

    `initializer` is an operand: a literal, a name, or a VectorOperand of them; text is printed as it is.
    """

    state_space: StateSpace
    type: ScalarType
    name: str
    array_size: int | None = None
    alignment: int | None = None
    initializer: Operand | str | None = None
    linking: LinkingDirective | None = None
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)
    vector: int | None = field(default=None, kw_only=True)
    attributes: tuple[Attribute, ...] = field(kw_only=True, default=())
    bank: int | None = field(default=None, kw_only=True)            # of `.const[2]`, up to PTX 2.1

    @property
    def symbol(self) -> str:
        """The name without dimensions."""
        return self.name.partition("[")[0]

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Elements per dimension, outermost first; 0 for an unsized one; empty for a scalar."""
        inside = tuple(integer(text.strip()) or 0 for text in _DIMENSIONS.findall(self.name))
        return inside if self.array_size is None else (*inside, self.array_size)

    @property
    def elements(self) -> int:
        """Elements of the declared type, vector width included; 0 when unsized."""
        return prod(self.dimensions) * (self.vector or 1)


@value
class Instruction:
    """One instruction. Modifiers keep their dots and their order."""

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    predicate: Predicate | None = None
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)

    @property
    def mnemonic(self) -> str:
        """Opcode and modifiers as PTX spells them."""
        return self.opcode + "".join(self.modifiers)


@value
class Label:
    name: str
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class PragmaDirective:
    value: str
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class Comment:
    """A comment with its delimiters."""

    text: str
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class BlankLine:
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class RawLine:
    """Text that no other node describes (what recovery skipped); printed as it is."""

    text: str
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class Block:
    """A `{ }` scope inside a body."""

    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class IntrinsicScope:
    """The statements one `@intrinsic` call emitted; printed between two comments."""

    name: str
    args_repr: str
    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class CompoundExpr:
    """Instructions of one `with ptx.expr():`, which compute one value; printed as they are, with no line of its own."""

    instructions: tuple[Instruction, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)

    @property
    def body(self) -> tuple[Instruction, ...]:
        """Its instructions, under the name that all statements which hold others have."""
        return self.instructions


@value
class CallPrototype:
    """`name: .callprototype (returns) _ (params) directives;`, what an indirect call looks like."""

    name: str
    params: tuple[Param, ...] = ()
    return_params: tuple[Param, ...] | None = None
    directives: tuple[FunctionDirective, ...] = ()
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class BranchTargets:
    """`name: .branchtargets labels;`; `L<3>` stands for L0, L1, L2."""

    name: str
    labels: tuple[str, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class CallTargets:
    """`name: .calltargets functions;`"""

    name: str
    functions: tuple[str, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


# debug information --------------------------------------------------------------------------------------------------

@value
class File:
    """`.file index "name", timestamp, size`"""

    index: int
    name: str
    timestamp: int | None = None
    size: int | None = None
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class Loc:
    """`.loc file line column, function_name label, inlined_at file line column`

    `intermediate` is `.loc_intermediate file line column`: a line of what the compiler read in between.
    """

    file: int
    line: int
    column: int
    function_name: str | None = None
    inlined_at: tuple[int, int, int] | None = None
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)
    intermediate: bool = field(default=False, kw_only=True)


@value
class SectionData:
    """`.b8 1, 2` in a section: the type without its dot, and values as text."""

    type: str
    values: tuple[str, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)


@value
class Section:
    """`.section name { data and labels }`"""

    name: str
    body: tuple[SectionData | Label | Comment | BlankLine | RawLine, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


@value
class DwarfLine:
    """`@@DWARF words`, debug information of PTX 1."""

    words: tuple[str, ...]
    formatting: FormattingInfo | None = field(**_CARRIED)


Statement = (RegDecl | VarDecl | Instruction | Label | PragmaDirective | Comment | BlankLine | RawLine | Block
             | IntrinsicScope | CompoundExpr | CallPrototype | BranchTargets | CallTargets | Loc | File | Section
             | DwarfLine)


# module -------------------------------------------------------------------------------------------------------------

@value
class Version:
    major: int
    minor: int
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class Target:
    targets: tuple[str, ...]
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class AddressSize:
    size: int
    formatting: FormattingInfo | None = field(**_FORMAT)

    @property
    def written(self) -> bool:
        """Whether the module says it; 64 where it does not."""
        return self.formatting is None or "=omit" not in dict(self.formatting.layout)


@value
class Param:
    state_space: StateSpace
    type: ScalarType
    name: str
    array_size: int | None = None
    alignment: int | None = None
    ptr_state_space: StateSpace | None = None
    ptr_alignment: int | None = None
    vector: int | None = field(default=None, kw_only=True)
    pointer: bool = field(kw_only=True, default=False)               # `.ptr` with neither space nor alignment
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class FunctionDirective:
    """A directive between parameter list and body: name without its dot, and its values. Texts keep their quotes."""

    name: str
    values: tuple[int | str, ...] = ()
    formatting: FormattingInfo | None = field(**_FORMAT)


@value
class Function:
    """A kernel or function; `declaration` is one without a body, ended by a semicolon."""

    is_entry: bool
    name: str
    params: tuple[Param, ...] = ()
    return_params: tuple[Param, ...] | None = None
    body: tuple[Statement, ...] = ()
    linking: LinkingDirective | None = None
    directives: tuple[FunctionDirective, ...] = ()
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)
    declaration: bool = field(kw_only=True, default=False)
    attributes: tuple[Attribute, ...] = field(kw_only=True, default=())


@value
class Alias:
    """`.alias name, aliasee;`"""

    name: str
    aliasee: str
    formatting: FormattingInfo | None = field(**_CARRIED)
    place: Place | None = field(**_CARRIED)


Directive = (VarDecl | Function | PragmaDirective | Comment | BlankLine | RawLine | Instruction | Alias | File | Loc
             | Section | DwarfLine)

SILENT = (Comment, BlankLine, Loc, File, Section, DwarfLine)            # they say nothing about the program


@value
class Module:
    """A PTX file. `diagnostics` is what `parse(..., recover=True)` refused."""

    version: Version
    target: Target
    address_size: AddressSize
    directives: tuple[Directive, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    @property
    def functions(self) -> tuple[Function, ...]:
        """Kernels and functions of the module, in order, declarations included."""
        return tuple(d for d in self.directives if isinstance(d, Function))

    @property
    def entries(self) -> tuple[Function, ...]:
        """Kernels of the module, in order."""
        return tuple(f for f in self.functions if f.is_entry)
