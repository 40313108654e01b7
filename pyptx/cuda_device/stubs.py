"""The C stubs of the client library, generated from the table of entry points.

Standard library only: the build loads this file by path, beside `entry_points.py` and `error_codes.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["c_source"]


def c_source(
    entries: Sequence[Any], scalars: Mapping[str, tuple[str, str]], codes: Mapping[int, tuple[str, str]]
) -> str:
    """Return the text of stubs.inc.

    Args:
        entries: rows of `entry_points.entry_points()`.
        scalars: `entry_points.SCALARS`.
        codes: `error_codes.CODES`.
    """
    lines = ["// Generated from entry_points.txt and error_codes.py when the library is built.", ""]
    for entry in entries:
        if entry.place == "refused":
            lines += _refusal(entry)
        elif entry.place == "client":
            lines += []
        else:
            lines += _stub(entry, {name: c_type for name, (c_type, _) in scalars.items()})
        if entry.variant and entry.place in ("server", "device", "refused"):
            lines += [
                f'extern __typeof({entry.symbol}) {_variant(entry)} EXPORT __attribute__((alias("{entry.symbol}")));'
            ]
        elif entry.variant and entry.place == "client":
            lines += [
                f'extern __typeof({entry.symbol}) {_variant(entry)} EXPORT __attribute__((alias("{entry.symbol}")));'
            ]
    lines += [*_procedures(entries), *_errors(codes), ""]
    return "\n".join(lines)


def _variant(entry: Any) -> str:
    return f"{entry.symbol}_{entry.variant}"


def _refusal(entry: Any) -> list[str]:
    return [
        f"EXPORT int {entry.symbol}(void) {{",
        f'    static atomic_int said;\n    return refuse("{entry.symbol}", "{entry.reason}", &said);',
        "}",
    ]


def _stub(entry: Any, c_types: Mapping[str, str]) -> Iterator[str]:
    given = [a for a in entry.arguments if not a.result]
    results = [a for a in entry.arguments if a.result]
    kept = {"wrapped": "static int remote_", "internal": "static int remote_"}.get(entry.place, "EXPORT int ")
    yield f"{kept}{entry.symbol}({', '.join(_parameter(a, c_types) for a in entry.arguments) or 'void'}) {{"
    for a in results:
        if not a.optional and a.type not in ("text", "any"):
            yield f"    if (!{a.name}) return INVALID_VALUE;"
    for a in given:
        if a.type == "image":
            yield f"    {a.name} = image_start({a.name});\n    size_t {a.name}_size = size_of_image({a.name});"
            yield f"    if (!{a.name}_size) return {a.name} ? INVALID_IMAGE : INVALID_VALUE;"
        elif a.type == "str":
            yield f"    if (!{a.name}) return INVALID_VALUE;\n    size_t {a.name}_size = strlen({a.name});"
        elif a.type == "bytes":
            yield f"    size_t {a.name}_size = {a.name} ? (size_t)({a.size}) : 0;"
            if not a.size.isdigit():
                yield f"    if ({a.name}_size > UINT32_MAX) return INVALID_VALUE;"
    yield f"    int code_ = begin({entry.number});\n    if (code_) return code_;"
    for a in given:
        yield f"    put_word({_word(a, c_types)});"
    for a in given:
        if a.type in ("image", "str", "bytes"):
            yield f"    put_bytes({a.name}, {a.name}_size);"
    yield "    code_ = call();"
    if results:
        yield "    if (!code_) {"
        for a in results:
            yield f"        uint64_t {a.name}_word = get_word();"
        for a in results:
            yield f"        {_store(a, c_types)}"
        yield "    }"
    yield "    end_call();\n    return code_;\n}"


def _parameter(a: Any, c_types: Mapping[str, str]) -> str:
    if a.type in c_types:
        return f"{c_types[a.type]} {'*' if a.result else ''}{a.name}"
    if a.type == "cstring":
        return f"const char **{a.name}"
    if a.type in ("str", "text"):
        return f"{'' if a.result else 'const '}char *{a.name}"
    return f"{'' if a.result else 'const '}void *{a.name}"


def _word(a: Any, c_types: Mapping[str, str]) -> str:
    if a.type in ("image", "str"):
        return f"{a.name}_size"
    if a.type == "bytes":
        return f"{a.name} ? {a.name}_size : NOTHING"
    if a.type == "f32":
        return f"(union {{ double d; uint64_t w; }}){{ .d = {a.name} }}.w"
    return f"(uint64_t)(int64_t){a.name}" if a.type == "i32" else f"{a.name}"


def _store(a: Any, c_types: Mapping[str, str]) -> str:
    word = f"{a.name}_word"
    if a.type == "f32":
        return f"if ({a.name}) *OWN({a.name}) = (float)(union {{ uint64_t w; double d; }}){{ .w = {word} }}.d;"
    if a.type in c_types:
        return f"if ({a.name}) *OWN({a.name}) = ({c_types[a.type]}){word};"
    if a.type == "cstring":
        return f"*OWN({a.name}) = keep_text(get_bytes({word}), {word});"
    if a.type == "any":
        return f"if ({a.name}) memcpy(OWN({a.name}), get_bytes({word}), {word});"
    if a.type == "text":
        room = f"((size_t)({a.size}) - 1)"
        return (
            f"const unsigned char *{a.name}_text = get_bytes({word});\n"
            f"        if ({a.name} && ({a.size}) > 0) {{\n"
            f"            size_t n = {word} < {room} ? {word} : {room};\n"
            f"            memcpy(OWN({a.name}), {a.name}_text, n);\n            OWN({a.name})[n] = 0;\n        }}"
        )
    return f"memcpy(OWN({a.name}), get_bytes({word}), {word} < (size_t)({a.size}) ? {word} : (size_t)({a.size}));"


def _procedures(entries: Sequence[Any]) -> list[str]:
    rows = []
    for e in entries:
        if e.place == "internal":
            continue
        variant = f"(void *){_variant(e)}" if e.variant else "NULL"
        rows += [f'    {{ "{e.base}", {e.since}, (void *){e.symbol}, {variant} }},']
        if e.base != e.symbol:
            rows += [f'    {{ "{e.symbol}", {e.since}, (void *){e.symbol}, {variant} }},']
    return ["static const struct procedure procedures[] = {", *rows, "    { NULL, 0, NULL, NULL }", "};"]


def _errors(codes: Mapping[int, tuple[str, str]]) -> list[str]:
    rows = [f'    {{ {code}, "{name}", "{text}" }},' for code, (name, text) in codes.items()]
    return ["static const struct error errors[] = {", *rows, "    { 0, NULL, NULL }", "};"]
