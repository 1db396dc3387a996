"""``python -m rprnmf``."""

from __future__ import annotations

import sys

from rprnmf.cli import main

if __name__ == "__main__":
    sys.exit(main())
