"""Show results: tables, figures, progress bars and documents, from plain arrays."""
