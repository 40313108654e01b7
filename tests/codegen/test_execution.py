"""Execution of generated files in parts: large function bodies mean the same as in one piece."""

from __future__ import annotations

import pytest

from pyptx.codegen import body_writer, ptx_to_python
from pyptx.codegen.execution import Part, trace_parts, trace_source
from pyptx.codegen.verify import differences
from pyptx.emitter import emit
from pyptx.parser import parse

IMPORTS = "from pyptx import kernel, reg, smem, ptx\nfrom pyptx.types import u32\n"
HEAD = '@kernel(arch="sm_90a")\ndef {}():\n'
BODY = (
    '    max = reg.scalar(u32, name="max")\n    # a comment\n',
    "    # only comments\n",
    "    with ptx.scope():\n        ptx.inst.mov.u32(max, 7)\n",
    "    ptx.ret()\n",
)


def test_a_body_in_parts_traces_like_the_function():
    head = HEAD.format("k")
    whole = trace_source(IMPORTS + head + "".join(BODY))
    parts = [Part(IMPORTS, False), Part(head, False), *(Part(text, True) for text in BODY)]
    assert emit(trace_parts(parts)) == emit(whole)


@pytest.mark.parametrize("name", ["max", "len", "later"])
def test_a_name_that_is_read_before_its_assignment_is_an_error_as_in_a_function(name):
    body = (
        f"    ptx.inst.mov.u32({name}, 7)\n",
        f'    {name} = reg.scalar(u32, name="x")\n',
    )
    head = HEAD.format("k")
    with pytest.raises(NameError, match=name):  # UnboundLocalError is one
        trace_source(IMPORTS + head + "".join(body))
    with pytest.raises(NameError, match=name):
        trace_parts([Part(IMPORTS, False), Part(head, False), *(Part(text, True) for text in body)])


def test_large_functions_of_a_file_keep_their_own_bodies(monkeypatch):
    monkeypatch.setattr(body_writer, "_PART_LINES", 3)
    functions = "".join(
        f".visible .entry k{i}()\n{{\n.reg .b32 %r<9>;\n"
        + "".join(f"mov.b32 %r{j}, {10 * i + j};\n{{ .reg .b32 %x; mov.b32 %x, 1; }}\n" for j in range(9))
        + "ret;\n}\n"
        for i in range(3)
    )
    module = parse(".version 8.5\n.target sm_90a\n.address_size 64\n" + functions)
    text = ptx_to_python(emit(module))  # verified in parts
    assert text.count("def k") == 3
    assert differences(module, trace_source(text)) == []
