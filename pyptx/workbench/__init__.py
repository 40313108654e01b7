"""The composition root: kernels and loaded PTX with every tool attached (views, checks, debugger, rooflines, tuning)."""
