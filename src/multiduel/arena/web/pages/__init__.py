"""The pages for raters and owners, rendered on the server: an application of their own, with cookies instead of bearer keys."""
