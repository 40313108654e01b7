"""Kernels written to be read: each file one, with a `main()` that compares it with NumPy.

`rms_norm` and `sgemm` first; then `vector_add`, `reduce_sum`, `transpose`, `softmax`, `layer_norm`, `cross_entropy` and
`swiglu`, which share `vectors` and `rows`; `warp_image` reads a texture and writes a surface. Matrix products,
attention and convolution have a folder for each generation of GPUs, `ampere`, `hopper` and `blackwell`; what those
share is in `products` and `scores`, what the kernels of one generation share in its `tiles`.

    python examples/hopper/gemm.py              a file by its path, from anywhere
    python -m examples.hopper.gemm              the same from the checkout
    pyptx tune examples/hopper/gemm.py -p M=4096 N=4096 K=4096
"""
