"""Reasons for which a batch of launches does not share a grid."""

from __future__ import annotations

import pytest

from pyptx.grid_batch import alignments, obstacle
from pyptx.parser import parse

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
LOAD = "ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd1, %rd1;"


def module(body: str, before: str = "", directives: str = ""):
    return parse(f"""{HEADER}{before}
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{directives}
{{
    .reg .pred %p<3>;
    .reg .b16 %rs<3>;
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<9>;
    {body}
    ret;
}}
""")


def obstacle_of(body: str, before: str = "", directives: str = "") -> str | None:
    tree = module(body, before, directives)
    (entry,) = tree.entries
    return obstacle(tree, entry, {"x": 1024, "y": 0})


def loop(body: str) -> str:
    return f"{LOAD}\nL: {body}\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;"


@pytest.mark.parametrize(
    "body",
    [
        f"{LOAD} ld.global.u32 %r1, [%rd1];",
        "ld.param.b64 %rd1, [x+0]; ld.param.u32 %r1, [n];",
        "mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nclusterid.z; mov.u32 %r3, %cluster_ctaid.z;",
        loop("ld.relaxed.cta.shared.u32 %r1, [%r2];"),
        loop("ld.global.u32 %r1, [%rd1]; atom.shared.add.u32 %r1, [%r2], 1; fence.acq_rel.cta;"),
        f"{LOAD} atom.global.add.u32 %r1, [%rd1], 1; membar.gl;",
    ],
)
def test_plain_kernels_have_none(body: str):
    assert obstacle_of(body) is None


@pytest.mark.parametrize(
    "body, reason",
    [
        ("mov.b64 %rd1, x;", "it uses the parameter x in mov.b64, not only to load the address"),
        ("ld.param.u32 %r1, [x+4];", "it uses the parameter x in ld.param.u32"),
        ("{ .param .b64 x; st.param.b64 [x], %rd1; }", "a variable hides the parameter x"),
        ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];", "it uses textures or surfaces"),
        ("cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r1}];", "it uses tensor maps"),
        ("prefetch.tensormap [%rd1];", "it uses tensor maps"),
        ("griddepcontrol.wait;", "it uses griddepcontrol, which concerns the whole grid"),
        ("mov.u64 %rd1, %gridid;", "it reads %gridid"),
        ("mov.u32 %r1, %smid;", "it reads %smid"),
        ("mov.u16 %rs1, %ctaid.z;", "it reads %ctaid.z in mov.u16"),
        (loop("ld.acquire.gpu.u32 %r1, [%rd1];"), "its CTAs may wait for each other (ld.acquire.gpu.u32 in a loop)"),
        (loop("ld.volatile.global.u32 %r1, [%rd1];"), "its CTAs may wait for each other"),
        (loop("atom.global.cas.b32 %r1, [%rd1], 0, 1;"), "its CTAs may wait for each other"),
        (loop("membar.gl; ld.global.u32 %r1, [%rd1];"), "its CTAs may wait for each other"),
    ],
)
def test_a_body_has_an_obstacle(body: str, reason: str):
    assert (obstacle_of(body) or "").startswith(reason)


@pytest.mark.parametrize(
    "directives, reason",
    [
        (".reqnctapercluster 1, 1, 2", "its clusters extend in z"),
        (".blocksareclusters .reqntid 32 .reqnctapercluster 1", "its grid counts clusters"),
    ],
)
def test_directives_have_an_obstacle(directives: str, reason: str):
    assert (obstacle_of("", directives=directives) or "").startswith(reason)
    assert obstacle_of("", directives=".reqnctapercluster 2, 1, 1") is None


def test_variables_that_all_launches_share_may_only_be_read():
    shared = "it can write to the variable count, which all launches share"
    assert obstacle_of("st.global.u32 [count], 1;", ".global .u32 count;") == shared
    assert obstacle_of("mov.u64 %rd1, count;", ".global .u32 count;") == shared
    assert obstacle_of("", ".global .u32 count;\n.global .u64 at[1] = {count};") == shared
    assert obstacle_of("ld.global.u32 %r1, [count+4];", ".global .u32 count[2] = {1, 2};") is None
    assert obstacle_of("ld.const.u32 %r1, [count];", ".const .u32 count;") is None


FUNCTION = ".func f() { .reg .b32 %r<3>; .reg .b64 %rd<3>; BODY ret; }"


def test_functions_count_too():
    assert obstacle_of("call f;", FUNCTION.replace("BODY", "mov.u32 %r1, %smid;")) == "it reads %smid"
    waits = FUNCTION.replace("BODY", "ld.volatile.u32 %r1, [%rd1];")  # a loop may call it
    assert "wait for each other" in (obstacle_of("call f;", waits) or "")
    assert obstacle_of("call f;", ".extern .func f();") == "it calls functions of other modules"


def test_addresses_of_32_bits_are_left_alone():
    tree = parse(f"{HEADER.replace('64', '32')}.entry k(.param .u32 x) {{ ret; }}")
    assert obstacle(tree, tree.entries[0], {}) == "its addresses have 32 bits"
    tree = parse(f"{HEADER}.entry k(.param .u32 x) {{ ret; }}")
    assert obstacle(tree, tree.entries[0], {"x": 4}) == "parameter x is not an address"


WRITES = "it may write to"


@pytest.mark.parametrize(
    "body, reason",
    [
        ("st.global.u32 [%rd1], %r1; st.shared.u32 [%r1], %r2; red.shared::cta.add.u32 [%r1], 1;", None),
        ("add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;", f"{WRITES} y, which all elements share"),
        ("red.global.add.u32 [%rd2], 1;", f"{WRITES} y, which all elements share"),
        (
            "ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], %r1;",
            f"{WRITES} memory other than its arrays (st.global.u32)",
        ),
        ("st.u32 [%rd5], %r1;", f"{WRITES} memory other than its arrays (st.u32)"),
        ("cp.async.ca.shared.global [%r1], [%rd2], 16;", None),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16;", f"{WRITES} y, which all elements share"),
        (
            "st.shared.u64 [%r1], %rd2; ld.shared.u64 %rd3, [%r2]; st.global.u32 [%rd3], 1;",
            f"{WRITES} y, which all elements share",
        ),
        ("selp.b64 %rd3, %rd1, %rd2, %p1; st.global.u32 [%rd3], 1;", f"{WRITES} y, which all elements share"),
    ],
)
def test_an_element_writes_to_its_own_arrays(body: str, reason: str | None):
    assert obstacle_of(f"ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; {body}") == reason


@pytest.mark.parametrize(
    "body, expected",
    [
        ("ld.global.u16 %rs1, [%rd1]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];", (2, 16)),
        ("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];", (1, 1)),
        ("mad.wide.u32 %rd3, %r1, 8, %rd1; st.global.v2.f32 [%rd3+16], {%f1, %f2};", (8, 1)),
        ("ld.global.v4.u64 {%rd5, %rd6, %rd7, %rd8}, [%rd1];", (32, 1)),
        ("or.b64 %rd3, %rd1, 4; ld.global.f32 %f1, [%rd2];", (16, 4)),
        ("cvt.u32.u64 %r1, %rd1; mov.b64 {%r1, %r2}, %rd2;", (16, 16)),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4; discard.global.L2 [%rd2], 128;", (16, 128)),
    ],
)
def test_the_alignment_of_each_array(body: str, expected: tuple[int, int]):
    tree = module(f"ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; {body}")
    assert alignments(tree, tree.entries[0], ("x", "y")) == dict(zip("xy", expected, strict=True))
    assert obstacle(tree, tree.entries[0], {"x": 3 * expected[0], "y": 5 * expected[1]}) is None


def test_arrays_that_functions_receive():
    """Each value passed to a function may be any of its arguments."""
    function = ".func f(.reg .b64 %rd1) { .reg .f32 %f<5>; st.global.v2.f32 [%rd1], {%f1, %f2}; ret; }"
    tree = module("ld.param.u64 %rd1, [x]; call f, (%rd1);", function)
    assert alignments(tree, tree.entries[0], ("x", "y")) == {"x": 8, "y": 1}
