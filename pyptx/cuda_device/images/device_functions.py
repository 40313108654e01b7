"""Functions of the device runtime that kernels call, as PTX: those that are simulated."""

from __future__ import annotations

import re

from pyptx.emitter import emit
from pyptx.linker import link
from pyptx.parser import parse

__all__ = ["with_device_functions"]

# The handle of a conditional node is the address of its value (server/conditional_nodes.py).
_SET_CONDITIONAL = """
.version {version}
.target {target}
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{{
    .reg .b64 %place;
    .reg .b32 %value;
    ld.param.b64 %place, [handle];
    ld.param.b32 %value, [value];
    st.relaxed.gpu.global.b32 [%place], %value;
    ret;
}}
"""
_NEEDED = re.compile(r"\.extern\s+\.func\s+cudaGraphSetConditional\b")
_VERSION, _TARGET = re.compile(r"^\s*\.version\s+([\d.]+)", re.M), re.compile(r"^\s*\.target\s+(\w+)", re.M)


def with_device_functions(text: str) -> str:
    """Return PTX linked with the functions of the device runtime that it declares and that are simulated."""
    version, target = _VERSION.search(text), _TARGET.search(text)
    if not _NEEDED.search(text) or version is None or target is None:
        return text
    own = _SET_CONDITIONAL.format(version=version[1], target=target[1])
    return emit(link([("module", parse(text)), ("device runtime", parse(own))]).module)
