"""A CUDA device on the simulator, for programs that use the CUDA driver.

A program loads our `libcuda.so.1` (src/, built by build_client.py), which forwards the calls to a server process
(server/) over a private socket; the memory of the device is shared between both. `pyptx exec` starts the two
(listener.py). entry_points.txt says of every entry point of the driver whether it is handled, and how it is called.

    images/             PTX of what programs load: `ptx_of(image, target)`
    entry_points.txt    the table of entry points; entry_points.py reads it, stubs.py makes C stubs of it
    error_codes.py      status codes of the driver
    src/                the client library
    runtime/            libcudart.so.13, the runtime API over the driver API, for programs built with nvcc -cudart shared
    server/             handlers of the entry points, by family: `@handles("cuMemAlloc_v2")`
"""
