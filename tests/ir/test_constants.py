"""Values of constant expressions, as computed by ptxas."""

import pytest

from pyptx.ir.constants import constant_value

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("0x1F", 31),
        ("0b101", 5),
        ("017", 15),
        ("3U", 3),
        ("WARP_SZ", 32),
        ("WARP_SZ-1", 31),
        ("4*(2+1)", 12),
        ("2+3*4", 14),
        ("1<<3", 8),
        ("-8>>1", -4),
        ("~0", -1),
        ("!3", 0),
        ("!0", 1),
        ("- -1", 1),
        ("-7/2", -3),
        ("-7 % 2", -1),
        ("7 & 3 | 8", 11),
        ("6 ^ 3", 5),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 ? 4 : 5", 4),
        ("1 == 1 && 2 > 3", 0),
        ("0 || 2", 1),
        ("(.s64)-2", -2),
        ("(.u64)-1", 2**64 - 1),
        ("1 - 2 - 3", -4),
        ("-(.u64)-1", 1 - 2**64),
        ("-" * 20_000 + "1", 1),
        ("(" * 150 + "1" + ")" * 150, 1),
    ],
)
def test_a_constant_expression_has_a_value(text, value):
    assert constant_value(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "1+",
        "(1",
        "1)",
        "1.5",
        "0f3F800000",
        "4/0",
        "08",
        "1 2",
        "a+1",
        "1 ? 2",
        "%r1",
        "-",
        "1 ? " * 5_000 + "1" + " : 1" * 5_000,
    ],
)
def test_other_text_has_no_constant_value(text):
    assert constant_value(text) is None
