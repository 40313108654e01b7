"""The tree as PTX text.

A node with formatting prints as it was written, one without prints canonically, a line for itself. The printer knows
the tree and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from pyptx._loc import Place
from pyptx.emitter.pieces import function_head, instruction, layout_of, pieces
from pyptx.ir.formatting import FormattingInfo, Piece, weave
from pyptx.ir.nodes import (
    BlankLine,
    Block,
    Comment,
    CompoundExpr,
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
    VarDecl,
)
from pyptx.ir.operands import operand_text

__all__ = ["Emitted", "emit", "emit_lines", "instruction_text", "operand_text"]


class Emitted(NamedTuple):
    """PTX text and, for each of its lines, the Python place that wrote it (None for lines nobody wrote)."""

    text: str
    places: tuple[Place | None, ...]


def emit(module: Module) -> str:
    """The module as PTX text: the bytes it was parsed from, or, for nodes built in Python, canonical lines."""
    printer = _Printer()
    printer.module(module)
    return "".join(printer.parts)


def emit_lines(module: Module) -> Emitted:
    """The module as PTX text with the Python place of every line."""
    printer = _Printer()
    printer.module(module)
    return Emitted("".join(printer.parts), tuple(_places(printer)))


def instruction_text(node: Instruction) -> str:
    """One instruction without what stands around it: guard, mnemonic, operands, semicolon."""
    return weave(instruction(node), layout_of(node))


class _Printer:
    """Text collected so far: `parts`, and for each the place it came from."""

    def __init__(self):
        self.parts: list[str] = []
        self.owners: list[Place | None] = []
        self.marked: list[tuple[int, Instruction | Label]] = []     # part of every instruction and label
        self.declared: list[tuple[int, Statement]] = []             # part of every other statement and directive
        self._templates: dict[tuple, str | None] = {}

    def _put(self, text: str, owner: Place | None = None) -> None:
        if text:
            self.parts.append(text)
            self.owners.append(owner)

    def module(self, module: Module) -> None:
        version, target, size = module.version, module.target, module.address_size
        number = f"{version.major}.{version.minor}"
        self._header(version, number, [Piece("kind", ".version"), Piece("number", number, " ", "int")])
        words = [Piece("kind", ".target")]
        for i, word in enumerate(target.targets):
            words += [Piece(f",{i}", ",", ""), Piece(f"item{i}", word)] if i else [Piece("first", word)]
        self._header(target, ", ".join(target.targets), words)
        number = str(size.size)
        self._header(size, number, [Piece("kind", ".address_size"), Piece("number", number, " ", "int")])
        self.body(module.directives, "", closed=False)

    def _header(self, node, value: str, words: list[Piece]) -> None:
        formatting = node.formatting or _LINE
        if dict(formatting.layout).get("=omit") != value:
            self._put(_before(formatting, formatting.indent) + weave(words, formatting.layout) + _after(formatting))

    def body(self, nodes: tuple[Statement, ...], indent: str, *, closed: bool = True) -> None:
        """Statements one after the other.

        Args:
            indent: for those that have no formatting.
            closed: something follows, which a comment at the end must not swallow.
        """
        parts, owners, marked, templates = self.parts, self.owners, self.marked, self._templates
        shared: dict[int, str] = {}
        previous: Statement | None = None
        joined = False                                      # the declaration before is continued by this one
        for index, node in enumerate(nodes):
            if parts and parts[-1][-1] != "\n":
                self._fresh_line(previous, node)
            if type(node) is Instruction:
                marked.append((len(parts), node))
                formatting, guard = node.formatting, node.predicate
                texts = [o.name if type(o) is RegisterOperand else operand_text(o) for o in node.operands]
                key = (indent if formatting is None else id(formatting), len(texts),
                       None if guard is None else guard.negated)
                try:
                    template = templates[key]
                except KeyError:
                    template = templates[key] = _template(formatting or _line(indent), node)
                if template is None:
                    parts.append(_before(formatting, formatting.indent) + weave(instruction(node), formatting.layout)
                                 + _after(formatting))
                elif guard is None:
                    parts.append(template % (node.opcode + "".join(node.modifiers), *texts))
                else:
                    parts.append(template % (guard.register, node.opcode + "".join(node.modifiers), *texts))
                owners.append(node.place)
            elif type(node) is Loc:
                parts.append(self._loc(node, indent))
                owners.append(node.place)
            elif type(node) in _SHARED:                     # lines that are the same are one node
                text = shared.get(id(node))
                if text is None:
                    before = len(parts)
                    self._other(node, indent)
                    shared[id(node)] = parts[before] if len(parts) > before else ""
                elif text:
                    parts.append(text)
                    owners.append(None)
            elif type(node) in _JOINABLE:
                joined = self._declaration(node, indent, joined, nodes[index + 1] if index + 1 < len(nodes) else None)
            else:
                self._other(node, indent)
            previous = node
        if closed and previous is not None and parts[-1][-1] != "\n" and _open_comment(previous):
            self._put("\n")

    def _fresh_line(self, previous: Statement | None, node: Statement) -> None:
        """End the line when the node has no formatting that says to go on in it, or a comment would swallow it."""
        if node.formatting is None or (previous is not None and _open_comment(previous)):
            self._put("\n")

    # one node -------------------------------------------------------------------------------------------------------

    def _loc(self, node: Loc, indent: str) -> str:
        self.declared.append((len(self.parts), node))
        formatting = node.formatting
        key = (indent if formatting is None else id(formatting), node.intermediate, node.function_name is None,
               node.inlined_at is None)
        try:
            template = self._templates[key]
        except KeyError:
            template = self._templates[key] = _loc_template(formatting or _line(indent), node)
        if template is None:
            text = weave(pieces(node, dict(formatting.layout)), formatting.layout)
            return _before(formatting, formatting.indent) + text + _after(formatting)
        values = [node.file, node.line, node.column]
        if node.function_name is not None:
            values.append(node.function_name)
        return template % (*values, *(node.inlined_at or ()))

    def _declaration(self, node, indent: str, joined: bool, following: Statement | None) -> bool:
        """A declaration, or one more name of the one before; returns whether the next node is one more name of it."""
        formatting = node.formatting or _line(indent)
        layout = dict(formatting.layout)
        more = "=more" in layout and _continues(node, following)
        if "=continues" in layout and not joined:
            if self.parts and self.parts[-1][-1] != "\n":
                self._put("\n")
            formatting = FormattingInfo(indent, formatting.trailing, newline=formatting.newline or "\n")
        text = weave(pieces(node, layout, continues=joined, more=more), formatting.layout)
        self.declared.append((len(self.parts), node))
        after = _after(formatting) if more or "=more" not in layout else "\n"
        self._put(_before(formatting, formatting.indent) + text + after, node.place)
        return more

    def _other(self, node: Statement, indent: str) -> None:
        given = node.formatting
        formatting = given or _line(indent)
        match node:
            case Label(name, place=place):
                self.marked.append((len(self.parts), node))
                gap = formatting.layout[0][1] if formatting.layout else ""
                before = _before(given, given.indent) if given else ""
                self._put(before + name + gap + ":" + _after(formatting), place)
            case BlankLine():
                self._put(formatting.indent + formatting.newline if given else "\n")
            case Comment(text):
                text = text if given else text.replace("\n", "\n" + indent)
                self._put(_before(formatting, formatting.indent) + text + _after(formatting))
            case RawLine(text):
                self._put((_before(given, given.indent) if given else "") + text + _after(formatting))
            case Function():
                self._function(node)
            case Block(body, place=place):
                self._put(_before(formatting, formatting.indent) + "{" + _opened(formatting), place)
                self._inside(body, indent + "\t", formatting, indent, place)
            case Section(name, body, place=place):
                head = (Piece("kind", ".section"), Piece("name", name), Piece("{", "{", "\n" + indent))
                self.declared.append((len(self.parts), node))
                self._put(_before(formatting, formatting.indent) + weave(head, formatting.layout) + _opened(formatting),
                          place)
                marked = len(self.marked)
                self._inside(body, "", formatting, indent, place)
                del self.marked[marked:]                    # labels of data are no statements
            case CompoundExpr(instructions):
                self.body(instructions, indent)
            case IntrinsicScope():
                self._scope(node, formatting, indent)
            case _:
                self.declared.append((len(self.parts), node))
                text = weave(pieces(node, dict(formatting.layout)), formatting.layout)
                place = getattr(node, "place", None)
                self._put(_before(formatting, formatting.indent) + text + _after(formatting), place)

    def _function(self, node: Function) -> None:
        formatting, place = node.formatting or _FUNCTION, node.place
        if formatting.blank_lines_before:
            self._put("\n" * formatting.blank_lines_before)
        layout = dict(formatting.layout)
        self.declared.append((len(self.parts), node))
        head = "".join(line + "\n" for line in formatting.preceding_comments) + formatting.indent
        head += weave(function_head(node, layout), formatting.layout)
        if node.declaration:
            self._put(head + _after(formatting), place)
            return
        self._put(head + _opened(formatting), place)
        self._inside(node.body, "\t", formatting, "", place)

    def _inside(self, body: tuple[Statement, ...], indent: str, formatting: FormattingInfo, close_indent: str,
                place: Place | None) -> None:
        """A body and the brace that ends it."""
        close = dict(formatting.layout).get("=close", close_indent)
        self.body(body, indent, closed=close is not None)
        if close is not None:                               # None: recovery found the end of the text instead
            self._put(close + "}" + _after(formatting), place)

    def _scope(self, node: IntrinsicScope, formatting: FormattingInfo, indent: str) -> None:
        layout = dict(formatting.layout)
        arguments = node.args_repr.replace("\n", " ")
        self._put(_before(formatting, formatting.indent) + f"// BEGIN {node.name}({arguments})" + _after(formatting),
                  node.place)
        self.body(node.body, indent)
        self._put(layout.get("=close", indent) + f"// END {node.name}" + layout.get("=trailing", "")
                  + layout.get("=newline", "\n"), node.place)


_LINE = FormattingInfo()
_FUNCTION = FormattingInfo(blank_lines_before=1)
_SHARED = (BlankLine, SectionData)
_JOINABLE = (RegDecl, VarDecl, PragmaDirective)


@cache
def _line(indent: str) -> FormattingInfo:
    return FormattingInfo(indent)


def _before(formatting: FormattingInfo, indent: str) -> str:
    if not formatting.blank_lines_before and not formatting.preceding_comments:
        return indent
    return ("\n" * formatting.blank_lines_before + "".join(line + "\n" for line in formatting.preceding_comments)
            + indent)


def _after(formatting: FormattingInfo) -> str:
    return formatting.trailing + formatting.newline


def _opened(formatting: FormattingInfo) -> str:
    """What stands in the line behind an opening brace."""
    return dict(formatting.layout).get("=open", "\n")


def _template(formatting: FormattingInfo, node: Instruction) -> str | None:
    """The text of instructions formatted like this one, with %s for guard, mnemonic and operands.

    None when there are blanks inside the mnemonic.
    """
    if any(role.startswith("mod") for role, _ in formatting.layout):
        return None
    layout = tuple((role, gap.replace("%", "%%")) for role, gap in formatting.layout)
    holes = replace(node, opcode="%s", modifiers=(), operands=(_HOLE,) * len(node.operands),
                    predicate=node.predicate and replace(node.predicate, register="%s"))
    before, after = _before(formatting, formatting.indent), _after(formatting)
    return before.replace("%", "%%") + weave(instruction(holes), layout) + after.replace("%", "%%")


_HOLE = RegisterOperand("%s")


def _loc_template(formatting: FormattingInfo, node: Loc) -> str | None:
    """The text of `.loc` directives of this form and formatting, with %s for values; None when one is respelled."""
    if any(role[0] == "=" for role, _ in formatting.layout):
        return None
    layout = tuple((role, gap.replace("%", "%%")) for role, gap in formatting.layout)
    holes = replace(node, file="%s", line="%s", column="%s", function_name=node.function_name and "%s",
                    inlined_at=node.inlined_at and ("%s",) * 3)
    before, after = _before(formatting, formatting.indent), _after(formatting)
    return before.replace("%", "%%") + weave(pieces(holes, {}), layout) + after.replace("%", "%%")


def _continues(node: Statement, following: Statement | None) -> bool:
    """Whether `following` is a further name of the declaration `node`."""
    if type(following) is not type(node) or following.formatting is None:
        return False
    if "=continues" not in dict(following.formatting.layout):
        return False
    return all(getattr(node, name) == getattr(following, name) for name in _HEAD[type(node)])


_HEAD = {RegDecl: ("type", "vector", "alignment"), PragmaDirective: (),
         VarDecl: ("state_space", "type", "alignment", "linking", "vector", "attributes", "bank")}


def _open_comment(node: Statement) -> bool:
    """Whether the text of the node ends with a comment that only the end of the line ends."""
    if node.formatting is None or node.formatting.newline:
        return False
    if isinstance(node, Comment) and node.text[:2] in ("//", "# ") and not node.formatting.trailing.strip():
        return True
    return "//" in node.formatting.trailing or isinstance(node, IntrinsicScope)


def _places(printer: _Printer) -> Iterator[Place | None]:
    """The place of every line: of the first part that begins in it and has one."""
    current: Place | None = None
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
