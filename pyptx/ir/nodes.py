"""IR nodes of a PTX module: immutable, built of tuples, compared by value.

Two nodes are equal when they are the same PTX; formatting and source location take no part in the comparison. Field
names and their order are public API, so fields added later are keyword-only.

A declaration of several names (`.reg .b32 a, b;`) becomes one node per name; the formatting of all but the last marks
the next node as its continuation.
"""

from __future__ import annotations

from dataclasses import field
from math import prod

from pyptx._frozen import frozen
from pyptx._lazy import pattern
from pyptx._loc import SourceLocation
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

__all__ = [
    "AddressOperand",
    "AddressSize",
    "Alias",
    "Attribute",
    "BlankLine",
    "Block",
    "BranchTargets",
    "CallPrototype",
    "CallTargets",
    "Comment",
    "CompoundExpr",
    "Directive",
    "DwarfLine",
    "FieldOperand",
    "File",
    "FormattingInfo",
    "Function",
    "FunctionDirective",
    "ImmediateOperand",
    "Instruction",
    "IntrinsicScope",
    "Label",
    "LabelOperand",
    "Layout",
    "Loc",
    "Module",
    "NegatedOperand",
    "NegativeOperand",
    "Operand",
    "Param",
    "ParenthesizedOperand",
    "PipeOperand",
    "PragmaDirective",
    "Predicate",
    "RawLine",
    "RegDecl",
    "RegisterOperand",
    "SILENT",
    "Section",
    "SectionData",
    "Statement",
    "SubscriptOperand",
    "Target",
    "VarDecl",
    "VectorOperand",
    "Version",
]


@frozen
class Predicate:
    """Guard predicate of an instruction, `@p` or `@!p`."""

    register: str
    negated: bool = False


# statements ---------------------------------------------------------------------------------------------------------


@frozen
class RegDecl:
    """Register declaration `.reg .v<vector> .type name<count>;`."""

    type: ScalarType
    name: str
    count: int | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)
    vector: int | None = field(default=None, kw_only=True)
    alignment: int | None = field(default=None, kw_only=True)


@frozen
class Attribute:
    """One entry of `.attribute(.name(values))`."""

    name: str
    values: tuple[int, ...] = ()


_DIMENSIONS = pattern(r"\[([^\]]*)\]")


@frozen
class VarDecl:
    """Variable declaration.

    `array_size` is 0 for an unsized array, `name[]`. A variable of several dimensions keeps them in its name,
    `a[2][3]`. `initializer` is a literal, a name, or a VectorOperand of them; text is printed verbatim.
    """

    state_space: StateSpace
    type: ScalarType
    name: str
    array_size: int | None = None
    alignment: int | None = None
    initializer: Operand | str | None = None
    linking: LinkingDirective | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)
    vector: int | None = field(default=None, kw_only=True)
    attributes: tuple[Attribute, ...] = field(kw_only=True, default=())
    bank: int | None = field(default=None, kw_only=True)  # of `.const[2]`, up to PTX 2.1

    @property
    def symbol(self) -> str:
        """Name without dimensions."""
        return self.name.partition("[")[0]

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Elements per dimension, outermost first; 0 for an unsized dimension, empty for a scalar."""
        inside = tuple(integer(text.strip()) or 0 for text in _DIMENSIONS.findall(self.name))
        return inside if self.array_size is None else (*inside, self.array_size)

    @property
    def elements(self) -> int:
        """Number of elements of the declared type, including the vector width; 0 when unsized."""
        return prod(self.dimensions) * (self.vector or 1)


@frozen
class Instruction:
    """Instruction. Modifiers keep their dots and their order."""

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    predicate: Predicate | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def mnemonic(self) -> str:
        """Opcode and modifiers as written in PTX."""
        return self.opcode + "".join(self.modifiers)


@frozen
class Label:
    """Label definition `name:`."""

    name: str
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class PragmaDirective:
    """`.pragma "value";`"""

    value: str
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class Comment:
    """Comment, including its delimiters."""

    text: str
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class BlankLine:
    """Blank line."""

    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class RawLine:
    """Text skipped by error recovery; printed verbatim."""

    text: str
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class Block:
    """Nested `{ }` scope of a function body."""

    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class IntrinsicScope:
    """Statements emitted by one `@intrinsic` call; printed between two comments."""

    name: str
    args_repr: str
    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class CompoundExpr:
    """Instructions of one `with ptx.expr():`, which compute a single value; prints as these instructions."""

    instructions: tuple[Instruction, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def body(self) -> tuple[Instruction, ...]:
        """The instructions, under the name shared by all nodes that contain statements."""
        return self.instructions


@frozen
class CallPrototype:
    """Signature of an indirect call: `name: .callprototype (returns) _ (params) directives;`."""

    name: str
    params: tuple[Param, ...] = ()
    return_params: tuple[Param, ...] | None = None
    directives: tuple[FunctionDirective, ...] = ()
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class BranchTargets:
    """Branch targets of an indirect branch: `name: .branchtargets labels;`. `L<3>` denotes L0, L1, L2."""

    name: str
    labels: tuple[str, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class CallTargets:
    """Possible callees of an indirect call: `name: .calltargets functions;`."""

    name: str
    functions: tuple[str, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class Alias:
    """Function alias `.alias name, aliasee;`."""

    name: str
    aliasee: str
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


# debug information --------------------------------------------------------------------------------------------------


@frozen
class File:
    """Source file of debug information: `.file index "name", timestamp, size`."""

    index: int
    name: str
    timestamp: int | None = None
    size: int | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class Loc:
    """Source location `.loc file line column, function_name label, inlined_at file line column`.

    `intermediate` selects `.loc_intermediate`, a location in an intermediate representation.
    """

    file: int
    line: int
    column: int
    function_name: str | None = None
    inlined_at: tuple[int, int, int] | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)
    intermediate: bool = field(default=False, kw_only=True)


@frozen
class SectionData:
    """Data of a section, `.b8 1, 2`: the type without its dot, and the values as text."""

    type: str
    values: tuple[str, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)


@frozen
class Section:
    """Debug section `.section name { data and labels }`."""

    name: str
    body: tuple[SectionData | Label | Comment | BlankLine | RawLine, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)


@frozen
class DwarfLine:
    """DWARF line `@@DWARF words` of PTX 1."""

    words: tuple[str, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)


Statement = (
    RegDecl
    | VarDecl
    | Instruction
    | Label
    | PragmaDirective
    | Comment
    | BlankLine
    | RawLine
    | Block
    | IntrinsicScope
    | CompoundExpr
    | CallPrototype
    | BranchTargets
    | CallTargets
    | Alias
    | Loc
    | File
    | Section
    | DwarfLine
)


# module -------------------------------------------------------------------------------------------------------------


@frozen
class Version:
    """`.version major.minor`"""

    major: int
    minor: int
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class Target:
    """`.target` with its architecture first, then its options."""

    targets: tuple[str, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class AddressSize:
    """`.address_size`: 32 or 64 bits."""

    size: int
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def written(self) -> bool:
        """True when the directive is present; the default is 64."""
        return self.formatting is None or "=omit" not in dict(self.formatting.layout)


@frozen
class Param:
    """Parameter of a kernel, function or call prototype."""

    state_space: StateSpace
    type: ScalarType
    name: str
    array_size: int | None = None
    alignment: int | None = None
    ptr_state_space: StateSpace | None = None
    ptr_alignment: int | None = None
    vector: int | None = field(default=None, kw_only=True)
    pointer: bool = field(kw_only=True, default=False)  # `.ptr` with neither space nor alignment
    hidden: bool = field(kw_only=True, default=False)  # `.hidden`, of a kernel parameter
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class FunctionDirective:
    """Directive between parameter list and body: its name without the dot, and its values. Strings keep their quotes."""

    name: str
    values: tuple[int | str, ...] = ()
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False, kw_only=True)


@frozen
class Function:
    """Kernel or function. `declaration` is True for one without a body, terminated by a semicolon."""

    is_entry: bool
    name: str
    params: tuple[Param, ...] = ()
    return_params: tuple[Param, ...] | None = None
    body: tuple[Statement, ...] = ()
    linking: LinkingDirective | None = None
    directives: tuple[FunctionDirective, ...] = ()
    formatting: FormattingInfo | None = field(default=None, compare=False, repr=False)
    place: SourceLocation | None = field(default=None, compare=False, repr=False)
    declaration: bool = field(kw_only=True, default=False)
    attributes: tuple[Attribute, ...] = field(kw_only=True, default=())


Directive = (
    RegDecl
    | VarDecl
    | Function
    | PragmaDirective
    | Comment
    | BlankLine
    | RawLine
    | Instruction
    | Alias
    | File
    | Loc
    | Section
    | DwarfLine
)

SILENT = (Comment, BlankLine, Loc, File, Section, DwarfLine)
"""Nodes without effect on the program: comments, blank lines and debug information."""


@frozen
class Module:
    """PTX translation unit. `diagnostics` holds the errors found by `parse(..., recover=True)`."""

    version: Version
    target: Target
    address_size: AddressSize
    directives: tuple[Directive, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    @property
    def functions(self) -> tuple[Function, ...]:
        """Kernels and functions of the module in source order, including declarations."""
        return tuple(d for d in self.directives if isinstance(d, Function))

    @property
    def entries(self) -> tuple[Function, ...]:
        """Kernels of the module in source order."""
        return tuple(f for f in self.functions if f.is_entry)
