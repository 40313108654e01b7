"""The backend that Triton finds through its entry points: with PYPTX_TRITON=sm_90a it runs kernels on the simulator.

Triton imports this package whenever it is imported itself, so that it loads nothing else.
"""
