"""Trace cache: a kernel that an earlier process traced and assembled is launched without a trace.

`dependencies` lists everything that a trace can read, or refuses the kernel; `executed` verifies the list while the kernel is
traced for the first time; `record` is what is kept of a trace; `restored` stands in for the trace, and makes it when its tree or
text is needed; `trace_cache` looks up and stores.
"""
