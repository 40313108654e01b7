"""torch.vmap of the examples: equal to a loop over the batch, with one launch where the kernel allows it."""

from __future__ import annotations

import numpy as np
import pytest
from support.launches import recorded_grids

from pyptx.testing import of_package

torch = pytest.importorskip("torch")

F32 = np.float32
HEADS = {"B": 1, "H": 1, "S": 16, "T": 16, "D": 64}
PRODUCT = {"M": 8, "N": 8, "K": 16}
MAPS = "it uses tensor maps, which hold addresses"
# Example and kernel, sizes of its inputs (or a function that returns them), parameters, obstacle.
EXAMPLES = {
    "vector_add": ({"N": 32}, {}, ""),
    "reduce_sum": ({"N": 72}, {"CTAS": 1}, ""),
    "transpose": ({"M": 8, "N": 12}, {}, ""),
    "softmax": ({"M": 2, "N": 40}, {}, ""),
    "rms_norm": ({"M": 2, "N": 40}, {}, ""),
    "layer_norm": ({"M": 2, "N": 40}, {}, ""),
    "cross_entropy": (
        lambda k: [np.arange(16, dtype=F32).reshape(2, 8) % (k + 2), np.array([3, k], np.int32)],
        {},
        "",
    ),
    "swiglu": ({"M": 2, "N": 8}, {}, ""),
    "swiglu.swiglu_backward": ({"M": 2, "N": 8}, {}, ""),
    "sgemm": (PRODUCT, {}, ""),
    "ampere/gemm": (PRODUCT, {"BM": 64, "BN": 64, "STAGES": 3}, ""),
    "ampere/attention": (HEADS, {}, ""),
    "hopper/gemm": (PRODUCT, {"BN": 64}, MAPS),
    "hopper/attention": (HEADS, {}, MAPS),
    "blackwell/gemm": (PRODUCT, {"CTAS": 1}, MAPS),
}


def elements(kernel, sizes, count: int) -> list[list[np.ndarray]]:
    """Return the inputs of `count` calls."""
    if callable(sizes):
        return [sizes(k) for k in range(count)]
    first = kernel.launcher.inputs_for((), sizes)
    return [[np.roll(x, k) for x in first] for k in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_for_a_batch(example, name: str):
    path, _, attribute = name.partition(".")
    kernel = getattr(example(path), attribute or path.rpartition("/")[2])
    sizes, params, obstacle = EXAMPLES[name]
    calls = [[of_package("torch", x) for x in inputs] for inputs in elements(kernel, sizes, 3)]
    loop = [kernel(*inputs, **params) for inputs in calls]
    loop = [outputs if isinstance(outputs, tuple) else (outputs,) for outputs in loop]
    batch = [torch.stack(arrays) for arrays in zip(*calls, strict=True)]
    with recorded_grids() as grids:
        found = torch.vmap(lambda *inputs: kernel(*inputs, **params))(*batch)
    for one, expected in zip(found if isinstance(found, tuple) else (found,), zip(*loop, strict=True), strict=True):
        assert torch.equal(one, torch.stack(expected))
    assert len(grids) == (3 if obstacle else 1)
    env = {**kernel.binder.sizes_of(of_torch(), calls[0]), **kernel.binder.split(params)[0]}
    reason = kernel.batch_launcher.specialize(env, params, [True] * len(batch), 3)
    assert (reason if isinstance(reason, str) else "") == obstacle


def of_torch():
    from pyptx.runtime.arrays import arrays_of_type

    return arrays_of_type(torch.Tensor)
