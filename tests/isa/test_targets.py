"""Targets, hardware limits, and special registers."""

from __future__ import annotations

import pytest

from pyptx.isa import registers, targets

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("arch", "version"),
    [
        ("sm_80", (8, 5)),
        ("sm_90a", (8, 5)),
        ("sm_100a", (8, 8)),
        ("sm_101a", (8, 8)),
        ("sm_103a", (8, 8)),
        ("sm_110a", (9, 0)),
        ("sm_120a", (8, 7)),
        ("sm_121a", (8, 8)),
        ("sm_107a", (9, 4)),
        ("sm_88", (9, 0)),
    ],
)
def test_default_version_is_8_5_or_the_lowest_of_the_target(arch, version):
    assert targets.default_version(arch) == version
    assert version >= targets.parse(arch).first_ptx


def test_an_unknown_target_suggests_similar_ones():
    with pytest.raises(ValueError, match="unknown target 'sm_9'; expected one of sm_90, sm_90a"):
        targets.parse("sm_9")
    with pytest.raises(ValueError, match="sm_90a"):
        targets.parse("hopper")


def test_targets_are_ordered_and_know_their_compatibility():
    parse = targets.parse
    assert sorted([parse("sm_100"), parse("sm_90a"), parse("sm_90")], key=lambda t: t)[0].name == "sm_90"
    assert parse("sm_80").runs_on(parse("sm_90a"))
    assert not parse("sm_90a").runs_on(parse("sm_100a"))
    assert parse("sm_100f").runs_on(parse("sm_103a"))
    assert not parse("sm_100f").runs_on(parse("sm_120a"))


def test_needs_are_parsed():
    family = targets.needs("100f* 110f* 90a ptx_86")
    on = {t.name for t in targets.ALL if family.on(t)}
    assert {"sm_90a", "sm_100a", "sm_103f", "sm_107a", "sm_110f"} <= on
    assert not on & {"sm_100", "sm_120a", "sm_90"}
    assert family.ptx == (8, 6)
    assert targets.needs("sm_30..61").on(targets.parse("sm_52"))
    assert not targets.needs("sm_30..61").on(targets.parse("sm_70"))
    with pytest.raises(ValueError, match="is not a target word"):
        targets.needs("hopper")


def test_limits_per_compute_capability():
    hopper = targets.parse("sm_90a").limits
    assert (hopper.smem_per_cta, hopper.warps_per_sm, hopper.ctas_per_sm) == (227 * 1024, 64, 32)
    assert targets.parse("sm_75").limits.smem_reserved == 0
    assert targets.parse("sm_100a").limits.tmem_columns == 512
    with pytest.raises(ValueError, match="expected sm_70 or later"):
        _ = targets.parse("sm_53").limits


def test_special_registers_and_their_components():
    assert registers.lookup("%tid.x").types[0] == "u32"
    assert registers.lookup("%clusterid").needs.words == "sm_90 or higher"
    assert registers.lookup("%laneid.x") is None
    assert registers.lookup("%r1") is None
    assert len(registers.SPECIAL) > 80
