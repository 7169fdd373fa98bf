"""Compile kernels: choose implementations by type, link them into entries, hash their sources, explain compiler errors."""
