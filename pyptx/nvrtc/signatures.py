"""Parameters of kernels: names from the source, types from the mangled name or the source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyptx.nvrtc.host_code import Token, closing, tokens
from pyptx.nvrtc.mangling import demangle

__all__ = [
    "DeclaredVariable",
    "KernelDeclaration",
    "Parameter",
    "Signature",
    "declared_kernels",
    "declared_variables",
    "signature_of",
]

_SKIPPED = {"const", "volatile", "__restrict__", "__restrict", "restrict", "struct", "class", "typename"}
_SKIPPED |= {"__grid_constant__"}
_SPECIFIERS = {"__device__", "__constant__", "__managed__", "static", "extern", "volatile", "inline", "constexpr"}
_WORDS = {"int", "char", "short", "long", "float", "double", "unsigned", "signed", "bool", *_SKIPPED}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: its C++ name, "" if it has none, and type, None if it is unknown."""

    name: str
    type: str | None

    def __str__(self) -> str:
        return " ".join(filter(None, [self.type or "?", self.name]))


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel: its C++ name with template arguments, and its parameters."""

    name: str
    params: tuple[Parameter, ...]

    @property
    def base(self) -> str:
        """The name without namespaces and template arguments."""
        return self.name.partition("<")[0].rpartition("::")[2]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.params))})"


@dataclass(frozen=True, slots=True)
class KernelDeclaration:
    """A `__global__` function as it is written: name, parameters, and whether it is a template."""

    name: str
    params: tuple[Parameter, ...]
    is_template: bool
    namespace: str = ""

    @property
    def qualified(self) -> str:
        """The name with its namespaces."""
        return f"{self.namespace}::{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class DeclaredVariable:
    """A variable in memory of the device: name, element type, and the text of each dimension."""

    name: str
    type: str
    dimensions: tuple[str, ...]


def declared_variables(text: str, spaces: Sequence[str] = ("__device__", "__constant__")) -> list[DeclaredVariable]:
    """Return the variables that a source declares with one of the specifiers `spaces`."""
    every = tokens(text)
    found = []
    for at, token in enumerate(every):
        if token.text not in spaces:
            continue
        end = at + 1
        while end < len(every) and every[end].text not in (";", "=", "(", "{", ","):
            end += 1
        words = [t.text for t in every[at + 1 : end] if t.text not in _SPECIFIERS]
        if end == len(every) or every[end].text == "(":
            continue
        name_at = words.index("[") - 1 if "[" in words else len(words) - 1
        if name_at < 1 or not _IDENTIFIER.fullmatch(words[name_at]):
            continue
        dimensions = "".join(words[name_at + 1 :]).strip("[]").split("][")
        type_name = _spelled([word for word in words[:name_at] if word not in _SKIPPED])
        found.append(DeclaredVariable(words[name_at], type_name, tuple(filter(None, dimensions))))
    return found


def declared_kernels(text: str) -> list[KernelDeclaration]:
    """Return the kernels that a source declares; names that macros form are not found."""
    every = tokens(text)
    found = []
    scopes: list[str] = []  # of each open brace: the namespace, or ""
    for at, token in enumerate(every):
        if token.text == "{":
            scopes.append(_namespace(every, at))
        elif token.text == "}" and scopes:
            scopes.pop()
        if token.text != "__global__":
            continue
        k = at + 1
        while k < len(every) and every[k].text not in (";", "{"):
            if every[k].text == "(":
                end = closing(every, k)
                if every[k - 1].kind == "word" and every[k - 1].text not in ("__launch_bounds__", "__attribute__"):
                    if every[k - 1].text.startswith("__") and end + 1 < len(every) and every[end + 1].kind == "word":
                        k = end + 1  # another attribute, such as __cluster_dims__(2, 1, 1)
                        continue
                    namespace = "::".join(filter(None, scopes))
                    params = tuple(map(_parameter, _split(every[k + 1 : end])))
                    found.append(KernelDeclaration(every[k - 1].text, params, _is_template(every, at), namespace))
                    break
                k = end + 1
            else:
                k += 1
    return found


def _namespace(every: Sequence[Token], at: int) -> str:
    """Return the name of the namespace that a brace opens, or ""."""
    k = at - 1
    while k >= 0 and (every[k].kind == "word" or every[k].text == "::") and every[k].text != "namespace":
        k -= 1
    return "".join(t.text for t in every[k + 1 : at]) if k >= 0 and every[k].text == "namespace" else ""


def _is_template(every: Sequence[Token], at: int) -> bool:
    """Return whether the declaration that contains a token starts with `template`."""
    k = at - 1
    while k >= 0 and every[k].text not in (";", "{", "}"):
        if every[k].text == "template":
            return True
        k -= 1
    return False


def _split(part: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at commas outside of brackets."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in part:
        depth += (token.text in "([{<") - (token.text in ")]}>")
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [tokens_ for tokens_ in found if tokens_ and [t.text for t in tokens_] != ["void"]]


def _parameter(part: Sequence[Token]) -> Parameter:
    texts = [token.text for token in part]
    if "=" in texts:
        texts = texts[: texts.index("=")]
    suffix = ""
    if "[" in texts:
        at = texts.index("[")
        texts, suffix = texts[:at], "*"
    name = ""
    if len(texts) > 1 and _IDENTIFIER.fullmatch(texts[-1]) and texts[-1] not in _WORDS and texts[-2] != "::":
        name = texts.pop()
    return Parameter(name, _spelled([text for text in texts if text not in _SKIPPED]) + suffix)


def _spelled(words: Sequence[str]) -> str:
    text = " ".join(words)
    return re.sub(r"\s*(::|[<*&])\s*", r"\1", text).replace(" >", ">").replace(" ,", ",")


def signature_of(mangled: str, declared: Sequence[KernelDeclaration], count: int) -> Signature:
    """Return the signature of an entry: `extern "C"` kernels have their types from the source alone.

    Args:
        count: number of its parameters in PTX.
    """
    found = demangle(mangled)
    simple = re.match(r"_ZN?L?(\d+)", mangled)
    name = mangled
    if found is not None:
        name = found.name
    elif simple:  # a type that `demangle` does not know
        name = mangled[simple.end() :][: int(simple[1])]
    base = name.partition("<")[0].rpartition("::")[2]
    same = [d for d in declared if d.name == base and len(d.params) == count]
    if found is None:
        known = len({d.params for d in same}) == 1 and not same[0].is_template
        return Signature(name, same[0].params if known else (Parameter("", None),) * count)
    names = [p.name for p in same[0].params] if same else [""] * count
    return Signature(name, tuple(Parameter(n, _plain(t)) for n, t in zip(names, found.params, strict=False)))


def _plain(type_name: str) -> str:
    """Return a type without qualifiers."""
    return re.sub(r"\b(?:const|volatile|__restrict__)\b\s*|\s+(?=\*)", "", type_name).strip()
