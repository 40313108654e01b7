"""`ptx.printf` and `ptx.check_`: output equals C's, errors name the line and the thread, and debug=False removes both."""

from __future__ import annotations

import numpy as np
import pytest
from support.tracing import accept

from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import SimulationError
from pyptx.types import bf16, f32, f64, s16, u8, u32, u64

SPECS = {"in_specs": (Tile(4, f32),), "out_specs": (Tile(4, f32),), "grid": 2, "block": 2}


def doubled(x, y):
    i = ptx.global_id()
    value = x[i]
    ptx.printf("x[%d] = %.2f", i, value)
    ptx.check_(value < 3.0, "x is small")
    y[i] = value * 2.0


def without(x, y):
    i = ptx.global_id()
    value = x[i]
    y[i] = value * 2.0


X = np.arange(4, dtype=np.float32)


def test_lines_have_the_thread_and_come_in_order(capsys):
    kernel(**SPECS)(doubled)(X / 2)
    assert capsys.readouterr().out.splitlines() == [
        f"cta ({i // 2}, 0, 0) thread ({i % 2}, 0, 0): x[{i}] = {i / 2:.2f}" for i in range(4)
    ]


def test_a_failed_check_names_the_line_and_the_thread():
    line = doubled.__code__.co_firstlineno + 4
    with pytest.raises(
        SimulationError, match=rf"(?s)test_debugging.py:{line}: .*thread \(1, 0, 0\) of CTA \(1, 0, 0\).*x is small"
    ):
        kernel(**SPECS)(doubled)(X)


def test_without_debug_the_machine_code_is_that_of_the_kernel_without_them(capsys):
    removed = kernel(**SPECS, debug=False)(doubled)
    removed(X)
    assert capsys.readouterr().out == ""
    codes = [[line.text for line in k.compile().sass] for k in (removed, kernel(**SPECS)(without))]
    assert codes[0] == codes[1]


def test_all_types_are_printed_as_in_c(capsys):
    @kernel(in_specs=(Tile(1, u32),), out_specs=(Tile(1, u32),))
    def shown(x, y):
        big, half, small = reg.scalar(u64, 1 << 40), reg.scalar(f32, -1.5).to(bf16), reg.scalar(s16, -7)
        ptx.printf("%d %x|%5.1f|%e|%hd|%u|%s|%%|%c|%d %d\n", big, big, half, reg.scalar(f64, 2.5), small, 3, "text", 65,
                   big == 0, ~(big == 0), where=False)  # fmt: skip
        ptx.printf("%d", reg.scalar(f32, 200.0).to(u8), where=False)
        y[0] = 0

    shown(np.zeros(1, np.uint32))
    assert capsys.readouterr().out == "1099511627776 10000000000| -1.5|2.500000e+00|-7|3|text|%|A|0 1\n200"
    accept(shown.module())


@pytest.mark.slow
def test_the_assembler_accepts_both():
    accept(kernel(**SPECS)(doubled).module())


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda x: ptx.printf("%d", x), r"(?s)%d prints an integer, not Reg\(%f0, f32\).*%f"),
        (lambda x: ptx.printf("%f", x.to(u32)), "(?s)%f prints a float, not .*%d"),
        (lambda x: ptx.printf("%f %f", x), "more conversions than the 1 values"),
        (lambda x: ptx.printf("%f", x, x), "1 of 2 values have no conversion"),
        (lambda x: ptx.printf("100%"), "(?s)not a conversion.*%% for %"),
        (lambda x: ptx.printf("%s", x), "%s prints text"),
        (lambda x: ptx.printf(x), "takes the format as text"),
        (lambda x: ptx.check_(x), "takes a predicate such as"),
    ],
)
def test_mistakes_are_refused_at_their_line(use, message):
    @kernel
    def wrong():
        use(reg.scalar(f32, 1.0))

    with pytest.raises(TypeError, match=message):
        wrong.ptx()
