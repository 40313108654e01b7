"""Printer: IR to PTX text.

A node with formatting prints as it was written; a node without prints canonically, on a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pyptx._loc import SourceLocation
from pyptx.emitter.tokens import function_head, instruction_tokens, layout_of, tokens_of
from pyptx.ir.formatting import FormattingInfo, SyntaxToken, join_tokens
from pyptx.ir.nodes import (
    AddressSize,
    BlankLine,
    Block,
    Comment,
    CompoundExpr,
    Directive,
    Function,
    Instruction,
    IntrinsicScope,
    Label,
    Loc,
    Module,
    PragmaDirective,
    RawLine,
    RegDecl,
    RegisterOperand,
    Section,
    SectionData,
    Statement,
    Target,
    VarDecl,
    Version,
)
from pyptx.ir.operands import operand_text

__all__ = ["Emitted", "emit", "emit_lines", "instruction_text", "operand_text"]


Node = Directive | Statement | SectionData
Header = Version | Target | AddressSize


class Emitted(NamedTuple):
    """PTX text with the Python location of each line; None for lines without one."""

    text: str
    places: tuple[SourceLocation | None, ...]


def emit(module: Module) -> str:
    """Return the module as PTX text.

    Parsed nodes print as in their source, byte for byte; nodes built in Python print canonically.
    """
    printer = Printer()
    printer.module(module)
    return "".join(printer.parts)


def emit_lines(module: Module) -> Emitted:
    """Return the module as PTX text with the Python location of every line."""
    printer = Printer()
    printer.module(module)
    text = "".join(printer.parts)
    return Emitted(text, tuple(_places(printer, text)))


def instruction_text(node: Instruction) -> str:
    """Return the text of one instruction: guard, mnemonic, operands, semicolon."""
    return join_tokens(instruction_tokens(node), layout_of(node))


class Printer:
    """Accumulates the text: `parts`, with the Python location of each in `owners`.

    Args:
        marks: keep the indices of the parts of instructions and labels in `marked`.
    """

    def __init__(self, *, marks: bool = False):
        self.marks = marks
        self.parts: list[str] = []
        self.owners: list[SourceLocation | None] = []
        self.marked: list[tuple[int, Node]] = []  # index of the part of each instruction and label
        self.declared: list[tuple[int, Node | Header]] = []  # the same for all other statements and directives
        self._templates: dict[tuple, str | None] = {}

    def _put(self, text: str, owner: SourceLocation | None = None) -> None:
        if text:
            self.parts.append(text)
            self.owners.append(owner)

    def module(self, module: Module) -> None:
        version, target, size = module.version, module.target, module.address_size
        number = f"{version.major}.{version.minor}"
        self._header(version, number, [SyntaxToken("kind", ".version"), SyntaxToken("number", number, " ", "int")])
        words = [SyntaxToken("kind", ".target")]
        for i, word in enumerate(target.targets):
            words += (
                [SyntaxToken(f",{i}", ",", ""), SyntaxToken(f"item{i}", word)] if i else [SyntaxToken("first", word)]
            )
        self._header(target, ", ".join(target.targets), words)
        number = str(size.size)
        self._header(size, number, [SyntaxToken("kind", ".address_size"), SyntaxToken("number", number, " ", "int")])
        self.body(module.directives, "", closed=False)

    def _header(self, node: Header, value: str, words: list[SyntaxToken]) -> None:
        formatting = node.formatting or _LINE
        if dict(formatting.layout).get("=omit") != value:
            self.declared.append((len(self.parts), node))
            self._put(leading_text(formatting) + join_tokens(words, formatting.layout) + trailing_text(formatting))

    def body(self, nodes: Sequence[Node], indent: str, *, closed: bool = True) -> None:
        """Print statements.

        Args:
            indent: indentation of statements without formatting.
            closed: more text follows, so that a line comment at the end needs a newline.
        """
        parts, owners, templates = self.parts, self.owners, self._templates
        marked = self.marked if self.marks else None
        shared: dict[int, str] = {}
        previous: Node | None = None
        joined = False  # this node continues the previous declaration
        fresh = False  # the text is known to end with a newline
        for index, node in enumerate(nodes):
            if not fresh and parts and parts[-1][-1] != "\n":
                self._fresh_line(previous, node)
            fresh = False
            if type(node) is Instruction:
                if marked is not None:
                    marked.append((len(parts), node))
                formatting, guard = node.formatting, node.predicate
                texts = [o.name if type(o) is RegisterOperand else operand_text(o) for o in node.operands]
                if formatting is None and guard is None:
                    words = " " + ", ".join(texts) if texts else ""
                    parts.append(f"{indent}{node.opcode}{''.join(node.modifiers)}{words};\n")
                    owners.append(node.place)
                    previous, fresh = node, True
                    continue
                key = (
                    indent if formatting is None else id(formatting),
                    len(texts),
                    None if guard is None else guard.negated,
                )
                try:
                    template = templates[key]
                except KeyError:
                    template = templates[key] = _template(formatting or _line(indent), node)
                if template is None:
                    formatting = formatting or _line(indent)
                    parts.append(
                        leading_text(formatting)
                        + join_tokens(instruction_tokens(node), formatting.layout)
                        + trailing_text(formatting)
                    )
                elif guard is None:
                    parts.append(template % (node.opcode + "".join(node.modifiers), *texts))
                else:
                    parts.append(template % (guard.register, node.opcode + "".join(node.modifiers), *texts))
                owners.append(node.place)
            elif type(node) is Loc:
                parts.append(self._loc(node, indent))
                owners.append(node.place)
            elif type(node) in _SHARED:  # identical lines share one node
                text = shared.get(id(node))
                if text is None:
                    before = len(parts)
                    self._other(node, indent)
                    shared[id(node)] = parts[before] if len(parts) > before else ""
                elif text:
                    parts.append(text)
                    owners.append(None)
            elif type(node) is RegDecl and not joined and node.formatting is None:
                self.declared.append((len(parts), node))
                parts.append(f"{indent}{_canonical(node)}\n")
                owners.append(node.place)
            elif isinstance(node, (RegDecl, VarDecl, PragmaDirective)):
                joined = self._declaration(node, indent, joined, nodes[index + 1] if index + 1 < len(nodes) else None)
            else:
                self._other(node, indent)
            previous = node
        if closed and previous is not None and parts[-1][-1] != "\n" and _open_comment(previous):
            self._put("\n")

    def _fresh_line(self, previous: Node | None, node: Node) -> None:
        """Start a new line unless the formatting of the node continues the current one; always after a line comment."""
        if node.formatting is None or (previous is not None and _open_comment(previous)):
            self._put("\n")

    # one node -------------------------------------------------------------------------------------------------------

    def _loc(self, node: Loc, indent: str) -> str:
        self.declared.append((len(self.parts), node))
        formatting = node.formatting
        key = (
            indent if formatting is None else id(formatting),
            node.intermediate,
            node.function_name is None,
            node.inlined_at is None,
        )
        try:
            template = self._templates[key]
        except KeyError:
            template = self._templates[key] = _loc_template(formatting or _line(indent), node)
        if template is None:
            formatting = formatting or _line(indent)
            text = join_tokens(tokens_of(node, dict(formatting.layout)), formatting.layout)
            return leading_text(formatting) + text + trailing_text(formatting)
        name = () if node.function_name is None else (node.function_name,)
        return template % (node.file, node.line, node.column, *name, *(node.inlined_at or ()))

    def _declaration(
        self, node: RegDecl | VarDecl | PragmaDirective, indent: str, joined: bool, following: Node | None
    ) -> bool:
        """Print a declaration, or a further name of the previous one; return True if the next node continues it."""
        formatting = node.formatting or _line(indent)
        layout = dict(formatting.layout)
        more = "=more" in layout and _continues(node, following)
        if "=continues" in layout and not joined:
            if self.parts and self.parts[-1][-1] != "\n":
                self._put("\n")
            formatting = FormattingInfo(indent, formatting.trailing, newline=formatting.newline or "\n")
        text = join_tokens(tokens_of(node, layout, continues=joined, more=more), formatting.layout)
        self.declared.append((len(self.parts), node))
        after = trailing_text(formatting) if more or "=more" not in layout else "\n"
        self._put(leading_text(formatting) + text + after, node.place)
        return more

    def _other(self, node: Node, indent: str) -> None:
        given = node.formatting
        formatting = given or _line(indent)
        match node:
            case Label(name, place=place):
                self.marked.append((len(self.parts), node))
                gap = formatting.layout[0][1] if formatting.layout else ""
                before = leading_text(given) if given else ""
                self._put(before + name + gap + ":" + trailing_text(formatting), place)
            case BlankLine():
                self._put(formatting.indent + formatting.newline if given else "\n")
            case Comment(text):
                text = text if given else text.replace("\n", "\n" + indent)
                self._put(leading_text(formatting) + text + trailing_text(formatting))
            case RawLine(text):
                self._put((leading_text(given) if given else "") + text + trailing_text(formatting))
            case Function():
                self._function(node)
            case Block(body, place=place):
                self._put(leading_text(formatting) + "{" + _opened(formatting), place)
                self._inside(body, indent + "\t", formatting, indent, place)
            case Section(name, body, place=place):
                head = (
                    SyntaxToken("kind", ".section"),
                    SyntaxToken("name", name),
                    SyntaxToken("{", "{", "\n" + indent),
                )
                self.declared.append((len(self.parts), node))
                self._put(
                    leading_text(formatting) + join_tokens(head, formatting.layout) + _opened(formatting),
                    place,
                )
                marked = len(self.marked)
                self._inside(body, "", formatting, indent, place)
                del self.marked[marked:]  # labels of section data are not statements
            case CompoundExpr(instructions):
                self.body(instructions, indent)
            case IntrinsicScope():
                self._scope(node, formatting, indent)
            case _:
                self.declared.append((len(self.parts), node))
                text = join_tokens(tokens_of(node, dict(formatting.layout)), formatting.layout)
                place = getattr(node, "place", None)
                self._put(leading_text(formatting) + text + trailing_text(formatting), place)

    def _function(self, node: Function) -> None:
        formatting, place = node.formatting or _FUNCTION, node.place
        if formatting.blank_lines_before:
            self._put("\n" * formatting.blank_lines_before)
        layout = dict(formatting.layout)
        self.declared.append((len(self.parts), node))
        head = "".join(line + "\n" for line in formatting.preceding_comments) + formatting.indent
        head += join_tokens(function_head(node, layout), formatting.layout)
        if node.declaration:
            self._put(head + trailing_text(formatting), place)
            return
        self._put(head + _opened(formatting), place)
        self._inside(node.body, "\t", formatting, "", place)

    def _inside(
        self,
        body: Sequence[Node],
        indent: str,
        formatting: FormattingInfo,
        close_indent: str,
        place: SourceLocation | None,
    ) -> None:
        """Print a body and its closing brace."""
        layout = dict(formatting.layout)
        closed = "=unclosed" not in layout  # the source of an unclosed body ends without a brace
        self.body(body, indent, closed=closed)
        if closed:
            self._put(layout.get("=close", close_indent) + "}" + trailing_text(formatting), place)

    def _scope(self, node: IntrinsicScope, formatting: FormattingInfo, indent: str) -> None:
        layout = dict(formatting.layout)
        arguments = node.args_repr.replace("\n", " ")
        self._put(
            leading_text(formatting) + f"// BEGIN {node.name}({arguments})" + trailing_text(formatting),
            node.place,
        )
        self.body(node.body, indent)
        self._put(
            layout.get("=close", indent)
            + f"// END {node.name}"
            + layout.get("=trailing", "")
            + layout.get("=newline", "\n"),
            node.place,
        )


_LINE = FormattingInfo()
_FUNCTION = FormattingInfo(blank_lines_before=1)
_SHARED = (BlankLine, SectionData)


@cache
def _line(indent: str) -> FormattingInfo:
    return FormattingInfo(indent)


def leading_text(formatting: FormattingInfo) -> str:
    """Return blank lines, comments and indentation in front of a node."""
    if not formatting.blank_lines_before and not formatting.preceding_comments:
        return formatting.indent
    comments = "".join(line + "\n" for line in formatting.preceding_comments)
    return "\n" * formatting.blank_lines_before + comments + formatting.indent


def trailing_text(formatting: FormattingInfo) -> str:
    """Return the rest of the last line of a node."""
    return formatting.trailing + formatting.newline


def _opened(formatting: FormattingInfo) -> str:
    """Return the rest of the line after an opening brace."""
    return dict(formatting.layout).get("=open", "\n")


def _template(formatting: FormattingInfo, node: Instruction) -> str | None:
    """Return a format string for instructions formatted like `node`, with %s for guard, mnemonic and operands.

    None when the mnemonic contains trivia.
    """
    if any(role.startswith("mod") for role, _ in formatting.layout):
        return None
    layout = tuple((role, gap.replace("%", "%%")) for role, gap in formatting.layout)
    holes = replace(
        node,
        opcode="%s",
        modifiers=(),
        operands=(_HOLE,) * len(node.operands),
        predicate=node.predicate and replace(node.predicate, register="%s"),
    )
    before, after = leading_text(formatting), trailing_text(formatting)
    return before.replace("%", "%%") + join_tokens(instruction_tokens(holes), layout) + after.replace("%", "%%")


_HOLE = RegisterOperand("%s")


def _canonical(node: RegDecl) -> str:
    """Return the text of a register declaration without formatting."""
    align = "" if node.alignment is None else f".align {node.alignment} "
    vector = "" if node.vector is None else f".v{node.vector} "
    count = "" if node.count is None else f"<{node.count}>"
    return f".reg {align}{vector}{node.type.ptx} {node.name}{count};"


def _loc_template(formatting: FormattingInfo, node: Loc) -> str | None:
    """Return a format string for `.loc` directives formatted like `node`, with %s for the values.

    None when a value has a spelling of its own.
    """
    if any(role[0] == "=" for role, _ in formatting.layout):
        return None
    layout = tuple((role, gap.replace("%", "%%")) for role, gap in formatting.layout)
    holes = replace(
        node,
        file="%s",
        line="%s",
        column="%s",
        function_name=node.function_name and "%s",
        inlined_at=node.inlined_at and ("%s",) * 3,
    )
    before, after = leading_text(formatting), trailing_text(formatting)
    return before.replace("%", "%%") + join_tokens(tokens_of(holes, {}), layout) + after.replace("%", "%%")


def _continues(node: Node, following: Node | None) -> bool:
    """Return True if `following` is a further name of the declaration `node`."""
    if following is None or type(following) is not type(node) or following.formatting is None:
        return False
    if "=continues" not in dict(following.formatting.layout):
        return False
    return all(getattr(node, name) == getattr(following, name) for name in _HEAD[type(node)])


_HEAD = {
    RegDecl: ("type", "vector", "alignment"),
    PragmaDirective: (),
    VarDecl: ("state_space", "type", "alignment", "linking", "vector", "attributes", "bank"),
}


def _open_comment(node: Node) -> bool:
    """Return True if the text of the node ends with a line comment and no newline."""
    if node.formatting is None or node.formatting.newline:
        return False
    if isinstance(node, Comment) and node.text[:2] in ("//", "# ") and not node.formatting.trailing.strip():
        return True
    return "//" in node.formatting.trailing or isinstance(node, IntrinsicScope)


def _places(printer: Printer, text: str) -> Iterable[SourceLocation | None]:
    """Return the Python location of every line of the text: that of the first part in it that has one."""
    lines = len(printer.parts)
    if text.count("\n") == lines == [part[-1] for part in printer.parts].count("\n"):  # each part is one line
        return printer.owners
    return _places_of_parts(printer)


def _places_of_parts(printer: Printer) -> Iterator[SourceLocation | None]:
    current: SourceLocation | None = None
    begun = False
    for text, place in zip(printer.parts, printer.owners, strict=True):
        if not begun or current is None:
            current = place
        lines = text.count("\n")
        if lines:
            yield current
            for _ in range(lines - 1):
                yield place
            begun = text[-1] != "\n"
            current = place if begun else None
        else:
            begun = True
    if begun:
        yield current
