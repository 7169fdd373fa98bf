"""The benchmark: a frozen suite of instances, every policy played on it, and yours beside them."""
