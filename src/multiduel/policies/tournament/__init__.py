"""Knockout tournaments that name one arm with a guarantee, and then keep it: KNOCKOUT and SEEBS."""
