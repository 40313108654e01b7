"""Host code of a CUDA C++ source: the functions without `__device__` or `__global__`, which NVRTC does not accept.

They are replaced by blanks, so every line and column keeps its number. Device code cannot call them, except `constexpr`
functions, which stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

__all__ = ["Token", "closing", "device_macros", "tokens", "without_host_code"]

_TOKEN = re.compile(
    r"""
    (?P<skip>//[^\n]*(?:\\\n[^\n]*)*|/\*.*?\*/|\s+)
  | (?P<text>(?:u8|[uUL])?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[\w.']|[eEpP][+-])*)
  | (?P<mark>::|->|<<<|>>>|.)
    """,
    re.X | re.S,
)
_LOGICAL_LINE = re.compile(r"(?:[^\n\\]|\\.)*", re.S)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)", re.M)
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEVICE = {
    "__device__",
    "__global__",
    "constexpr",
    "consteval",
    "__constant__",
    "__shared__",
    "__managed__",
    "__grid_constant__",
}
_OPEN, _CLOSE = {"(", "[", "{"}, {")", "]", "}"}
_CLASS = {"struct", "class", "union"}
_BEFORE_CLASS = {"typedef", "static", "const", "constexpr", "inline", "extern", "friend"}
_AFTER_PARAMETERS = {")", "const", "noexcept", "override", "final", "volatile", "&"}
_NOT_FUNCTIONS = {"alignas", "__align__", "__attribute__", "decltype", "__declspec", "template"}
_NOT_VARIABLES = {"using", "typedef", "struct", "class", "union", "enum", "static_assert", "friend", "asm", "namespace"}
_HOST_CLASSES = set(
    "vector string map unordered_map set unordered_set deque list queue stack shared_ptr unique_ptr thread mutex "
    "ostream istream ofstream ifstream stringstream ostringstream mt19937 random_device exception runtime_error "
    "function future condition_variable chrono filesystem any cout cerr endl cin atomic".split()
)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?((?:[^\n\\]|\\.|\\\n)*)", re.M)


class Token(NamedTuple):
    """A token with its position in the text."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of a source without comments, blanks and preprocessor directives."""
    found = []
    at, skipped = 0, _inactive(text)
    while at < len(text):
        if skipped and at >= skipped[0][0]:
            at = max(at, skipped.pop(0)[1])
            continue
        match = _TOKEN.match(text, at)
        assert match is not None, "the last alternative matches any character"
        kind = match.lastgroup or "mark"
        if match["mark"] == "#" and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            directive = _LOGICAL_LINE.match(text, at)
            assert directive is not None, "it matches the empty text"
            at = directive.end()
            continue
        if kind != "skip":
            found.append(Token("text" if kind == "tag" else kind, match[0], match.start(), match.end()))
        at = match.end()
    return found


def _inactive(text: str) -> list[tuple[int, int]]:
    """Return the spans of `#if 0`, and of `#else` branches that repeat the brace of the branch before."""
    spans: list[tuple[int, int]] = []
    open_conditions: list[tuple[int, bool]] = []  # start of the branch, and whether it is skipped
    for found in _CONDITION.finditer(text):
        word, condition = found[1], found[2].strip()
        if word != "endif" and word.startswith("if"):
            open_conditions.append((found.end(), condition in ("0", "false")))
            continue
        if not open_conditions:
            continue
        start, is_skipped = open_conditions.pop()
        if is_skipped:
            spans.append((start, found.start()))
        if word != "endif":
            rest = text[found.end() :]
            end = _CONDITION.search(rest)
            other = rest[: end.start()] if end else rest
            open_conditions.append((found.end(), other.count("{") != other.count("}") or condition == "0"))
    outer = []
    for span in sorted(spans):
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    return outer


def device_macros(texts: Iterable[str]) -> set[str]:
    """Return the macros whose definitions contain `__device__` or `__global__`, also through other macros."""
    bodies: dict[str, set[str]] = {}
    for text in texts:
        for name, body in _DEFINE.findall(text):
            bodies.setdefault(name, set()).update(_WORD.findall(body))
    found = set(_DEVICE)
    while more := {name for name, words in bodies.items() if name not in found and words & found}:
        found |= more
    return found | {f"?{name}" for name in bodies}


def without_host_code(text: str, device: AbstractSet[str] = frozenset(_DEVICE)) -> str:
    """Return the source with host functions replaced by blanks.

    Args:
        device: words that mark a function as device code, of `device_macros`. An upper-case word that is not a known
            macro counts as one.
    """
    for start, end in reversed(_host_spans(tokens(text), device)):
        text = text[:start] + _blank(text[start:end]) + text[end:]
    return text


def _blank(text: str) -> str:
    """Return blanks of the same shape; preprocessor directives stay, because code around them depends on them."""
    rows, is_directive = [], False
    for row in text.split("\n"):
        is_directive = row.lstrip().startswith("#") or (is_directive and rows[-1].endswith("\\"))
        rows.append(row if is_directive else " " * len(row))
    return "\n".join(rows)


def _host_spans(every: list[Token], device: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return the spans of host functions, of host variables, and of classes that hold objects of the host's library."""
    spans: list[tuple[int, int]] = []
    scopes: list[str] = []  # open namespaces and classes
    at = first = 0  # token, and first token of the declaration
    while at < len(every):
        word = every[at].text
        if word in (";", "}"):
            head = every[first:at]
            if word == ";" and _is_host_statement(head, scopes[-1:] == ["class"], device):
                spans.append((head[0].start, every[at].end))
            if word == "}" and scopes:
                scopes.pop()
            at = first = at + 1
        elif word in ("(", "["):
            at = closing(every, at) + 1
        elif word == ":" and every[at - 1].text in ("public", "private", "protected"):
            at = first = at + 1
        elif word == "{":
            head, end = every[first:at], closing(every, at)
            kind = _kind([token.text for token in head])
            if kind == "class" and _is_host_library(every[at:end]) and not _any_device(every[first:end], device):
                spans.append((head[0].start, every[end].end))
                at = first = end + 1
            elif kind in ("class", "namespace"):
                scopes.append(kind)
                at = first = at + 1
            elif kind == "function":
                if not _any_device(head, device, scopes[-1:] == ["class"]):
                    spans.append((head[0].start, every[end].end))
                at = first = end + 1
            else:
                at = end + 1
        else:
            at += 1
    return spans


def _is_host_statement(head: Sequence[Token], in_class: bool, device: AbstractSet[str]) -> bool:
    """Return whether a declaration without a body is one of host code: a function, or a variable of a namespace."""
    words = [token.text for token in head]
    if not words or _any_device(head, device, in_class) or (words[1:2] == ["("] and f"?{words[0]}" in device):
        return False  # the last is a macro
    if _declares_function(words) or _is_host_library(head):
        return True
    plain = not {"const", "template", "operator"} & set(words) and words[0] not in _NOT_VARIABLES
    return not in_class and plain and len(words) > 1


def _is_host_library(part: Sequence[Token]) -> bool:
    """Return whether tokens name a class of the C++ library that only host code can use, such as `std::vector`."""
    words = [token.text for token in part]
    return any(
        words[k : k + 2] == ["std", "::"] and words[k + 2 : k + 3] and words[k + 2] in _HOST_CLASSES
        for k in range(len(words) - 2)
    )


_STORAGE = frozenset(("static", "inline", "extern", "const"))


def _any_device(head: Sequence[Token], device: AbstractSet[str], in_class: bool = True) -> bool:
    """Return whether a declaration is one of device code; unknown macros count before its parameters and its value.

    Outside of a class, the only word before the name of a function is the type of its result, not a macro.
    """
    words = [token.text for token in head]
    if device & set(words):
        return True
    end = min((words.index(mark) for mark in ("(", "=", "{") if mark in words), default=len(words))
    before = words[: max(end - 1, 0)]
    types = [word for word in _without_template(before) if word not in _STORAGE]
    is_result = not in_class and words[end : end + 1] == ["("] and len(types) == 1
    return not is_result and any(_is_unknown_macro(word, device) for word in before)


def _declares_function(words: list[str]) -> bool:
    """Return whether a statement declares a function, rather than a variable, a type or an assertion."""
    words = _without_template(words)
    if "(" not in words or words[0] in ("using", "typedef", "friend", "static_assert"):
        return False
    at = words.index("(")
    before = words[:at]
    if ("=" in before and "operator" not in before) or {"default", "delete"} & set(words):
        return False
    named = len(before) > 1 or before[:1] not in ([], ["alignas"])
    return named and before[-1] not in _NOT_FUNCTIONS and words[at + 1 : at + 2] != ["*"]


def _is_unknown_macro(word: str, device: AbstractSet[str]) -> bool:
    return len(word) > 3 and word.isupper() and word not in ("FILE", "NULL") and f"?{word}" not in device


def _kind(words: list[str]) -> str:
    """Return what a brace after these words opens: a "namespace", "class", "function" or "value"."""
    words = _without_template(words)
    if "namespace" in words or (len(words) == 2 and words[0] == "extern"):
        return "namespace"
    start = next((word for word in words if word not in _BEFORE_CLASS), "")
    if start == "enum":
        return "value"
    if start in _CLASS and words[-1] not in _AFTER_PARAMETERS:
        return "class"
    if "(" not in words:
        return "value"
    before = words[: words.index("(")]
    if "=" in before and "operator" not in before:
        return "value"
    if ":" in words[words.index("(") :] and words[-1] not in _AFTER_PARAMETERS | {"}"}:
        return "value"  # of a member, in a list of initializers
    return "function"


def _without_template(words: list[str]) -> list[str]:
    """Remove `template <...>` at the start."""
    while words[:2] == ["template", "<"]:
        depth = 0
        for k, word in enumerate(words):
            depth += (word == "<") - (word == ">") - 3 * (word == ">>>") - 2 * (word == ">>")
            if word.startswith(">") and depth <= 0:
                words = words[k + 1 :]
                break
        else:
            return []
    return words


def closing(every: list[Token], at: int) -> int:
    """Return the index of the bracket that closes the one at `at`; the last token if there is none."""
    depth = 0
    for k in range(at, len(every)):
        depth += (every[k].text in _OPEN) - (every[k].text in _CLOSE)
        if depth == 0:
            return k
    return len(every) - 1
