"""The simulated address space, and what of a launch lies in it: arguments, tensor maps, the heap."""
