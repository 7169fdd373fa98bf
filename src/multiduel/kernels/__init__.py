"""Ground floor: what every algorithm is made of. NumPy and Numba only."""
