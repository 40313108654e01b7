"""`python -m pyptx` is the `pyptx` command."""

import sys

from pyptx.cli import main

if __name__ == "__main__":
    sys.exit(main())
