"""Hand-written PTX for the tests of the toolchain."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).parent / "ptx"


class Sample(NamedTuple):
    name: str
    text: str
    target: str
    options: tuple[str, ...] = ()


def many_values(count: int = 120) -> str:
    """A kernel that keeps `count` numbers over a barrier, more than 32 registers hold."""
    loads = [f"    ld.volatile.global.f32 %f{i}, [%rd0+{512 * i}];" for i in range(count)]
    stores = [f"    st.volatile.global.f32 [%rd0+{512 * i}], %f{i * 7 % count};" for i in range(count)]
    return "\n".join(
        [
            ".version 9.0",
            ".target sm_80",
            ".address_size 64",
            ".visible .entry many_values(.param .u64 p)",
            "{",
            f"    .reg .f32 %f<{count}>;",
            "    .reg .b64 %rd<2>;",
            "    .reg .b32 %r<2>;",
            "    ld.param.u64 %rd0, [p];",
            "    mov.u32 %r0, %tid.x;",
            "    mul.wide.u32 %rd1, %r0, 4;",
            "    add.u64 %rd0, %rd0, %rd1;",
            *loads,
            "    bar.sync 0;",
            *stores,
            "    ret;",
            "}",
            "",
        ]
    )


@pytest.fixture(scope="session")
def ptx() -> dict[str, str]:
    """Texts by name."""
    return {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.ptx"))} | {"many_values": many_values()}


SAMPLES = [
    ("saxpy", "sm_75", ()),
    ("saxpy", "sm_121a", ()),
    ("block_sum", "sm_89", ()),
    ("two_entries", "sm_90", ()),
    ("many_values", "sm_80", ("--maxrregcount=32",)),
    ("wgmma_sm_90a", "sm_90a", ()),
    ("tcgen05_sm_100a", "sm_100a", ()),
    ("block_scale_sm_120a", "sm_120a", ()),
]


@pytest.fixture(scope="session", params=SAMPLES, ids=lambda sample: "-".join(sample[:2]))
def sample(request: pytest.FixtureRequest, ptx: dict[str, str]) -> Sample:
    name, target, options = request.param
    return Sample(name, ptx[name], target, options)
