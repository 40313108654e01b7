"""A CUDA device on the simulator, for programs that use the CUDA driver."""
