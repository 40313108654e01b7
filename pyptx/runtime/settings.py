"""What the environment says about launches; read once, when the first kernel is defined."""

import os

BACKEND = os.environ.get("PYPTX_BACKEND") or None       # "sim" | "cuda", instead of where the arrays are
CHECK = os.environ.get("PYPTX_CHECK") == "1"            # wait for each launch on a GPU, so that its own fault is told
