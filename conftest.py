"""Set before numpy and scipy are loaded: scikit-learn's estimator checks need it."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
