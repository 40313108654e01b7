"""Division of SMs, by the rules that the headers of CUDA give."""

from __future__ import annotations

import pytest

from pyptx.cuda_device.server.device_resources import (
    GroupRequest,
    Queues,
    Sms,
    all_sms,
    pack,
    split,
    split_by_count,
    unpack,
)
from pyptx.cuda_device.server.errors import DriverError

HOPPER, AMPERE = all_sms(132, 90), all_sms(108, 80)


def counts(groups) -> list[int]:
    return [group.count for group in groups]


@pytest.mark.parametrize(
    "whole, groups, flags, least, made, left",
    [
        (HOPPER, None, 0, 16, [16] * 8, 4),
        (HOPPER, None, 0, 0, [8] * 16, 4),
        (HOPPER, 3, 0, 17, [24] * 3, 60),  # rounded up to the alignment
        (HOPPER, None, 1, 3, [4] * 33, 0),  # without regard to clusters
        (HOPPER, None, 2, 1, [16] * 8, 4),  # for the largest clusters
        (AMPERE, None, 0, 0, [4] * 27, 0),
        (AMPERE, 2, 0, 5, [6] * 2, 96),
    ],
)
def test_groups_by_count_are_equal_aligned_and_disjoint(whole, groups, flags, least, made, left):
    found, rest = split_by_count(whole, groups, flags, least, 1)
    assert counts(found) == made and (rest.count if rest else 0) == left
    parts = [*found, *([rest] if rest else [])]
    assert sum(counts(parts)) == whole.count
    mask = 0
    for part in parts:
        assert not mask & part.mask
        mask |= part.mask
    assert mask == whole.mask


def test_groups_are_made_as_they_are_asked_for():
    found, rest = split(HOPPER, [GroupRequest(8, 4, 0, 0), GroupRequest(0, 2, 0, 1)], 1, 90)
    assert counts(found) == [8, 124] and rest is None
    found, rest = split(HOPPER, [GroupRequest(0, 0, 0, 0)], 1, 90)
    assert counts(found) == [128] and rest is not None and rest.count == 4 and rest.alignment == 2
    again, rest = split(rest, [GroupRequest(2, 2, 0, 0)], 2, 90)  # what is left can be divided again
    assert counts(again) == [2] and rest is not None and rest.count == 2
    assert split(HOPPER, [GroupRequest(132, 2, 0, 0), GroupRequest(0, 8, 0, 0)], 1, 90)[0][1] is None


@pytest.mark.parametrize(
    "request_, code",
    [
        (GroupRequest(12, 8, 0, 0), "INVALID_VALUE"),  # not a multiple
        (GroupRequest(9, 2, 0, 1), "INVALID_VALUE"),  # an SM has a neighbor
        (GroupRequest(40, 40, 0, 0), "INVALID_VALUE"),  # more than are scheduled together
        (GroupRequest(8, 4, 6, 0), "INVALID_VALUE"),
        (GroupRequest(136, 8, 0, 0), "INVALID_RESOURCE_CONFIGURATION"),
        (GroupRequest(8, 4, 0, 2), "INVALID_RESOURCE_CONFIGURATION"),  # locality domains
    ],
)
def test_requests_that_cannot_be_met_are_refused(request_, code):
    with pytest.raises(DriverError) as refused:
        split(HOPPER, [request_], 1, 90)
    assert refused.value.name == code


def test_a_part_is_not_divided_again():
    part = split_by_count(HOPPER, 1, 0, 64, 1)[0][0]
    for divide in (lambda: split_by_count(part, 1, 0, 8, 2), lambda: split(part, [GroupRequest(8, 8, 0, 0)], 2, 90)):
        with pytest.raises(DriverError, match="make a green context of it"):
            divide()


def test_resources_survive_their_structures():
    parts, rest = split_by_count(HOPPER, 2, 0, 16, 7)
    for resource in (HOPPER, *parts, rest, Queues(5)):
        assert unpack(pack(resource)) == resource
    assert unpack(pack(parts[0])).count == 16
    for data in (pack(None), bytes(144), pack(Sms(3, 2, 2))[:96] + bytes(48)):
        with pytest.raises(DriverError):
            unpack(data)
