"""The C stubs of the runtime library, generated from the table of functions and the names of errors.

Standard library only: the build loads this file by path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["c_source"]


def c_source(functions: Sequence[Any], errors: Mapping[int, tuple[str, str | None]]) -> str:
    """Return the text of stubs.inc.

    Args:
        functions: rows of `functions.runtime_functions()`.
        errors: name and text of each error; the text is None where the driver's is used.
    """
    lines = ["// Generated from functions.txt and error_names.py when the library is built.", ""]
    for function in functions:
        if function.place == "forward":
            lines += _forward(function)
        elif function.place == "refused":
            lines += _refusal(function)
        if function.stream is not None:
            lines += _stream_variant(function)
        for suffix in function.variants:
            alias = f'EXPORT __attribute__((alias("{function.name}")))'
            lines += [f"extern __typeof({function.name}) {function.name}_{suffix} {alias};"]
    return "\n".join([*lines, *_errors(errors), ""])


def _parameters(count: int) -> str:
    return ", ".join(f"u64 a{k}" for k in range(count)) or "void"


def _forward(function: Any) -> Iterator[str]:
    """Declare the driver's function inside the stub: elsewhere it may have its own types."""
    given = ", ".join(f"a{k}" for k in range(function.count))
    types = ", ".join(["u64"] * function.count) or "void"
    yield f"EXPORT int {function.name}({_parameters(function.count)}) {{"
    yield f"    extern int {function.driver}_(" + types + f') __asm__("{function.driver}");'
    yield f"    int status = enter();\n    return left(status ? status : {function.driver}_({given}));\n}}"


def _refusal(function: Any) -> Iterator[str]:
    yield f"EXPORT int {function.name}(void) {{"
    yield f'    static atomic_int said;\n    return refuse("{function.name}", "{function.reason}", &said);\n}}'


def _stream_variant(function: Any) -> Iterator[str]:
    given = [f"a{k}" for k in range(function.count)]
    stream = given[function.stream]
    given[function.stream] = f"{stream} ? {stream} : PER_THREAD_STREAM"
    types = ", ".join(["u64"] * function.count)
    yield f"EXPORT int {function.name}_ptsz({_parameters(function.count)}) {{"
    yield f'    extern int {function.name}_({types}) __asm__("{function.name}");'
    yield f"    return {function.name}_({', '.join(given)});\n}}"


def _errors(errors: Mapping[int, tuple[str, str | None]]) -> list[str]:
    rows = [
        f'    {{ {code}, "{name}", {chr(34) + text + chr(34) if text else "NULL"} }},'
        for code, (name, text) in errors.items()
    ]
    return ["static const struct error errors[] = {", *rows, "    { 0, NULL, NULL }", "};"]
