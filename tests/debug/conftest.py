"""Make the examples importable, which import their siblings."""

from __future__ import annotations

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"

for folder in (EXAMPLES, EXAMPLES / "hopper", EXAMPLES / "blackwell"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
