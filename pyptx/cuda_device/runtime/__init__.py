"""A CUDA runtime library (libcudart.so.13) over the driver API, for programs built by nvcc -cudart shared."""
