"""The timeline of a CTA as the performance model replays it."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from pyptx import views
from pyptx.errors import ShapeError


@pytest.fixture(scope="module")
def gemm(request):
    from pyptx.cli.kernels import load_kernel

    return load_kernel(str(request.config.rootpath / "examples" / "hopper" / "gemm.py") + ":gemm")


def drawn(gemm, stages):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.zeros((512, 512), ml_dtypes.bfloat16)
    return views.timeline(gemm, a, a, BM=128, BN=128, STAGES=stages)


def test_more_stages_wait_less_and_end_sooner(gemm):
    two, four = drawn(gemm, 2), drawn(gemm, 4)
    assert [lane.name for lane in two.lanes if lane.team] == ["warps 0-3", "warps 4-7", "warps 8-11"]
    assert {"copy engine", "L2", "tensor pipe"} <= {lane.name for lane in two.lanes}
    assert "TMA, 2 stages" in two.reasons and "a free stage" in two.reasons
    assert four.end < two.end


def test_bars_lie_in_order_within_their_lanes(gemm):
    for lane in drawn(gemm, 3).lanes:
        assert all(bar.start <= bar.end for bar in lane.bars)
        assert [bar.start for bar in lane.bars] == sorted(bar.start for bar in lane.bars)


def test_its_text_and_picture_say_that_it_is_modeled(gemm):
    part = drawn(gemm, 3).between(0, 4000)
    assert str(part).startswith("gemm on H200 SXM, modeled: cycles 0 to 4000 of one CTA\n")
    assert "waits for TMA, 3 stages" in str(part)
    texts = [e.text for e in ElementTree.fromstring(part.svg()).iter("{http://www.w3.org/2000/svg}text")]
    assert "tensor pipe" in texts and "waits for TMA, 3 stages" in texts
    assert set(part._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}


def test_an_unknown_gpu_is_refused(gemm):
    with pytest.raises(ShapeError, match="h20000"):
        a = np.zeros((512, 512), pytest.importorskip("ml_dtypes").bfloat16)
        views.timeline(gemm, a, a, device="h20000")
