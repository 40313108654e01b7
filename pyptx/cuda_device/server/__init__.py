"""The process of a simulated device: it serves one client process, over a socket and shared memory."""
