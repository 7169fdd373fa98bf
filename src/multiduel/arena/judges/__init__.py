"""Judges: models and programs that vote in an arena, as raters of their own kind."""
