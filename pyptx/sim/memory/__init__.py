"""Simulated memory: the address space, arguments of a launch, tensor maps, textures, functions of the driver."""
