"""The torch operator for every example: schema, fake tensors, autograd and dynamic shapes pass `opcheck`."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pyptx.testing import of_package

torch = pytest.importorskip("torch")

F32, BF16 = np.float32, ml_dtypes.bfloat16
CHECKS = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
HEADS = {"B": 1, "H": 1, "S": 16, "T": 16, "D": 64}
# Example and kernel, sizes of its random inputs (or a function that returns its inputs), parameters.
EXAMPLES = {
    "vector_add": ({"N": 5}, {}),
    "reduce_sum": ({"N": 70}, {"CTAS": 2}),
    "transpose": ({"M": 5, "N": 7}, {}),
    "softmax": ({"M": 2, "N": 40}, {}),
    "rms_norm": ({"M": 2, "N": 40}, {}),
    "rms_norm_fp8": ({"M": 2, "N": 40}, {}),
    "rms_norm_backward": ({"M": 2, "N": 40}, {"PARTS": 1}),
    "selective_scan": (lambda scan: scan.inputs(1, 5, 64), {"LC": 1}),
    "moe_routing": ({"M": 3, "E": 5}, {"TOP": 2}),
    "moe_routing.sort_by_expert": (lambda _: [np.array([1, 0, 1], np.int32)], {"E1": 3}),
    "sampling": (lambda _: [np.ones((2, 8), BF16), np.zeros(2, F32)], {"top_k": 2, "top_p": 0.9, "temperature": 1.0}),
    "layer_norm": ({"M": 2, "N": 40}, {}),
    "cross_entropy": (lambda _: [np.ones((2, 9), F32), np.array([3, 8], np.int32)], {}),
    "swiglu": ({"M": 2, "N": 9}, {}),
    "swiglu.swiglu_backward": ({"M": 2, "N": 9}, {}),
    "sgemm": ({"M": 4, "N": 5, "K": 6}, {}),
    "ampere/gemm": ({"M": 8, "N": 8, "K": 8}, {"BM": 64, "BN": 64, "STAGES": 3}),
    "ampere/attention": (HEADS, {}),
    "ampere/paged_attention": (
        lambda paged: paged.inputs(1, 4, 2, 64, 16, [20], BF16),
        {"SPLITS": 2},
    ),
    "hopper/gemm": ({"M": 8, "N": 8, "K": 8}, {"BN": 64}),
    "hopper/persistent_gemm": ({"M": 8, "N": 8, "K": 8}, {"BN": 128, "CTAS": 2}),
    "hopper/stream_k_gemm": ({"M": 8, "N": 8, "K": 8}, {"BN": 64, "CTAS": 2, "W": 128 * 64}),
    "hopper/fp8_gemm": (lambda fp8: fp8.inputs(np.ones((8, 16), F32), np.ones((8, 16), F32)), {"CTAS": 2}),
    "hopper/grouped_gemm": (
        lambda _: [*(np.ones(shape, BF16) for shape in ((8, 8), (1, 8, 8))), np.array([0, 8], np.int32)],
        {"BN": 128, "CTAS": 2},
    ),
    "hopper/moe_backward.expert_gradients": (
        lambda _: [*(np.ones(shape, BF16) for shape in ((8, 8), (8, 8))), np.array([0, 8], np.int32)],
        {"G": 1},
    ),
    "hopper/convolution": (
        {"N": 1, "H": 3, "W": 3, "C": 8, "R": 1, "S": 1, "F": 8},
        {"P": 3, "Q": 3, "PAD": 0, "CTAS": 1},
    ),
    "hopper/attention": (HEADS, {}),
    "hopper/persistent_attention": ({"B": 1, "H": 2, "HK": 1, "S": 16, "D": 64}, {"CTAS": 1}),
    "hopper/attention_backward": ({**HEADS, "SP": 128}, {"CLUSTER": 1}),
    "blackwell/gemm": ({"M": 8, "N": 8, "K": 8}, {"CTAS": 1}),
    "blackwell/pair_gemm": ({"M": 8, "N": 8, "K": 8}, {"CTAS": 2}),
    "blackwell/nvfp4_gemm": (lambda m: m.inputs(np.ones((8, 256), F32), np.ones((8, 256), F32)), {"CTAS": 1}),
    "blackwell/attention": (HEADS, {}),
}


def test_no_example_with_tiles_is_left_out():
    folder = Path(__file__).parents[2] / "examples"
    files = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.py")
        if "def main(" in path.read_text()
    }
    assert {name.partition(".")[0] for name in EXAMPLES} == files - {"warp_image"}


@pytest.mark.sampled(3)
@pytest.mark.transform("PyTorch", "`torch.library.opcheck`", "passed by every example with Tiles")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "/" in name else ()) for name in EXAMPLES]
)
def test_an_example_is_an_operator_as_torch_wants_them(example, name: str):
    path, _, attribute = name.partition(".")
    module = example(path)
    kernel = getattr(module, attribute or path.rpartition("/")[2])
    inputs, params = EXAMPLES[name]
    if callable(inputs):
        arrays = inputs(module)
        if isinstance(arrays[0], (list, tuple)):
            arrays, params = arrays[0], {**params, "alpha": arrays[1]}
    else:
        arrays = kernel.launcher.inputs_for((), inputs)
    tensors = [of_package("torch", array) for array in arrays]
    # test_schema multiplies the inputs, which torch cannot do with 8-bit floats on the CPU.
    text = "".join(f"{name}={value!r}\n" for name, value in params.items())
    torch.library.opcheck(
        torch.ops.pyptx.launch,
        (kernel.recorded_identity(), text, tensors),
        test_utils=CHECKS if any(x.dtype.itemsize == 1 for x in tensors) else (*CHECKS, "test_schema"),
    )
