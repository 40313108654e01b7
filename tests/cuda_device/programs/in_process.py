"""pyptx.device: a kernel of pyptx on its own CUDA backend, in an ordinary process."""

import numpy as np

import pyptx
from pyptx import Tile, kernel, ptx
from pyptx.types import f32


@kernel(
    in_specs=(Tile("N", f32),),
    out_specs=(Tile("N", f32),),
    grid=lambda N: (N + 127) // 128,
    block=(128, 1, 1),
)
def double(x, y):
    i = ptx.global_id()
    with ptx.if_(i < x.shape[0]):
        y[i] = x[i] + x[i]


with pyptx.device("h200") as simulated, pyptx.use("cuda"):
    assert simulated.sms == 132
    x = np.arange(1000, dtype=np.float32)
    assert (double(x) == 2 * x).all()
    assert double.last_run.backend == "cuda"

try:
    with pyptx.device("b200"):
        pass
except pyptx.LaunchError as refused:
    assert "pyptx exec --arch GPU" in str(refused)
else:
    raise AssertionError("a second GPU")
print("done")
