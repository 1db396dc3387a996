"""Set before numpy, scipy and matplotlib are loaded."""

import os
import sys

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's estimator checks need it
os.environ["MPLBACKEND"] = "agg"  # pictures need no screen


@pytest.fixture(autouse=True)
def _close_figures():
    """Figures of a test, or of a docstring's example, are gone after it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
