"""Build the index of symbols from the tokens of a document, valid or not.

The parser of `pyptx.parser` keeps no offsets of names and drops statements with errors; an editor needs both. So this
reader splits the tokens into statements and looks only for names: what a statement declares, and what it refers to.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyptx.ir.formatting import integer
from pyptx.language.symbols import Index, Occurrence, Scope, Symbol
from pyptx.language.text import Document, Token
from pyptx.parser.declarations import BANKS, LINKING, SPACES

__all__ = ["build_index"]

_LONGEST = 20  # digits of a count
_MOST_SIZES = 64  # tokens of dimensions that are shown
_FUNCTIONS = (".entry", ".func")
_DECLARING = SPACES.keys() | BANKS.keys() | LINKING.keys() | {".align", ".attribute"}
_HEADERS = (".version", ".target", ".address_size", ".file", ".loc", ".loc_intermediate", ".pragma", ".alias")
_LABELED = {".callprototype": "prototype", ".branchtargets": "targets", ".calltargets": "targets"}
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


def build_index(document: Document) -> Index:
    """Return the symbols of a document and every place that names them."""
    return _Reader(document).read()


class _Reader:
    def __init__(self, document: Document):
        self.document, self.tokens = document, document.tokens
        self.module = self.scope = Scope(0, len(document.text))
        self.scopes = [self.module]
        self.names: list[tuple[Token, Scope, Symbol | None]] = []  # with the symbol of a declaration
        self.opcodes: dict[int, tuple[str, ...]] = {}
        self.head: Scope | None = None  # scope of a function whose body follows

    def read(self) -> Index:
        at = 0
        while at < len(self.tokens):
            at = self._statement(at)
        return Index(self.module, self.scopes, self.opcodes, self._resolve)

    def _resolve(self) -> list[Occurrence]:
        found = []
        for token, scope, declared in self.names:
            name = token.text.partition(".")[0] if token.kind == "register" else token.text
            symbol = declared or scope.find(name, token.start)
            found.append(Occurrence(token.start, token.start + len(name), symbol, declared is not None))
        return sorted(found, key=lambda one: one.start)

    # statements -----------------------------------------------------------------------------------------------------

    def _statement(self, at: int) -> int:
        """Read the statement at index `at`; return the index after it."""
        token = self.tokens[at]
        if token.text == "{" and token.kind == "punctuator":
            self._open(token)
            return at + 1
        if token.text == "}" and token.kind == "punctuator":
            self._close(token)
            return at + 1
        if token.text == ";":
            return at + 1
        if token.text == ".section":
            return self._skip_section(at)
        if self._is_label(at):
            return self._label(at)
        if token.text in _HEADERS:
            stop = self._header_end(at)
            self._refer(self.tokens[at + 1 : stop] if token.text in (".alias", ".loc") else ())
            return stop
        stop = self._end(at)
        words = self.tokens[at:stop]
        self._closed_by(words)
        return stop

    def _closed_by(self, words: Sequence[Token]) -> None:
        if any(word.text in _FUNCTIONS for word in words[:8]):
            self._function(words)
        elif words[0].text in _DECLARING:
            self._declaration(words)
        elif words[0].text in _LABELED:
            self._refer(words[1:] if words[0].text != ".callprototype" else ())
        else:
            self._instruction(words)

    def _end(self, at: int) -> int:
        """Return the index of the token that ends a statement: its semicolon, or the brace of a body or after it.

        A statement without a semicolon ends where a declaration starts a line.
        """
        depth, function = 0, False
        for i in range(at, len(self.tokens)):
            token = self.tokens[i]
            word = token.text if token.kind == "punctuator" else ""
            function = function or (token.kind == "directive" and token.text in _FUNCTIONS)
            if word == ";":
                return i
            if depth == 0 and ((word == "{" and function) or word == "}"):
                return i
            if i > at and token.kind == "directive" and self._starts_line(i) and self._interrupts(i):
                return i
            if word in _OPENING:
                depth += 1
            elif word in _CLOSING:
                depth -= 1
                if depth < 0:
                    return i if word == "}" else i + 1
        return len(self.tokens)

    def _interrupts(self, i: int) -> bool:
        """Return True if a directive at the start of a line cannot continue the statement before it."""
        word, previous = self.tokens[i].text, self.tokens[i - 1].text
        if word in (".reg", ".version", ".target", ".address_size", ".loc", *_FUNCTIONS):
            return previous not in _DECLARING
        return word in (".visible", ".extern", ".weak") and previous not in LINKING

    def _starts_line(self, i: int) -> bool:
        return i == 0 or "\n" in self.document.text[self.tokens[i - 1].end : self.tokens[i].start]

    def _header_end(self, at: int) -> int:
        """Return the index after a directive that needs no semicolon: at the next line, directive or semicolon."""
        for i in range(at + 1, len(self.tokens)):
            if self._starts_line(i) or self.tokens[i].kind == "directive" or self.tokens[i].text in (";", "{", "}"):
                return i
        return len(self.tokens)

    def _skip_section(self, at: int) -> int:
        for i in range(at, len(self.tokens)):
            if self.tokens[i].text == "}":
                return i + 1
        return len(self.tokens)

    # blocks ---------------------------------------------------------------------------------------------------------

    def _open(self, brace: Token) -> None:
        scope, self.head = self.head, None
        if scope is None:
            scope = Scope(brace.start, len(self.document.text), self.scope, self.scope.function)
            self.scopes.append(scope)
        self.scope = scope

    def _close(self, brace: Token) -> None:
        if self.scope.outer is None:
            return
        self.scope.end = brace.end
        function = self.scope.function
        if function is not None and function.body is self.scope:
            function.end = brace.end
        self.scope = self.scope.outer

    # names ----------------------------------------------------------------------------------------------------------

    def _is_label(self, at: int) -> bool:
        follows = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
        return self.tokens[at].kind in ("identifier", "register") and follows == ":"

    def _label(self, at: int) -> int:
        directive = self.tokens[at + 2].text if at + 2 < len(self.tokens) else ""
        self._declare(self.tokens[at], _LABELED.get(directive, "label"), directive if directive in _LABELED else "")
        return at + 2

    def _declare(
        self,
        token: Token,
        kind: str,
        detail: str,
        *,
        end: int = 0,
        scope: Scope | None = None,
        count: int | None = None,
    ) -> Symbol:
        scope = scope or self.scope
        known = None if count is not None else scope.single.get(token.text, [None])[0]
        if known is not None and known.kind == kind and kind in ("function", "entry", "variable"):
            symbol = known  # declared before its definition
            symbol.start, symbol.end, symbol.detail = token.start, max(end, token.end), detail
        else:
            symbol = Symbol(token.text, kind, detail, scope, token.start, max(end, token.end), count)
            scope.add(symbol)
        symbol.declared.append(token.start)
        self.names.append((token, scope, symbol))
        return symbol

    def _refer(self, words: Sequence[Token]) -> None:
        self.names += [(t, self.scope, None) for t in words if t.kind in ("identifier", "register") and t.text != "_"]

    def _instruction(self, words: Sequence[Token]) -> None:
        at = 0
        if words[0].text == "@":
            at = 2 if len(words) > 1 and words[1].text == "!" else 1
            self._refer(words[at : at + 1])
            at += 1
        if at < len(words) and words[at].kind == "identifier":
            opcode = words[at]
            stop = at + 1
            while stop < len(words) and words[stop].kind == "directive":
                stop += 1
            self.opcodes[opcode.start] = tuple(word.text for word in words[at:stop])
            at = stop
        self._refer(words[at:])

    def _declaration(self, words: Sequence[Token]) -> None:
        """Read `.reg .b32 %a, %b<4>;` or `.global .align 4 .u32 table[2] = {1, other};`."""
        kind = "register" if any(word.text == ".reg" for word in words) else "variable"
        depth, detail, named, first = 0, [], False, True
        for i, word in enumerate(words):
            if word.kind == "punctuator" and word.text in _OPENING:
                depth += 1
            elif word.kind == "punctuator" and word.text in _CLOSING:
                depth -= 1
            elif depth == 0 and word.text == ",":
                named = False
            elif word.kind in ("identifier", "register"):
                if depth == 0 and not named:
                    named, first = True, False
                    count = self._count(words, i)
                    self._declare(word, kind, " ".join(detail) + _size(words, i), end=words[-1].end, count=count)
                elif words[i + 1 : i + 2] and words[i + 1].text != "(":  # not the operator of `generic(name)`
                    self._refer([word])
            elif depth == 0 and first and word.kind in ("directive", "integer"):
                detail.append(word.text)

    @staticmethod
    def _count(words: Sequence[Token], i: int) -> int | None:
        """Return the count of a family, `%r<10>`; None for a single name."""
        if i + 2 < len(words) and words[i + 1].text == "<" and words[i + 2].kind == "integer":
            return integer(words[i + 2].text[:_LONGEST]) or 0
        return None

    def _function(self, words: Sequence[Token]) -> None:
        """Read the head of a function: its name, and its parameters in the scope of its body."""
        at = next(i for i, word in enumerate(words) if word.text in _FUNCTIONS)
        kind = "entry" if words[at].text == ".entry" else "function"
        scope = Scope(words[0].start, words[-1].end, self.module, None)
        depth, name, piece = 0, None, []
        groups: list[list[list[Token]]] = []
        attribute = False
        for word in words[at + 1 :]:
            if word.text == ".attribute":
                attribute = True
            elif word.text == "(":
                depth += 1
                piece = []
                groups += [[piece]] if depth == 1 and not attribute else []
            elif word.text == ")":
                depth -= 1
                attribute = attribute and depth > 0
            elif depth == 1 and word.text == ",":
                piece = []
                if groups and not attribute:
                    groups[-1].append(piece)
            elif depth:
                piece.append(word)
            elif word.kind == "identifier" and name is None:
                name = word
        if name is not None:
            detail = " ".join(word.text for word in words[: at + 1])
            function = self._declare(name, kind, detail, end=words[-1].end, scope=self.module)
            scope.function, function.body = function, scope
        for parameter in (piece for group in groups for piece in group):
            self._parameter(parameter, scope)
        self.scopes.append(scope)
        self.scope = self.module  # also after a function without its last brace
        following = self.tokens[self.document.index_at(words[-1].end) :][:1]
        if following and following[0].text == "{":
            scope.end, self.head = len(self.document.text), scope

    def _parameter(self, words: Sequence[Token], scope: Scope) -> None:
        for i, word in enumerate(words):
            if word.kind in ("identifier", "register") and word.text != "_":
                kind = "register" if any(other.text == ".reg" for other in words[:i]) else "parameter"
                detail = " ".join(other.text for other in words[:i]) + _size(words, i)
                self._declare(word, kind, detail, end=words[-1].end, scope=scope)
                return


def _size(words: Sequence[Token], i: int) -> str:
    """Return the dimensions after a name, as written: "[16]"."""
    text, depth = "", 0
    for word in words[i + 1 : i + 1 + _MOST_SIZES]:
        depth += word.text == "["
        if depth == 0:
            break
        text += word.text
        depth -= word.text == "]"
    return text
