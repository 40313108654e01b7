"""Environment variables about launches, read once on import."""

import os

BACKEND = os.environ.get("PYPTX_BACKEND") or None  # "sim" | "cuda"; overrides the arrays' device
CHECK = os.environ.get("PYPTX_CHECK") == "1"  # synchronize after each launch on a GPU, so that a fault names its kernel
