"""Names for the arrays that kernels pass around."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Stream = NDArray[np.uint64]  # uint64[4], see kernels.random
