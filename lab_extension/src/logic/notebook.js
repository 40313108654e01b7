// The notebook that the launcher's card makes.

const KERNEL = `%%ptxkernel -p N=1024 --run "y = scale(x)"
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: (N + 127) // 128, block=128)
def scale(a, b):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 128 + reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i < a.shape[0]):
        a_at, b_at = ptx.global_ptrs(a, b)
        for pointer in (a_at, b_at):
            ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(a_at))
        ptx.inst.st.global_.f32(ptx.addr(b_at), x * 2)

x = np.arange(1024, dtype=np.float32)`;

const ABOUT = "A kernel is Python under `%%ptxkernel`: run the cells, then point at a line of the view to see what it became.";

/**
 * A notebook that loads pyptx and holds a first kernel.
 * @param {{name: string, display_name: string} | null} kernelspec
 */
export function starter(kernelspec) {
  const code = (/** @type {string} */ source) => ({ cell_type: "code", execution_count: null, metadata: {}, outputs: [], source });
  return {
    nbformat: 4, nbformat_minor: 4,
    metadata: kernelspec ? { kernelspec: { ...kernelspec, language: "python" } } : {},
    cells: [code("%load_ext pyptx"), { cell_type: "markdown", metadata: {}, source: ABOUT }, code(KERNEL)],
  };
}
