"""Example kernels: one per file, each with a `main()` that compares it with NumPy.

Start with `rms_norm` and `sgemm`. `vector_add`, `reduce_sum`, `transpose`, `softmax`, `layer_norm`, `cross_entropy` and
`swiglu` share `vectors` and `rows`; `warp_image` reads a texture and writes a surface. Matrix products, attention and
convolution have a folder per GPU generation, `ampere`, `hopper` and `blackwell`; `products` and `scores` hold what they
share, and `tiles` in each folder what the kernels of one generation share.

    python examples/hopper/gemm.py              run a file by its path, from anywhere
    python -m examples.hopper.gemm              run it from the checkout
    pyptx tune examples/hopper/gemm.py -p M=4096 N=4096 K=4096
"""
